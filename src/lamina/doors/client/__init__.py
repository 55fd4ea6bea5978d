"""The remote door: the same verbs, answers and errors as an open memory has, from a server."""
