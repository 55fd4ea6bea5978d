"""Memory as people and programs see it."""
