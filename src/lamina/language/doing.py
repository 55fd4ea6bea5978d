"""What an agent did in a turn, told as steps: the tools it used, in order, and whether all of them worked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: Where tools say what they were, what they were given, and how it went.
_NAMES, _GIVEN = ("tool", "name", "tool_name"), ("input", "arguments", "args", "params")
_WHAT = ("command", "cmd", "action", "path", "file_path", "file", "query", "url")
_FAILED = frozenset({"error", "failed", "failure", "cancelled", "timeout", "denied"})
#: How much of what a tool was given is a part of the step, and what is too long to be the same next time.
_WORDS, _LONGEST = 3, 40
#: So many steps are a way to do something; one is a tool, and more are a day's work.
FEWEST, MOST = 2, 12


def steps_of(tools: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The steps of a turn that worked from its first to its last; none where one failed, or says nothing."""
    steps = tuple(_one_after_another(filter(None, map(_step, tools))))
    worked = all(map(_worked, tools)) and all(_step(one) for one in tools)
    return steps if worked and FEWEST <= len(steps) <= MOST else ()


def _one_after_another(steps: Iterator[str]) -> Iterator[str]:
    """Each step, once where it was done several times in a row."""
    last = ""
    for step in steps:
        if step != last:
            yield step
        last = step


def _step(tool: Mapping[str, Any]) -> str:
    name = next((str(tool[one]) for one in _NAMES if isinstance(tool.get(one), str)), "")
    given = next((tool[one] for one in _GIVEN if isinstance(tool.get(one), Mapping)), tool)
    what = next((given[one] for one in _WHAT if isinstance(given.get(one), str)), "")
    words = [word for word in what.split()[:_WORDS] if len(word) <= _LONGEST]
    return " ".join([name, *words]).strip() if name else ""


def _worked(tool: Mapping[str, Any]) -> bool:
    status = str(tool.get("status") or tool.get("outcome") or "").casefold()
    code = tool.get("exit_code", tool.get("returncode", 0))
    return not (tool.get("error") or tool.get("is_error") or status in _FAILED or code not in (0, None))
