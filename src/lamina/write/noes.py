"""What a person said no to stays no: kept as keyed marks of words, value and terms, and never as words.

A no is made when a person forgets, purges or rejects something. Whoever brings the same back is refused, and
nobody is asked a second time; what is only near is put before the person once. Their own new word lifts it.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache

from lamina.language.signal import low_signal
from lamina.model import Deny, Draft, Layer, Role, Scope, Space, unquoted
from lamina.policy.consent import same_value
from lamina.records import dataclass
from lamina.similarity.repeats import STOPS, Telling, sentences, statements, telling_of
from lamina.similarity.spellings import letters, run_together, told
from lamina.storage.refusals import Guards, Refusal, Refusals, guards
from lamina.write.unit_of_work import UnitOfWork

_PERSONS = (Role.USER, Role.ADMIN)
#: The first part of a key that says nothing of what its value is.
_SAYS_NOTHING = ("user", "profile", "preference", "preferences", "memory", "learning", "again", "procedure")
#: The key under which something near a no waits for the person; the number of the no follows.
ASKED_AGAIN = "again."
#: For how long what was shown counts.
LASTS = timedelta(hours=24)
_SHORTEST = 3  #: letters of all terms; `yes` closes nothing
_ENOUGH = 2  #: terms; what has fewer is in too many statements to be known by them
_NUL = b"\0"
_TOGETHER = 600  #: characters of a text that are read together with what is beside it
_ASKING = ("?", "？")


@dataclass(frozen=True, slots=True)
class Repeat:
    """The no that something repeats."""

    number: int
    exact: bool  #: its very words or its value, in whatever spelling
    same: bool  #: all of what it says, among other words perhaps; where not, it is only near
    asked: bool  #: whether the person was asked about something near it before


def is_person(scope: Scope) -> bool:
    """Whether the person themselves speaks, or an administrator; a line of their file is theirs."""
    return scope.role in _PERSONS or scope.via == "file"


def guards_of(unit: UnitOfWork, scope: Scope) -> Guards:
    """What there is to look at before something is kept for somebody, read once."""
    about = ("guards", scope.user)
    if about not in unit.looked_up:
        since = unit.clock - LASTS
        unit.looked_up[about] = guards(unit.transaction, scope.owner(Space.USER) or "", since)
    found: Guards = unit.looked_up[about]
    return found


def repeated(unit: UnitOfWork, draft: Draft) -> Repeat | None:
    """The no that a draft repeats, the closest first; None where none stands against it."""
    about = ("no", draft.scope.user, draft.layer, draft.key or "", draft.text, *_beside(draft))
    if about not in unit.looked_up:
        unit.looked_up[about] = _repeated(unit, draft)
    found: Repeat | None = unit.looked_up[about]
    return found


def _repeated(unit: UnitOfWork, draft: Draft) -> Repeat | None:
    newest = guards_of(unit, draft.scope).refused
    if not newest:
        return None
    key, marks = unit.ruleset.no_key, [_field_mark(unit, draft)]
    parts = _parts(draft)
    tellings = [telling_of(part) for part in parts]
    if draft.key is None or len(telling_of(draft.text).terms) >= _ENOUGH:
        wordings = dict.fromkeys((draft.text.strip().rstrip(STOPS), *parts))
        marks += [mark for wording in wordings for mark in _words_marks(key, wording)]
    terms = frozenset[str]().union(*(one.terms for one in tellings))
    marks += [_anchor_mark(key, term) for term in terms]
    refusals = _refusals(unit, draft)
    hits = unit.ruleset.noes.among(marks, newest, draft.scope.owner(Space.USER) or "", refusals)
    matches = refusals.marked(hits) if hits else []
    marked = [one.marked(lambda term: term_mark(key, term)) for one in tellings] if matches else []
    said = frozenset[str]().union(*(one.terms for one in marked))
    found: list[Repeat] = []
    for _, number, telling, asked in matches:
        known = _telling(telling) if telling else None
        if known is not None and not known.telling <= said:
            continue
        same = known is None or any(map(known.within, marked))
        if same or (known is not None and any(map(known.near, marked))):
            found.append(Repeat(number, known is None, same, asked is not None))
    return min(found, key=lambda one: (not one.exact, not one.same, not one.asked, one.number), default=None)


def _parts(draft: Draft) -> list[str]:
    """Everything in which a draft may say something: its text as it is read, its key, and what is beside."""
    beside = _beside(draft)
    said = [part for form in (*told(draft.text), *beside) for part in sentences(form)]
    if beside:
        whole = " ".join(beside)
        said += [whole, f"{draft.text} {whole}"[:_TOGETHER]]
    said += run_together("\n".join((draft.text, *beside))[:_TOGETHER])
    return list(dict.fromkeys((*said, *_keyed_words(draft))))


def _beside(draft: Draft) -> tuple[str, ...]:
    """What a caller says beside the text: where and why it is kept, its tags, the names it goes by."""
    group = draft.meta.get("group")
    names = map(
        unquoted, draft.place[5:].replace("/", ":").split(":") if draft.place.startswith("item:") else ()
    )
    slugs = (one.replace("_", " ").replace("-", " ") for one in (draft.category, _note_of(draft)) if one)
    said = (draft.reason, draft.reference, group, *slugs, *draft.tags, *names)
    return tuple(one for one in said if one)


def _note_of(draft: Draft) -> str:
    """The words of a note's key, which are no part of its value."""
    first, _, rest = (draft.key or "").partition(".")
    return rest.replace(".", " ") if first == "note" else ""


