"""The figures that decide, in one table: `make bench`, or `python -m bench`.

What people say and ask (lists by other hands), what a command costs from nothing, and remember and recall
against plain SQLite with FTS5 in the same run. The programs beside this one go into each of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.engine import measure
from bench.start import least_seconds
from bench.talk import shares

Figure = tuple[str, str, str]


def main() -> None:
    """Measure, and print each figure as it is there."""
    print(f"{'what':44} {'figure':>9}  unit")
    for what, figure, unit in figures():
        print(f"{what:44} {figure:>9}  {unit}", flush=True)


def figures() -> Iterator[Figure]:
    """Every figure: what is measured, how much, of what."""
    for name, title in (("test", "said"), ("odd", "said oddly"), ("pairs", "asked in other words")):
        for kind, share in shares(name).items():
            yield f"{title}: {kind.replace('_', ' ')}", f"{share:.0f}", "% right"
    least = least_seconds(3)
    numpy = least["python -c 'import numpy'"]
    for command, seconds in least.items():
        if command.startswith("lamina"):
            yield f"{command}, from nothing", f"{seconds / numpy:.1f}", "times `import numpy`"
    for size in (1_000, 10_000):
        row = measure(size, 1, 100, None)
        yield f"remember, {size:,} memories", f"{row['write_ratio']:.1f}", "times an insert into FTS5"
        yield f"recall, {size:,} memories", f"{row['recall_ratio']:.1f}", "times a match in FTS5"
        yield f"bytes a memory, {size:,} memories", f"{row['bytes_per_memory']:,}", "bytes"


if __name__ == "__main__":
    main()
