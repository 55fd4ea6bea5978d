"""Makes the model that tells sorts of sentences apart.

    python -m tools.understanding gather FOLDER… [--judges PATH…]   sentences (TSV) into the tree
    python -m tools.understanding train [--dev FOLDER] [--lists LIST…] [--curve]    the model into the package
    python -m tools.understanding relations [--add FOLDER]    the net that says which statement is meant

`gather` leaves out near-duplicates of the texts of lists that judge; `--add` keeps what is in the tree.
`train` needs torch. It sets the thresholds where what is heard outweighs what is taken for what it is not, on
sentences of writers that it did not learn from; with `--lists` (JSON lines by other writers) halfway between
that and what those lists would have. The lists of `--dev` (utterances.<language>.jsonl) are only looked at.
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

import numpy as np

from lamina.language.hearing import Hearing, hear
from lamina.language.rulebook import rulebook
from lamina.language.sorts import LEFT, Second, Sort, Sorter
from lamina.language.understanding import ONCE, PLAIN, Act, Listener
from tools.understanding import beside, messages, relations
from tools.understanding import rows as data
from tools.understanding.rows import LANGUAGES, Row
from tools.understanding.states import States, stretches
from tools.understanding.train import fit, read_twice, save, seen
from tools.understanding.tune import Examples, tuned

MODEL = Path("src/lamina/language/data/sorts.bin")
FOLDS = 3
#: Beside messages, so many of the sentences of several clauses teach what a clause is: one in so many.
SINGLE = 5
#: So many things heard are worth one message that is taken for what it is not. Ours are near misses, written
#: to be taken for something.
PRICE = 2.4
#: Whoever says one plain thing of themselves expects it to be known; what was kept in vain is taken back.
PRICES = {PLAIN: 1.0}
#: No threshold is lower than this, whatever the sentences say: a false wish changes every answer.
FLOOR, FLOORS = 300, {Sort.SET: 900, ONCE: 1900, Sort.CORRECT: 900, Sort.FORGET: 600, Sort.TEMPORARY: 900}
#: The threshold of what is never right.
_NOTHING = 1 << 20
_HEARD = {"self_fact": Sort.LASTING}
#: Nothing comes of these by themselves: a yes answers a question, and what is not known cannot be changed.
_WEIGHS = {Sort.CORRECT: 0.5, Sort.FORGET: 0.5}  #: only where it fits something that is known
_HARMLESS = (Sort.CONFIRM, Sort.REJECT)


class Taken(NamedTuple):
    """A part of a message that would be acted on if its margin were enough."""

    limit: str  #: the name of the threshold that it has to pass
    sort: Sort
    margin: int


class Scored(NamedTuple):
    """A message, what it is (None for ordinary talk of whatever sort), and what is heard in it."""

    language: str
    wanted: Sort | None
    best: Sort  #: what it is as a whole
    heard: tuple[Taken, ...]
    text: str

    @property
    def is_left(self) -> bool:
        return self.wanted is None or self.wanted in LEFT

    def is_right(self, thresholds: dict[str, int]) -> bool:
        """Whether what is asked for is heard, or nothing where nothing is asked for."""
        found = [one.sort for one in self.heard if one.margin >= thresholds.get(one.limit, FLOOR)]
        if self.is_left:
            return all(one in _HARMLESS for one in found)
        return self.wanted in found


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.understanding", description=(__doc__ or "").split("\n")[0])
    steps = parser.add_subparsers(dest="step", required=True)
    gather = steps.add_parser("gather")
    gather.add_argument("folders", type=Path, nargs="+")
    gather.add_argument("--add", action="store_true", help="to the sentences in the tree")
    gather.add_argument("--judges", type=Path, nargs="*", default=[])
    train = steps.add_parser("train")
    train.add_argument("--dev", type=Path)
    train.add_argument("--lists", type=Path, nargs="*", default=[], help="by other writers")
    train.add_argument("--curve", action="store_true")
    train.add_argument("--states", type=Path, help="where what the encoder reads is kept (.npz)")
    which = steps.add_parser("relations", help="the net that says which statement a sentence is about")
    which.add_argument("--add", type=Path, help="a folder of conversations to put into the tree first")
    which.add_argument("--seen", type=Path, help="where what is seen of each row is kept (JSON lines)")
    which.add_argument("--runs", type=Path, nargs=2, default=[], help="readers without fold 1, and 2")
    chosen = parser.parse_args()
    if chosen.step == "relations":
        if chosen.add:
            print(f"{relations.gather(chosen.add)} conversations")
        relations.make(chosen.seen, chosen.runs)
        return
    if chosen.step == "gather":
        gathered(chosen.folders, chosen.judges, add=chosen.add)
        return
    dev = [chosen.dev / f"utterances.{language}.jsonl" for language in LANGUAGES] if chosen.dev else []
    make(
        Sentences(data.read(), messages.read(), States(chosen.states)),
        (dev, chosen.lists),
        curve=chosen.curve,
    )


def gathered(folders: Sequence[Path], judges: Sequence[Path], *, add: bool) -> None:
    """Sentences, and messages of several parts where a folder has them, into the tree."""
    texts = data.judging(judges)
    found = data.gather(folders, data.read() if add else [])
    kept = data.apart(found, texts)
    data.write(kept)
    count = Counter(row.language for row in kept)
    gone = len(found) - len(kept)
    print(f"{len(kept)} sentences ({dict(sorted(count.items()))}), {gone} too like a judge's")
    for folder in folders:
        if (folder / "mixed.en.txt").exists():
            told = messages.gather(folder, texts, messages.read() if add else [])
            messages.write(told)
            print(f"{len(told)} messages of several parts")


def make(sentences: Sentences, lists: tuple[Sequence[Path], Sequence[Path]], *, curve: bool) -> None:
    """Train, judge, choose thresholds, write the model and print its figures."""
    states, every = sentences.states, range(len(sentences.rows))
    models = [sentences.apart(fold) for fold in range(FOLDS)]
    plain = _with_thresholds(sentences, models[0], None)
    read = _with_thresholds(sentences, models[0], states)
    model = replace(sentences.first(every), plain=plain, read=read)
    dev, others = lists
    if others:
        model = replace(model, read=halfway(model, states, others))
    model = replace(model, beside=among(sentences, model, models, others))
    _decided("dev", _judged(model, states, dev), dict(_read_of(model).thresholds))
    if curve:
        _curve(sentences)
    card = {"version": 5, "rows": len(sentences.rows), "data": data.digest(sentences.rows)}
    save(model, MODEL, card)
    print(f"{MODEL}: {MODEL.stat().st_size:,} bytes")
    told = [one for one in (plain, model.read, model.beside) if one is not None]
    print(*(f"thresholds {dict(one.thresholds)}" for one in told), sep="\n")


def _with_thresholds(sentences: Sentences, model: Sorter, reader: States | None) -> Second:
    """The second reading of all sentences, with thresholds by a model that did not learn a third of them."""
    rows, hearings = sentences.rows, sentences.hearings
    own = [at for at in sorted(sentences.folds[0]) if at < sentences.written]
    folded = [_heard(model, reader, rows[at].language, rows[at].sort, hearings[at]) for at in own]
    print(f"sentences of writers' batches that were not trained on, {'read' if reader else 'letters'}:")
    _table(folded)
    _confusion(folded)
    thresholds = _thresholds(folded)
    _decided("folds", folded, thresholds)
    _by_sort(folded, thresholds)
    return replace(sentences.second(range(len(rows)), reader), thresholds=thresholds)


def among(sentences: Sentences, model: Sorter, models: Sequence[Sorter], lists: Sequence[Path]) -> Second:
    """The reading of clauses in their messages, with thresholds by readings that did not learn a third."""
    states = sentences.states
    parts: list[list[beside.Part]] = []
    for fold, apart in enumerate(models):
        told = [(one, hear(one.text, rulebook())) for one in sentences.messages(fold)]
        cuts = [beside.cut(apart, states, *one) for one in told]
        parts.append([one for one in cuts if one is not None])
    found: list[beside.Judged] = []
    for fold, apart in enumerate(models):
        rest = [one for at, each in enumerate(parts) if at != fold for one in each]
        known = replace(apart, beside=beside.fit(rest))
        found += [beside.judged(known, states, one) for one in parts[fold]]
    every = beside.fit([one for each in parts for one in each])
    limits = beside.thresholds(found)
    if lists:
        others = beside.of_lists(replace(model, beside=every), states, lists)
        limits = beside.halfway(limits, beside.thresholds(others))
    beside.tell(found, limits)
    return replace(every, thresholds=limits)


class Sentences:
    """All that is trained on, and what a model sees of each sentence, in thirds by batches of writers."""

    def __init__(self, written: Sequence[Row], told: Sequence[messages.Message], states: States) -> None:
        written = [*written, *(row for one in told for row in messages.rows_of(one))]
        self.rows, self.written = [*written, *data.with_speaker(written)], len(written)
        self.states, self._told = states, told
        self.hearings = [hear(row.text, rulebook()) for row in self.rows]
        self.inputs = seen(self.hearings)
        self.folds = _folds(self.rows)
        states.read(row.text for row in self.rows)
        beside_one = [one.text for fold in range(FOLDS) for one in self.messages(fold)]
        states.read(text for one in beside_one for text in stretches(hear(one, rulebook())))
        states.keep()
        self.unread = np.zeros(
            (len(self.rows), len(Sort)), dtype=np.int64
        )  #: by models that did not learn them
        self._firsts = [self.first(self._without(fold)) for fold in range(FOLDS)]
        for first, held in zip(self._firsts, self.folds, strict=True):
            for at in held:
                self.unread[at] = first.first(self.inputs[at].hashes)

    def _without(self, fold: int) -> list[int]:
        return [at for at in range(len(self.rows)) if at not in self.folds[fold]]

    def messages(self, fold: int) -> list[messages.Message]:
        """The messages of a fold, and some of its sentences of several clauses, as messages of one part."""
        writers = {self.rows[at].writer for at in self.folds[fold]}
        own = [at for at in sorted(self.folds[fold]) if at < self.written]
        long = [
            at
            for at in own
            if messages.has_clauses(self.hearings[at]) and not messages.is_part(self.rows[at])
        ]
        single = [messages.as_message(self.rows[at]) for at in long[::SINGLE]]
        joined = messages.in_one_breath([self.rows[at] for at in own], fold)
        return [*(one for one in self._told if one.writer in writers), *joined, *single]

    def apart(self, fold: int) -> Sorter:
        """A model that did not learn a fold."""
        places = self._without(fold)
        return replace(
            self._firsts[fold],
            plain=self.second(places, None) if fold == 0 else None,
            read=self.second(places, self.states),
        )

    def first(self, places: Sequence[int]) -> Sorter:
        return fit([self.inputs[at].hashes for at in places], [self.rows[at].sort for at in places])

    def second(self, places: Sequence[int], reader: States | None) -> Second:
        signs, labels = [self.inputs[at].signs for at in places], [self.rows[at].sort for at in places]
        first = self.unread[list(places)]
        if reader is None:
            return read_twice(first, signs, labels)
        pieces = reader.pieces([self.rows[at].text for at in places])
        return tuned(Examples(pieces, first, signs, labels), reader.embedder_id)


def _folds(rows: Sequence[Row]) -> list[set[int]]:
    """The places of the rows, a third each, those of a writer's batch together."""
    groups = sorted({row.writer for row in rows})
    random.Random(1).shuffle(groups)
    fold = {group: number % FOLDS for number, group in enumerate(groups)}
    return [{at for at, row in enumerate(rows) if fold[row.writer] == one} for one in range(FOLDS)]


