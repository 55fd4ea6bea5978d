"""YAML as data. Few have a file in it, and its library is loaded for theirs alone."""

from __future__ import annotations

from yaml import YAMLError, safe_load

__all__ = ["YAMLError", "safe_load"]
