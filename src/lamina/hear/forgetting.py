"""A word to forget: what is meant is found by its words and by meaning, and goes, or the person is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lamina.errors import NotFound
from lamina.hear.about import LOOKED_AT, Fit, meant, nearest
from lamina.hear.asked_back import ANSWERED
from lamina.language.amend import weight, words_of
from lamina.language.command import Command, Target
from lamina.language.commands import is_note
from lamina.language.slots import just_said, without_what_stays
from lamina.model import Layer, Memory, Outcome, Receipt, Space
from lamina.read.recall import recall
from lamina.read.shelves import keyed, latest, window
from lamina.text.normalise import folded
from lamina.write.caller import Caller
from lamina.write.change import forget, get, revise

#: Where a memory parts into statements of their own.
_PARTS = re.compile(
    r"(?:, )?\band (?=i\b|my\b|we\b|our\b)|; |；|，|、而| และ|และ(?=ผม|ฉัน|เรา|หนู)", re.IGNORECASE
)
#: How much of a part has to be said again before it is the one meant, and how much of the others may be.
_NAMED, _OTHER = 0.6, 0.25
#: The rule of a wish that the model heard.
HEARD = "heard_forget"
#: Letters that may stand beside a word that points; where there are more, something else is named.
_BESIDE, _NO_POINTER = 14, ("me", "us")


def carry_forget(caller: Caller, command: Command) -> list[Receipt]:
    """Forget what is meant: code `several_meant` asks which, and `revised` says that a part stays."""
    reason = f"said:{command.rule}"
    if command.rule == ANSWERED:
        return _gone(caller, [get(caller, command.key or "")], [], reason)
    match command.target:
        case Target.KEY:
            found = [one for one in keyed(caller) if one.key == command.key]
            found = found or (_saying(caller, command.text) if command.text else [])
        case Target.LATEST:
            found = latest(caller)
        case Target.EVERYTHING:
            raise NotFound(
                "Forgetting everything is not done on a word.",
                code="confirmation_needed",
                hint="Use `lamina erase`, or name what to forget.",
            )
        case _:
            found = _saying(caller, command.text)
            if command.key and not found:
                found = [one for one in keyed(caller) if one.key == command.key]
    lasting = [one for one in found if one.layer is not Layer.WORKING]
    if not lasting and command.target in (Target.TEXT, Target.ABOUT):
        said = without_what_stays(command.text)
        fits = meant(caller, said)
        if command.old and not any(one.is_sure for one in fits):  # the sentence before may say what "it" is
            fits = meant(caller, f"{command.old} {said}") or fits
        if len(fits) > 1 or (fits and not fits[0].is_sure):
            return [_which(fits)]
        lasting = [one.memory for one in fits] or _pointed_at(caller, command)
    if not lasting and not found:
        near = nearest(caller, command.text) if command.rule == HEARD else []
        if len(near) > 1 or (near and not (near[0].recent and near[0].is_sure)):
            return [_which(near)]
        if not near:
            raise NotFound("There is nothing like that.")
        lasting = [near[0].memory]  # said a moment ago, and nothing else comes near
    if len(lasting) == 1 and command.target is Target.TEXT and (rest := _rest(caller, lasting[0], command)):
        return [revise(caller, lasting[0].id, rest, expect=lasting[0].revision, reason=reason)]
    return _gone(caller, lasting, found, reason)


def _which(fits: Sequence[Fit]) -> Receipt:
    """The question which of some memories is meant."""
    ids = tuple(one.memory.id for one in fits)
    return Receipt(decision=Outcome.DENIED, code="several_meant", ids=ids)


def _rest(caller: Caller, memory: Memory, command: Command) -> str:
    """What stays of a memory of which one part is to be forgotten; empty where all of it is meant."""
    if memory.key is not None and not is_note(memory.key):
        return ""
    book = caller.store.ruleset.rules
    said, parts = words_of(command.text, book), [one for one in _PARTS.split(memory.text) if one.strip()]
    shares = [weight(words_of(one, book) & said) / max(1.0, weight(words_of(one, book))) for one in parts]
    named = [one >= _NAMED for one in shares]
    clear = sum(named) == 1 and all(yes or one <= _OTHER for yes, one in zip(named, shares, strict=True))
    if len(parts) < 2 or not clear:
        return ""
    rest = [one.strip() for one, yes in zip(parts, named, strict=True) if not yes]
    return ", ".join(rest) if rest[0].isascii() else "，".join(rest)


def _gone(caller: Caller, lasting: Sequence[Memory], found: Sequence[Memory], reason: str) -> list[Receipt]:
    """Forget memories, and with them what the session still has of their words; those are not counted."""
    said = [folded(one.text) for one in lasting]
    heard = [one for one in window(caller) if any(text in folded(one.text) for text in said)]
    receipts = [forget(caller, one.id, reason=reason) for one in lasting]
    known = {one.id for one in lasting}
    others = {one.id: one for one in [*found, *heard] if one.id not in known}
    turns_gone = [forget(caller, one, reason=reason) for one in others]
    return receipts or turns_gone


def _pointed_at(caller: Caller, command: Command) -> list[Memory]:
    """What was kept last, where words only point at it: "forget it"."""
    said = folded(command.text)
    if just_said(said):
        session = caller.in_session.session
        return [one for one in latest(caller) if one.provenance.session_id == session]
    pointers = caller.store.ruleset.rules.any_of("cue", "this").finditer(said)
    longest = max((one[0] for one in pointers if one[0] not in _NO_POINTER), key=len, default="")
    beside = len(said) - len(longest)
    return (
        latest(caller) if len(longest) > 1 and beside <= (_BESIDE if said.isascii() else _BESIDE // 2) else []
    )


def _saying(caller: Caller, words: str) -> list[Memory]:
    """The lasting memories whose key or words hold these words, in any spelling that folds to the same."""
    wanted = folded(words)
    hits = recall(caller, words, {"k": LOOKED_AT, "spaces": [Space.SESSION, Space.USER]}).hits
    known = {hit.id: get(caller, hit.id) for hit in hits}
    known |= {one.id: one for one in [*keyed(caller), *window(caller)]}
    return [one for one in known.values() if wanted in folded(f"{one.key or ''}\n{one.text}")]
