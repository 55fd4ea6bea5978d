"""Trains what weighs a sentence where it stands, from written fortnights of which we know what is settled.

The head that reads the sentences of a fortnight here is trained without it: of what it has learnt it is surer
than it will be of anything new.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from lamina.jobs.conversations import Encoder
from lamina.language import decision_context as context
from lamina.language import decision_head
from lamina.language.decision_head import KINDS
from lamina.language.message import bare
from tools.decisions.fortnight import Fortnight, fortnights, judge, load
from tools.decisions.rows import load as rows_of_the_head
from tools.decisions.talk import rows as talk_rows
from tools.decisions.talk import spoken, writer_of
from tools.decisions.train import TARGET, fitted
from tools.understanding.states import States

_AXES, _PENALTY = 12, 60.0
EXCHANGES = Path(__file__).parent / "exchanges"
#: Our own fortnights, in the thirds in which they were left out while the head's sentences were written.
_THIRDS = (
    ("en-app", "en-festival", "th-cafe", "zh-bakery", "zh-school"),
    ("en-bikes", "en-clinic", "th-dive", "zh-flowers", "zh-inn"),
    ("en-museum", "th-wood", "zh-studio"),
)
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence of a fortnight, what is known of it, and what it does."""

    fortnight: str
    text: str
    features: Array
    sort: int


def examples(one: Fortnight, reader: Encoder | None) -> list[Example]:
    """Every sentence that a person says in a fortnight."""
    return [
        Example(one.name, said.text, context.features(said.message.around(said.at)), said.sort)
        for said in spoken(one, reader)
    ]


def fit(rows: Sequence[Example]) -> Array:
    """The weights, in whole numbers: a row for each feature, and one that is always there."""
    seen = np.array([row.features for row in rows], dtype=np.float64)
    sorts = np.array([row.sort for row in rows])
    plain = context.READ * len(KINDS) + len(context.SIGNS)
    parts = np.split(seen[:, plain:], 2, axis=1) if seen.shape[1] > plain else []
    axes = [_axes(part) for part in parts]
    low = np.concatenate(
        [seen[:, :plain], *(part @ one for part, one in zip(parts, axes, strict=True))], axis=1
    )
    mean, spread = low.mean(axis=0), low.std(axis=0) + 1.0
    found = _linear((low - mean) / spread, sorts)
    worth = found[:-1] / spread[:, None]
    bias = found[-1] - mean @ worth
    theirs = [one @ worth[plain + at * _AXES :][:_AXES] for at, one in enumerate(axes)]
    return np.rint(np.concatenate([worth[:plain], *theirs, bias[None]]) * context.STEP).astype(np.int64)


def _axes(part: Array) -> Array:
    """The directions in which some rows differ most."""
    return np.linalg.svd(part - part.mean(axis=0), full_matrices=False)[2][:_AXES].T


def _linear(seen: Array, sorts: Array) -> Array:
    wanted, shape = np.eye(len(context.SORTS))[sorts], (seen.shape[1] + 1, len(context.SORTS))

    def loss(values: Array) -> tuple[float, Array]:
        found = values.reshape(shape)
        scores = seen @ found[:-1] + found[-1]
        scores -= scores.max(axis=1, keepdims=True)
        powers = np.exp(scores)
        total = powers.sum(axis=1, keepdims=True)
        value = (np.log(total[:, 0]) - (scores * wanted).sum(axis=1)).sum()
        missed = powers / total - wanted
        slope = np.concatenate([seen.T @ missed + _PENALTY * found[:-1], missed.sum(axis=0)[None]])
        return value + 0.5 * _PENALTY * (found[:-1] ** 2).sum(), slope.ravel()

    start = np.zeros(shape[0] * shape[1])
    return np.asarray(
        minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x.reshape(shape)
    )


@contextmanager
def using(head: Any, models: dict[str, Array] | None = None) -> Iterator[None]:
    """Reads with another head, and weighs with other weights, for a while."""
    before = decision_head._head, context._models
    decision_head._head = before[0] if head is None else lambda: head
    context._models = before[1] if models is None else lambda: models
    yield
    decision_head._head, context._models = before


def groups(names: Iterable[str]) -> dict[str, list[str]]:
    """Fortnights that are left out together: of one writer, or a third of our own."""
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        third = next((str(at) for at, some in enumerate(_THIRDS) if name in some), "other")
        found.setdefault(writer_of(name) or third, []).append(name)
    return found


def read_all(reader: Encoder, states: States) -> tuple[dict[str, Any], dict[str, list[Example]]]:
    """For each group of fortnights the head that did not learn its sentences; and all examples."""
    known, heads = {one.name: one for one in fortnights([])}, dict[str, Any]()
    rows: dict[str, list[Example]] = {"encoder": [], "letters": []}
    for group, names in groups(known).items():
        heads[group] = head_without([known[one] for one in names], states)
        with using(heads[group]):
            for one in names:
                rows["encoder"] += examples(known[one], reader)
                rows["letters"] += examples(known[one], None)
    for path in sorted(EXCHANGES.glob("*.txt")):
        rows["encoder"] += examples(load(path), reader)
        rows["letters"] += examples(load(path), None)
    return heads, rows


def head_without(some: Sequence[Fortnight], states: States) -> Any:
    """A head that did not learn what is said in some fortnights, nor what was written after that."""
    said = "\n".join(turn.text for one in some for turn in one.turns)
    late = any(one.name in _THIRDS[2] for one in some)
    kept = [
        row
        for row in rows_of_the_head()
        if not (row.writer == "fortnights" and bare(row.text) in said)
        and not (late and row.writer == "own-12")
    ]
    names = {one.name for one in some}
    return fitted([*kept, *talk_rows(one for one in fortnights([]) if one.name not in names)], states)


def judge_left_out(reader: Encoder, states: States) -> None:
    """Each fortnight by weights that did not learn its group."""
    heads, rows = read_all(reader, states)
    for group, names in groups(one.name for one in fortnights([])).items():
        with using(heads[group], models(rows, names)):
            for one in fortnights(names):
                judge(one, reader)


def models(rows: Mapping[str, Sequence[Example]], but: Iterable[str] = ()) -> dict[str, Array]:
    """The weights beside the encoder and for letters alone, from all fortnights but some."""
    left = set(but)
    return {name: fit([row for row in some if row.fortnight not in left]) for name, some in rows.items()}


def write(found: Mapping[str, Array]) -> None:
    card = {name: weights.tolist() for name, weights in found.items()}
    (TARGET / "decision_context.json").write_text(json.dumps(card, separators=(",", ":")) + "\n")
