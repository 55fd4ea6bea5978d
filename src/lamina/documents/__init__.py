"""The markdown of a workspace: which files are documents, and the index that keeps up with them."""
