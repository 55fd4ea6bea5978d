"""LangGraph on Lamina: checkpoints to resume graphs from, and a store whose writes pass the gates."""

from lamina.integrations.langgraph.checkpoints import CheckpointSaver, Head

__all__ = ["CheckpointSaver", "Head"]
