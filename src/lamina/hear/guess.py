"""What a message lets one guess about its person, and what it teaches: each waits for their word."""

from __future__ import annotations

from dataclasses import replace

from lamina.language.acknowledge import acknowledge, language_for
from lamina.language.clauses import UNSAID
from lamina.language.framing import asks_anywhere
from lamina.language.hearing import hear
from lamina.language.infer import EARLIER, infer
from lamina.language.layering import correction_in, expertise_in
from lamina.language.understanding import ends_of
from lamina.language.user_model import expertise_key
from lamina.layers.procedures import Procedures
from lamina.layers.user_model import UserModel
from lamina.model import Heard, Outcome, Receipt
from lamina.policy.consent import Care
from lamina.read.resolve import resolve
from lamina.read.shelves import turns
from lamina.text.normalise import Language
from lamina.write.store import Caller
from lamina.write.verbs import pending, propose


def voice(caller: Caller, text: str) -> tuple[Language, str]:
    """The language and the verbosity to answer in: as the person set them, else as they speak."""
    values = resolve(caller, ["response.language", "response.verbosity"])
    language = values.get("response.language")
    verbosity = values.get("response.verbosity")
    spoken = language_for(language.value if language else None, text)
    return spoken, verbosity.value if verbosity else "normal"


def with_guesses(caller: Caller, text: str, heard: Heard) -> Heard:
    """Stage what the message lets one guess about the person, surely enough."""
    store, config = caller.store, caller.store.config
    if any(one.code.startswith("privacy_") for one in heard.receipts) or _is_about_a_text(caller, text):
        return heard
    guesses = [
        one
        for one in infer(text, list(map(ends_of, turns(caller, EARLIER))), book=store.ruleset.rules)
        if one.confidence >= config.infer_confidence
    ]
    values = resolve(caller, [one.key for one in guesses]) if guesses else {}
    staged: list[Receipt] = []
    for one in guesses:
        if one.key not in values or values[one.key].value != one.value:
            receipt = propose(caller, one.value, one.key, one.confidence, f"inferred:{one.reason}")
            if receipt.decision is Outcome.HELD:
                how = "pending_named" if store.ruleset.fields.care(one.key) is Care.SENSITIVE else "pending"
                said = acknowledge(how, *voice(caller, text), key=one.key, value=one.value)
                receipt = replace(receipt, acknowledgement=said)
            staged.append(receipt)
    held = [one for one in staged if one.decision is Outcome.HELD]
    # Whoever was asked once is not asked again with every turn: what waits is one question at the end.
    told = [one.acknowledgement for one in held] if len(pending(caller)) <= len(held) else []
    return replace(
        heard,
        receipts=(*heard.receipts, *staged),
        acknowledgement="\n".join([*filter(None, [heard.acknowledgement]), *told]),
    )


def _is_about_a_text(caller: Caller, text: str) -> bool:
    """Whether a message asks, or hands something over: what it says of length or tone is about that."""
    said = hear(text, caller.store.ruleset.rules).said
    return UNSAID in said or asks_anywhere(said)


def with_lessons(caller: Caller, text: str, heard: Heard) -> Heard:
    """Put before the person what a message teaches of their expertise, and the procedure in a correction."""
    if any(one.code.startswith("privacy_") for one in heard.receipts):
        return heard
    known = UserModel(caller).get()["expertise"] if (said := expertise_in(text)) else {}
    staged = [
        propose(caller, one.level, expertise_key(one.topic), one.confidence, "inferred:expertise")
        for one in said
        if known.get(one.topic) != one.level
    ]
    if lesson := correction_in(text):
        staged.append(Procedures(caller).propose(*lesson, "correction", "inferred:correction"))
    return replace(heard, receipts=(*heard.receipts, *staged))
