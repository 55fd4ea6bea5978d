"""Storage: one narrow waist, two databases."""
