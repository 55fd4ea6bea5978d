"""What sort of statement a message is, and how much it matters."""

from __future__ import annotations

from lamina.language.clauses import listen
from lamina.language.facts import fact_in
from lamina.language.rulebook import Rulebook, rulebook
from lamina.language.view import view_of
from lamina.model.memory import Kind
from lamina.model.scope import Role
from lamina.records import dataclass

_PASSING = 3  #: points that a fact about a day or a week has less


@dataclass(frozen=True, slots=True)
class Classified:
    """What a message is, and the rule that said so."""

    kind: Kind
    rule: str  #: the name of a rule in the data, or `tool_events`, `ai_output`, `no_rule`


@dataclass(frozen=True, slots=True)
class Weighed:
    """How much a message matters, and why, in the order in which points were given."""

    value: int
    reasons: tuple[str, ...]


def event_type(
    text: str, role: Role, *, tool_events: bool = False, book: Rulebook | None = None
) -> Classified:
    """The first of execution, correction, preference, decision, fact and context that the message is.

    What an agent says is context whatever it says. What is quoted, asked, supposed, denied or reported is no
    statement. Never raises; linear in the text.
    """
    if role is Role.AGENT:
        return Classified(Kind.CONTEXT, "ai_output")
    if tool_events:
        return Classified(Kind.EXECUTION, "tool_events")
    speech = listen(text, book or rulebook())
    for rule in speech.book.of("event"):
        if speech.asserts(rule) and not (rule["yields_to_fact"] and fact_in(speech)):
            return Classified(Kind(rule["kind"]), rule.name)
    fact = fact_in(speech)
    return Classified(Kind.FACT, fact.rule) if fact else Classified(Kind.CONTEXT, "no_rule")


def importance(kind: Kind, role: Role, text: str, *, book: Rulebook | None = None) -> Weighed:
    """The weight of the kind, and one point each for the user's word, for emphasis and for a correction.

    A fact about a day or a week, without emphasis, has less.
    """
    book = book or rulebook()
    reasons = [f"event:{kind}"]
    if role is Role.USER:
        reasons.append("source:user")
    if emphatic := _says(text, "emphasis", book):
        reasons.append("emphasis")
    if kind is Kind.CORRECTION:
        reasons.append("corrective")
    value = book.weights[kind] + len(reasons) - 1
    if kind is Kind.FACT and not emphatic and _says(text, "passing", book):
        return Weighed(value - _PASSING, (*reasons, "passing"))
    return Weighed(value, tuple(reasons))


def _says(text: str, what: str, book: Rulebook) -> bool:
    return bool(book.any_of(what).search(view_of(text).text.replace("’", "'")))
