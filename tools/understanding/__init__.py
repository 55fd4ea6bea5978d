"""Makes the small model that tells sorts of sentences apart, from sentences that we wrote ourselves."""
