"""Trains the net that says which statement a sentence is about, from conversations that we wrote.

Each row is played: its statements are kept, or only said, and the sentence is seen beside them as it is in
use. A third of the files is held back to choose thresholds by; the net that is shipped learns from all.
"""

from __future__ import annotations

import json
import lzma
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from lamina_encoder import joint
from lamina_encoder.reading import ReadingEncoder
from numpy.typing import NDArray

import lamina
from lamina.hear.about import AT_MOST, READ, certain, known_to, read_beside, stretches
from lamina.hear.turn import keep_turn, understood
from lamina.language.amend import telling, weight
from lamina.language.framing import asks_anywhere
from lamina.language.hearing import Hearing, hear
from lamina.language.relation import MOST, STEP, WEIGHT, Does, KnownStatement, SaidNow, features
from lamina.language.rulebook import rulebook
from lamina.language.sorts import Reader, Sort
from lamina.language.understanding import Listener, heard_whole, is_near, words
from lamina.language.view import view_of
from lamina.write.store import Caller
from tools.understanding.rows import LANGUAGES, is_held
from tools.understanding.rows import read as sentences

DATA = Path(__file__).parent / "data"
LESSONS = Path(__file__).parent.parent / "encoder" / "data"
MODEL = Path("src/lamina/language/data/relations.json")
#: Rows of a workspace; sentences about nothing that is known, for each language.
_WORKSPACE, _APART = 100, 450
#: Statements of each person of the lessons that are heard beside others of theirs, and beside how many.
_TOLD, _TOLD_BEFORE = 3, (3, 5, 8, 12)
#: How many other statements are said before; how much of what is said before is kept.
_BEFORE = (0, 0, 1, 2, 4)
_KEPT = 0.85
#: Units of the hidden layer, rounds, and how strongly weights are held small.
UNITS, ROUNDS, DECAY = 12, 300, 0.012
#: How many nets are trained apart, whose scores are averaged.
NETS = 4
#: So many right ones are worth one memory that is changed in vain; nothing of it is lost, and it comes back.
PRICES = {Does.CORRECT: 1.5, Does.FORGET: 1.4}
#: What it is worth to ask about the right one: whoever said it plainly has to say it again.
ASKED = 0.15
#: How much of that it costs where the sentence is about the very thing: what says it again changes nothing.
_HARM = {"again": 0.3, "new": 0.8}
#: Of how many at most a person is asked; one in so many commands about nothing that is known is learnt from:
#: whoever gives one knows as a rule what they said.
_FEW, _RARE = 3, 4
#: How far ahead what is only heard has to be at least; and how much less sure a command may be and be asked
#: about, which says nothing of it.
_AHEAD, _LESS_SURE = {Does.CORRECT: 0.5, Does.FORGET: 1.0}, 0.2
#: How many conversations are tried for one that a wish is not about; one wish in so many is put there.
_TRIES, _ELSEWHERE = 20, 2

_NOT_APART = (Sort.CORRECT, Sort.FORGET, Sort.CONFIRM, Sort.REJECT)
_FIELDS = ("text", "like", "called", "age", "here", "lasting", "setting", "read")
Floats = NDArray[np.float64]


class Played(NamedTuple):
    """A sentence beside what was said before it, as it is found in use."""

    language: str
    file: str
    relation: str
    target: int  #: which of the statements it is about; -1 for none
    text: str
    scores: list[int]  #: by sort
    signs: list[str]
    known: list[list[Any]]  #: the fields of each statement


class Seen(NamedTuple):
    """What the net sees of it."""

    row: Played
    asked: Does | None  #: somebody gave it as a command to do this
    seen: list[dict[str, float]]

    @property
    def wanted(self) -> Does | None:
        return Does(self.row.relation) if self.row.target >= 0 else None


def see(played: Sequence[Played]) -> Iterator[Seen]:
    """Every row as it is heard; one that asks for something, or sounds as if it did, also as a command."""
    book = rulebook()
    for one in played:
        known = [KnownStatement(*fields) for fields in one.known]
        scores = dict(zip(Sort, one.scores, strict=True))
        sort = max(scores, key=lambda sort: scores[sort])
        yield Seen(one, None, list(features(SaidNow(one.text, scores, frozenset(one.signs)), known, book)))
        apart = one.relation == "none" and sort in set(Does) and crc32(one.text.encode()) % _RARE == 0
        if one.target >= 0 or apart:
            does = Does(one.relation if one.target >= 0 else sort)
            yield Seen(one, does, list(features(certain(one.text, does, frozenset(one.signs)), known, book)))


