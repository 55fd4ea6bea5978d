"""The catalogue: every operation once; doors, remote client and reference pages are built from it."""
