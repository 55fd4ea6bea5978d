"""One fault in one piece of work: a process that it strikes, and another that looks at what is left."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from lamina.errors import LaminaError
from tests.faults.disk import put_down
from tests.faults.layer import KILLED, Fault, Layer, leaps
from tests.faults.works import Work, World, at_home

Pipe = tuple[Callable[..., None], Callable[[], None]]  #: to say something, and to wait for an answer


@dataclass
class Said:
    """What a process that was struck had said before."""

    acknowledged: int = 0
    trying: int | None = None
    told: list[str] = field(default_factory=list)  #: the codes of errors that a caller got
    wrong: list[str] = field(default_factory=list)  #: what no caller should ever get
    points: list[str] = field(default_factory=list)  #: what each was, where nothing was to strike
    struck: str = ""
    killed: bool = False

    def hear(self, words: list[Any]) -> None:
        match words:
            case ["try", number]:
                self.trying = number
            case ["ack", number]:
                self.acknowledged, self.trying = number + 1, None
            case ["told", code]:
                self.told.append(code)
            case ["wrong", text]:
                self.wrong.append(text)
            case ["struck", number, what]:
                self.struck = f"{number} ({what})"
            case ["point", what]:
                self.points.append(what)


@contextmanager
def child(task: Callable[[Callable[..., None], Callable[[], None]], None]) -> Iterator[tuple[int, int, int]]:
    """A fork that does a task: its number, where it speaks, and where it waits for an answer."""
    heard, speaks = os.pipe()
    waits, answers = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    number = os.fork()
    if number == 0:
        code = 1
        try:
            os.close(heard)
            os.close(answers)
            write = os.write

            def tell(*words: Any) -> None:
                write(speaks, (json.dumps(words) + "\n").encode())

            _quietly(tell)
            task(tell, lambda: os.read(waits, 1) and None)
            code = 0
        except BaseException:  # noqa: BLE001 a process ends here, whatever it was
            with suppress(OSError):
                tell("wrong", traceback.format_exc()[-3000:])
        finally:
            os._exit(code)
    os.close(speaks)
    os.close(waits)
    try:
        yield number, heard, answers
    finally:
        os.close(heard)
        os.close(answers)


def _quietly(tell: Callable[..., None]) -> None:
    """What a thread or a destructor prints is no less wrong for that nobody catches it."""
    threading.excepthook = lambda given: tell(
        "wrong", f"thread: {given.exc_type.__name__}: {given.exc_value}"
    )
    sys.unraisablehook = lambda given: tell("wrong", f"unraisable: {given.exc_value!r} in {given.object!r}")


def lines_of(fd: int) -> Iterator[list[Any]]:
    rest = b""
    while data := os.read(fd, 65_536):
        *lines, rest = (rest + data).split(b"\n")
        yield from map(json.loads, lines)


def ended(number: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


@dataclass
class Bench:
    """Makes places, puts works into them, and strikes."""

    root: Path
    settings: dict[str, Any] = field(default_factory=dict)
    restart: Callable[[], None] | None = None  #: of the database's server
    _made: dict[str, Path] = field(default_factory=dict)
    _number: int = 0

    def template(self, work: Work) -> Path:
        """A place as it is before the work, made once."""
        if work.name not in self._made:
            place = self.root / f"template-{len(self._made)}"
            with child(lambda _, __: self._prepare(work, place)) as (number, heard, _):
                problems = list(lines_of(heard))
                if ended(number) or problems:
                    raise RuntimeError(f"{work.name} cannot be prepared: {problems}")
            self._made[work.name] = place
        return self._made[work.name]

    def _prepare(self, work: Work, place: Path) -> None:
        for name in ("home", "tmp"):
            (place / name).mkdir(parents=True)
        at_home(place)
        tempfile.tempdir = str(place / "tmp")
        world = World(place, self.settings, bare=work.bare)
        world.open()
        work.prepare(world)
        world.close()
        if work.unopened is not None:
            work.unopened(world)

    @contextmanager
    def place(self, work: Work) -> Iterator[Path]:
        """A place of a trial's own; with a shared database it has a tenant of its own there, too."""
        self._number += 1
        place = self.root / f"{os.getpid()}-{self._number}"
        if "store" in self.settings:
            self.settings["tenant"] = place.name
            with child(lambda _, __: self._prepare(work, place)) as (number, heard, _):
                problems = list(lines_of(heard))
                if ended(number) or problems:
                    raise RuntimeError(f"{work.name} cannot be prepared: {problems}")
            if work.unopened is not None:  # the key went with the place; what it sealed stays another's
                self.settings["tenant"] = f"{place.name}-anew"
        else:
            shutil.copytree(self.template(work), place)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def act(
        self, work: Work, place: Path, fault: Fault, seed: int, cut: Callable[..., None] | None = None
    ) -> Said:
        """Do the work in a process of its own and strike at a point."""
        said = Said()
        with child(lambda tell, wait: self._act(work, place, fault, seed, (tell, wait))) as (
            number,
            heard,
            answers,
        ):
            for words in lines_of(heard):
                if words[0] == "cut":
                    if cut is not None:
                        cut(said, *words[1:])
                    os.write(answers, b".")
                elif words[0] == "restart":
                    assert self.restart is not None
                    self.restart()
                    os.write(answers, b".")
                else:
                    said.hear(words)
            code = ended(number)
            said.killed = code == KILLED
            if code not in (0, KILLED) and not said.wrong:
                said.wrong.append(f"the process ended with {code}")
        return said

    def _act(
        self,
        work: Work,
        place: Path,
        fault: Fault,
        seed: int,
        pipe: tuple[Callable[..., None], Callable[[], None]],
    ) -> None:
        tell, wait = pipe
        at_home(place)
        tempfile.tempdir = str(place / "tmp")
        world = World(place, self.settings, bare=work.bare)
        world.clock.advance(hours=work.hours)
        chance = random.Random(seed)

        def struck(word: str, number: int, what: str) -> None:
            if word == "cut":
                if layer.disk is None or number % max(1, fault.at) != seed % max(1, fault.at):
                    return
                mixed = chance.random() < 0.5
                left = layer.disk.left(chance if mixed else None)
                put_down(left, place.with_name(f"{place.name}-cut"))
                tell(word, number, f"{what}{', mixed' if mixed else ''}")
                wait()
            elif word == "point":
                tell(word, what)
            else:
                tell(word, number, what)
                if fault.kind == "restart":
                    tell("restart")
                    wait()

        layer = Layer(place, fault, struck)
        layer.jump = lambda: setattr(world.clock, "at", world.clock.at + timedelta(seconds=leaps(seed)))
        if layer.disk is not None:
            world.synced = layer.disk.settle_below
        layer.install()
        layer.arm()
        attempt = _Attempt(layer, tell)
        if not work.shut:
            attempt.make(world.open)
        for number, step in enumerate(work.steps):
            tell("try", number)
            if attempt.make(lambda step=step: step.act(world)):
                tell("ack", number)
            else:
                break  # it stays open whether it was done
        with suppress(LaminaError):
            world.close()

    def check(self, work: Work, place: Path, said: Said, seed: int) -> list[str]:
        """What is wrong with what is left; empty where every promise was kept."""
        with child(lambda tell, _: self._check(work, place, said, seed, tell)) as (number, heard, _):
            found = [str(words[-1]) for words in lines_of(heard) if words[0] == "wrong"]
            code = ended(number)
        return found if found or not code else [f"looking ended with {code}"]

    def _check(self, work: Work, place: Path, said: Said, seed: int, tell: Callable[..., None]) -> None:
        at_home(place)
        (place / "tmp").mkdir(exist_ok=True)
        tempfile.tempdir = str(place / "tmp")
        world = World(place, self.settings, bare=work.bare)
        world.clock.advance(hours=work.hours + 1 + seed % 3, seconds=leaps(seed))
        world.open()
        assert world.engine is not None
        for number, step in enumerate(work.steps):
            if number < said.acknowledged:
                if not step.after(world):
                    tell("wrong", f"step {number} was acknowledged and is not there")
            elif number == said.trying or said.told:
                if not (step.in_parts or step.before(world) or step.after(world)):
                    tell("wrong", f"step {number} is half done")
            elif not step.before(world):
                tell("wrong", f"step {number} was not tried and is not as it was before")
        _sound(world, tell)
        _found(world, random.Random(seed), tell)
        number = said.acknowledged
        if number < len(work.steps):
            if work.shut:
                world.close()
            with suppress(LaminaError):  # what is done need not be possible twice
                work.steps[number].act(world)
            if work.shut:
                world.open()
            if not work.steps[number].after(world):
                tell("wrong", f"step {number} cannot be done again")
        world.mind.remember("After the fault")
        world.close()
        world.open()
        if "active" not in world.states("After the fault"):
            tell("wrong", "nothing can be kept any more")
        _sound(world, tell)
        world.close()


