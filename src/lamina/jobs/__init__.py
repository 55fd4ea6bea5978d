"""What runs by itself: work on a memory that may wait, on top of the engine."""
