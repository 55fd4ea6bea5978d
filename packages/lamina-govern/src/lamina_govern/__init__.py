"""Whether a memory for AI agents forgets, keeps people apart and trusts what it should."""

from lamina_govern.checks import CHECKS, Result, run
from lamina_govern.system import Party, System

__all__ = ["CHECKS", "Party", "Result", "System", "run"]
