"""What 64 KB of text made to be dear costs `hear`, in milliseconds of the processor.

    python -m bench.hostile [--kb 64] [--slowest] [--store URL]

Each kind is one text in English, Thai and Chinese. Beside it stands what a fixed loop of a million steps
costs at that moment, because a machine that others use is slower; and how many times more than a quarter of
the text it costs, because time has to grow with the text and no faster.
"""

from __future__ import annotations

import argparse
import base64
import cProfile
import os
import pstats
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import lamina
from lamina.scoped import ScopedMemory

_WORDS = {
    "en": ("remember that I like tea", "forget my password", "my name is Bob", "tea"),
    "th": ("จำไว้ว่าฉันชอบชา", "ลืมรหัสผ่านของฉัน", "ฉันชื่อบ๊อบ", "ชา"),
    "zh": ("请记住我喜欢喝茶", "忘记我的密码", "我叫小明", "茶"),
}
_CHANCE = random.Random(20261118)


def _digits(_: Sequence[str]) -> str:
    return "".join(_CHANCE.choices("0123456789 -", k=4096))


def _encoded(words: Sequence[str]) -> str:
    return base64.b64encode(" ".join([*words] * 40).encode()).decode() + "\n"


def _nested(words: Sequence[str]) -> str:
    return "".join(f"{'  ' * depth}- > **{words[depth % 3]}** `{words[3]}`\n" for depth in range(30))


#: What is repeated until the text is long enough.
KINDS: dict[str, Callable[[Sequence[str]], str]] = {
    "commands": lambda words: f"{words[0]}. {words[1]}. ",
    "commands without a stop": lambda words: f"{words[0]} ",
    "one word": lambda words: f"{words[3]} ",
    "one long word": lambda words: words[3],
    "quotes": lambda words: f"\"'“「`{words[3]}",
    "quotes in quotes": lambda words: f'he said "{words[0]}" and ',
    "brackets": lambda words: f"([{{{words[3]}",
    "closed brackets": lambda words: f"({words[0]}) ",
    "colons": lambda words: f"{words[3]}: ",
    "names and colons": lambda words: f"Ana: {words[0]}\nBob: {words[1]}\n",
    "key and value": lambda words: f"password{words[3]}: {words[3]}1; token=",
    "base64": _encoded,
    "digits": _digits,
    "look-alikes": lambda words: f"rеmеmbеr thаt {words[2]} рassword is ",
    "zero-width": lambda words: "\u200b".join(words[0]) + " ",
    "combining marks": lambda words: "\u0301".join(words[0]) + " ",
    "short lines": lambda words: f"{words[3]}\n",
    "short commands in lines": lambda words: f"- {words[0]}\n",
    "nested markdown": _nested,
    "table": lambda words: f"| {words[0]} | {words[1]} |\n|---|---|\n",
    "code": lambda words: f"def f(x): return {{'a': [x, '{words[0]}']}}  # {words[1]}\n",
    "questions": lambda words: f"{words[0]}? ",
    "commas": lambda words: f"{words[3]}, ",
    "dots": lambda words: f"{words[3]}.",
    "corrections": lambda words: f"no, not {words[3]} but {words[3]}, I mean {words[2]}; ",
    "addresses": lambda words: f"https://{words[3]}.example/?a=%20{words[3]} ana@example.org ",
    "emoji": lambda words: f"👍🏽{words[3]}👨‍👩‍👧 ",
    "commands, each another": lambda words: "".join(f"{words[0]} {number}. " for number in range(4000)),
    "corrections, each another": lambda words: "".join(
        f"no, not {words[3]} {number} but {words[3]} {number}a; " for number in range(4000)
    ),
    "right to left": lambda words: f"\u202e{words[0]}\u202c ",
}


def text_of(kind: str, language: str, size: int) -> str:
    """A text of this kind of so many bytes or slightly fewer."""
    unit = KINDS[kind](_WORDS[language])
    whole = unit * (1 + size // len(unit.encode()))
    return whole.encode()[:size].decode(errors="ignore")


def _loop() -> float:
    start, total = time.thread_time(), 0
    for number in range(1_000_000):
        total += number % 7
    return time.thread_time() - start


def _spent(memory: ScopedMemory, text: str) -> float:
    start = time.process_time()
    memory.hear(text)
    return time.process_time() - start


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench.hostile", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--kb", type=int, default=64)
    parser.add_argument("--kinds", default="", help="those alone, separated by ;")
    parser.add_argument("--slowest", action="store_true", help="profile the dearest text")
    parser.add_argument("--store", help="measure this store instead of SQLite")
    options = parser.parse_args(arguments)
    settings = {"store": options.store} if options.store else {}
    kinds = options.kinds.split(";") if options.kinds else list(KINDS)
    size, dearest = options.kb * 1024, (0.0, "", "")
    with tempfile.TemporaryDirectory(prefix="lamina-hostile-") as folder:
        os.environ["LAMINA_HOME"] = f"{folder}/home"
        with lamina.open(Path(folder) / "w", owner="ana", **settings) as engine:
            print(
                "| 64 KB of | "
                + " | ".join(_WORDS)
                + " | against a quarter of it | loop |\n|---|---:|---:|---:|---:|---:|"
            )
            for language in _WORDS:  # patterns are compiled when something first needs them
                engine.scope(user="first").hear(text_of("commands", language, 512))
            for number, kind in enumerate(kinds):
                took, growth = list[float](), list[float]()
                for language in _WORDS:
                    memory = engine.scope(user=f"{language}{number}", session="s")
                    short = max(_spent(memory, text_of(kind, language, size // 4)), 1e-3)
                    took.append(_spent(memory, text_of(kind, language, size)))
                    growth.append(took[-1] / short)
                    dearest = max(dearest, (took[-1], kind, language))
                row = " | ".join(f"{1e3 * value:.0f}" for value in took)
                print(f"| {kind} | {row} | {max(growth):.1f} | {1e3 * _loop():.0f} |", flush=True)
            if options.slowest:
                memory = engine.scope(user="again", session="s")
                memory.hear(text_of(dearest[1], dearest[2], size // 4))
                with cProfile.Profile() as profile:
                    memory.hear(text_of(dearest[1], dearest[2], size))
                print(dearest)
                pstats.Stats(profile).sort_stats("cumulative").print_stats("lamina", 60)
    return 0


if __name__ == "__main__":
    sys.exit(main())
