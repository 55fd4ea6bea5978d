"""Drafts become decisions; pure."""
