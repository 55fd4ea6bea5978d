"""Secrets and personal numbers in text, found by rules that are data."""