class _Attempt:
    """Does something; where the fault makes it fail with a plain word, once more when the fault is over."""

    def __init__(self, layer: Layer, tell: Callable[..., None]) -> None:
        self._layer = layer
        self._tell = tell

    def make(self, act: Callable[[], Any]) -> bool:
        """Whether it was done in the end."""
        try:
            act()
        except LaminaError as error:
            self._tell("told", error.code)
            if not error.message or not error.hint:
                self._tell("wrong", f"an error without a hint: {error!r}")
            if not self._layer.struck:
                self._tell("wrong", f"refused without a fault: {error!r}")
        else:
            return True
        self._layer.lift()
        try:
            act()
        except LaminaError as error:
            self._tell("told", error.code)
            return False
        return True


def _sound(world: World, tell: Callable[..., None]) -> None:
    """The promises that hold whatever happened."""
    assert world.engine is not None
    report = world.engine.verify_audit()
    if report.findings:
        tell("wrong", f"the audit finds {report.findings[:3]}")
    status = world.engine.status()
    if status.problems or status.pending_operations:
        tell("wrong", f"left over: {status.problems[:3]} {status.pending_operations}")
    if damage := world.engine.database.check():
        tell("wrong", f"the database says {damage[:3]}")


def _found(world: World, chance: random.Random, tell: Callable[..., None]) -> None:
    """What is active is found by its words, whatever the clock says."""
    texts = sorted(one.text for one in world.mind.list().items if one.state == "active")
    if texts and (text := chance.choice(texts)) not in [
        hit.text for hit in world.mind.recall(text, k=20).hits
    ]:
        tell("wrong", f"not found by its own words: {text}")
