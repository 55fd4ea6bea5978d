"""What happened, in a form that can be proven."""
