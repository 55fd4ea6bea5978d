"""A word to forget: what is meant is found by its words and by meaning, and goes, or the person is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lamina.errors import NotFound
from lamina.hear.about import LOOKED_AT, Meant, chosen, fits_to_forget, known_to, only_points, waits_about
from lamina.hear.asked_back import ANSWERED
from lamina.language.amend import corrections, telling
from lamina.language.command import Action, Command, Target
from lamina.language.joined import without_part
from lamina.language.relation import Does
from lamina.language.slots import just_said, names_taken_back, taken_back, takes_nothing
from lamina.model import Kind, Layer, Memory, Outcome, Receipt, Role, Space, State
from lamina.policy.consent import Channel, same_value
from lamina.read.recall import look_up
from lamina.read.shelves import keyed, latest, loaded, window
from lamina.read.snapshot import look
from lamina.similarity.repeats import telling_of
from lamina.text.normalise import folded, is_note
from lamina.write.store import Caller
from lamina.write.verbs import forget, get, pending, reject, revise

#: How much of what is denied a memory has to say before it is taken back.
_NAMED = 0.6
#: How much of what is to go a memory of the project has to say, where none of the person's own is named.
_SHARED = 0.5
_ASKED = 0.2  #: the same, where the person is asked first
#: The rule of a word that what was said before never was so.
MISSPOKE = "misspoke"
#: How the rules are called of a wish never to hear of something again, and of what a model heard.
_NEVER_AGAIN, _HEARD = "never_again", "heard_"
_CLAUSES = re.compile(r"[,;.!?:，；。！？：、\n]+| and | so | แต่| เพราะ")
#: What may be meant though it only waits for the person's word.
_MAY_WAIT = (Target.LATEST, Target.TEXT, Target.ABOUT)


def carry_forget(caller: Caller, command: Command) -> list[Receipt]:
    """Forget what is meant: code `several_meant` asks which, and `revised` says that a part stays."""
    reason = command.reason
    if command.meant and not command.clear:
        shared = _shared(caller, command.text)
        return _gone(caller, shared, [], reason) if shared else [_which(caller, command, command.meant)]
    if command.rule == MISSPOKE:
        return _taken_back(caller, command.text, reason)
    if command.rule == ANSWERED:
        return _gone(caller, [get(caller, command.key or "")], [], reason)
    if command.target in _MAY_WAIT and (
        waits := waits_about(caller, command.text, last=command.target is Target.LATEST)
    ):
        return reject(caller, waits.key, channel=Channel.CHAT)
    found = _named_by(caller, command)
    kept = [one for one in found if one.layer is not Layer.WORKING]
    if not kept and command.target in (Target.TEXT, Target.ABOUT):
        meant = _by_meaning(caller, command, found)
        if isinstance(meant, Receipt):
            return [meant]
        found, kept = meant, [one for one in meant if one.layer is not Layer.WORKING]
    if not found and (asked := _which(caller, command, ())).ids:
        return [asked]
    if not found:
        raise NotFound("There is nothing like that.")
    if len(kept) == 1 and command.target is Target.TEXT and (rest := _rest(caller, kept[0], command)):
        return [revise(caller, kept[0].id, rest, expect=kept[0].revision, reason=reason)]
    return _gone(caller, kept, found, reason)


def _named_by(caller: Caller, command: Command) -> list[Memory]:
    """The memories that the command names by their ids, their key, their words or their time."""
    match command.target:
        case _ if command.meant:
            return loaded(caller, command.meant)
        case Target.KEY:
            found = [one for one in keyed(caller) if one.key == command.key]
            return found or (_saying(caller, command.text) if command.text else [])
        case Target.LATEST:
            return _just_said(caller) if just_said(folded(command.old or "")) else latest(caller)
        case Target.EVERYTHING:
            raise NotFound(
                "Forgetting everything is not done on a word.",
                code="confirmation_needed",
                hint="Use `lamina erase --user NAME`, or name what to forget.",
            )
        case _:
            found = _saying(caller, command.text)
            if command.key and not found:
                found = [one for one in keyed(caller) if one.key == command.key]
            return found


def _several(ids: tuple[str, ...]) -> Receipt:
    return Receipt(decision=Outcome.DENIED, code="several_meant", ids=ids)


def _which(caller: Caller, command: Command, own: tuple[str, ...]) -> Receipt:
    """The question which is meant: what the project knows of it, where there is such, or the person's own."""
    shared = _shared(caller, command.text, _ASKED)
    return _several(tuple(one.id for one in shared) or own)


def _by_meaning(caller: Caller, command: Command, found: list[Memory]) -> list[Memory] | Receipt:
    """What is meant where nothing has the very words: what is pointed at, what the project knows of it, what
    fits by meaning; or the question which."""
    fits = _fitting(caller, command)
    names = fits is not None and fits.clear and fits.is_named  # "that number": which, is said
    if not names and (pointed := _pointed_at(caller, command)):
        return pointed
    if not names and (shared := _shared(caller, command.text)):
        return shared  # nothing of the person's own is named
    if fits is not None:
        return [one.memory for one in fits.fits] if fits.clear else _which(caller, command, fits.ids)
    return found


def takes_something(caller: Caller, command: Command, said: str) -> bool:
    """Whether a command does not only sound like a wish to forget: a courtesy, a vow, somebody else's wish;
    and whether there is anything that is not to be heard of again. `said` is its sentence."""
    again = command.rule.startswith(_NEVER_AGAIN)
    if command.action is not Action.FORGET or not (again or command.rule.startswith(_HEARD)):
        return True
    if takes_nothing(said):
        return False
    named = not again or _named_by(caller, command) or _which(caller, command, ()).ids
    return bool(named or _fitting(caller, command))


