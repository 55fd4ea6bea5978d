"""Encoders, ours and others', behind one port."""
