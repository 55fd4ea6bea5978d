"""What would come of a message, and why: everything is understood, nothing is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lamina.hear.plan import Plan, is_person, listener_of, plan_of
from lamina.hear.turn import understood
from lamina.language.command import Action, Command
from lamina.language.hearing import Hearing
from lamina.language.hearing import hear as listen_to
from lamina.language.slots import is_sensitive
from lamina.language.understanding import Understood, understand
from lamina.language.view import Span
from lamina.model import Deny, Draft, Heard, Space, Understanding
from lamina.read.shelves import loaded
from lamina.write.store import Caller

#: How much of a text is said again.
_SHOWN = 120
_KEPT = (Action.REMEMBER, Action.SET, Action.NOTE, Action.CORRECT)


def rehearse(caller: Caller, text: str) -> Heard:
    """A message as it would be heard: a line for each part, and nothing is changed or kept."""
    rules = caller.store.ruleset.rules
    plan = plan_of(caller, text, understood(caller.scope, text, None, (), rules))
    hearing = listen_to(text, rules)
    parts = understand(listener_of(caller, hearing), explain=True) if is_person(caller) else []
    told = [*_planned(caller, hearing, plan, parts), *_left(plan, parts)]
    return Heard(receipts=(), understood=tuple(told))


def _planned(
    caller: Caller, hearing: Hearing, plan: Plan, parts: Sequence[Understood]
) -> Iterator[Understanding]:
    for command in [*plan.asked, *plan.notes]:
        part = next((one for one in parts if _meet(one.typed, command.span)), None)
        refused = _refused(caller, command)
        waits = command.action is Action.NOTE and is_sensitive(command.text)
        yield Understanding(
            text=hearing.view.original[command.span[0] : command.span[1]].strip(),
            sort=command.action,
            outcome="refuse" if refused else "ask" if waits or not command.clear else "act",
            would=_would(command),
            why=refused or _why(command, part) + _of_what(caller, command),
        )


def _left(plan: Plan, parts: Sequence[Understood]) -> Iterator[Understanding]:
    taken = [one.span for one in [*plan.asked, *plan.notes]]
    for part in parts:
        if not any(_meet(part.typed, span) for span in taken):
            signs = ", ".join(map(repr, part.because))
            yield Understanding(
                text=part.text,
                sort=part.sort,
                outcome="leave",
                why=f"taken for {part.sort}" + (f" because of {signs}" if signs else "") + _margin(part),
            )


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _would(command: Command) -> str:
    """What would be done, in a line."""
    words = command.value or command.text
    key = f"{command.key} = " if command.key else ""
    until = f" (ttl {command.lifetime})" if command.lifetime else ""
    return f"{command.action} {key}{words[:_SHOWN]}{until}".strip()


def _why(command: Command, part: Understood | None) -> str:
    """By which rule, and what the model saw in it."""
    signs = ", ".join(map(repr, part.because)) if part else ""
    return f"rule {command.rule}" + (f"; the model sees {signs}" if signs else "")


def _of_what(caller: Caller, command: Command) -> str:
    """What is meant of all that was said before, and what speaks for it."""
    texts = ", ".join(f'"{one.text[:_SHOWN]}"' for one in loaded(caller, command.meant))
    signs = f" because of {', '.join(command.why)}" if command.why else ""
    return f"; about {texts}{signs}" if texts else ""


def _margin(part: Understood) -> str:
    return f" ({part.margin / 1000:+.1f})"


def _refused(caller: Caller, command: Command) -> str:
    """Why the gates would refuse what is to be kept; empty where they would not."""
    if command.action not in _KEPT:
        return ""
    draft = Draft(
        scope=caller.scope,
        text=command.value or command.text or "-",
        space=command.space or Space.USER,
        kind=command.kind,
        key=command.key,
    )
    decision = caller.store.judge(draft)
    return f"{decision.code}: {decision.why}" if isinstance(decision, Deny) else ""
