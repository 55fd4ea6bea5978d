"""The engine: the write path and the read path."""
