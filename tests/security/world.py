"""Two tenants with people and agents, and a mark that is nowhere else in everything each of them keeps."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint

import lamina
from lamina.engine import Engine
from lamina.integrations.langgraph import CheckpointSaver, Store
from lamina.lifecycle.tokens import create_token
from lamina.scoped import ScopedMemory
from lamina.storage.memories import Memories
from lamina.testing import ManualClock

TENANTS = ("acme", "globex")
USERS = ("ana", "bob")
#: What the file below gives each; who plans is given procedures beside it (IS-12).
ALLOWLISTS = {"planner": ("tasks", "goals", "procedural"), "stylist": ("preferences", "tone"), "nobody": ()}
CATEGORIES = """
categories:
  system: [{name: profile, context: all}, {name: event, context: rag, rag_length: 30}]
  custom: [{name: %s}]
allowlists:
  planner: [tasks, goals]
  stylist: [preferences, tone]
  nobody: []
"""
_SYLLABLES = (
    ("ka", "ro", "mi", "ten", "sol", "va", "ne", "lu", "dor", "pi", "sha", "gor"),
    ("กา", "โต", "มี", "เล", "ชู", "ไว", "นา", "เภา", "ซอ", "ดี", "แพ", "ฟู"),
    ("玛", "珂", "缇", "洛", "薇", "諾", "妮", "魯", "多", "琵", "莎", "果"),
)
_PHRASES = (
    "{name} keeps the lantern under the green bridge",
    "ตะเกียงอยู่ใต้สะพานสีเขียวของ {name}",
    "{name}把燈籠放在綠色的橋下面",
    "{name}把灯笼放在绿色的桥下面",
)
#: What everybody may ask: words that are in everybody's memories, and that give nothing away.
QUESTIONS = (
    "where is the lantern?",
    "green bridge",
    "what do you know about the lantern under the bridge",
    "ตะเกียงอยู่ที่ไหน",
    "สะพานสีเขียว",
    "燈籠在哪裡",
    "灯笼在绿色的桥下面吗",
    "*",
    "%",
    "' OR '1'='1",
    "tenant:globex",
    "user:bob",
)


@dataclass(frozen=True)
class Mark:
    """Bytes that only some may ever be shown."""

    text: str
    tenant: str
    user: str
    topic: str | None = None  #: the category an agent needs in its allowlist; None for anyone of the user's
    named: bool = False  #: it is in a name that others may guess or steal, not in what somebody said


@dataclass(frozen=True)
class Caller:
    """Somebody who tries; everything they may see is what the channel says they are."""

    tenant: str
    user: str
    agent: str | None = None
    role: str | None = None

    def sees(self, mark: Mark) -> bool:
        if mark.tenant != self.tenant or mark.user not in (self.user, "*"):
            return False
        person = self.agent is None and self.role is None
        return person or mark.topic is None or mark.topic in ALLOWLISTS.get(self.agent or "", ())


#: Everybody who tries is of one tenant; the other is nothing but a victim, and so is ana, all but her tasks.
CALLERS = (
    Caller("acme", "bob"),
    Caller("acme", "bob", "planner"),
    Caller("acme", "eve"),
    Caller("acme", "ana", "planner"),
    Caller("acme", "ana", "nobody"),
    Caller("acme", "ana", "unlisted"),
    Caller("acme", "ana", None, "tool"),
)


@dataclass
class World:
    """The engines, everything that is marked, and what a thief could have got hold of."""

    folder: Path
    store: str
    clock: ManualClock = field(default_factory=ManualClock)
    engines: dict[str, Engine] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)
    cursors: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    stolen_token: str = ""
    _pick: random.Random = field(default_factory=lambda: random.Random(5))
    _made: set[str] = field(default_factory=set)

    def build(self) -> World:
        for tenant in TENANTS:
            category = self.mark(tenant, "*", named=True, script=0)
            file = self.folder / f"{tenant}.yaml"
            file.write_text(CATEGORIES % category, "utf-8")
            self.categories.append(category)
            workspace = self.folder / tenant
            (workspace / "memory").mkdir(parents=True)
            for number in range(3):
                path = f"memory/2026-01-0{number + 1}.md"
                text = self._phrase(tenant, "ana", None, number)
                (workspace / path).write_text(f"# Day {number}\n\n{text}\n", "utf-8")
                self.paths.append(path)
            self.engines[tenant] = lamina.open(
                workspace,
                store=self.store,
                tenant=tenant,
                owner="ana",
                clock=self.clock,
                categories=str(file),
            )
            for user in USERS:
                self._furnish(tenant, user)
        self.stolen_token = create_token(self.engines["globex"], "laptop", user="ana")[1]
        return self

    def close(self) -> None:
        for engine in self.engines.values():
            engine.close()

    def mind(self, caller: Caller, session: str | None = None) -> ScopedMemory:
        return self.engines[caller.tenant].scope(
            user=caller.user, agent=caller.agent, role=caller.role, session=session
        )

    def mark(
        self,
        tenant: str,
        user: str,
        topic: str | None = None,
        *,
        named: bool = False,
        script: int | None = None,
    ) -> str:
        """A new word that means nothing, in one of three scripts."""
        letters = _SYLLABLES[self._pick.randrange(3) if script is None else script]
        while (made := "".join(self._pick.choice(letters) for _ in range(5))) in self._made:
            pass
        self._made.add(made)
        self.marks.append(Mark(made, tenant, user, topic, named))
        return made

    def _phrase(self, tenant: str, user: str, topic: str | None, number: int) -> str:
        return _PHRASES[number % 4].format(name=self.mark(tenant, user, topic))

    def _furnish(self, tenant: str, user: str) -> None:
        mind = self.engines[tenant].scope(user=user)
        self._facts(mind, tenant, user)
        self._layers(mind, tenant, user)
        self._conversations(tenant, user)
        self._graphs(mind, tenant, user)
        self.cursors.append(mind.changes().cursor)

    def _facts(self, mind: ScopedMemory, tenant: str, user: str) -> None:
        def kept(topic: str, number: int, **details: Any) -> str:
            receipt = mind.remember(self._phrase(tenant, user, topic, number), **details)
            assert receipt.ids, receipt
            self.ids.append(receipt.ids[0])
            return receipt.ids[0]

        for number, topic in enumerate(("tasks", "knowledge", "preferences", "goals", "knowledge", "tone")):
            tag = self.mark(tenant, user, topic, named=True)
            kept(topic, number, category=topic, tags=[tag], idempotency_key=f"idem-{number}")
        kept("uncategorised", 1)
        gone = kept("knowledge", 2, category="knowledge")
        mind.forget(gone, reason=self._phrase(tenant, user, "knowledge", 0))
        said_anew = kept("knowledge", 3, category="knowledge")
        mind.revise(said_anew, self._phrase(tenant, user, "knowledge", 1))
        for number in range(3):
            key = f"tone.{self.mark(tenant, user, 'profile', named=True, script=0)}"
            self.keys.append(key)
            self.ids += mind.remember(self._phrase(tenant, user, "profile", number), key=key).ids
        mind.propose(self.mark(tenant, user, "profile"), "city.guess", 0.8)

    def _layers(self, mind: ScopedMemory, tenant: str, user: str) -> None:
        note = self._phrase(tenant, user, "profile", 0)
        mind.layers.user_model.update({"notes": [note], "expertise": {"docker": "expert"}})
        steps = [self._phrase(tenant, user, "procedural", 1)]
        mind.layers.procedures.learn(self._phrase(tenant, user, "procedural", 2), steps)
        mind.layers.episodes.record(self._phrase(tenant, user, "event", 3), topics=["lantern"])
        mind.layers.learn(self._phrase(tenant, user, "uncategorised", 0))

    def _conversations(self, tenant: str, user: str) -> None:
        for number in range(2):
            name = f"s-{self.mark(tenant, user, named=True, script=0)}"
            self.sessions.append(name)
            talk = self.engines[tenant].scope(user=user, session=name)
            kept = talk.remember(self._phrase(tenant, user, "uncategorised", number), space="session")
            self.ids += kept.ids
            heard = talk.hear(f"I saw it: {self._phrase(tenant, user, None, number)}", reply="I see.")
            self.ids += [one for receipt in heard.receipts for one in receipt.ids]
            self.cursors.append(talk.changes().cursor)
        project = self.engines[tenant].scope(user=user, project=f"p-{user}")
        self.ids += project.remember(self._phrase(tenant, "-", None, 0), space="project").ids

    def _graphs(self, mind: ScopedMemory, tenant: str, user: str) -> None:
        saver = CheckpointSaver(self.engines[tenant].database, user=user, clock=self.clock)
        thread = f"t-{self.mark(tenant, user, named=True, script=0)}"
        self.threads.append(thread)
        at: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        for step in range(2):
            made = empty_checkpoint()
            made["id"], made["ts"] = f"{thread}-{step}", "2026-01-01T00:00:00Z"
            text = self._phrase(tenant, user, None, step)
            made["channel_values"] = {"log": [text] * 9, "n": step}
            made["channel_versions"] = {"log": str(step + 1), "n": str(step + 1)}
            at = saver.put(at, made, {"step": step, "run_id": "r1"}, made["channel_versions"])
            saver.put_writes(at, [("log", self._phrase(tenant, user, None, step))], "task")
        place = (self.mark(tenant, user, "uncategorised", named=True), "notes")
        Store(mind).put(place, "one", {"text": self._phrase(tenant, user, "uncategorised", 2)})

    def foreign(self, caller: Caller) -> list[Mark]:
        return [mark for mark in self.marks if not caller.sees(mark)]

    def hidden_ids(self) -> Iterator[str]:
        """Memories of the callers' tenant that none of them may see."""
        database = self.engines["acme"].database
        seen_by = [caller for caller in CALLERS if caller.user == "ana"]
        topics = {topic for caller in seen_by for topic in ALLOWLISTS.get(caller.agent or "", ())}
        for memory_id in sorted({one for one in self.ids if one.startswith(("user:ana:", "session:ana,"))}):
            memory = database.read(lambda tx, one=memory_id: Memories(tx).load([one])).get(memory_id)
            if memory is not None and memory.topic not in topics:
                yield memory_id
