"""What makes parts of the product; none of it is shipped."""
