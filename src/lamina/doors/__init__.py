"""Doors: the command line, HTTP and MCP."""