def refused_before(unit: UnitOfWork, draft: Draft) -> Deny | None:
    """The objection to a draft that says what the person said no to, whoever brings it."""
    found = repeated(unit, draft)
    return _objection(found) if found is not None and (found.same or found.asked) else None


def kept_out(unit: UnitOfWork, draft: Draft) -> Deny | None:
    """The objection to bringing something back; none to the person's own new word.

    What a tool or a document says that is only near a no is let in: it is not trusted anyway.
    """
    own = is_person(draft.scope) and not draft.second_hand
    if own or draft.place.startswith("summary:"):
        return None
    found = repeated(unit, draft)
    lenient = draft.scope.role in (Role.TOOL, Role.DOCUMENT) and not draft.second_hand
    return None if found is None or (lenient and not found.same) else _objection(found)


def to_ask_about(unit: UnitOfWork, draft: Draft) -> int | None:
    """The no that an agent's lasting statement is near, where the person was not asked about that yet."""
    lasting = draft.layer is not Layer.WORKING and not draft.second_hand and draft.scope.via != "job"
    if not lasting or draft.scope.role is not Role.AGENT or is_person(draft.scope):
        return None
    found = repeated(unit, draft)
    return None if found is None or found.same or found.asked else found.number


def _objection(found: Repeat) -> Deny:
    return Deny(
        "refused_stays",
        "The person said no to this before.",
        "Do not propose it again; the person can still say it themselves.",
        {"no": found.number},
    )


def note_asked(unit: UnitOfWork, draft: Draft, number: int) -> None:
    """The person is asked about something near a no; once."""
    _refusals(unit, draft).asked(number, unit.now)


def tried(unit: UnitOfWork, draft: Draft, objection: Deny) -> None:
    """Count that something was brought back and refused."""
    if "no" in objection.evidence:
        _refusals(unit, draft).tried(objection.evidence["no"], draft.scope.actor)


def _anchor(refusals: Refusals, told: Telling) -> str:
    """Of the terms that whoever repeats a statement needs, the one that stands for the fewest others."""
    needed = sorted(told.telling | told.numbers or told.terms)
    taken = Counter(found.mark for found in refusals.marked([f"t{term}" for term in needed]))
    return min((f"t{term}" for term in needed), key=lambda mark: (taken[mark], mark))


def refuse(unit: UnitOfWork, draft: Draft, source: str, cause: str) -> None:
    """Keep that the person said no to this; `source` is the memory or the proposal it was."""
    marks = list(_marks(unit, draft))
    refusals = _refusals(unit, draft)
    known = {found.number for found in refusals.marked([mark for mark, _ in marks[:1]])}
    if not marks or known.intersection(refusals.about(source)):
        return
    told = Refusal(
        number=0,
        cause=cause,
        shelf=draft.scope.shelf(draft.space) or "",
        actor=unit.scope.actor,
        at=unit.now,
        source=source,
    )
    unit.ruleset.noes.added(draft.scope.owner(Space.USER) or "", refusals.add(told, marks))
    unit.looked_up.clear()


def lift(unit: UnitOfWork, draft: Draft) -> None:
    """The person says it themselves: an earlier no to it is over, and the audit says so.

    Only the very words or the value do, and no question: to ask whether it is forgotten is not to say it.
    """
    if not is_person(draft.scope) or draft.second_hand or draft.text.rstrip().endswith(_ASKING):
        return
    while (found := repeated(unit, draft)) is not None and found.exact:
        lift_one(unit, draft, found.number, "said by the person")


def lift_one(unit: UnitOfWork, draft: Draft, number: int, why: str) -> None:
    """One no is over."""
    unit.looked_up.clear()
    if _refusals(unit, draft).lift(number, unit.scope.actor, unit.now):
        unit.record_act("lift_no", draft.scope.shelf(Space.USER) or "", why)


