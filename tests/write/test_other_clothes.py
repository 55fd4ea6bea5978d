"""What was forgotten does not come back in other clothes: escaped, encoded, threaded, or beside the text."""

from __future__ import annotations

import base64
import json
import quopri
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from lamina.engine import Engine
from lamina.errors import LaminaError
from lamina.integrations.items import Items
from lamina.integrations.langgraph.store import Store as GraphStore
from lamina.model import Outcome
from lamina.scoped import ScopedMemory
from tests.backends import a_place

#: Rules alone: what the trained model hears is test_understanding.py.
UNDERSTANDING = False

SAID = {
    "en": "My brother Tomas was in prison in Riga",
    "th": "ผมผ่อนบ้านที่ระยองเดือนละ 45000 บาท",
    "zh": "我在陈氏诊所治疗抑郁症已经23个月",
    "zh-hant": "我弟弟在高雄開了一家麵店",
}
PLAIN = "A plain note about lunch"


def _letters(said: str) -> list[str]:
    return said.split() if " " in said else list(said)


SPELLINGS: dict[str, Callable[[str], str]] = {
    "entities": lambda s: "".join(f"&#{ord(c)};" for c in s),
    "escapes": lambda s: '{"note": "' + "".join(f"\\u{ord(c):04x}" for c in s) + '"}',
    "JSON": lambda s: json.dumps({"note": s}),
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64 twice": lambda s: base64.b64encode(base64.b64encode(s.encode())).decode(),
    "hexadecimal": lambda s: s.encode().hex(),
    "base32": lambda s: base64.b32encode(s.encode()).decode(),
    "escapes of bytes": lambda s: "".join(f"\\x{one:02x}" for one in s.encode()),
    "a mail's escapes": lambda s: quopri.encodestring(s.encode(), quotetabs=True).decode(),
    "a link": quote,
    "tags": lambda s: "".join(f"<b>{c}</b>" for c in s),
    "half in a tag": lambda s: f"<p>{s[: len(s) // 2]}<i>{s[len(s) // 2 :]}</i></p>",
    "slashes": lambda s: "/".join(_letters(s)),
    "smiles": lambda s: " 🙂 ".join(_letters(s)),
    "stars": lambda s: "** **".join(_letters(s)),
    "underscores": lambda s: "_".join(_letters(s)),
    "dotted letters": lambda s: ".".join(s.replace(" ", "")),
    "a line of a table": lambda s: f"1,{s},active",
    "Thai digits": lambda s: s.translate(str.maketrans("0123456789", "๐๑๒๓๔๕๖๗๘๙")),
    "numerals": lambda s: s.replace("23", "二十三").replace("45000", "四万五千"),
}


def _pinned(memory: ScopedMemory, said: str) -> Any:
    return memory.pin(memory.remember(PLAIN).ids[0], reason=said)


def _revised(memory: ScopedMemory, said: str) -> Any:
    return memory.revise(memory.remember(PLAIN).ids[0], "A plain note about dinner", reason=said)


def _forgot(memory: ScopedMemory, said: str) -> Any:
    return memory.forget(memory.remember(PLAIN).ids[0], reason=said)


BESIDE: dict[str, Callable[[ScopedMemory, str], Any]] = {
    "a tag": lambda m, s: m.remember(PLAIN, tags=[s]),
    "tags": lambda m, s: m.remember(PLAIN, tags=s.split()),
    "a reason": lambda m, s: m.remember(PLAIN, reason=s),
    "a reference": lambda m, s: m.remember(PLAIN, reference=s),
    "why it is pinned": _pinned,
    "why it is revised": _revised,
    "why it is forgotten": _forgot,
    "why it is proposed": lambda m, s: m.propose("blue", "goal.colour", 1.0, s),
    "an episode's topic": lambda m, s: m.record_episode("We had lunch and talked", topics=[s]),
    "an episode's group": lambda m, s: m.record_episode("We had lunch and talked", group=s),
    "a trigger": lambda m, s: m.learn_procedure(s, ["call home", "wait"]),
    "a step": lambda m, s: m.learn_procedure("planning a visit", ["pack", s]),
    "a phase": lambda m, s: m.start_phase(name=s),
    "an item's name": lambda m, s: GraphStore(m).put(("notes",), s, {"value": "x"}),
    "a namespace": lambda m, s: GraphStore(m).put(("notes", s), "one", {"value": "x"}),
    "a file's name": lambda m, s: Items(m, "files").put(f"/memories/{s}.txt", PLAIN),
    "a tool's name": lambda m, s: m.answer("Done.", [{"name": s, "result": "fine"}]),
}


