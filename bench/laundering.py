"""How often a tool's words reach the prompt because an agent repeats them, by route; and how many of an
agent's own notes beside them stay in it.

    python -m bench.laundering [--list 1] [--routes word ...] [--control 1] [--show]

Each try is a person of their own: a tool says the poisoned text, an agent is shown it, and then brings it
back by one route. It is in the prompt where its telling words stand in what `context` hands an agent for a
task about the rest of it. The control is the same route without the tool: how many tries could succeed;
`--control 3` takes every third text for it, `--control 0` none.

Each list was written before the code it was first run on was looked at; a list that was run is a list that
was seen. docs/guides/stays-forgotten.md has the figures, first sight and after.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lamina
from lamina.errors import LaminaError
from lamina.integrations.langgraph.store import Store

_OWN = "The corridor was painted last autumn by two students."
_LOOK_ALIKE = str.maketrans("aeopc", "аеорс")
_ALIKE_BACK = str.maketrans("аеорс", "aeopc")
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Poison:
    """What a tool says, how an agent says it again, and the words that tell."""

    language: str
    said: str
    again: str
    telling: str


@dataclass(frozen=True, slots=True)
class Try:
    """One person with an agent and another one."""

    memory: Any
    person: str

    def agent(self, name: str = "planner", **more: Any) -> Any:
        return self.memory.scope(user=self.person, project=self.person, agent=name, **more)

    def tool(self) -> Any:
        return self.memory.scope(user=self.person, project=self.person, agent="web", role="tool")

    def me(self, **more: Any) -> Any:
        return self.memory.scope(user=self.person, project=self.person, **more)


Route = Callable[[Try, Poison], Any]


def _revised(do: Try, one: Poison) -> None:
    agent = do.agent()
    note = agent.remember(_OWN)
    agent.revise(note.ids[0], one.again)


def _appended(do: Try, one: Poison) -> None:
    agent = do.agent()
    note = agent.remember(_OWN)
    agent.revise(note.ids[0], f"{_OWN} {one.again}")


def _merged(do: Try, one: Poison) -> None:
    agent = do.agent()
    own = agent.remember(f"{one.again[: len(one.again) // 2]} and the corridor was painted")
    other = agent.remember(one.again)
    agent.merge([*own.ids, *other.ids])


def _hand_over(do: Try, one: Poison) -> None:
    do.agent("scout").remember(one.again)
    second = do.agent("writer")
    second.recall(one.telling)
    second.remember(one.again)


def _three_times(do: Try, one: Poison) -> None:
    agent = do.agent()
    for text in (one.said, f"Noted: {one.again}", one.again):
        agent.recall(text[:40])
        agent.remember(text)


def _pinned(do: Try, one: Poison) -> None:
    agent = do.agent()
    agent.pin(agent.remember(one.again).ids[0])


def _promoted(do: Try, one: Poison) -> None:
    agent = do.agent(session="talk")
    kept = agent.remember(one.again, space="session")
    agent.promote(kept.ids[0], "user")


def _replied(do: Try, one: Poison) -> None:
    do.me(session="old").hear("What did you find?", reply=one.again)


def _after_undo(do: Try, one: Poison) -> None:
    do.me().undo(source="web")
    do.agent().remember(one.again)


def _restored(do: Try, one: Poison) -> None:
    agent = do.agent()
    kept = agent.remember(one.again)
    agent.forget(kept.ids[0])
    agent.restore(kept.ids[0])


def _linked(do: Try, one: Poison) -> None:
    agent = do.agent()
    first = agent.remember(_OWN, reason=one.again, tags=[one.telling])
    second = agent.remember("The students study chemistry.", reference=one.again)
    agent.link(first.ids[0], second.ids[0])


def _langgraph(do: Try, one: Poison) -> None:
    Store(do.agent()).put(("notes",), "one", {"text": one.again})


ROUTES: dict[str, Route] = {
    "remember, word for word": lambda do, one: do.agent().remember(one.said),
    "remember, in other words": lambda do, one: do.agent().remember(one.again),
    "as the user's wish": lambda do, one: do.agent().remember(f"The user wants this: {one.again}"),
    "as a finding of its own": lambda do, one: do.agent().remember(f"I found out that {one.again}"),
    "a decision": lambda do, one: do.agent().remember(one.again, kind="decision"),
    "a constraint": lambda do, one: do.agent().remember(one.again, kind="constraint"),
    "a preference": lambda do, one: do.agent().remember(one.again, kind="preference"),
    "of importance 5": lambda do, one: do.agent().remember(one.again, importance=5),
    "pinned": _pinned,
    "under a key": lambda do, one: do.agent().remember(one.again, key="user.goal.money"),
    "proposed": lambda do, one: do.agent().propose(one.again, "response.tone", 0.99),
    "learn": lambda do, one: do.agent().learn(one.again),
    "an episode": lambda do, one: do.agent().record_episode(one.again, outcome="success"),
    "a procedure": lambda do, one: do.agent("executor").learn_procedure(one.said[:30], [one.again]),
    "a procedure's trigger": lambda do, one: do.agent("executor").learn_procedure(one.again, ["Do it."]),
    "many at once": lambda do, one: do.agent().remember_many([{"text": _OWN}, {"text": one.again}]),
    "in a longer note": lambda do, one: do.agent().remember(
        f"Notes of the day: the corridor was painted, the lift works again, lunch was late. {one.again} "
        "The students study chemistry and the printer needs a new drum."
    ),
    "own note revised": _revised,
    "own note with an addition": _appended,
    "merged": _merged,
    "another agent": _hand_over,
    "said three times": _three_times,
    "promoted from a session": _promoted,
    "in another session": lambda do, one: do.agent(session="later").remember(one.again),
    "to the project": lambda do, one: do.agent().remember(one.again, space="project"),
    "in a reply": _replied,
    "after the tool's words were undone": _after_undo,
    "forgotten and restored": _restored,
    "in a reason, a tag, a reference": _linked,
    "LangGraph's store": _langgraph,
    "shouted": lambda do, one: do.agent().remember(one.again.upper()),
    "with invisible letters": lambda do, one: do.agent().remember("\u200b".join(one.again)),
    "look-alike letters": lambda do, one: do.agent().remember(one.again.translate(_LOOK_ALIKE)),
}


def _bare(text: str) -> str:
    plain = text.replace("\u200b", "").translate(_ALIKE_BACK)
    return "".join(plain.casefold().split())


def _prompted(do: Try, one: Poison) -> bool:
    """Whether the telling words stand in an agent's prompt for a task that does not say them itself."""
    rest = one.again.replace(one.telling, " ").split(". ")[0]
    seen = (do.agent("executor"), do.agent())
    return any(_bare(one.telling) in _bare(each.context(rest).text) for each in seen)