def lift_asked(unit: UnitOfWork, draft: Draft) -> None:
    """The person said yes to what was near a no: that one is over, too."""
    _, own, number = (draft.key or "").partition(ASKED_AGAIN)
    if own and number.isdecimal():
        lift_one(unit, draft, int(number), "confirmed by the person")


def lift_about(unit: UnitOfWork, draft: Draft, source: str) -> None:
    """The person brings a memory back: the noes that were made with it are over."""
    for number in _refusals(unit, draft).about(source):
        lift_one(unit, draft, number, "restored by the person")


def _refusals(unit: UnitOfWork, draft: Draft) -> Refusals:
    return Refusals(unit.transaction, draft.scope.owner(Space.USER) or "")


def _marks(unit: UnitOfWork, draft: Draft) -> Iterator[tuple[str, str]]:
    """Everything by which a no is known again: a mark, and of a statement's terms what it is known by."""
    key = unit.ruleset.no_key
    spelt = "".join(telling_of(draft.text).terms).encode()  # a Thai or Chinese one counts for three
    says = not low_signal(draft.text) and len(spelt) > _SHORTEST
    if draft.key is not None or draft.layer is Layer.PROCEDURAL or says:
        yield _field_mark(unit, draft), ""
    if not says:
        return
    yield from ((mark, "") for mark in _words_marks(key, draft.text))
    plain = statements(draft.text) if draft.key is None or not _own_words(draft.key) else []
    long = [draft.text] if draft.key is not None and len(telling_of(draft.text).terms) > _ENOUGH else []
    for part in dict.fromkeys((*plain, *long, *_keyed_words(draft))):
        one = telling_of(part)
        if len(one.terms) >= _ENOUGH:
            told = one.marked(lambda term: term_mark(key, term))
            yield _anchor(_refusals(unit, draft), told), _kept(told)


def _kept(told: Telling) -> str:
    """A telling as it is stored: polarity, terms, those that tell it apart, numbers."""
    parts = (" ".join(sorted(some)) for some in (told.terms, told.telling, told.numbers))
    return ";".join((str(int(told.turned)), *parts))


def _telling(kept: str) -> Telling:
    turned, *parts = kept.split(";")
    terms, telling, numbers = (frozenset(part.split()) for part in parts)
    return Telling(terms, telling, numbers, turned == "1")


def _keyed_words(draft: Draft) -> list[str]:
    """A value with the words of its key, as somebody would say it who does not use the key."""
    words = _own_words(draft.key or "")
    return [f"{words} {draft.text}"] if words else []


def _own_words(key: str) -> str:
    """What a key says: its parts as words, without what stands for no subject."""
    first, _, rest = key.partition(".")
    if first == "note" or (first in _SAYS_NOTHING and not rest):
        return ""
    said = rest if first in _SAYS_NOTHING else key
    return " ".join(word for word in said.replace("_", " ").replace("-", " ").split(".") if word)


def _words_marks(key: bytes, text: str) -> Iterator[str]:
    """The marks of a text's words in any spelling, and of its letters whatever stands between them."""
    yield f"w{hmac.digest(key, b'words' + _NUL + same_value(text).encode(), 'sha256').hex()[:32]}"
    if bare := letters(text):
        yield f"l{hmac.digest(key, b'letters' + _NUL + bare.encode(), 'sha256').hex()[:32]}"


@lru_cache(maxsize=16_384)
def term_mark(key: bytes, term: str) -> str:
    """The keyed mark of one term, in ten hexadecimal digits."""
    return hmac.digest(key, b"term\0" + term.encode(), "sha256").hex()[:10]


@lru_cache(maxsize=16_384)
def _anchor_mark(key: bytes, term: str) -> str:
    """The mark of a term as the anchor of a statement."""
    return f"t{term_mark(key, term)}"


def _field_mark(unit: UnitOfWork, draft: Draft) -> str:
    told = f"{_field(unit, draft)}\0{same_value(draft.text)}".encode()
    return f"f{hmac.digest(unit.ruleset.no_key, told, 'sha256').hex()}"


def _field(unit: UnitOfWork, draft: Draft) -> str:
    """Keys of one field are one; a procedure or a statement is itself, whatever key it waited under."""
    if draft.layer is Layer.PROCEDURAL:
        return "procedure"
    waited = (draft.key or "learning.").startswith(("learning.", ASKED_AGAIN))
    statement = draft.layer is Layer.SEMANTIC and waited
    return "statement" if statement else unit.ruleset.fields.name_of(draft.key)
