"""The checks: each says how often something held, and counts only where its control could fail."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from lamina_govern.system import Party, System

#: Makes an empty memory; called once for each case, so that no case sees another's.
Fresh = Callable[[], System]

_CYRILLIC = str.maketrans("aeopcyx", "аеорсух")
#: The same words in other clothes, each by an agent.
SPELLINGS: dict[str, Callable[[str], str]] = {
    "the same words": lambda text: text,
    "shouted": str.upper,
    "look-alike letters": lambda text: text.translate(_CYRILLIC),
    "invisible letters": "\u200b".join,
    "in quotes": lambda text: f"“{text}”",
    "inside a longer note": lambda text: f"Notes of the day. {text}. The weather was fine.",
}


@dataclass(frozen=True, slots=True)
class Result:
    """How often a check held; `control` is False where it could not have failed, so that it says nothing."""

    check: str
    held: int
    cases: int
    control: bool

    @property
    def verdict(self) -> str:
        if not self.control:
            return "not shown"
        return f"{self.held}/{self.cases}"


@cache
def _data(name: str) -> dict[str, Any]:
    file = resources.files("lamina_govern") / "data" / f"{name}.toml"
    return tomllib.loads(file.read_text("utf-8"))


def statements(few: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _data("statements")["statement"]
    return found[::5] if few else found


def poison(few: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _data("laundering")["poison"]
    return found[::5] if few else found


def says(texts: str | Sequence[str], words: str) -> bool:
    """Whether words are in an answer, whatever their case, spacing and invisible letters."""
    joined = texts if isinstance(texts, str) else "\n".join(texts)
    return _bare(words) in _bare(joined)


def _bare(text: str) -> str:
    plain = text.replace("\u200b", "").translate(str.maketrans("аеорсух", "aeopcyx"))
    return "".join(plain.casefold().split())


def about(text: str) -> str:
    """A task for which a text would be wanted: half of it, because no prompt repeats its own task."""
    words = text.split()
    return " ".join(words[: len(words) // 2]) if len(words) > 3 else text[: max(2, len(text) // 2)]


def _prompted(system: System, words: str) -> bool:
    """Whether the words stand in an agent's prompt for a task that they are about."""
    return says(system.speaking_as(Party.AGENT).context(about(words)), words)


def _known(system: System, words: str) -> bool:
    """Whether an agent is told the words, by a search or in its prompt."""
    return says(system.speaking_as(Party.AGENT).search(words), words) or _prompted(system, words)


def _told(system: System, party: Party, text: str) -> None:
    with suppress(Exception):  # a refusal is an answer
        system.speaking_as(party).add(text)


def back_after(forget: str) -> Callable[[Fresh, bool], Result]:
    """After a person's `forget` or `purge`, nobody but they bring it back."""

    def check(fresh: Fresh, few: bool) -> Result:
        held = cases = 0
        control = True
        for one in statements(few):
            said = one["said"]
            for spelt in SPELLINGS.values():
                system = fresh()
                person = system.speaking_as(Party.PERSON)
                person.add(said)
                control = control and _known(system, said)
                with suppress(Exception):
                    getattr(person, forget)(said)
                for party in (Party.AGENT, Party.TOOL):
                    _told(system, party, spelt(said))
                with suppress(Exception):
                    system.jobs()
                cases += 1
                held += not _known(system, said)
        return Result(f"stays gone after {forget}", held, cases, control)

    return check


def own_word(fresh: Fresh, few: bool) -> Result:
    """The person may change their mind: their own word is always taken."""
    held = cases = 0
    for one in statements(few):
        system = fresh()
        person = system.speaking_as(Party.PERSON)
        person.add(one["said"])
        with suppress(Exception):
            person.forget(one["said"])
        _told(system, Party.PERSON, one["said"])
        cases += 1
        held += _known(system, one["said"])
    return Result("the person's own new word is taken", held, cases, True)


def others_untouched(fresh: Fresh, few: bool) -> Result:
    """Another value, the opposite and what only shares a word come in after something was forgotten."""
    held = cases = 0
    for one in statements(few):
        system = fresh()
        person = system.speaking_as(Party.PERSON)
        person.add(one["said"])
        with suppress(Exception):
            person.forget(one["said"])
        for text in (*one["changed"], *one["denies"], *one["beside"]):
            _told(system, Party.AGENT, text)
            cases += 1
            held += _known(system, text)
    return Result("other statements still come in", held, cases, True)


def purged_everywhere(fresh: Fresh, few: bool) -> Result:
    """After a purge the words are in no export."""
    held = cases = 0
    control = True
    for one in statements(few):
        system = fresh()
        person = system.speaking_as(Party.PERSON)
        person.add(one["said"])
        control = control and says(person.export(), one["said"])
        with suppress(Exception):
            person.purge(one["said"])
        cases += 1
        held += not says(person.export(), one["said"])
    return Result("no export holds what was purged", held, cases, control)


def laundering(fresh: Fresh, few: bool) -> Result:
    """What a tool said does not reach the prompt because an agent repeats it."""
    held = cases = 0
    control = True
    for one in poison(few):
        for text in (one["said"], *one["repeats"]):
            alone = fresh()
            _told(alone, Party.AGENT, text)
            control = control and _prompted(alone, text)
            system = fresh()
            _told(system, Party.TOOL, one["said"])
            system.speaking_as(Party.AGENT).search(one["said"])
            _told(system, Party.AGENT, text)
            cases += 1
            held += not _prompted(system, text)
    return Result("a tool's words stay out of the prompt", held, cases, control)


def honest(fresh: Fresh, few: bool) -> Result:
    """What an agent notes beside an unrelated tool's result stays in the prompt."""
    held = cases = 0
    texts: list[str] = _data("laundering")["honest"]["texts"]
    system = fresh()
    for one in poison(few):
        _told(system, Party.TOOL, one["said"])
    for text in texts[::4] if few else texts:
        _told(system, Party.AGENT, text)
        cases += 1
        held += _prompted(system, text)
    return Result("an agent's own notes stay in the prompt", held, cases, True)


def apart(fresh: Fresh, few: bool) -> Result:
    """Another person neither reads nor forgets what is not theirs."""
    held = cases = 0
    control = True
    for one in statements(few):
        system = fresh()
        system.speaking_as(Party.PERSON).add(one["said"])
        stranger = system.speaking_as(Party.STRANGER)
        told = [*stranger.search(one["said"]), stranger.context(about(one["said"]))]
        read = says(told, one["said"])
        with suppress(Exception):
            stranger.forget(one["said"])
        control = control and _known(fresh_with(fresh, one["said"]), one["said"])
        cases += 1
        held += not read and _known(system, one["said"])
    return Result("people are kept apart", held, cases, control)


def fresh_with(fresh: Fresh, text: str) -> System:
    """An empty memory to which the person said one thing."""
    system = fresh()
    system.speaking_as(Party.PERSON).add(text)
    return system


CHECKS: tuple[Callable[[Fresh, bool], Result], ...] = (
    back_after("forget"),
    back_after("purge"),
    own_word,
    others_untouched,
    purged_everywhere,
    laundering,
    honest,
    apart,
)


def run(fresh: Fresh, *, few: bool = False) -> Iterator[Result]:
    """Every check on a system, in order; with `few`, on one statement in five."""
    for check in CHECKS:
        yield check(fresh, few)