def read() -> list[dict[str, Any]]:
    """The conversations in the tree."""
    found = []
    for language in LANGUAGES:
        packed = (DATA / f"relations.{language}.jsonl.xz").read_bytes()
        found += [json.loads(line) for line in lzma.decompress(packed).decode().splitlines()]
    return found


def gather(folder: Path) -> int:
    """Add the rows of a folder to those in the tree, each with the name of its file; how many there are."""
    rows = read() + [
        {**json.loads(line), "file": path.stem}
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
        if line.strip()
    ]
    for language in LANGUAGES:
        own = [json.dumps(row, ensure_ascii=False) for row in rows if row["lang"] == language]
        (DATA / f"relations.{language}.jsonl.xz").write_bytes(lzma.compress("\n".join(own).encode()))
    return len(rows)


def apart(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Sentences of all sorts beside statements that they are not about."""
    chance = random.Random(7)
    for language in LANGUAGES:
        own = [row["known"] for row in rows if row["lang"] == language]
        told = [one for one in sentences() if one.language == language and len(one.text) <= 160]
        about = [one for one in told if one.sort in (Sort.CORRECT, Sort.FORGET)]
        others = [one for one in told if one.sort not in _NOT_APART]
        picked = chance.sample(about, _APART // 3) + chance.sample(others, _APART - _APART // 3)
        for at, one in enumerate(picked):
            yield {
                "lang": language,
                "known": chance.choice(own),
                "said": one.text,
                "relation": "none",
                "target": None,
                "file": f"apart-{at % 9}",
            }


def told() -> Iterator[dict[str, Any]]:
    """What people tell of themselves one after another (the statements of the encoder's lessons): each says
    something of its own, and none puts another right."""
    for path in sorted(LESSONS.glob("lessons-*.jsonl.xz")):
        chance = random.Random(path.name)
        lines = lzma.decompress(path.read_bytes()).decode().splitlines()
        own = [one["statement"] for line in lines if (one := json.loads(line)).get("statement")]
        for language in LANGUAGES if len(own) > _TOLD_BEFORE[-1] else ():
            for _ in range(_TOLD):
                said, *known = chance.sample(own, 1 + chance.choice(_TOLD_BEFORE))
                yield {
                    "lang": language,
                    "known": [one[language] for one in known],
                    "said": said[language],
                    "relation": "none",
                    "target": None,
                    "file": f"told-{path.stem}",
                }


def elsewhere(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Wishes to forget that name what they mean, beside what others told: it is not known there."""
    chance, book = random.Random(11), rulebook()
    for row in rows:
        said = telling(row["said"], book)
        named = row["relation"] == Does.FORGET and not row.get("clause")
        if not named or weight(said & telling(row["known"][row["target"]], book)) < 1:
            continue
        tried = [chance.choice(rows) for _ in range(_TRIES)]
        apart = [
            one["known"]
            for one in tried
            if one["lang"] == row["lang"] and not any(said & telling(text, book) for text in one["known"])
        ]
        if apart and crc32(row["said"].encode()) % _ELSEWHERE == 0:
            none = {"known": apart[0], "relation": "none", "target": None, "file": f"else-{row['file']}"}
            yield {**row, **none}


def play(rows: Sequence[Mapping[str, Any]]) -> Iterator[Played]:
    """Every row, beside its own statements or with others said before them."""
    for start in range(0, len(rows), _WORKSPACE):
        with tempfile.TemporaryDirectory() as folder, lamina.open(folder, owner="ana") as memory:
            for at, row in enumerate(rows[start : start + _WORKSPACE]):
                chance = random.Random(crc32(f"{row['said']}{row['known']}".encode()))
                own = [one["known"] for one in rows if one["lang"] == row["lang"]]
                others = [one for one in own if one != row["known"]]
                before = [chance.choice(chance.choice(others)) for _ in range(chance.choice(_BEFORE))]
                told_in = memory.scope(user=f"u{at}", session=chance.choice(("zero", "one")))
                for one in before:
                    _say(told_in, one, chance)
                yield from _played(memory.scope(user=f"u{at}", session="one"), row, chance)


def _played(scope: Any, row: Mapping[str, Any], chance: random.Random) -> Iterator[Played]:
    book, caller = scope.store.ruleset.rules, scope
    target = row["known"][row["target"]] if row["target"] is not None else ""
    shares = telling(row["said"], book) & telling(target, book)
    for one in row["known"]:
        _say(scope, one, chance)
    if (shares or not target) and chance.random() < 0.3:
        caller = Caller(caller.store, replace(caller.scope, session="two"))
    listener = _listener(caller, hear(row["said"], book))
    clause = row.get("clause", "")
    whole = heard_whole(listener)
    spans = stretches(listener) if clause else []
    found = [listener.part(*span) for span in spans]
    parts = found or ([] if whole is None else [whole])
    for part in parts:
        text = row["said"] if part is whole else words(listener.hearing, part.start, part.end)
        holds = not clause or part is whole or clause in text
        if holds or not _overlap(text, clause):
            yield from _beside(caller, row, part, text, target if holds else "")


def _overlap(text: str, clause: str) -> bool:
    """Whether a stretch has some of the clause that counts, and not all of it."""
    size = max(4, min(len(text), len(clause)) // 3)
    return any(text[at : at + size] in clause for at in range(len(text) - size + 1)) or text in clause


def _beside(caller: Any, row: Mapping[str, Any], part: Any, text: str, target: str) -> Iterator[Played]:
    """A stretch of what was said beside all that is known; without a `target` it is about nothing."""
    wanted = row["relation"] in set(Does) and target != ""
    known = read_beside(caller, text, [one for _, one in known_to(caller, text)])
    places = [at for at, one in enumerate(known) if wanted and target in one.text]
    if places or not wanted:
        relation = row["relation"] if wanted or row["relation"] not in set(Does) else "none"
        scores = [part.scores[sort] for sort in Sort]
        fields = [[getattr(one, name) for name in _FIELDS] for one in known]
        place = places[0] if places else -1
        signs = sorted(part.seen.signs)
        yield Played(row["lang"], row["file"], relation, place, text, scores, signs, fields)


def _listener(caller: Caller, hearing: Hearing) -> Listener:
    embedder = caller.store.embedder
    return Listener(hearing, reader=embedder if isinstance(embedder, Reader) else None)


def _say(caller: Any, text: str, chance: random.Random) -> None:
    """Somebody says something; as a rule it is kept."""
    if chance.random() < _KEPT:
        caller.remember(text)
    else:
        keep_turn(caller.store, understood(caller.scope, text, None, (), caller.store.ruleset.rules))


# The net: a softmax over all that may be done to each statement, and nothing.


class Net(NamedTuple):
    names: tuple[str, ...]
    hidden: Floats
    out: Floats

    def scores(self, seen: Floats) -> tuple[Floats, Floats]:
        inner = np.maximum(seen @ self.hidden, 0)
        return inner, np.concatenate([inner, seen], axis=1) @ self.out


def numbers(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> Floats:
    found = [[max(-MOST, min(MOST, round(row[name] * STEP))) / STEP for name in names] for row in rows]
    return np.array(found).reshape(len(rows), len(names))


def train(played: Sequence[Seen]) -> Net:
    """Nets that give what was meant the most, as one whose scores are their mean."""
    nets = [_trained(played, seed) for seed in range(NETS)]
    outs = np.stack([one.out for one in nets]) / NETS
    out = np.concatenate([*outs[:, :UNITS], outs[:, UNITS:].sum(axis=0)])
    return Net(nets[0].names, np.concatenate([one.hidden for one in nets], axis=1), out)


def _trained(played: Sequence[Seen], seed: int) -> Net:
    names = tuple(played[0].seen[0])
    blocks = [numbers(one.seen, names) for one in played]
    seen = np.concatenate(blocks).astype(np.float32)
    group = np.repeat(np.arange(len(played)), [len(one) for one in blocks])
    starts = np.cumsum([0, *(len(one) for one in blocks)])[:-1]
    wanted = np.zeros((len(seen), len(Does)), dtype=np.float32)
    for start, one in zip(starts, played, strict=True):
        if one.wanted is not None:
            wanted[start + one.row.target, list(Does).index(one.wanted)] = 1.0
    random_ = np.random.default_rng(seed)
    hidden = random_.normal(0, 0.25, (len(names), UNITS))
    out = np.concatenate([random_.normal(0, 0.25, (UNITS, len(Does))), np.zeros((len(names), len(Does)))])
    weights = [hidden.astype(np.float32), out.astype(np.float32)]
    moments = [(np.zeros_like(one), np.zeros_like(one)) for one in weights]
    for turn in range(1, ROUNDS + 1):
        inner = np.maximum(seen @ weights[0], 0)
        both = np.concatenate([inner, seen], axis=1)
        raised = np.exp(np.clip(both @ weights[1], -30, 30))
        total = 1.0 + np.bincount(group, raised.sum(1), len(played))
        slope = raised / total[group][:, None] - wanted
        down = both.T @ slope / len(played)
        back = (slope @ weights[1][:UNITS].T) * (inner > 0)
        slopes = [seen.T @ back / len(played), down]
        rate = 0.02 * (1 - turn / (ROUNDS + 1))
        for one, (first, second), slope_ in zip(weights, moments, slopes, strict=True):
            first *= 0.9
            first += 0.1 * slope_
            second *= 0.999
            second += 0.001 * slope_**2
            one -= rate * (
                first / (1 - 0.9**turn) / (np.sqrt(second / (1 - 0.999**turn)) + 1e-8) + DECAY * one
            )
    return Net(names, weights[0], weights[1])


# What is decided, and how far ahead it has to be.


class Decided(NamedTuple):
    """The best that may be done to a statement, as it was found."""

    row: Seen
    does: Does
    scores: list[float]  #: of each statement for that, the best first
    ahead: float  #: how far the best is ahead of the next, whatever may be done to that
    place: (
        int  #: where in that order what is meant stands; -1 where nothing is, or something else is to be done
    )

    @property
    def right(self) -> bool:
        return self.place == 0

    def near(self, gap: float) -> int:
        """How many are so near to the best."""
        return sum(score >= self.scores[0] - gap for score in self.scores[:_FEW])

    def worth(self, least: float, gap: float, asks: float) -> float:
        """What comes of it: done at once, asked, or left alone."""
        near = self.near(gap)
        if self.scores[0] >= least and (near == 1 or self.ahead >= gap):
            return 1.0 if self.right else -_HARM.get(self.row.row.relation, 1.0) * PRICES[self.does]
        if self.scores[0] < asks:
            return 0.0
        if near == 1 and self.row.asked:
            return 0.0
        return ASKED if 0 <= self.place < near else -0.8


def _may_be(row: Played) -> bool:
    """Whether it is looked at in use: no question, and near enough to what is about something known."""
    asks = asks_anywhere(view_of(row.text).text) or {"marked", "unsaid"} & {*row.signs}
    scores = dict(zip(Sort, row.scores, strict=True))
    clear = max(scores, key=lambda sort: scores[sort]) in _NOT_APART and "marked" not in row.signs
    return (clear or not asks) and is_near(scores)


def decided(net: Net, played: Sequence[Seen]) -> Iterator[Decided]:
    for one in played:
        if not (one.asked or _may_be(one.row)):
            continue
        scores = net.scores(numbers(one.seen, net.names))[1]
        columns = [list(Does).index(one.asked)] if one.asked else [0, 1]
        best, column = max(
            ((at, column) for at in range(len(scores)) for column in columns), key=lambda each: scores[each]
        )
        does = list(Does)[column]
        order = sorted(range(len(scores)), key=lambda at: -scores[at, column])
        others = [scores[at, each] for at in range(len(scores)) for each in columns if at != best]
        ahead = scores[best, column] - max(others, default=-99.0)
        place = order.index(one.row.target) if does is one.wanted else -1
        yield Decided(one, does, [float(scores[at, column]) for at in order], float(ahead), place)


def limits(found: Sequence[Decided]) -> dict[str, dict[str, int]]:
    """The thresholds from which on what is right outweighs what is wrong: how likely it has to be, how far
    ahead, and how likely before somebody is asked; for what is only heard, and for what was commanded."""
    out: dict[str, dict[str, int]] = {}
    for does in Does:
        for names, asked in ((("clear", "ahead", "asks"), None), (("sure", "apart", "certain"), does)):
            own = [one for one in found if one.does is does and one.row.asked is asked]
            tops = np.quantile([one.scores[0] for one in own], np.linspace(0.02, 0.98, 65))
            best = max(
                (sum(one.worth(least, gap, asks) for one in own), least, gap, asks)
                for least in tops
                for gap in (0.5, 0.75, 1.0, 1.5, 2.0)
                if asked or gap >= _AHEAD[does]
                for asks in [*(top for top in tops[::8] if top < least), least]
            )
            values = best[1:] if asked is None else (*best[1:3], best[1] - _LESS_SURE)
            for name, value in zip(names, values, strict=True):
                out.setdefault(name, {})[does] = round(1000 * value)
    return out


def report(
    name: str, found: Sequence[Decided], limit: Mapping[str, Mapping[str, int]], rows: Sequence[Seen]
) -> None:
    """What comes of the thresholds, by language; `rows` are all that were looked at."""
    for asked, names in ((False, ("clear", "ahead", "asks")), (True, ("sure", "apart", "certain"))):
        for language in (*LANGUAGES, "all"):
            own = [one for one in found if language in (one.row.row.language, "all")]
            own = [one for one in own if bool(one.row.asked) is asked]
            every = [one.row for one in rows if bool(one.asked) is asked]
            every = [one for one in every if language in (one.language, "all")]
            cells = []
            for kind in ("correct", "forget", "new", "again", "none"):
                count = sum(one.relation == kind for one in every)
                marks = Counter(
                    _mark(one, *(limit[each][one.does] / 1000 for each in names))
                    for one in own
                    if one.row.row.relation == kind
                )
                told = " ".join(f"{mark} {_share(marks[mark], count)}" for mark in _MARKS if marks[mark])
                cells.append(f"{kind} ({count}): {told}")
            print(f"{name}, {'commanded' if asked else 'heard'}, {language}: " + "; ".join(cells))


_MARKS = ("right", "asked", "wrong", "asked in vain")


def _mark(one: Decided, least: float, gap: float, asks: float) -> str:
    worth = one.worth(least, gap, asks)
    return {1.0: "right", ASKED: "asked", 0.0: "left", -0.8: "asked in vain"}.get(worth, "wrong")


def _share(count: int, of: int) -> str:
    return f"{100 * count / max(1, of):.1f}%"


def save(net: Net, limit: Mapping[str, Mapping[str, int]], rows: int) -> None:
    """The net as whole numbers."""
    hidden, out = (np.rint(one * WEIGHT).astype(int).tolist() for one in (net.hidden, net.out))
    card = {"version": 1, "rows": rows, "features": list(net.names), "hidden": hidden, "out": out, **limit}
    MODEL.write_text(json.dumps(card, separators=(",", ":")) + "\n", "utf-8")


def unlearnt(played: Sequence[Played], runs: Sequence[Path]) -> Iterator[Played]:
    """The rows, each read by the one of two runs of the reader that has not learnt its file."""
    encoder, at = ReadingEncoder(), _FIELDS.index("read")
    readers = [joint.JointReader(encoder, folder) for folder in runs]
    for one in played:
        best = sorted(range(len(one.known)), key=lambda place: (-one.known[place][1], place))[:READ]
        reader = readers[0 if is_held(one.file, 1) else 1]
        fits = reader.scores(one.text, [one.known[place][0] for place in best])
        known = [[*fields] for fields in one.known]
        for place, fields in enumerate(known):
            fit = fits[best.index(place)] if place in best else min(fits)
            fields[at] = max(-AT_MOST, min(AT_MOST, fit))
        yield one._replace(known=known)


def make(cache: Path | None = None, runs: Sequence[Path] = ()) -> None:
    """Play, train, choose thresholds on a third of the files, write the net and print its figures."""
    rows = read()
    rows += [*apart(rows), *told(), *elsewhere(rows)]
    played = _cached(cache, rows)
    seen = [one for one in see([*unlearnt(played, runs)] if runs else played) if one.seen]
    files = sorted({one.row.file.removeprefix("else-") for one in seen})
    random.Random(1).shuffle(files)
    own = [{file for at, file in enumerate(files) if at % 3 == fold} for fold in range(3)]
    folds = [each | {f"else-{file}" for file in each} for each in own]
    found = [
        each
        for fold in folds
        for each in decided(
            train([one for one in seen if one.row.file not in fold]),
            [one for one in seen if one.row.file in fold],
        )
    ]
    first = [one for one in found if one.row.row.file in folds[0]]
    others = [one for one in found if one.row.row.file not in folds[0]]
    held = [one for one in seen if one.row.file in folds[0]]
    report("held out, thresholds from other files", first, limits(others), held)
    limit = limits(found)
    report("all files, each by a net that did not learn it", found, limit, seen)
    save(train(seen), limit, len(rows))
    print(f"{MODEL}: {MODEL.stat().st_size:,} bytes", limit)


def _cached(cache: Path | None, rows: Sequence[Mapping[str, Any]]) -> list[Played]:
    if cache is not None and cache.exists():
        return [Played(*json.loads(line)) for line in cache.read_text("utf-8").splitlines()]
    played = list(play(rows))
    if cache is not None:
        cache.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in played), "utf-8")
    return played
