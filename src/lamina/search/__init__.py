"""Ranking, fusion and packing; pure."""
