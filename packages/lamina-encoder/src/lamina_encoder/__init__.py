"""The data of Lamina's default encoder, in the folder `data`."""
