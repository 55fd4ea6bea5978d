"""LangGraph on Lamina: checkpoints to resume graphs from, and a store whose writes pass the gates."""

from lamina.integrations.langgraph.checkpoints import CheckpointSaver, Head
from lamina.integrations.langgraph.moving import Moved, move_checkpoints
from lamina.integrations.langgraph.store import Store

__all__ = ["CheckpointSaver", "Head", "Moved", "Store", "move_checkpoints"]