def _heard(
    model: Sorter, reader: States | None, language: str, wanted: Sort | None, hearing: Hearing
) -> Scored:
    """What is heard in a message where every margin is enough; the model has no thresholds yet."""
    listener = Listener(hearing, reader=reader, model=model)
    parts = [one for one in listener.parts() if listener.act(one) is Act.ACT]
    heard = tuple(Taken(listener.limit(one), one.sort, one.margin(one.sort)) for one in parts)
    whole = listener.part(0, len(hearing.said)).sort
    return Scored(language, wanted, whole, heard, hearing.view.original)


def _read_of(model: Sorter) -> Second:
    if model.read is None:
        raise ValueError("The model has no reading beside an encoder.")
    return model.read


def halfway(model: Sorter, reader: States, lists: Sequence[Path]) -> Second:
    """The second reading with thresholds halfway between its own, which come from sentences of those who
    wrote what it learnt, and those that lists by others would have."""
    read = _read_of(model)
    found = {name: at for name, at in _thresholds(_judged(model, reader, lists)).items() if at < _NOTHING}
    own = {name: max(at, FLOORS.get(name, FLOOR)) for name, at in read.thresholds.items()}
    halves = {name: (at + found.get(name, at)) // 2 for name, at in own.items()}
    told = {name: int(at * beside.STATEMENTS) for name, at in halves.items() if name.startswith(Sort.LASTING)}
    return replace(read, thresholds={**halves, **told})


def _judged(model: Sorter, reader: States, lists: Sequence[Path]) -> list[Scored]:
    """What is heard in the rows of lists that judge."""
    bare = replace(model, read=replace(_read_of(model), thresholds={}))
    scored: list[Scored] = []
    for row in (json.loads(line) for path in lists for line in path.read_text("utf-8").splitlines() if line):
        language, label = row.get("lang") or row["id"][:2], row["label"]
        wanted = None if label == "none" else _HEARD.get(label) or Sort(label)
        scored.append(_heard(bare, reader, language, wanted, hear(row["text"], rulebook())))
    return scored


def _thresholds(scored: Sequence[Scored], price: float = PRICE) -> dict[str, int]:
    """For each name the margin from which on what is right outweighs what is wrong."""
    weighed: dict[str, list[tuple[int, float]]] = {}
    for one in scored:
        for taken in one.heard:
            if taken.sort not in _HARMLESS or not one.is_left:
                gain = (
                    float(taken.sort is one.wanted)
                    if not one.is_left
                    else -PRICES.get(taken.limit, price) * _WEIGHS.get(taken.sort, 1)
                )
                weighed.setdefault(taken.limit, []).append((taken.margin, gain))
    found = {}
    for name, each in sorted(weighed.items()):
        best, total, at = 0.0, 0.0, _NOTHING
        for margin, gain in sorted(each, key=lambda pair: (-pair[0], pair[1])):
            total += gain
            if total > best:
                best, at = total, margin
        found[name] = max(FLOORS.get(name, FLOOR), at)
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
        hits = [one.is_right(thresholds) for one in own if not one.is_left]
        plain = [one.is_right(thresholds) for one in own if one.is_left]
        if hits and plain:
            print(
                f"{name} {language}: {100 * sum(hits) / len(hits):5.1f} % of {len(hits)} taken for what they"
                f" are, {100 * sum(plain) / len(plain):5.1f} % of {len(plain)} left alone"
            )


def _by_sort(scored: Sequence[Scored], thresholds: dict[str, int]) -> None:
    """The share of each sort that is heard, and of what is left alone for each sort that it is."""
    for sort in Sort:
        own = [one.is_right(thresholds) for one in scored if one.wanted is sort]
        print(f"  {sort:14}{100 * sum(own) / max(1, len(own)):6.1f} % of {len(own)}")


def _curve(sentences: Sentences) -> None:
    """How the share that is right grows with the data, by letters alone."""
    rows, order = sentences.rows, list(range(len(sentences.rows)))
    random.Random(2).shuffle(order)
    held, pool = order[: len(order) // 5], order[len(order) // 5 :]
    for share in (10, 25, 50, 100):
        part = pool[: len(pool) * share // 100]
        model = sentences.first(part)
        right = {language: [0, 0] for language in LANGUAGES}
        for at in held:
            best = list(Sort)[int(model.first(sentences.inputs[at].hashes).argmax())]
            same = best is rows[at].sort or (best in LEFT and rows[at].sort in LEFT)
            right[rows[at].language][0] += same
            right[rows[at].language][1] += 1
        told = ", ".join(f"{name} {100 * a / b:.1f}" for name, (a, b) in right.items() if b)
        print(f"curve {share:3} % ({len(part)} sentences): {told}")


if __name__ == "__main__":
    main()
