"""What finds: the best of some shelves for a query, by words and by meaning, inside one transaction."""
