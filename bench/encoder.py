"""How good and how fast the encoders are that ship, beside others in the same run.

    python -m bench.encoder [--data FOLDER] [--sets A,B] [--pairs FILE] [--table FOLDER] [--model FOLDER]
                            [--wordllama WHEEL] [--teacher WORK]

`static` is the table, `reading` the encoder that reads, `reading-64` the first 64 numbers of its vectors.
`data/questions.jsonl` and `data/questions-2.jsonl` have questions in other words beside the facts that answer
them; `reading+read` reads the best of each question once more, together with it, as recall does, and says
what that is worth over the encoder alone; `--pairs` is a file of such rows by others. `--data` has retrieval
sets (`NAME.dev.jsonl.xz`); without it only questions, triples and speed are measured. `--wordllama` is that
package's wheel, `--teacher` the work folder of `python -m tools.encoder`, for all-MiniLM-L6-v2; both need the
dependency group `encoder`. Alone, an encoder ranks by likeness. With BM25 both are summed on one scale, and
the encoder counts as much as our own encoder's reach of the question says.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
from lamina_encoder.joint import JointReader
from lamina_encoder.reading import ReadingEncoder

from bench.pools import SETS, lexical, likeness, pools, quality, summed
from lamina.encoders.port import Embedder
from lamina.encoders.static import StaticEncoder
from lamina.retrieval.weighing import AT_MOST, READ, READ_WORTH

TRIPLES = Path(__file__).parent / "data" / "triples.tsv"
QUESTIONS = [Path(__file__).parent / "data" / name for name in ("questions.jsonl", "questions-2.jsonl")]
LANGUAGES = ("en", "th", "zh-Hans", "zh-Hant")
SHOWN = ("hit@1", "hit@10", "mrr", "r@5", "r@10", "ndcg@10")
Encode = Callable[[Sequence[str]], np.ndarray]
Compare = Callable[[Sequence[str], Sequence[str]], np.ndarray]  #: a score of each question with each fact


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.encoder", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--wordllama", type=Path)
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--speed-of", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.speed_of:
        print(json.dumps(speed(chosen.speed_of, chosen)))
        return
    encoders = named(chosen)
    ways = {name: compared(encode) for name, encode in encoders.items()}
    first: dict[str, dict[str, float]] = defaultdict(dict)
    for name, compare in (ways | {"reading+read": reranked(ReadingEncoder(chosen.model))}).items():
        known = ("en",) if name == "minilm" else LANGUAGES
        for path in QUESTIONS:
            for line, figures in questions(path, known, compare).items():
                print(f"{path.stem} {line:16} {name:14} hit@1 / @5  {figures}", flush=True)
                first[name][f"{path.stem} {line}"] = float(figures.split("/")[0])
        if chosen.pairs:
            for line, figures in talk(chosen.pairs, known, compare).items():
                print(f"pairs {line:20} {name:14} hit@1 / @5  {figures}", flush=True)
                first[name][f"pairs {line}"] = float(figures.split("/")[0])
    gains = [value - first["reading"][line] for line, value in first["reading+read"].items()]
    print(f"reranked, hit@1 over the encoder alone: {np.mean(gains):+.1f}, mean of {len(gains)} lines")
    for name, encode in encoders.items():
        print(f"triples, {name}: {triples(encode)}", flush=True)
    if chosen.data:
        for name in chosen.sets.split(","):
            compare(name, chosen.data, encoders, StaticEncoder(chosen.table))
    for name in [name for name in encoders if name not in {"minilm", "reading-64"}]:
        command = [sys.executable, "-m", "bench.encoder", *sys.argv[1:], "--speed-of", name]
        measured = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"speed, {name}: {measured.stdout.strip()}")


def named(chosen: argparse.Namespace) -> dict[str, Encode]:
    """The encoders that can be measured here."""
    reading = ReadingEncoder(chosen.model)
    found: dict[str, Encode] = {
        "static": StaticEncoder(chosen.table).embed,
        "reading": reading.embed,
        f"reading-{reading.narrow}": lambda texts: shortened(reading.embed(texts), reading.narrow),
    }
    if chosen.wordllama:
        found["wordllama"] = wordllama(chosen.wordllama)
    if chosen.teacher:
        found["minilm"] = import_module("tools.encoder.teacher").Teacher(chosen.teacher).embed
    return found


def wordllama(wheel: Path) -> Encode:
    """wordllama's table, read as its own code would: the mean of a text's tokens."""
    load = import_module("safetensors.numpy").load
    with zipfile.ZipFile(wheel) as archive:
        (rows,) = load(archive.read("wordllama/weights/l2_supercat_256.safetensors")).values()
        file = archive.read("wordllama/tokenizers/l2_supercat_tokenizer_config.json")
    tokenizer = import_module("tokenizers").Tokenizer.from_str(file.decode())
    table = rows.astype(np.float32)

    def encode(texts: Sequence[str]) -> np.ndarray:
        out = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
        for number, encoding in enumerate(tokenizer.encode_batch(list(texts), add_special_tokens=False)):
            if encoding.ids:
                out[number] = table[encoding.ids].mean(0)
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)

    return encode


def shortened(vectors: np.ndarray, count: int) -> np.ndarray:
    """The first numbers of vectors, with length one again."""
    first = vectors[:, :count]
    return first / np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-9)


def compared(encode: Encode) -> Compare:
    """By the likeness of vectors alone."""
    known: dict[str, np.ndarray] = {}

    def vectors(texts: Sequence[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, encode(new), strict=True))
        return np.stack([known[text] for text in texts])

    return lambda asked, facts: vectors(asked) @ vectors(facts).T


def reranked(encoder: ReadingEncoder) -> Compare:
    """The likeness, and of the best of each question what the reader says of both together."""
    alone, reader = compared(encoder.embed), JointReader(encoder)

    def compare(asked: Sequence[str], facts: Sequence[str]) -> np.ndarray:
        likeness = alone(asked, facts)
        for question, line in zip(asked, likeness, strict=True):
            best = np.argsort(-line, kind="stable")[:READ]
            fits = np.clip(reader.scores(question, [facts[at] for at in best]), -AT_MOST, AT_MOST)
            line[best] += READ_WORTH * (fits - fits.min())
        return likeness

    return compare


def questions(path: Path, languages: Sequence[str], compare: Compare) -> dict[str, str]:
    """Of each language, and from each to each, how often the fact that answers comes first, or among five."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    asked = [(at, row) for at, row in enumerate(rows) if row["kind"] == "fact"]
    gold = [[at] for at, _ in asked]
    out: dict[str, str] = {}
    there = [name for name in languages if name in rows[0]["fact"]]
    for one in there:
        for other in there:
            if one[:2] != other[:2] or one == other:
                name = one if one == other else f"{one}>{other}"
                facts = [row["fact"][other] for row in rows]
                out[name] = hits(compare([row["question"][one] for _, row in asked], facts), gold)
    return out


