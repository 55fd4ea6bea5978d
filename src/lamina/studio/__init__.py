"""Studio: the pages on which people see, correct, approve and undo what agents know."""
