"""`python -m tools.decisions`: trains the decision head from the data beside this file, writes its weights.

python -m tools.decisions              # train on everything, write src/lamina/language/data/decision_head.*
python -m tools.decisions --judge      # leave each writer out in turn and print what is found at first sight
python -m tools.decisions --curve      # the same with 25, 50 and 100 % of the data
python -m tools.decisions --add WRITER FILE   # take rows `kind<TAB>text` into the data
python -m tools.decisions --context    # train what weighs a sentence where it stands, write its weights
python -m tools.decisions --links      # fit which decision a new one changes, print weights and figures
python -m tools.decisions --left-out   # replay each fortnight by weights and a head that did not learn it
python -m tools.decisions --fortnights [NAME…]   # replay written fortnights, print what was found and linked
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from lamina.encoders.reading import ReadingEncoder
from tools.decisions.fortnight import fortnights
from tools.decisions.fortnight import judge as judge_fortnight
from tools.decisions.rows import add, load
from tools.decisions.talk import rows as talk_rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.decisions", description=__doc__)
    parser.add_argument("--judge", action="store_true", help="leave each writer out in turn")
    parser.add_argument("--curve", action="store_true", help="judge with parts of the data")
    parser.add_argument("--add", nargs=2, metavar=("WRITER", "FILE"), action="append", default=[])
    parser.add_argument(
        "--states", type=Path, help="a file that keeps what the encoder read, for the next time"
    )
    parser.add_argument("--context", action="store_true", help="train what weighs a sentence in its place")
    parser.add_argument("--links", action="store_true", help="fit which decision another changes")
    parser.add_argument("--left-out", action="store_true", help="replay fortnights that were not learnt")
    parser.add_argument("--fortnights", nargs="*", metavar="NAME")
    parser.add_argument("--show", action="store_true", help="what was missed and what was none")
    options = parser.parse_args()
    if options.fortnights is not None:
        for one in fortnights(options.fortnights):
            judge_fortnight(one, ReadingEncoder(), show=options.show)
        return
    for writer, file in options.add:
        print(f"{writer}: {add(writer, Path(file))} rows")
    train = import_module("tools.decisions.train")  # needs torch and scipy; a replay does not
    if options.links:
        links = import_module("tools.decisions.links")
        links.fit_and_judge(fortnights([]), ReadingEncoder())
        return
    rows, states = load(), train.States(options.states)
    if options.context or options.left_out:
        context, reader = import_module("tools.decisions.context"), ReadingEncoder()
        if options.left_out:
            context.judge_left_out(reader, states)
        else:
            context.write(context.models(context.read_all(reader, states)[1]))
        states.keep()
        return
    if options.judge or options.curve:
        for share in (25, 50, 100) if options.curve else (100,):
            print(f"-- {share} % of the data")
            train.judge(rows, share, states)
    elif not options.add:
        train.train_and_write([*rows, *talk_rows(fortnights([]))], states)
    states.keep()


if __name__ == "__main__":
    main()