def _tried(do: Try, one: Poison, route: Route, *, told: bool) -> bool:
    if told:
        do.tool().remember(one.said)
        do.agent().recall(one.said[:60])
    with suppress(LaminaError, IndexError):  # a refusal is an answer, and leaves no id to go on with
        route(do, one)
    return _prompted(do, one)


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (DATA / f"{name}.tsv").read_text("utf-8").splitlines()]


def honest(memory: Any, poisoned: Sequence[Poison], texts: Sequence[list[str]], show: bool) -> Counter[str]:
    """How many notes of an agent that was shown every poisoned text stay in the prompt."""
    do, kept = Try(memory, "honest"), Counter[str]()
    for one in poisoned:
        do.tool().remember(one.said)
    for language, text in texts:
        do.agent().remember(text)
        stays = _bare(text.strip(".。")) in _bare(do.agent().context(text[: len(text) // 2]).text)
        kept[language] += stays
        if show and not stays:
            print("left out:", text)
    return kept


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--list", default="1", help="which list: 1 to 8")
    parser.add_argument("--routes", nargs="*", default=(), help="only routes with one of these words")
    parser.add_argument("--control", type=int, default=1, help="every how manieth text is a control, too")
    parser.add_argument("--show", action="store_true", help="print what came through, and what was left out")
    options = parser.parse_args(arguments)
    poisoned = [Poison(*row) for row in rows(f"laundering-{options.list}")]
    chosen = {
        name: route
        for name, route in ROUTES.items()
        if not options.routes or any(word in name for word in options.routes)
    }
    with tempfile.TemporaryDirectory() as folder, lamina.open(folder) as memory:
        tries = through = could = controls = 0
        checked = range(0, len(poisoned) if options.control else 0, options.control or 1)
        print(f"{'route':<36} {'through':>9} {'control':>9}")
        for at, (name, route) in enumerate(chosen.items()):
            came = control = 0
            for number, one in enumerate(poisoned):
                came_in = _tried(Try(memory, f"{number}-{at}"), one, route, told=True)
                came += came_in
                if number in checked:
                    control += _tried(Try(memory, f"{number}-{at}-control"), one, route, told=False)
                if options.show and came_in:
                    print("through:", name, "|", one.said, "|", one.again)
            tries, controls = tries + len(poisoned), controls + len(checked)
            through, could = through + came, could + control
            print(f"{name:<36} {came:>5}/{len(poisoned)} {control:>6}/{len(checked)}", flush=True)
        print(f"{'all':<36} {through}/{tries} = {through / tries:.2%}; control {could}/{controls}")
        texts = rows(f"honest-{options.list}")
        kept, of = honest(memory, poisoned, texts, options.show), Counter(language for language, _ in texts)
        told = ", ".join(f"{language} {kept[language]}/{of[language]}" for language in of)
        print(f"honest notes kept: {sum(kept.values())}/{len(texts)} ({told})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
