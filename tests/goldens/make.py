"""The contract's scenarios and the events that come of them; `python -m tests.goldens.make` writes them.

Every scenario has a user, a session and a project of its own, so that any number of them may run at once in
one store: what each tells is the same whatever the others do. The policy is written once, not in each event.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lamina
from lamina.engine import Engine
from lamina.model import plain
from lamina.scoped import ScopedMemory
from lamina.testing import ManualClock

HERE = Path(__file__).parent
POLICY = 'extends = "normal"\nshort_term_turns = 2\n'
SHOWN = "(the policy above)"

Step = tuple[str, Callable[[ScopedMemory], Sequence[Mapping[str, Any]]]]


def turn(text: str) -> Step:
    """What an agent does with a message: it recalls, it answers, the turn is heard."""

    def act(mind: ScopedMemory) -> Sequence[Mapping[str, Any]]:
        found = mind.recall(text, trace=True)
        heard = mind.hear(text, reply=f"[mock-model] {text} | mem:{len(found)}")
        return [*found.events, *heard.events]

    return text, act


def _last(mind: ScopedMemory, act: Callable[[], Any]) -> Sequence[Mapping[str, Any]]:
    known = {event.seq for event in mind.trace(1000)}
    act()
    return [event.data for event in mind.trace(1000) if event.seq not in known]


def phase(name: str) -> Step:
    return f"(phase {name})", lambda mind: _last(mind, lambda: mind.start_phase(name=name))


def diff(before: int, after: int) -> Step:
    return f"(diff {before} {after})", lambda mind: _last(mind, lambda: mind.phase_diff(before, after))


SCENARIOS: dict[str, tuple[Step, ...]] = {
    "memory_trace": (turn("Hello"), turn("Hello")),
    "memory_governance": (
        turn("My name is Ada."),
        turn("My name is Ada Lovelace."),
        turn("my password is hunter2-Blue42"),
        turn("Actually, my name is Ada King."),
        turn("My name is Ada."),
    ),
    "memory_spaces": (
        turn("Remember this for me: I prefer dark mode."),
        turn("Remember this for the project: We decided to use Rust."),
        turn("Remember this for everyone: We release weekly."),
        turn("Remember this for me: my name is Ada."),
    ),
    "memory_phase": (
        turn("My name is Ada."),
        phase("phase-2"),
        turn("Actually, my name is Ada Lovelace."),
        diff(1, 2),
        turn("My name is Ada Lovelace."),
        phase("third"),
        turn("My name is Ada Lovelace."),
        diff(2, 3),
    ),
    "trilingual": (
        turn("ฉันชื่ออาดา"),
        turn("จำไว้ให้ฉันหน่อย: ฉันชอบโหมดมืด"),
        turn("รหัสผ่านของฉันคือ hunter2-Blue42"),
        turn("我的名字是爱达。"),
        turn("帮我记住：我喜欢深色模式。"),
        turn("我的密码是 hunter2-Blue42"),
        turn("我的名字是愛達。"),
        turn("幫我記住：我喜歡淺色模式。"),
        turn("為專案記住：我們決定使用Rust。"),
        turn("I prefer green tea."),
        turn("谢谢"),
        turn("ขอบคุณครับ"),
    ),
}


def told(engine: Engine, name: str, user: str = "", session: str = "s") -> str:
    """What a scenario comes to, as the text of its golden file."""
    mind = engine.scope(user=user or name, session=session, project=user or name)
    policy = engine.ruleset.snapshot
    steps = []
    for what, act in SCENARIOS[name]:
        events = [
            {key: SHOWN if value == policy else value for key, value in event.items()} for event in act(mind)
        ]
        steps.append({"step": what, "events": plain(events)})
    whole = {"scenario": name, "policy": policy, "steps": steps}
    return json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def opened(folder: Path, store: str) -> Engine:
    """An engine with the goldens' policy, which is named as a file right here whatever the folder is."""
    os.chdir(folder)
    Path("golden.toml").write_text(POLICY, "utf-8")
    Path("audit.key").write_bytes(b"goldens".ljust(32, b"."))  # the fingerprints of what is refused are keyed
    settings = {"store": store} if store else {}
    environment = {"LAMINA_HOME": str(folder / "home")}
    return lamina.open(
        folder / "w",
        policy="golden.toml",
        audit_key_file="audit.key",
        clock=ManualClock(),
        environment=environment,
        embedder="static",  # goldens outlive a model that is trained further
        understanding=False,
        **settings,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--store", default="", help="PostgreSQL instead of a file")
    parser.add_argument("--together", action="store_true", help="all scenarios at once, in threads")
    options = parser.parse_args(arguments)
    out = options.out.absolute()
    with tempfile.TemporaryDirectory(prefix="lamina-goldens-") as folder:
        with opened(Path(folder), options.store) as engine:
            if options.together:
                sys.setswitchinterval(1e-5)
                with ThreadPoolExecutor(len(SCENARIOS)) as pool:
                    texts = dict(
                        zip(SCENARIOS, pool.map(lambda name: told(engine, name), SCENARIOS), strict=True)
                    )
            else:
                texts = {name: told(engine, name) for name in SCENARIOS}
        os.chdir(out)
    for name, text in texts.items():
        (out / f"{name}.json").write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
