"""What can be made out about a person from what happened lately: proposed by a model, kept by the rules.

An insight sets no key and wins over nothing: its person can read, correct and forget it like any memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from lamina.language.secrets.privacy import find_secrets
from lamina.layers.writing import drafted, kept, written
from lamina.model import Authority, Kind, Layer, Memory, Outcome, Role, Space
from lamina.policy.writing import Pass, Repaired
from lamina.read.shelves import newest
from lamina.records import dataclass
from lamina.retrieval.alike import compared
from lamina.similarity.compare import StatementRelation
from lamina.storage.shelf_contents import statements_on
from lamina.write.store import Caller

AGENT = "insights"  #: who says it, in provenance, history and audit
CATEGORY = "relationship_dynamic"
MOST_ACTIVITIES, MOST_STATEMENTS, MOST_CHARS, MOST_INSIGHTS = 5, 3, 1_000, 3
_LINE = 400  #: characters of one activity or statement
_CONFIDENCE = 0.5
_HELD_AGAINST = 300  #: the newest statements, with which an insight must not clash

#: The material as JSON into what a model answers: a list of `{"summary", "tags", "importance"}`.
Ask = Callable[[str], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Made:
    """What became of the proposals about one person."""

    ids: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()  #: a code for each proposal that was not kept; never its words


def material_of(caller: Caller, said: Iterable[str], since: datetime) -> str:
    """What a model is shown of a person, as JSON; empty where nothing is new since then.

    `said` is their recent conversation, oldest first. Nothing that a tool or a document said, that a job
    made, or that holds a secret is in it.
    """
    fresh = [one for one in _stated(caller) if one.updated_at >= since and _usable(one)][:MOST_STATEMENTS]
    happened = newest(caller, Layer.EPISODIC, MOST_ACTIVITIES, (Space.USER,))
    lately = _last(said, MOST_CHARS)
    if not fresh and not lately and not any(one.created_at >= since for one in happened):
        return ""
    shown = {
        "activities": [one.text[:_LINE] for one in happened if _usable(one)],
        "statements": [one.text[:_LINE] for one in fresh],
        "conversation": lately,
    }
    return json.dumps(shown, ensure_ascii=False)


def keep(caller: Caller, proposed: Sequence[Mapping[str, Any]], reason: str) -> Made:
    """Store what passes the writing rules and the gates and does not clash; the rest is named by a code."""
    ids: list[str] = []
    refused: list[str] = []
    for one in proposed[:MOST_INSIGHTS]:
        result = written(caller, str(one["summary"]), Kind.INSIGHT)
        if not isinstance(result, Pass | Repaired):
            refused.append(result.why.partition(":")[0])
        elif objection := _objection(caller, result.text):
            refused.append(objection)
        else:
            details = {
                "kind": Kind.INSIGHT,
                "category": CATEGORY,
                "tags": [str(tag) for tag in one.get("tags", ())],
                "importance": min(3, max(1, one.get("importance", 2))),
                "confidence": _CONFIDENCE,
                "reason": reason,
            }
            # It speaks as an agent does, so that a person's word outranks it; its reach is the person's own.
            voice = replace(caller.scope, role=Role.AGENT, agent=AGENT)
            receipt = kept(caller, drafted(caller, result.text, details, scope=voice))
            if receipt.decision is Outcome.ADMITTED:
                ids.extend(receipt.ids)
            else:
                refused.append(receipt.code)
    return Made(tuple(ids), tuple(refused))


def _objection(caller: Caller, text: str) -> str:
    """Why an insight cannot stand beside what is known: it is known, or its person said otherwise."""
    known = _stated(caller)
    found = compared(caller.store.ruleset.encoder, text, [one.text for one in known])
    for memory, comparison in zip(known, found, strict=True):
        if comparison.relation is StatementRelation.SAME:
            return "known"
        if comparison.conflicts and memory.authority is not Authority.AI_INFERRED:
            return "said_otherwise"
    return ""


def _stated(caller: Caller) -> list[Memory]:
    now, shelf = caller.store.now(), caller.scope.shelf(Space.USER) or ""
    return caller.store.database.read(lambda tx: statements_on(tx, shelf, now, _HELD_AGAINST))


def _usable(memory: Memory) -> bool:
    return memory.provenance.via != "job" and not find_secrets(memory.text)


def _last(said: Iterable[str], room: int) -> list[str]:
    """The last of what was said, as far as there is room; the oldest of it may lack its beginning."""
    shown: list[str] = []
    for text in reversed([one.strip() for one in said if not find_secrets(one)]):
        if room <= 0:
            break
        shown.append(text[-room:])
        room -= len(text)
    return shown[::-1]
