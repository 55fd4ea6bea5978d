"""One question, answered from one snapshot of the store."""
