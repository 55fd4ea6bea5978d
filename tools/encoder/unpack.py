"""The way back from the packed model to a student that can be trained on, where no checkpoint was kept."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from lamina_encoder import reading
from lamina_encoder.reading import Norm, Product, ReadingEncoder

from tools.encoder import glossary
from tools.encoder.student import Layer, Student


def unpack(packed: Path, work: Path) -> None:
    """The model as the checkpoint `all`, with its pieces and axes, into a work folder."""
    encoder = ReadingEncoder(packed)
    model, student = encoder._model, student_of(encoder)
    rows = np.asarray(encoder._rows, dtype=np.float32) * model.row_worth[:, None]
    (work / "student").mkdir(parents=True, exist_ok=True)
    axes = (model.axes / 2**12).astype(np.float32)
    np.save(work / "axes.npy", axes)
    glossary.save(_words(encoder), work / "vocab.json")
    begun = {"student": student.state_dict(), "rows": rows, "step": 0, "seconds": 0.0, "curve": []}
    torch.save(begun, work / "student" / "all.pt")
    print(f"{encoder.embedder_id} as {work / 'student' / 'all.pt'}", file=sys.stderr)


def student_of(encoder: ReadingEncoder) -> Student:
    """The packed layers in torch."""
    model = encoder._model
    student = Student(len(model.layers))
    with torch.no_grad():
        student.place.copy_(torch.from_numpy(model.places.copy()))
        _norm(student.first_norm, model.first_norm)
        for layer, given in zip(student.layers, model.layers, strict=True):
            layer_of(layer, given)
    return student


def layer_of(layer: Layer, given: reading.Layer) -> None:
    """A packed layer into one that can be trained."""
    for name in ("mix", "out", "up", "down"):
        _product(getattr(layer, name), getattr(given, name))
    _norm(layer.out_norm, given.out_norm)
    _norm(layer.down_norm, given.down_norm)


def _product(module: torch.nn.Linear, given: Product) -> None:
    module.weight.copy_(torch.from_numpy((given.matrix * given.worth).T.copy()))
    module.bias.copy_(torch.from_numpy(given.bias.copy()))


def _norm(module: torch.nn.LayerNorm, given: Norm) -> None:
    module.weight.copy_(torch.from_numpy(given.weight.copy()))
    module.bias.copy_(torch.from_numpy(given.bias.copy()))


def _words(encoder: ReadingEncoder) -> glossary.Vocabulary:
    """The pieces, by language; the teacher's come first."""
    words = list(encoder.pieces.words)
    costs, simplified, _ = encoder.pieces.unspaced
    return glossary.Vocabulary([*words, *costs], dict(costs), dict(simplified), len(words))