def talk(path: Path, languages: Sequence[str], compare: Compare) -> dict[str, str]:
    """The same on a file of facts and questions of several people, by kind and language."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    out: dict[str, str] = {}
    for person in sorted({row["person"] for row in rows}):
        facts = [row for row in rows if row["person"] == person and row["kind"] == "fact"]
        if not any(name.startswith(facts[0]["lang"]) for name in languages):
            continue
        place = {row["id"]: at for at, row in enumerate(facts)}
        texts = [row["fact"] for row in facts]
        for kind in ("paraphrase", "cross", "temporal"):
            asked = [row for row in rows if row["person"] == person and row["kind"] == kind]
            gold = [
                [place[fact] for fact in row.get("facts") or [] if fact in place]
                or [at for at, fact in enumerate(facts) if _has(fact["fact"], row["must"])]
                for row in asked
            ]
            if asked:
                likeness = compare([row["question"] for row in asked], texts)
                out[f"{kind} {facts[0]['lang']}"] = hits(likeness, gold)
    return out


def _has(text: str, wanted: Sequence[str]) -> bool:
    return all(part.lower() in text.lower() for part in wanted)


def hits(likeness: np.ndarray, gold: Sequence[Sequence[int]]) -> str:
    """In how many of a hundred questions a right answer is the first, and among the first five."""
    ranks = []
    for line, right in zip(likeness, gold, strict=True):
        order = np.argsort(-line, kind="stable")
        ranks.append(min(int(np.flatnonzero(order == at)[0]) for at in right) + 1)
    places = np.array(ranks)
    return f"{100 * (places <= 1).mean():5.1f} / {100 * (places <= 5).mean():5.1f}  of {len(places)}"


def triples(encode: Encode) -> dict[str, str]:
    """Of each pair of languages, how often the same meaning is nearer than the same words."""
    rows = [line.split("\t") for line in TRIPLES.read_text("utf-8").splitlines() if not line.startswith("#")]
    anchor, same, other = (encode([row[column] for row in rows]) for column in (2, 3, 4))
    right = (anchor * same).sum(1) > (anchor * other).sum(1)
    found: dict[str, list[bool]] = defaultdict(list)
    for row, ordered in zip(rows, right.tolist(), strict=True):
        found[f"{row[0][:2]}-{row[1][:2]}"].append(ordered)
        found["all"].append(ordered)
    return {pair: f"{sum(kept)}/{len(kept)}" for pair, kept in sorted(found.items())}


def compare(name: str, folder: Path, encoders: dict[str, Encode], weigher: Embedder) -> None:
    """One set: BM25 alone, each encoder alone, each with BM25."""
    totals: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for pool in pools(folder, name):
        found = {"bm25": lexical(pool)}
        reach = np.array([weigher.reach(question) for question in pool.questions])
        for label, encode in encoders.items():
            found[label] = likeness(pool, encode)
            found[f"bm25+{label}"] = summed(found["bm25"], found[label], reach)
        for label, scores in found.items():
            for figure, value in quality(scores, pool.gold).items():
                totals[label][figure] += value
    for label, sums in totals.items():
        figures = "  ".join(f"{figure} {100 * sums[figure] / sums['questions']:5.1f}" for figure in SHOWN)
        print(f"{name:14} {label:16} {figures}", flush=True)


def speed(name: str, chosen: argparse.Namespace) -> dict[str, float]:
    """Load time and short texts a second, in time of one core; resident memory; disk."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = [line.split("\t") for line in TRIPLES.read_text("utf-8").splitlines() if not line.startswith("#")]
    texts = [text for row in rows for text in row[2:]]
    before = resident()
    began = time.process_time()
    folders = {"static": StaticEncoder(chosen.table).folder, "reading": ReadingEncoder(chosen.model).folder}
    encode = {
        "static": lambda: StaticEncoder(chosen.table).embed,
        "reading": lambda: ReadingEncoder(chosen.model).embed,
        "wordllama": lambda: wordllama(chosen.wordllama),
    }[name]()
    encode(["load"])
    loaded = time.process_time() - began
    single = alone(encode, [f"{text} ?" for text in texts[:100]])
    rounds = []
    for repeat in range(3 if name == "reading" else 8):
        fresh = [f"{text} {repeat}" for text in texts] * (1 if name == "reading" else 5)
        began = time.process_time()
        encode(fresh)
        rounds.append(len(fresh) / (time.process_time() - began))
    later = alone(encode, [f"{text} !" for text in texts[:100]])  # by onnxruntime, where it is installed
    disk = (
        sum(path.stat().st_size for path in folders[name].iterdir())
        if name in folders
        else chosen.wordllama.stat().st_size
    )
    return {
        "load_s": round(loaded, 3),
        "one_text_ms": round(1000 * sorted(single)[len(single) // 2], 2),
        "best_one_text_ms": round(1000 * min(single), 2),
        "later_one_text_ms": round(1000 * sorted(later)[len(later) // 2], 2),
        "best_later_one_text_ms": round(1000 * min(later), 2),
        "texts_per_s": round(sorted(rounds)[len(rounds) // 2]),
        "best_texts_per_s": round(max(rounds)),
        "resident_mb": round(resident(), 1),
        "of_which_encoder_mb": round(resident() - before, 1),
        "disk_mb": round(disk / 1e6, 1),
    }


def alone(encode: Encode, texts: Sequence[str]) -> list[float]:
    """What each text takes by itself, in seconds of the processor."""
    out = []
    for text in texts:
        began = time.process_time()
        encode([text])
        out.append(time.process_time() - began)
    return out


def resident() -> float:
    """Memory of this process, in MB."""
    with Path("/proc/self/status").open() as file:
        return next(int(line.split()[1]) / 1e3 for line in file if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()
