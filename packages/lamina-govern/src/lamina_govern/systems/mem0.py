"""mem0 without a language model: texts as they are (`infer=False`), found by their letters."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

os.environ.setdefault("MEM0_TELEMETRY", "False")
os.environ.setdefault("OPENAI_API_KEY", "unused: nothing is inferred")

from langchain_core.embeddings import Embeddings
from mem0 import Memory

from lamina_govern.system import Party

_SIZE = 1536


class _Letters(Embeddings):
    """Texts that share triples of letters are near each other; the same on every machine."""

    def embed_query(self, text: str) -> list[float]:
        vector, folded = [0.0] * _SIZE, f"  {text.casefold()}  "
        for at in range(len(folded) - 2):
            mark = blake2b(folded[at : at + 3].encode(), digest_size=4).digest()
            vector[int.from_bytes(mark, "big") % _SIZE] += 1.0
        length = sum(one * one for one in vector) ** 0.5 or 1.0
        return [one / length for one in vector]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


@dataclass(frozen=True)
class Mem0:
    """One memory, as one party sees it; mem0 knows people, and nobody else."""

    memory: Any
    folder: tempfile.TemporaryDirectory[str]
    owner: str = "ana"
    role: str = "user"
    name: str = "mem0"

    def speaking_as(self, party: Party) -> Mem0:
        owner = "bob" if party is Party.STRANGER else "ana"
        role = "user" if party in (Party.PERSON, Party.STRANGER) else "assistant"
        return replace(self, owner=owner, role=role)

    def add(self, text: str) -> None:
        self.memory.add([{"role": self.role, "content": text}], user_id=self.owner, infer=False)

    def _found(self, query: str) -> list[dict[str, Any]]:
        if not query:
            return list(self.memory.get_all(filters={"user_id": self.owner}, top_k=1000)["results"])
        return list(self.memory.search(query, filters={"user_id": self.owner}, top_k=1000)["results"])

    def search(self, query: str) -> list[str]:
        return [str(one["memory"]) for one in self._found(query)]

    def context(self, task: str) -> str:
        return "\n".join(self.search(task))

    def forget(self, text: str) -> None:
        for one in self._found(""):
            if one["memory"] == text:
                self.memory.delete(one["id"])

    purge = forget

    def jobs(self) -> None:
        """There are none."""

    def export(self) -> str:
        return "\n".join(self.search(""))


def fresh() -> Mem0:
    folder = tempfile.TemporaryDirectory()
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": f"{folder.name}/q", "embedding_model_dims": _SIZE},
            },
            "embedder": {"provider": "langchain", "config": {"model": _Letters()}},
            "history_db_path": f"{folder.name}/history.db",
        }
    )
    return Mem0(memory, folder)
