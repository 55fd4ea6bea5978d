"""Trains the model that tells which sentences settle something."""
