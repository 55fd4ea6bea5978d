"""The reading beside an encoder, in torch: finders of turns of phrase and one hidden layer, trained together.

What a text is halfway is kept as it is; the finders see every piece between its neighbours. Several of them
and their neighbours are left out at each step, so that none learns a sentence by heart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from lamina.language.sorts import STEP, Finders, Second, Sort, Wholes
from tools.understanding.states import Pieces
from tools.understanding.train import COMMON, LOUD, SEED, Floats, given_of

#: How many readings are trained apart, what each has, and the width of the encoder.
READINGS, FINDERS, HIDDEN, WIDTH = 2, 256, 112, 384
EPOCHS, PART, SMOOTHED = 8, 128, 0.05
#: How quickly finders and the layers over them learn, and how many steps it takes them to get up to that.
_PACE, _FINDERS_PACE, _WARM = 2e-3, 1e-3, 150
#: How much is left out at each step: hidden numbers, finders, what they see, and pieces.
_HIDDEN_OUT, _FINDERS_OUT, _SEEN_OUT, _PIECES_OUT = 0.45, 0.3, 0.1, 0.05
#: A sum of whole numbers below this is exact in a float of 32 bits.
_EXACT, _MOST = 2**24, 4095.0
#: Texts of about a length are computed together; so far apart may they be.
_APART = 2.5


class Examples(NamedTuple):
    """Sentences: what the encoder makes of each, what letters and signs say, and what each is."""

    pieces: Sequence[Pieces]
    first: Wholes  #: scores of models that were not trained on them
    signs: Sequence[frozenset[str]]
    labels: Sequence[Sort]


class _Reading(nn.Module):
    def __init__(self, beside: int) -> None:
        super().__init__()
        self.finders = nn.Conv1d(WIDTH, FINDERS, 3, padding=1)
        self.even = nn.BatchNorm1d(WIDTH + FINDERS, affine=False, momentum=0.02)
        self.inner = nn.Linear(beside + WIDTH + FINDERS, HIDDEN)
        self.outer = nn.Linear(HIDDEN, len(Sort))

    def forward(self, states: torch.Tensor, there: torch.Tensor, beside: torch.Tensor) -> torch.Tensor:
        shown = there.float()[..., None]
        mean = (states * shown).sum(1) / shown.sum(1)
        seen = functional.dropout(states, _SEEN_OUT, self.training) * shown
        found = functional.relu(self.finders(seen.transpose(1, 2)))
        most = found.masked_fill(~there[:, None, :], 0).amax(2)
        even = self.even(torch.cat([mean, most], 1))
        most = functional.dropout(even[:, WIDTH:], _FINDERS_OUT, self.training)
        hidden = functional.relu(self.inner(torch.cat([beside, even[:, :WIDTH], most], 1)))
        scores: torch.Tensor = self.outer(functional.dropout(hidden, _HIDDEN_OUT, self.training))
        return scores


def tuned(examples: Examples, encoder: str) -> Second:
    """The second reading that fits, with its finders: several that were trained apart, side by side, whose
    scores are averaged. The same sentences give the same one on one machine."""
    torch.set_num_threads(1)
    counts = Counter(name for each in examples.signs for name in each)
    names = tuple(sorted(name for name, count in counts.items() if count >= COMMON))
    beside = given_of(examples.first, examples.signs, names)
    return _side_by_side([_trained(examples, beside, SEED + at) for at in range(READINGS)], names, encoder)


def _trained(examples: Examples, beside: Floats, seed: int) -> _Reading:
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    wanted = torch.tensor([list(Sort).index(one) for one in examples.labels])
    net = _Reading(beside.shape[1])
    found = {id(one) for one in net.finders.parameters()}
    others = [one for one in net.parameters() if id(one) not in found]
    groups = [
        {"params": others, "lr": _PACE, "weight_decay": 1e-4},
        {"params": list(net.finders.parameters()), "lr": _FINDERS_PACE, "weight_decay": 1e-3},
    ]
    steps = torch.optim.AdamW(groups)
    usable = np.array([at for at, one in enumerate(examples.pieces) if len(one)])
    total = EPOCHS * (len(usable) // PART + 1)
    pace = torch.optim.lr_scheduler.LambdaLR(
        steps, lambda step: min(1.0, step / _WARM) * max(0.03, 1 - step / total)
    )
    for epoch in range(EPOCHS):
        lost = 0.0
        for part in _parts(examples.pieces, usable, chance):
            states, there = _padded([examples.pieces[at] for at in part], chance)
            scores = net(states, there, torch.from_numpy(beside[part]))
            loss = functional.cross_entropy(scores, wanted[part], label_smoothing=SMOOTHED)
            steps.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            steps.step()
            pace.step()
            lost += loss.item()
        print(f"epoch {epoch + 1} of {EPOCHS}: {lost * PART / len(usable):.3f}", flush=True)
    return net


def _parts(pieces: Sequence[Pieces], usable: Wholes, chance: np.random.Generator) -> Iterator[Wholes]:
    """Places of sentences of about the same length, in some order."""
    sizes = np.array([len(pieces[at]) for at in usable])
    order = usable[np.argsort(sizes + chance.random(len(sizes)) * _APART, kind="stable")]
    parts = [order[at : at + PART] for at in range(0, len(order), PART)]
    for at in chance.permutation(len(parts)):
        yield parts[at]


def _padded(pieces: Sequence[Pieces], chance: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """The pieces of some sentences side by side, and which of them are there; some are left out."""
    longest = max(map(len, pieces))
    states = np.zeros((len(pieces), longest, WIDTH), dtype=np.float32)
    there = np.zeros((len(pieces), longest), dtype=bool)
    for row, one in enumerate(pieces):
        states[row, : len(one)] = one
        there[row, : len(one)] = True
    out = chance.random(there.shape) < _PIECES_OUT
    out[:, 0] = False
    return torch.from_numpy(states), torch.from_numpy(there & ~out)


def _side_by_side(nets: Sequence[_Reading], names: tuple[str, ...], encoder: str) -> Second:
    """All of it in whole numbers; what evens the encoder's numbers out is taken into the weights."""
    shared = len(Sort) + len(names) + WIDTH
    inner = np.zeros((shared + FINDERS * len(nets) + 1, HIDDEN * len(nets)))
    outers, matrices, biases = [], [], []
    for at, net in enumerate(nets):
        own, outer = _evened(net, len(names))
        columns, found = slice(at * HIDDEN, (at + 1) * HIDDEN), shared + at * FINDERS
        inner[:shared, columns], inner[-1, columns] = own[:shared], own[-1]
        inner[found : found + FINDERS, columns] = own[shared:-1]
        outers.append(outer / len(nets))
        matrices.append(net.finders.weight.detach().permute(2, 1, 0).reshape(3 * WIDTH, FINDERS).numpy())
        biases.append(np.zeros(FINDERS) if net.finders.bias is None else net.finders.bias.detach().numpy())
    outer = np.concatenate([*(one[:-1] for one in outers), sum(one[-1:] for one in outers)])
    return Second(
        names,
        np.rint(inner * STEP).astype(np.int64),
        np.rint(outer * STEP).astype(np.int64),
        encoder=encoder,
        finders=_rounded(np.concatenate(matrices, axis=1).astype(np.float64), np.concatenate(biases)),
    )