def was_named(caller: Caller, command: Command, text: str) -> bool:
    """Whether a wish has a word of what it took."""
    book = caller.store.ruleset.rules
    return bool(telling(command.text, book) & telling(text, book))


def _fitting(caller: Caller, command: Command) -> Meant | None:
    """What a wish to forget means by meaning; the sentence before it may say what "it" is."""
    said = command.text
    tries = [said, f"{command.old} {said}"] if command.old else [said]
    found = [chosen(caller, fits_to_forget(caller, one), Does.FORGET) for one in tries]
    return next((one for one in found if one and one.clear), next(filter(None, found), None))


def misspoke(caller: Caller, text: str) -> list[Command]:
    """The wish to take something back in a message that puts nothing in its place."""
    said = taken_back(text)
    if said is None or any(one.named for one in corrections(text, caller.store.ruleset.rules)):
        return []
    clauses = [one for one in _CLAUSES.split(said) if telling_of(one).terms]
    denied = names_taken_back(text) or all(telling_of(one).turned for one in clauses)
    if not denied or not _told(caller, said):
        return []
    return [
        Command(
            action=Action.FORGET,
            target=Target.TEXT,
            kind=Kind.FACT,
            text=said,
            span=(0, len(text)),
            rule=MISSPOKE,
        )
    ]


def _told(caller: Caller, denied: str) -> list[Memory]:
    """What a person said before of what they deny now: all that says most of it, or what was said last."""
    known = {one.id: one for one, _ in known_to(caller, denied)} if denied else {}
    known |= {one.id: one for one in (*window(caller), *pending(caller))}
    terms, turned = telling_of(denied).terms, telling_of(denied).turned
    own = [
        one
        for one in known.values()
        if one.provenance.role is Role.USER and not (turned and telling_of(one.text).turned)
    ]
    if not terms:
        last = latest(caller) or window(caller)[-1:]
        return [one for one in last if one.provenance.session_id == caller.in_session.session]
    shares = {one.id: len(terms & telling_of(one.text).terms) / len(terms) for one in own}
    best = max(shares.values(), default=0.0)
    named = [one for one in own if best >= _NAMED and shares[one.id] == best]
    return named or _shared(caller, denied)


def _taken_back(caller: Caller, denied: str, reason: str) -> list[Receipt]:
    found = _told(caller, denied)
    kept = [one for one in found if one.layer is not Layer.WORKING and one.state is State.ACTIVE]
    if len({same_value(one.text) for one in kept}) > 1:
        return [_several(tuple(one.id for one in kept))]
    guesses = [one.key for one in found if one.state is State.PENDING]
    rejected = [receipt for key in guesses for receipt in reject(caller, key, channel=Channel.CHAT)]
    turns = [one for one in found if one.state is State.ACTIVE]
    return [*_gone(caller, kept, turns, reason), *rejected]


def _shared(caller: Caller, words: str, least: float = _SHARED) -> list[Memory]:
    """What the project knows of what is named; whose it is, is seen when it is to go."""
    terms = telling_of(words).terms
    if caller.scope.project is None or not terms:
        return []
    met = look(caller, lambda snapshot: look_up(snapshot, words, k=LOOKED_AT, spaces=[Space.PROJECT]))
    known = [one for one, _ in met]
    shares = {one.id: len(terms & telling_of(one.text).terms) / len(terms) for one in known}
    best = max(shares.values(), default=0.0)
    return [one for one in known if best >= least and shares[one.id] == best]


def _rest(caller: Caller, memory: Memory, command: Command) -> str:
    """What stays of a memory of which one part is to be forgotten; empty where all of it is meant."""
    if memory.key is not None and not is_note(memory.key):
        return ""
    book = caller.store.ruleset.rules
    return without_part(memory.text, telling(command.text, book), book)


def _gone(caller: Caller, lasting: Sequence[Memory], found: Sequence[Memory], reason: str) -> list[Receipt]:
    """Forget memories, and with them what the session still has of their words; those are not counted."""
    said = [folded(one.text) for one in lasting]
    known = {one.id for one in lasting}
    heard = [
        one
        for one in window(caller)
        if one.superseded_by in known or any(text in folded(one.text) for text in said)
    ]
    receipts = [forget(caller, one.id, reason=reason) for one in lasting]
    others = {one.id: one for one in [*found, *heard] if one.id not in known}
    turns_gone = [forget(caller, one, reason=reason) for one in others]
    return receipts or turns_gone


def _pointed_at(caller: Caller, command: Command) -> list[Memory]:
    """What was kept last, where words only point at it: "forget it"."""
    if just_said(folded(command.text)):
        return _just_said(caller)
    return latest(caller) if only_points(caller, command.text) else []


def _just_said(caller: Caller) -> list[Memory]:
    """What was kept of the last message of this session; the message itself where nothing was."""
    session, said = caller.in_session.session, window(caller)
    before = said[-2].created_at if len(said) > 1 else None
    last = [one for one in latest(caller) if one.provenance.session_id == session]
    return [one for one in last if before is None or one.created_at >= before] or said[-1:]


def _saying(caller: Caller, words: str) -> list[Memory]:
    """The lasting memories whose key or words hold these words, in any spelling that folds to the same."""
    wanted = folded(words)
    spaces = [Space.SESSION, Space.USER]
    met = look(caller, lambda snapshot: look_up(snapshot, words, k=LOOKED_AT, spaces=spaces))
    known = {one.id: one for one, _ in met}
    known |= {one.id: one for one in [*keyed(caller), *window(caller)]}
    return [one for one in known.values() if wanted in folded(f"{one.key or ''}\n{one.text}")]
