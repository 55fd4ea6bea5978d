"""Adapters that let other frameworks keep what they know here; each needs the extra of its name."""
