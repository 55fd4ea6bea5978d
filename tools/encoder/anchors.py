"""Where the student itself pointed before: for English it is the better teacher once it has learnt the job.

What is trained on in Thai and Chinese alone would bend the English, too. So English talk is held where the
student put it when a stage began, and the same words in Thai and Chinese are led there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from lamina_encoder.pieces import Pieces

from tools.encoder.lessons import Lesson
from tools.encoder.student import LAYERS, Rows, Student, embed
from tools.encoder.talk import own_talk, spoken

Aimed = dict[str, list[tuple[list[int], np.ndarray]]]


def anchored(begun: Path, lessons: Sequence[Lesson], cut: Pieces, longest: int = 64) -> Aimed:
    """Our own texts by language, each with the vector that a checkpoint gives to its English."""
    sides = [side for lesson in lessons for side in (lesson.statement, *lesson.questions, *lesson.near)]
    known = [one for one in own_talk() if not one.held]
    talk = [one.questions for one in known if "en" in one.questions]
    talk += [{one.language: one.statement, "en": one.english} for one in known if one.english]
    plain = [{"en": text} for sort, text in spoken("en") if sort not in ("task", "chat")]
    every = [*sides, *talk, *plain]
    english = list(dict.fromkeys(side["en"] for side in every))
    goals = dict(zip(english, _vectors(begun, [cut.rows(text, longest) for text in english]), strict=True))
    return {
        f"own-{language}": [
            (cut.rows(side[language], longest), goals[side["en"]]) for side in every if language in side
        ]
        for language in ("en", "th", "zh")
    }


def _vectors(begun: Path, texts: Sequence[list[int]]) -> np.ndarray:
    known = torch.load(begun, weights_only=False)
    student = Student(len(LAYERS))
    student.load_state_dict(known["student"])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return embed(student, Rows(known["rows"]), texts)
