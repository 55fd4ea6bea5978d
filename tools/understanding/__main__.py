"""Makes the model that tells sorts of sentences apart.

    python -m tools.understanding gather FOLDER… [--judges PATH…]   sentences (TSV) into the tree
    python -m tools.understanding train [--dev FOLDER] [--curve]    the model into the package, with figures

`gather` leaves out near-duplicates of the texts of lists that judge. `train` sets the thresholds so that few
enough sentences that are to be left alone are taken for something, across folds by writer and in the lists of
`--dev` (utterances.<language>.jsonl), whichever is stricter.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lamina.language.features import Hashes
from lamina.language.sorts import LEFT, Sort, Sorter
from lamina.language.understanding import OWN, is_own
from lamina.language.view import view_of
from tools.understanding import rows as data
from tools.understanding.rows import LANGUAGES, Row
from tools.understanding.train import fit, save, seen

MODEL = Path("src/lamina/language/data/sorts.bin")
FOLDS = 3
#: Of the sentences that are to be left alone, so many in a thousand may be taken for each sort. Ours are near
#: misses, written to be taken for something; those of a list by somebody else are as people talk.
NEAR_MISSES = {
    OWN: 130,
    Sort.LASTING: 50,
    Sort.REMEMBER: 14,
    Sort.SET: 16,
    Sort.TEMPORARY: 8,
    Sort.FORGET: 10,
    Sort.CORRECT: 16,
}
#: No threshold is lower than this, whatever the lists say, which are small.
FLOORS = {
    OWN: 300,
    Sort.LASTING: 800,
    Sort.REMEMBER: 450,
    Sort.SET: 750,
    Sort.TEMPORARY: 700,
    Sort.FORGET: 450,
    Sort.CORRECT: 550,
}
ORDINARY = {OWN: 40, Sort.LASTING: 20}
_HEARD = {"self_fact": Sort.LASTING}


class Scored(NamedTuple):
    """A sentence, what it is (None for ordinary talk of whatever sort), and what the model says of it."""

    language: str
    wanted: Sort | None
    scores: dict[Sort, int]
    own: bool  #: it begins with its speaker

    @property
    def best(self) -> Sort:
        return max(self.scores, key=lambda sort: self.scores[sort])

    @property
    def margin(self) -> int:
        return self.scores[self.best] - max(self.scores[one] for one in LEFT)

    @property
    def limit(self) -> str:
        """The name of the threshold that it has to pass."""
        return OWN if self.own and self.best is Sort.LASTING else self.best

    @property
    def is_left(self) -> bool:
        return self.wanted is None or self.wanted in LEFT


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.understanding", description=(__doc__ or "").split("\n")[0])
    steps = parser.add_subparsers(dest="step", required=True)
    gather = steps.add_parser("gather")
    gather.add_argument("folders", type=Path, nargs="+")
    gather.add_argument("--judges", type=Path, nargs="*", default=[])
    train = steps.add_parser("train")
    train.add_argument("--dev", type=Path)
    train.add_argument("--curve", action="store_true")
    chosen = parser.parse_args()
    if chosen.step == "gather":
        found = data.gather(chosen.folders)
        kept = data.apart(found, data.judging(chosen.judges))
        data.write(kept)
        count = Counter(row.language for row in kept)
        gone = len(found) - len(kept)
        print(f"{len(kept)} sentences ({dict(sorted(count.items()))}), {gone} too like a judge's")
        return
    rows = data.read()
    make(rows, chosen.dev, curve=chosen.curve)


def make(rows: Sequence[Row], dev: Path | None, *, curve: bool) -> None:
    """Train, judge, choose thresholds, write the model and print its figures."""
    inputs = seen(rows)
    folded = _across_folds(rows, inputs)
    print("across folds, sentences of writers' batches that were not trained on:")
    _table(folded)
    _confusion(folded)
    model = fit(inputs, [row.sort for row in rows])
    unseen = _dev(model, dev) if dev else []
    thresholds = _thresholds(folded, unseen)
    model = replace(model, thresholds=thresholds)
    for name, scored in (("folds", folded), ("dev", unseen)):
        _decided(name, scored, thresholds)
    if curve:
        _curve(rows, inputs)
    card = {"version": 1, "rows": len(rows), "data": data.digest(rows)}
    save(model, MODEL, card)
    print(f"{MODEL}: {MODEL.stat().st_size:,} bytes; thresholds {thresholds}")


def _across_folds(rows: Sequence[Row], inputs: Sequence[Hashes]) -> list[Scored]:
    groups = sorted({row.writer for row in rows})
    random.Random(1).shuffle(groups)
    scored: list[Scored] = []
    for fold in range(FOLDS):
        held = {one for at, one in enumerate(groups) if at % FOLDS == fold}
        train = [at for at, row in enumerate(rows) if row.writer not in held]
        if not held or not train:
            continue
        model = fit([inputs[at] for at in train], [rows[at].sort for at in train])
        scored += [
            Scored(row.language, row.sort, model.scores(inputs[at]), _begins_with_speaker(row.text))
            for at, row in enumerate(rows)
            if row.writer in held
        ]
    return scored


def _begins_with_speaker(text: str) -> bool:
    return is_own(view_of(text).text)


def _dev(model: Sorter, folder: Path) -> list[Scored]:
    scored: list[Scored] = []
    for language in LANGUAGES:
        lines = (folder / f"utterances.{language}.jsonl").read_text("utf-8").splitlines()
        found = [json.loads(line) for line in lines if line.strip()]
        inputs = seen([Row(language, Sort.CHAT, "", row["text"]) for row in found])
        for row, hashes in zip(found, inputs, strict=True):
            label = row["label"]
            wanted = None if label == "none" else _HEARD.get(label) or Sort(label)
            scored.append(Scored(language, wanted, model.scores(hashes), _begins_with_speaker(row["text"])))
    return scored


def _thresholds(folded: Sequence[Scored], unseen: Sequence[Scored]) -> dict[str, int]:
    """For each sort the margin above which few enough sentences are that are to be left alone."""
    found: dict[str, int] = {}
    for name, near in NEAR_MISSES.items():
        limits = [FLOORS[name]]
        for scored, alarms in ((folded, near), (unseen, ORDINARY.get(name, 0))):
            plain = [one for one in scored if one.is_left]
            if name in (OWN, Sort.LASTING):
                plain = [one for one in plain if one.own is (name == OWN)]
            wrong = sorted((one.margin for one in plain if one.limit == name), reverse=True)
            allowed = len(plain) * alarms // 1000
            limits.append(wrong[allowed] + 1 if len(wrong) > allowed else 0)
        found[name] = max(limits)
    return found


def _table(scored: Sequence[Scored]) -> None:
    print(f"{'':14}" + "".join(f"{one:>8}" for one in LANGUAGES) + "   right of all")
    for sort in Sort:
        shares = []
        for language in LANGUAGES:
            own = [one for one in scored if one.wanted is sort and one.language == language]
            right = sum(one.best is sort or (sort in LEFT and one.best in LEFT) for one in own)
            shares.append(f"{100 * right / len(own):7.1f}" if own else "      -")
        print(f"{sort:14}" + " ".join(shares))


def _confusion(scored: Sequence[Scored]) -> None:
    name = {sort: "left" if sort in LEFT else str(sort) for sort in Sort}
    counts = Counter((name[one.wanted], name[one.best]) for one in scored if one.wanted is not None)
    names = list(dict.fromkeys(name.values()))
    print(f"{'wanted / found':14}" + "".join(f"{one[:7]:>8}" for one in names))
    for one in names:
        print(f"{one:14}" + "".join(f"{counts[one, other]:8}" for other in names))


def _decided(name: str, scored: Sequence[Scored], thresholds: dict[str, int]) -> None:
    """What comes of the thresholds: hits by language, and what is left alone."""
    for language in LANGUAGES:
        own = [one for one in scored if one.language == language]
        hits = [one for one in own if not one.is_left]
        plain = [one for one in own if one.is_left]
        right = sum(one.best is one.wanted and one.margin >= thresholds.get(one.limit, 0) for one in hits)
        left = sum(one.best in LEFT or one.margin < thresholds.get(one.limit, 0) for one in plain)
        if hits and plain:
            print(
                f"{name} {language}: {100 * right / len(hits):5.1f} % of {len(hits)} taken for what they are,"
                f" {100 * left / len(plain):5.1f} % of {len(plain)} left alone"
            )


def _curve(rows: Sequence[Row], inputs: Sequence[Hashes]) -> None:
    """How the share that is right grows with the data."""
    order = list(range(len(rows)))
    random.Random(2).shuffle(order)
    held, pool = order[: len(order) // 5], order[len(order) // 5 :]
    for share in (10, 25, 50, 100):
        part = pool[: len(pool) * share // 100]
        model = fit([inputs[at] for at in part], [rows[at].sort for at in part])
        right = {language: [0, 0] for language in LANGUAGES}
        for at in held:
            scores = model.scores(inputs[at])
            best = max(scores, key=lambda sort: scores[sort])
            same = best is rows[at].sort or (best in LEFT and rows[at].sort in LEFT)
            right[rows[at].language][0] += same
            right[rows[at].language][1] += 1
        told = ", ".join(f"{name} {100 * a / b:.1f}" for name, (a, b) in right.items() if b)
        print(f"curve {share:3} % ({len(part)} sentences): {told}")


if __name__ == "__main__":
    main()
