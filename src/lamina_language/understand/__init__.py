"""What a message is and what it says, by rules in data files that a person can read and extend; pure."""
