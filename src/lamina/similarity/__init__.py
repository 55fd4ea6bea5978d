"""Whether two texts say the same: the only room that decides it."""
