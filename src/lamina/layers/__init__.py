"""The five layers, and what is learnt in them."""
