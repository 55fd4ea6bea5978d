"""One change in one transaction, with its history, trace and audit."""
