"""Files that other tools keep, read as turns and facts; knows nothing of stores."""
