"""`python -m tools.decisions`: trains the decision head from the data beside this file, writes its weights.

python -m tools.decisions              # train on everything, write src/lamina/language/data/decision_head.*
python -m tools.decisions --judge      # leave each writer out in turn and print what is found at first sight
python -m tools.decisions --curve      # the same with 25, 50 and 100 % of the data
python -m tools.decisions --add WRITER FILE   # take rows `kind<TAB>text` into the data
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.decisions.rows import add, load
from tools.decisions.train import judge, train_and_write


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.decisions", description=__doc__)
    parser.add_argument("--judge", action="store_true", help="leave each writer out in turn")
    parser.add_argument("--curve", action="store_true", help="judge with parts of the data")
    parser.add_argument("--add", nargs=2, metavar=("WRITER", "FILE"), action="append", default=[])
    options = parser.parse_args()
    for writer, file in options.add:
        print(f"{writer}: {add(writer, Path(file))} rows")
    rows = load()
    if options.judge or options.curve:
        for share in (25, 50, 100) if options.curve else (100,):
            print(f"-- {share} % of the data")
            judge(rows, share)
        return
    if not options.add:
        train_and_write(rows)


if __name__ == "__main__":
    main()
