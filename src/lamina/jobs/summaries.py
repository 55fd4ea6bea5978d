"""One line for each decision: what it settles, or a Writer's wording of it where that says the same."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from lamina.errors import LaminaError
from lamina.jobs.job import Task
from lamina.jobs.writer import Asking
from lamina.language.statements import headline
from lamina.layers.writing import written
from lamina.model import Kind
from lamina.policy.writing import Pass, Repaired
from lamina.text.decision_entries import NOT_SAID, Decision, plain_line
from lamina.text.memory_page import SUMMARY_CHARS
from lamina.text.terms import query_terms
from lamina.write.store import caller_of

PROMPT = "summary-2"
_BATCH = 20
_MOST = 60  #: decisions that are worth asking about in one run; there is no room for more
_NEW_WORDS = 0.34  #: how many of a summary's words may be the Writer's own
_NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*")
_NO = re.compile(
    r"\b(?:no|not|never|without|don't|cannot|can't|won't|stop|instead)\b|n't\b|ไม่|ห้าม|อย่า|เลิก|不|别|別|勿|禁|停|没|沒|非",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[\[\]<>`|]|https?:|\n")
_SCHEMA = {
    "type": "object",
    "required": ["summaries"],
    "properties": {
        "summaries": {
            "type": "array",
            "maxItems": _BATCH,
            "items": {
                "type": "object",
                "required": ["number", "summary"],
                "properties": {
                    "number": {"type": "integer"},
                    "summary": {"type": "string", "maxLength": 400},
                },
            },
        }
    },
}


def summaries(task: Task, decisions: Sequence[Decision]) -> dict[str, str]:
    """A summary for each decision by its id. A Writer that fails or says something else changes nothing."""
    said = {one.id: line_for(one) for one in decisions}
    if task.writer is None:
        return said
    for at in range(0, min(len(decisions), _MOST), _BATCH):
        batch = decisions[at : at + _BATCH]
        material = json.dumps(
            [{"number": n, "title": one.title, "conclusion": one.conclusion} for n, one in enumerate(batch)],
            ensure_ascii=False,
        )
        task.check()
        asking = Asking(
            prompt=PROMPT, material=material, schema=_SCHEMA, timeout_s=min(60.0, task.deadline.left_s())
        )
        try:
            answers = task.writer.write(asking).value["summaries"]
        except LaminaError as error:
            task.notes.append(f"The language model could not help ({error.code}); the rules' text is used.")
            return said
        for answer in answers:
            number = answer["number"]
            result = written(caller_of(task.store, via="job"), answer["summary"], Kind.DECISION)
            if not isinstance(result, Pass | Repaired) or not 0 <= number < len(batch):
                continue
            if says_the_same(result.text, batch[number]):
                said[batch[number].id] = plain_line(result.text)
    return said


def line_for(decision: Decision) -> str:
    """What a decision settles, as a line of its own."""
    return headline(decision.conclusion, "" if decision.why == NOT_SAID else decision.why)


def says_the_same(summary: str, decision: Decision) -> bool:
    """Whether a summary may stand for a decision: short, plain, its numbers, its sense, mostly its words."""
    source = f"{decision.title} {decision.conclusion}"
    words, known = set(query_terms(summary)), set(query_terms(source))
    return (
        0 < len(summary.strip()) <= SUMMARY_CHARS
        and not _MARKUP.search(summary)
        and set(_NUMBERS.findall(decision.conclusion)) <= set(_NUMBERS.findall(summary))
        and set(_NUMBERS.findall(summary)) <= set(_NUMBERS.findall(source))
        and bool(_NO.search(summary)) == bool(_NO.search(decision.conclusion))
        and len(words - known) <= _NEW_WORDS * len(words)
    )
