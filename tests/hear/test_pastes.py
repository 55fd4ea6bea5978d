"""A paste is kept and searched; what it asks for is looked for where its person speaks, at a bounded cost."""

from __future__ import annotations

import time

import pytest

from lamina.engine import Engine
from lamina.hear.about import known_to
from lamina.language.command import Action
from lamina.language.commands import commands
from lamina.language.hearing import hear
from lamina.language.rulebook import rulebook
from lamina.language.understanding import LONGEST, ends_of
from lamina.model import Heard
from lamina.write.store import Caller

LOG = "2026-11-18 10:31 worker 7 wrote 4096 bytes in 12 ms and went on with the next of its batches\n"

UNITS = [
    "the quick brown fox jumps over the lazy dog and my name is Bob and ",
    "remember that I like tea. ",
    "ผมชื่อสมชาย อยู่กรุงเทพ ",
    "请记住我喜欢茶",
    "(",
    "a\n",
    "a, ",
    "why? ",
    "my ",
    "def f(x):\n    return {'a': [x, (1, 2)]}  # remember this\n",
    "rеmеmbеr thаt I likе tеа ",
    "👍🏽 ok ",
]


def _yardstick() -> float:
    """What a fixed piece of work costs on this machine, now; a tenth of a second where nothing else runs."""
    start = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number % 7
    return time.process_time() - start


@pytest.mark.parametrize("unit", UNITS)
def test_64_kilobytes_of_anything_do_not_cost_the_square(engine: Engine, unit: str) -> None:
    """What grew with the square took six seconds and more; `bench.hostile` measures what it costs."""
    text = unit * (65_536 // len(unit.encode()))
    memory = engine.scope()
    memory.hear(unit * 12)  # patterns are compiled when something first needs them
    allowed = 60 * _yardstick()
    start = time.process_time()
    assert isinstance(memory.hear(text), Heard)
    assert time.process_time() - start < max(3.0, allowed)


def test_turns_after_pastes_cost_what_others_do(engine: Engine) -> None:
    memory = engine.scope()
    for number in range(12):
        memory.hear(f"{number}" + LOG * 600)
    start = time.process_time()
    memory.hear("What a nice day.")
    assert time.process_time() - start < max(1.5, 15 * _yardstick())


def test_what_a_paste_is_is_read_where_its_person_speaks() -> None:
    said = "What went wrong here?"
    assert ends_of(LOG) == LOG
    assert ends_of(said + "\n" + LOG * 600) == (said + "\n" + LOG * 600)[:LONGEST]
    assert ends_of(LOG * 600 + "\n\n" + said).endswith("\n\n" + said)
    fenced = f"```\n{LOG * 600}```\n{said}"
    assert ends_of(fenced).endswith("\n\n" + said)
    assert hear(ends_of(fenced), rulebook()).said.endswith(said.lower())
    assert len(ends_of(f"{said}\n```\n{LOG * 600}I am Bob.")) <= LONGEST + 4, "nobody closed the fence"


@pytest.mark.parametrize("before", [0, 100, 300])
def test_a_command_in_the_midst_of_a_paste_is_still_one(before: int) -> None:
    text = LOG * before + "\n\nRemember that I like tea.\n\n" + LOG * 300
    assert [one.value for one in commands(text)] == ["I like tea"]


def test_what_is_asked_twice_in_a_row_is_asked_once() -> None:
    assert [one.value for one in commands("Remember that I like tea. " * 9)] == ["I like tea"]
    both = commands("Remember that I like tea. Forget that I like tea. Remember that I like tea.")
    assert [one.action for one in both] == [Action.REMEMBER, Action.FORGET, Action.REMEMBER]


def test_a_message_puts_eight_things_right_at_most() -> None:
    asked = commands("".join(f"no, not tea {number} but tea {number}a; " for number in range(400)))
    assert [one.action for one in asked] == [Action.CORRECT] * 8


def test_nobody_puts_a_paste_right_by_a_word(engine: Engine) -> None:
    memory = engine.scope()
    memory.hear("The kiln is blue.")
    memory.hear("The kiln is red and the clay is dry, says the log.\n" + LOG * 600)
    known = [one.text for one, _ in known_to(Caller(memory.store, memory.in_session), "The kiln is green.")]
    assert "The kiln is blue." in known
    assert all(len(text) <= LONGEST for text in known)