def _agent(engine: Engine) -> ScopedMemory:
    return engine.scope(agent="planner", speaks_for=False, session="s2", project="p")


def _code(act: Callable[[], Any]) -> str:
    """What an act came to: the code of the refusal, where it is one."""
    try:
        came = act()
    except LaminaError as error:
        return error.code
    receipts = getattr(came, "receipts", (came,))
    return next((one.code for one in receipts if getattr(one, "code", "") == "refused_stays"), "came in")


@pytest.mark.parametrize("language", SAID)
def test_no_spelling_brings_it_back(
    language: str, tmp_path: Path, lamina_home: Path, request: pytest.FixtureRequest
) -> None:
    said = SAID[language]
    for place in a_place(request, tmp_path, lamina_home, "sqlite"):
        engine = place.open()
        ana, planner = engine.scope(), _agent(engine)
        memory = ana.remember(said).ids[0]
        ana.forget(memory)
        for name, spelt in SPELLINGS.items():
            assert _code(partial(planner.remember, spelt(said))) == "refused_stays", name
        assert ana.pending() == []
        assert ana.remember(said).decision is Outcome.ADMITTED


@pytest.mark.parametrize("language", SAID)
def test_nothing_beside_the_text_brings_it_back(
    language: str, tmp_path: Path, lamina_home: Path, request: pytest.FixtureRequest
) -> None:
    said = SAID[language]
    for place in a_place(request, tmp_path, lamina_home, "sqlite"):
        engine = place.open()
        planner, other = _agent(engine), engine.scope(user="bob", agent="planner", session="s2")
        ana = engine.scope()
        ana.forget(ana.remember(said).ids[0])
        for name, way in BESIDE.items():
            if name == "tags" and " " not in said:
                continue  # one word
            assert _code(partial(way, other, said)) != "refused_stays", name  # bob did not mind
            assert _code(partial(way, planner, said)) == "refused_stays", name
        assert not [one for one in planner.list(limit=200).items if said in str(one)]
        assert engine.verify_audit().findings == ()


@pytest.mark.parametrize("language", SAID)
def test_words_cut_between_the_items_of_a_list_are_read_together(engine: Engine, language: str) -> None:
    """By the number of a step, the sign of an item, or a tag: wherever the statement is cut."""
    said = SAID[language]
    ana, planner = engine.scope(), _agent(engine)
    ana.forget(ana.remember(said).ids[0])
    for at in range(3, len(said) - 3, 4):
        one, other = said[:at], said[at:]
        for name, way in {
            "steps": partial(planner.learn_procedure, "planning a visit", [one, other]),
            "items": partial(planner.remember, f"Notes\n- {one}\n- {other}\n- wind"),
            "a tag": partial(planner.remember, one, tags=[other]),
        }.items():
            assert _code(way) == "refused_stays", (name, at)


def test_what_is_written_with_other_signs_or_numbers_is_something_else(engine: Engine) -> None:
    ana, planner = engine.scope(), _agent(engine)
    for said in ("I am good at C", "The rent is 15 euros", "我们有二十三个员工", "Release 2 is out at last"):
        ana.forget(ana.remember(said).ids[0])
    for other in (
        "I am good at C++",
        "The rent is 1.5 euros",
        "我们有三十二个员工",
        "Release 3 is out at last",
    ):
        assert planner.remember(other).decision is Outcome.ADMITTED, other


def test_a_flood_of_look_alikes_brings_nothing_back(engine: Engine) -> None:
    """Every letter by chance one that is drawn like it, of six alphabets."""
    alike = {
        "a": "аɑα",
        "e": "еҽ℮",
        "o": "оοօ",
        "i": "іιꙇ",
        "s": "ѕꜱƽ",
        "r": "ᴦꭇ",
        "T": "ТᎢ",
        "R": "Ꮢᖇ",
        "M": "МᎷ",
    }
    ana, agent = engine.scope(), engine.scope(agent="planner", speaks_for=False)
    ana.forget(ana.remember(SAID["en"]).ids[0])
    chance = Random(20)
    for _ in range(40):
        said = "".join(chance.choice([char, *alike.get(char, "")]) for char in SAID["en"])
        assert agent.remember(said).code == "refused_stays", said.encode("unicode_escape")
    assert [(one.tries, one.tried_by) for one in ana.noes()] == [(40, "agent:planner")]
