"""The screens: each a function from a visit to a page, on operations of the catalogue alone."""