def _evened(net: _Reading, signs: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The layers of a reading over numbers as they come: nothing is evened out before them."""
    inner, outer = (_with_bias(one) for one in (net.inner, net.outer))
    mean = np.asarray(net.even.running_mean, dtype=np.float64)
    spread = np.sqrt(np.asarray(net.even.running_var, dtype=np.float64) + net.even.eps)
    inner[: len(Sort)] /= LOUD
    wide = slice(len(Sort) + signs, -1)
    inner[-1] -= (mean / spread) @ inner[wide]
    inner[wide] /= spread[:, None]
    return inner, outer


def _rounded(matrix: NDArray[np.float64], bias: NDArray[np.float64]) -> Finders:
    """Finders as bytes, and how large what they see may be, so that every sum is exact."""
    worth = (np.maximum(np.abs(matrix).max(axis=0), 1e-9) / 127).astype(np.float32)
    whole = np.clip(np.rint(matrix / worth), -127, 127).astype(np.int8)
    most = int(np.abs(whole.astype(np.int64)).sum(axis=0).max())
    return Finders(whole, worth, np.asarray(bias, dtype=np.float32), float(min(_MOST, _EXACT // most)))


def _with_bias(layer: nn.Linear) -> NDArray[np.float64]:
    """A row for each number that goes in, and one that is always there."""
    rows = [layer.weight.detach().numpy().T, layer.bias.detach().numpy()[None]]
    return np.concatenate(rows).astype(np.float64)
