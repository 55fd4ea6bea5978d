"""Multinomial logistic regression over the head's own features, quantised to bytes, and one hidden layer
over what the encoder makes of a sentence halfway, in whole numbers."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse
import torch
from lamina_encoder import reading
from scipy.optimize import minimize
from torch import nn

import lamina.language.decision_head as head
from lamina.language.message import bare
from lamina.language.sorts import MIDWAY
from lamina.language.statements import features_of
from tools.decisions.rows import Row
from tools.understanding.states import States

TARGET = Path(head.__file__).parent / "data"
_PENALTY = 1.0
_ROUNDS = 80
_STEPS = 127
#: How many hidden layers are trained apart, whose scores are averaged, and how large each is.
_APART, _HIDDEN, _EPOCHS, _PART = 3, 32, 20, 128
Array = np.ndarray[Any, Any]


def matrix(rows: Sequence[Row]) -> Any:
    """A row of feature values for each sentence, as `decision_head.read` weighs them."""
    places: list[int] = []
    values: list[float] = []
    ends = [0]
    for row in rows:
        found = features_of(row.text)
        runs = head.RUNS / np.sqrt(max(len(found.runs), 1))
        for part, value in ((found.signs, 1.0), (found.pairs, head.PAIR), (found.runs, runs)):
            places += part
            values += [value] * len(part)
        ends.append(len(places))
    return sparse.csr_matrix((values, places, ends), shape=(len(rows), head.BUCKETS))


def fit(table: Any, kinds: Array) -> tuple[Array, Array]:
    """Weights and biases; the same for the same rows on one machine."""
    used = np.unique(table.indices)
    small, wanted, count = table[:, used], np.eye(len(head.KINDS))[kinds], len(head.KINDS)

    def loss(values: Array) -> tuple[float, Array]:
        weights, bias = values[:-count].reshape(len(used), count), values[-count:]
        scores = small @ weights + bias
        scores -= scores.max(axis=1, keepdims=True)
        powers = np.exp(scores)
        total = powers.sum(axis=1, keepdims=True)
        missed = powers / total - wanted
        value = -((scores - np.log(total)) * wanted).sum() + 0.5 * _PENALTY * (weights**2).sum()
        return value, np.concatenate([(small.T @ missed + _PENALTY * weights).ravel(), missed.sum(axis=0)])

    start = np.zeros(len(used) * count + count)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS}).x
    weights = np.zeros((head.BUCKETS, count))
    weights[used] = found[:-count].reshape(len(used), count)
    return weights, found[-count:]


def halfway(rows: Sequence[Row], states: States) -> Array:
    """What the encoder makes of each sentence, in units."""
    pieces = states.pieces([bare(row.text) for row in rows])
    nothing = np.zeros(int(states._model.header["width"]))
    return np.stack(
        [reading.midway(one[None].astype(np.float32))[0] / MIDWAY if len(one) else nothing for one in pieces]
    )


def layered(seen: Array, kinds: Array) -> tuple[Array, Array]:
    """The weights of one hidden layer: several that were trained apart, side by side, as whole numbers."""
    torch.set_num_threads(1)
    mean, spread = seen.mean(axis=0), seen.std(axis=0) + 1e-6
    given, wanted = torch.tensor((seen - mean) / spread, dtype=torch.float32), torch.tensor(kinds)
    inner, outer, bias = [], [], np.zeros(len(head.KINDS))
    for seed in range(_APART):
        net = _trained(given, wanted, seed)
        first, second = net[1], net[4]
        weights = first.weight.detach().double().numpy().T / spread[:, None]
        always = first.bias.detach().double().numpy() - mean @ weights
        inner.append(np.concatenate([weights / MIDWAY, always[None]]) * head.INNER)
        outer.append(second.weight.detach().double().numpy().T / _APART * head.OUTER)
        bias += second.bias.detach().double().numpy() / _APART * head.OUTER
    whole = np.rint(np.concatenate(inner, axis=1)), np.rint(np.concatenate([*outer, bias[None]]))
    return whole[0].astype(np.int64), whole[1].astype(np.int64)


def _trained(given: torch.Tensor, wanted: torch.Tensor, seed: int) -> Any:
    torch.manual_seed(seed)
    net = nn.Sequential(
        nn.Dropout(0.1),
        nn.Linear(given.shape[1], _HIDDEN),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(_HIDDEN, len(head.KINDS)),
    )
    steps = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=0.05)
    for _ in range(_EPOCHS):
        for part in torch.randperm(len(given)).split(_PART):
            steps.zero_grad()
            nn.functional.cross_entropy(net(given[part]), wanted[part], label_smoothing=0.05).backward()
            steps.step()
    return net.eval()


def second(seen: Array, layers: tuple[Array, Array]) -> Array:
    """What the hidden layer says, as the head computes it."""
    inner, outer = layers
    hidden = np.maximum(np.rint(seen * MIDWAY).astype(np.int64) @ inner[:-1] + inner[-1], 0)
    return np.asarray((hidden @ outer[:-1] / head.INNER + outer[-1]) / head.OUTER)


def quantised(weights: Array) -> tuple[Array, float]:
    """The weights as bytes, and what one step is worth."""
    scale = float(np.abs(weights).max()) / _STEPS
    return np.rint(weights / scale).astype(np.int8), scale


def _kinds(rows: Sequence[Row]) -> Array:
    return np.array([head.KINDS.index(row.kind) for row in rows])


def train_and_write(rows: Sequence[Row], states: States) -> None:
    """Train on everything; write the weights and the card that says what they were made of."""
    weights, bias = fit(matrix(rows), _kinds(rows))
    steps, scale = quantised(weights)
    inner, outer = layered(halfway(rows, states), _kinds(rows))
    numbers = np.concatenate([inner.ravel(), outer.ravel()]).astype("<i4")
    data = zlib.compress(steps.tobytes() + numbers.tobytes(), 9)
    (TARGET / "decision_head.bin").write_bytes(data)
    made_of = {
        f"{language}/{writer}": sum(row.language == language and row.writer == writer for row in rows)
        for language, writer in sorted({(row.language, row.writer) for row in rows})
    }
    card = {
        "version": 2,
        "sha256": sha256(data).hexdigest(),
        "scale": round(scale, 9),
        "bias": [round(one, 6) for one in bias.tolist()],
        "encoder": states.embedder_id,
        "hidden": inner.shape[1],
        "rows": made_of,
        "known_weaknesses": [
            "decisions of a household sound like decisions of a firm",
            "a third party that is only named, without a word such as `their`, may pass for the speaker",
        ],
    }
    (TARGET / "decision_head.json").write_text(json.dumps(card, indent=1) + "\n")
    print(f"{len(rows)} rows, {len(data)} bytes")


def fitted(rows: Sequence[Row], states: States) -> head._Head:
    """A head that is trained on some rows, as it would be read from its files."""
    weights, bias = fit(matrix(rows), _kinds(rows))
    steps, scale = quantised(weights)
    inner, outer = layered(halfway(rows, states), _kinds(rows))
    return head._Head(steps, bias, scale, states.embedder_id, inner, outer)


def judge(rows: Sequence[Row], share: int, states: States) -> None:
    """What is found of each writer's rows by a head that was trained on the others'."""
    table, kinds, seen = matrix(rows), _kinds(rows), halfway(rows, states)
    for writer in sorted({row.writer for row in rows}):
        theirs = np.array([row.writer == writer for row in rows])
        part = ~theirs & (np.arange(len(rows)) % 100 < share)
        weights, bias = fit(table[np.where(part)[0]], kinds[part])
        steps, scale = quantised(weights)
        layers = layered(seen[part], kinds[part])
        scores = table @ (steps * scale) + bias + second(seen, layers)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        for language in sorted({row.language for row in rows if row.writer == writer}):
            here = theirs & np.array([row.language == language for row in rows])
            _told(f"{language}/{writer}", shares[here], kinds[here])


def _told(name: str, shares: Array, kinds: Array) -> None:
    settles, is_settling = shares[:, :3].sum(axis=1), kinds < 3
    line = f"{name:24s} {len(kinds):4d} rows, kind right {np.mean(shares.argmax(axis=1) == kinds):.0%}"
    for least in (0.5, 0.65, 0.8):
        hit = settles >= least
        both = int((hit & is_settling).sum())
        found, right = both / max(1, is_settling.sum()), both / max(1, hit.sum())
        line += f" | at {least}: found {found:.0%}, right {right:.0%}"
    print(line)
