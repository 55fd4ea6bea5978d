"""Agents where they live: entries in their clients' files, and the hooks those clients call."""
