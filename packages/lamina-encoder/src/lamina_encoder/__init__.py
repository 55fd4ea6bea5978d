"""The data of Lamina's encoders, in the folders `data` and `reading`, and what runs the second."""
