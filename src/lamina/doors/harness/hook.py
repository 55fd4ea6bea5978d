"""What a client calls at the moments of a session; whatever happens here, the client goes on."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from pathlib import Path
from typing import Any

from lamina.config import home_folder
from lamina.doors.harness.switch import Switch, standing
from lamina.errors import InvalidInput, LaminaError
from lamina.records import dataclass

_LARGEST = 16 * 1024 * 1024
#: What a client takes as context, in characters.
_MOST_CONTEXT = 9_500
_NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
_CITE = "Name the id in brackets behind what you use of it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One moment of a session, as a client tells it."""

    verb: str
    client: str
    session: str
    folder: Path  #: where the client works
    home: Path  #: where our own notes are
    workspace: Path | None = None  #: the one that was installed; None: the one that the folder is in
    transcript: Path | None = None
    prompt: str = ""
    reply: str = ""
    fresh: bool = True  #: what was told before is not in front of the model any more
    mute: bool = False  #: remember nothing, tell all the same


@dataclass(frozen=True, slots=True)
class Told:
    """What the model and the person are told."""

    context: str = ""
    notice: str = ""


Handle = Callable[[Event], Told]


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """Where a hook reads and writes; those of the process unless a test brings others."""

    read: Callable[[], bytes] = field(default=lambda: sys.stdin.buffer.read(_LARGEST + 1))
    write: Callable[[str], object] = field(default=lambda text: sys.stdout.write(text))
    complain: Callable[[str], object] = field(default=lambda text: sys.stderr.write(text))


def run(words: Sequence[str], handle: Handle, environment: Mapping[str, str], streams: Streams) -> int:
    """Carry out one hook. It returns 0 whatever happens, and says on one line what went wrong."""
    try:
        event = _event(words, streams.read(), environment)
        state = standing(event.home, event.client, event.folder)
        if state is not Switch.OFF:
            told = handle(event if state is Switch.ON else _muted(event))
            if answer := _answer(event, told):
                streams.write(json.dumps(answer, ensure_ascii=False) + "\n")
    except LaminaError as error:
        streams.complain(f"lamina hook: {' '.join(str(error).split())}\n")
    except Exception as error:  # noqa: BLE001 a client must go on whatever happened here
        streams.complain(f"lamina hook: something unexpected happened ({type(error).__name__}).\n")
    return 0


def _muted(event: Event) -> Event:
    return Event(**{**{name: getattr(event, name) for name in Event.__slots__}, "mute": True})


def _event(words: Sequence[str], data: bytes, environment: Mapping[str, str]) -> Event:
    """The words of the command and the client's own object, as one moment."""
    at = words.index("hook")
    options = dict(pairwise(words))
    named = options.get("-w") or options.get("--workspace") or environment.get("LAMINA_WORKSPACE")
    try:
        told = json.loads(data) if len(data) <= _LARGEST else None
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise InvalidInput("The client handed over no object.", code="hook_input_invalid")
    roots = told.get("workspace_roots")
    folder = _text(told, "cwd") or (str(roots[0]) if isinstance(roots, list) and roots else ".")
    transcript = _text(told, "transcript_path")
    return Event(
        verb=words[at + 1] if len(words) > at + 1 else "",
        client=options.get("--harness", ""),
        session=_text(told, "session_id") or _text(told, "conversation_id") or "session",
        folder=Path(folder).expanduser().absolute(),
        home=home_folder(environment),
        workspace=Path(named).expanduser() if named else None,
        transcript=Path(transcript).expanduser() if transcript else None,
        prompt=_text(told, "prompt"),
        reply=_text(told, "last_assistant_message"),
        fresh=_text(told, "source") != "resume",
    )


def _text(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""


def _answer(event: Event, told: Told) -> dict[str, Any]:
    """What a client wants to hear, in its own form; nothing where there is nothing to say."""
    context = f"{told.context}\n{_CITE}" if told.context else ""
    context = context if len(context) <= _MOST_CONTEXT else ""
    if event.client == "cursor":
        if event.verb == "prompt":
            return {"continue": True}
        return {"additional_context": context} if context and event.verb == "session-start" else {}
    answer: dict[str, Any] = {"systemMessage": told.notice} if told.notice else {}
    if context and event.verb in _NAMES:
        name = _NAMES[event.verb]
        answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": context}
    return answer
