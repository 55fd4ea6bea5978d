"""What a team of agents and its people ask of a memory, on top of the engine and through its verbs."""
