"""Ask and Prompt: what a question finds and why, and exactly what an agent is told for a task."""

from __future__ import annotations

import re
from typing import Any

from lamina.errors import LaminaError
from lamina.studio.visit import StudioPage, Visit

_K = 12
_BLOCK = re.compile(r"^<(\w+)[^>\n]*>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)


def ask(visit: Visit) -> StudioPage:
    """A question, what it finds with each leg's score, and beside it the same asked otherwise."""
    question, as_of, beside = visit.query("q"), visit.query("as_of"), visit.query("beside")
    missed = visit.query("why_not")
    data: dict[str, Any] = {"found": None, "beside": None, "verdict": None, "problem": None}
    if question:
        narrowing: dict[str, Any] = {"k": _K, "trusted_only": True if visit.query("trusted") else None}
        try:
            then = as_of or None
            now = then if beside != "then" else None
            data["found"] = visit.ask("recall", query=question, as_of=now, **narrowing)
            if beside == "then" and as_of:
                data["beside"] = visit.ask("recall", query=question, as_of=as_of, **narrowing)
            elif beside == "trusted":
                data["beside"] = visit.ask("recall", query=question, k=_K, trusted_only=True, as_of=then)
            if missed:
                data["verdict"] = visit.ask(
                    "why_not", query=question, memory_id=missed, as_of=now, **narrowing
                )
        except LaminaError as error:
            data["problem"] = f"{error.message} {error.hint}"
    more = {
        "question": question,
        "as_of": as_of,
        "how": beside,
        "missed": missed,
        "trusted": visit.query("trusted"),
    }
    return StudioPage(template="ask.html", title="ask", data=data, more=more)


def prompt(visit: Visit) -> StudioPage:
    """What would be in the prompt: block by block, with its tokens, for the person or one of their agents."""
    task, agent = visit.query("task"), visit.query("agent")
    budget = int(visit.query("budget")) if visit.query("budget").isdecimal() else 2000
    budget = max(0, min(budget, 20_000))
    data: dict[str, Any] = {"context": None, "blocks": (), "problem": None}
    if task:
        try:
            found = visit.ask("context", task=task, budget_tokens=budget, seen_as=agent or None)
            data |= {"context": found, "blocks": blocks_of(found.text)}
        except LaminaError as error:
            data["problem"] = f"{error.message} {error.hint}"
    parts = () if data["context"] is None else data["context"].parts
    more = {
        "task": task,
        "agent": agent,
        "budget": budget,
        "agents": agents_of(visit),
        "names": {name: visit.words.named("block", name) for name in parts},
    }
    return StudioPage(template="prompt.html", title="prompt", data=data, more=more)


def blocks_of(text: str) -> list[tuple[str, str]]:
    """The groups of a prompt: the name of each and its lines."""
    inner = text.partition("\n")[2].rpartition("\n")[0]
    return [(found[1], found[2]) for found in _BLOCK.finditer(inner)]


def agents_of(visit: Visit) -> list[str]:
    """Every agent that said something here."""
    _, facets = visit.counted({})
    return sorted(name.removeprefix("agent:") for name in facets.get("by", {}) if name.startswith("agent:"))
