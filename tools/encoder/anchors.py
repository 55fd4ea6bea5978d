"""Where the student itself pointed before: for English it is the better teacher once it has learnt the job.

What is trained on in Thai and Chinese alone would bend the English, too. So English is held where the
student put it when a stage began, and the same words in Thai and Chinese are led there: our own texts, and
those of the sources, for which the teacher's vectors have become another space.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from lamina_encoder.pieces import Pieces

from tools.encoder.lessons import Lesson, Side
from tools.encoder.student import LAYERS, Rows, Student, embed
from tools.encoder.talk import own_talk, spoken

Aimed = dict[str, list[tuple[list[int], np.ndarray]]]
Texts = Mapping[str, Sequence[tuple[str, str]]]  #: by kind: a text, and its English


def anchored(begun: Path, texts: Texts, cut: Pieces, longest: int = 64) -> Aimed:
    """Texts by kind, each with the vector that a checkpoint gives to its English."""
    english = dict.fromkeys(goal for kind in texts.values() for _, goal in kind)
    goals = _goals(begun, list(english), cut, longest)
    return {
        kind: [(cut.rows(text, longest), goals[goal]) for text, goal in found]
        for kind, found in texts.items()
    }


def own_texts(lessons: Sequence[Lesson]) -> Texts:
    """Everything of ours that is said in English too, by language."""
    sides = [side for lesson in lessons for side in (lesson.statement, *lesson.questions, *lesson.near)]
    known = [one for one in own_talk() if not one.held]
    sides += [one.questions for one in known if "en" in one.questions]
    sides += [{one.language: one.statement, "en": one.english} for one in known if one.english]
    sides += [{"en": text} for sort, text in spoken("en") if sort not in ("task", "chat")]
    return by_language("own", sides)


def by_language(kind: str, sides: Sequence[Side]) -> dict[str, list[tuple[str, str]]]:
    """What is said in English too, each language for itself."""
    return {
        f"{kind}-{language}": [(side[language], side["en"]) for side in sides if language in side]
        for language in ("en", "th", "zh")
    }


def _goals(begun: Path, english: Sequence[str], cut: Pieces, longest: int) -> dict[str, np.ndarray]:
    """What was embedded with this checkpoint before is not embedded again."""
    known = torch.load(begun, weights_only=False)
    kept = begun.with_name(
        f"goals-{hashlib.blake2b(known['rows'].tobytes(), digest_size=8).hexdigest()}.pickle"
    )
    goals = pickle.loads(kept.read_bytes()) if kept.exists() else {}  # our own file in our own folder
    missing = [text for text in english if text not in goals]
    student = Student(len(LAYERS))
    student.load_state_dict(known["student"])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        vectors = embed(student, Rows(known["rows"]), [cut.rows(text, longest) for text in missing])
    goals.update(zip(missing, vectors.astype(np.float16), strict=True))
    kept.write_bytes(pickle.dumps(goals))
    return goals
