"""Finding texts: ranking, fusion and packing, pure; encoders behind one port."""
