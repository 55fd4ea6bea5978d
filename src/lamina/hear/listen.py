"""What a model hears in a message becomes commands: what to keep, for how long, and what to change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from lamina.hear.about import (
    Meant,
    certain,
    chosen,
    fits_to_forget,
    fitting,
    heard,
    only_points,
    stretches,
    tells,
    waits_about,
)
from lamina.hear.correct import HEARD
from lamina.language.amend import is_starred
from lamina.language.command import WISH, Action, Command, Target
from lamina.language.facts import profile_fact
from lamina.language.framing import asks_anywhere
from lamina.language.hearing import Hearing
from lamina.language.relation import Does, SaidNow, model
from lamina.language.slots import (
    just_said,
    kept_words,
    names_nothing,
    points_back,
    said_before_it,
    says_something,
    ways,
)
from lamina.language.sorts import Sort
from lamina.language.spoken_times import VAGUE, Lifetime, lifetime_in
from lamina.language.understanding import (
    LONGEST_PART,
    Act,
    Doubt,
    Listener,
    Understood,
    asked_after,
    doubt,
    heard_whole,
    nearness,
    said_around,
    understand,
    words,
)
from lamina.language.view import Span, view_of
from lamina.model import Kind, Space
from lamina.read.shelves import keyed, turns
from lamina.text.normalise import is_note, note_key
from lamina.text.ttl import SESSION_END
from lamina.write.store import Caller
from lamina.write.verbs import pending

#: A yes or a no answers a question only by itself: "No. When deploying, first …" is about something else.
_ANSWERS = (Sort.CONFIRM, Sort.REJECT)
#: Sorts that take the sentence before them along: it says why, and what is meant by "it".
_POINTS_BACK = (Sort.FORGET, Sort.CORRECT)


#: Sorts whose words stand for themselves in an entry.
_WISHES = (Sort.SET, Sort.TEMPORARY)
#: What asks for something at once, and is nothing to keep.
_ASKS = (Sort.TASK, Sort.QUESTION)
#: What may stand before a wish in its sentence, and belong to it.
_WHY = (Sort.PASSING, Sort.LASTING, Sort.THIRD, Sort.HYPOTHETICAL, Sort.SET, Sort.TEMPORARY)
_SORTS = {
    Action.REMEMBER: Sort.REMEMBER,
    Action.SET: Sort.SET,
    Action.FORGET: Sort.FORGET,
    Action.CORRECT: Sort.CORRECT,
    Action.WITHHOLD: Sort.REJECT,
}
#: Orders whose words can be those of another: "don't remember the porridge thing any more".
_MIXED_UP = (Action.REMEMBER, Action.WITHHOLD)
_TIMED = (Action.REMEMBER, Action.SET)
#: How much longer what stands before a note is than the note, where the note is not what was meant.
_LOST = 1.2
#: How much of a note is looked at for how long it is to be kept, and how early that has to be said.
_HEAD, _EARLY = 48, 5
#: What rules take any week for.
_A_WEEK = "1w"
#: So many letters beside "delete all of it" say what it is all of.
_A_TOPIC = 8
#: From this margin on it is clear that something is to be forgotten or put right, whatever it is called.
_CLEARLY = 3000
#: How many clauses of a message are looked at, and are read beside what is known; how much clearer one has
#: to be than a message.
_CLAUSES_LOOKED_AT, _CLAUSES_READ, _IN_A_CLAUSE = 48, 6, 700
#: And beside a question.
_BESIDE_A_QUESTION = 1500
#: How clear a wish for a time has to be that says until when.
_NAMED_TIME = 300
#: What holds today ends by itself.
_A_DAY = timedelta(days=1)
#: The rule of a request for what was said in the turn before.
THE_TURN = "heard_remember"
#: What stands between what is to be kept and what follows it.
_BEHIND = " ,，、;；:：-–—"
_CLAUSE = re.compile(r"[,，、;；:：.!]|(?<=[ก-๎0-9a-z]) (?=[ก-๎])|(?<=[\u3400-\u9fff]) ")


def second_opinion(caller: Caller, listener: Listener, asked: Sequence[Command]) -> list[Command]:
    """The commands that rules found, as far as the model does not say clearly that they are none.

    Whether it is meant for a time, and whether it is rather to be forgotten, the model hears better.
    """
    made = []
    for one in (told for each in asked if (told := _said_before(caller, listener.hearing, each)) is not None):
        named = one.target is Target.KEY and not is_note(one.key)  # a setting by its name is no accident
        doubted = doubt(listener, one.span, sort) if (sort := _SORTS.get(one.action)) else None
        if doubted is None:
            made.append(one)
        elif not doubted.clear and _is_a_motto(one):
            continue
        elif not doubted.in_jest and (named or not doubted.vetoed or _puts_right(caller, one)):
            made.append(_reread(caller, listener.hearing, _to_its_end(listener, one), doubted))
    return made


def _said_before(caller: Caller, hearing: Hearing, command: Command) -> Command | None:
    """A request whose words only point at what is to be kept, or at how, with the words of the turn before;
    None where nothing was said there."""
    book, value = caller.store.ruleset.rules, command.value or ""
    kept = value and command.action in (Action.REMEMBER, Action.SET)
    points = is_note(command.key) and names_nothing(hearing.view.original, "that", book)
    if not kept or not (points or names_nothing(value, "thus", book)):
        return command
    before = next(reversed(turns(caller, 1)), "")
    told = before and (not points or tells(before, book))
    return replace(command, value=before, text=before, key=note_key(before)) if told else None


def _to_its_end(listener: Listener, command: Command) -> Command:
    """A request to keep something without what is asked behind it."""
    start, end = command.span
    if command.action is not Action.REMEMBER or not command.value:
        return command
    cut, typed = asked_after(listener, command.span), listener.hearing.view.original
    at = typed.find(command.value, start)
    if cut >= end or at < 0 or at + _EARLY > cut:
        return command
    value = typed[at:cut].strip().rstrip(_BEHIND)
    key = note_key(value) if is_note(command.key) else command.key
    return replace(command, value=value, text=value, key=key, span=(start, cut))


def _is_a_motto(command: Command) -> bool:
    """Whether a request names a thing and says nothing of it: "Remember the Alamo!"."""
    words = (command.value or "").lower().split()
    return (
        command.action is Action.REMEMBER
        and is_note(command.key)
        and words[:1] == ["the"]
        and len(words) <= 3
    )


def _puts_right(caller: Caller, command: Command) -> bool:
    """Whether a correction is about something known, whatever it sounds like."""
    return command.action is Action.CORRECT and _named(caller, command.text, Does.CORRECT)


def _reread(caller: Caller, hearing: Hearing, command: Command, doubted: Doubt) -> Command:
    mixed = command.action in _MIXED_UP and doubted.instead is Sort.FORGET
    if command.action is Action.FORGET and command.target is Target.EVERYTHING:  # all of what?
        said = said_around(hearing, command.span)
        beside = len(said) - (command.span[1] - command.span[0]) >= _A_TOPIC
        mixed = beside and _named(caller, said, Does.FORGET)
    elif command.action is Action.FORGET and command.old is None:
        command = replace(command, old=said_around(hearing, command.span))
    withheld = command.action is Action.WITHHOLD
    if mixed or (withheld and _named(caller, said_around(hearing, command.span), Does.FORGET)):
        typed = said_around(hearing, command.span)
        return replace(
            command,
            action=Action.FORGET,
            target=Target.TEXT,
            key=None,
            value=None,
            text=typed,
            rule="heard_forget",
        )
    if _is_put_right(caller, hearing, command, doubted):
        typed = said_around(hearing, command.span)
        return replace(command, action=Action.CORRECT, key=None, value=None, text=typed, rule=HEARD)
    if command.action is Action.CORRECT and command.target is Target.TEXT and command.old is None:
        command = _with_its_sentence(caller, hearing, command)
    command = _fuller(hearing, command)
    if command.lifetime is None and (lent := _lent(caller, command)) is not None:
        return replace(command, lifetime=lent.ttl)
    if command.lifetime == _A_WEEK:  # "the rest of the week" ends on Sunday, whatever day it is
        found = lifetime_in(view_of(said_around(hearing, command.span)).text, day_of(caller))
        return replace(command, lifetime=found.ttl) if found and not found.vague else command
    if command.action in _TIMED and command.lifetime is None and doubted.timed:
        sure = doubted.instead is Sort.TEMPORARY
        found = lifetime_in(view_of(said_around(hearing, command.span)).text, day_of(caller))
        if found is not None and (sure or not found.vague):
            space = Space.SESSION if found.ttl == SESSION_END else command.space
            return replace(command, lifetime=found.ttl, space=space)
    return command


def _is_put_right(caller: Caller, hearing: Hearing, command: Command, doubted: Doubt) -> bool:
    """Whether a request to keep something rather changes what is kept: "about the choir, make it Mondays"."""
    note = command.action is Action.REMEMBER and is_note(command.key)
    corrects = note and doubted.instead is Sort.CORRECT
    return corrects and _named(caller, said_around(hearing, command.span), Does.CORRECT)


def _with_its_sentence(caller: Caller, hearing: Hearing, command: Command) -> Command:
    """A correction whose own words fit nothing, with its sentence where that says what it is about:
    "about the delivery address, change it to 8 Mill Rise"."""
    typed = said_around(hearing, command.span)
    longer = len(typed) >= len(command.text) + _EARLY
    if not longer or _named(caller, command.text, Does.CORRECT) or not _named(caller, typed, Does.CORRECT):
        return command
    return replace(command, text=typed, value=None, rule=HEARD)


def _lent(caller: Caller, command: Command) -> Lifetime | None:
    """For how long a note is to be kept that begins with it: "keep this for two days: …"."""
    if command.action is not Action.REMEMBER or not is_note(command.key) or not command.value:
        return None
    found = lifetime_in(view_of(command.value[:_HEAD]).text, day_of(caller))
    early = found is not None and not found.vague and found.span[0] <= _EARLY
    return found if early else None


def _fuller(hearing: Hearing, command: Command) -> Command:
    """A note that would lose what its sentence says before the request is the whole sentence.

    "I'm on crutches, keep that in mind when you plan routes": what is to be kept stands first.
    """
    if command.action is not Action.REMEMBER or not is_note(command.key) or not command.value:
        return command
    if earlier := said_before_it(hearing, command.span):
        return replace(command, value=earlier, text=earlier, key=note_key(earlier))
    typed = said_around(hearing, command.span)
    before, found, _ = typed.partition(command.value)
    if (
        not found
        or len(typed) > LONGEST_PART
        or len(before) < _LOST * len(command.value)
        or not _CLAUSE.search(before.strip())
    ):
        return command
    return replace(command, value=typed, text=typed, key=note_key(typed))


def listened(caller: Caller, listener: Listener, asked: Sequence[Command]) -> list[Command]:
    """The commands and statements in a message beside those that rules found, in order."""
    hearing = listener.hearing
    parts = understand(listener, [_taken(hearing, one) for one in asked])
    if not asked:
        if points_at_turn(caller, hearing):
            return [_of_the_turn(hearing)]
        changes, parts = _of_known(caller, listener, parts)
        if changes:
            return changes
    today = day_of(caller)
    parts = [
        replace(part, sort=Sort.TEMPORARY, act=Act.ACT) if _ends(part, today) else part for part in parts
    ]
    parts = [
        _whole(hearing, parts[:at], part) if part.sort in _WISHES else part for at, part in enumerate(parts)
    ]
    made: list[Command] = []
    for at, part in enumerate(parts):
        points = part.sort is Sort.FORGET and part.leans is not None and only_points(caller, part.text)
        if (part.act is Act.LEAVE and not points) or (part.sort in _ANSWERS and len(parts) > 1):
            continue
        if part.sort is Sort.FORGET and any(one.action is Action.REMEMBER for one in made):
            continue  # "my son is allergic, and don't you lose that"
        before = parts[at - 1] if at else None
        following = _all_behind(hearing, parts[at + 1 :])
        found = list(_commands(caller, hearing, part, (before, following), today))
        if part.sort in _POINTS_BACK and before is not None:
            made = [one for one in made if one.action is not Action.NOTE or one.span != before.typed]
        made += found
    kept = {view_of(one.value or "").text for one in [*asked, *made] if one.action is Action.REMEMBER}
    return [one for one in made if one.action is not Action.NOTE or view_of(one.value or "").text not in kept]


def points_at_turn(caller: Caller, hearing: Hearing) -> bool:
    """Whether all of a message asks that what was said before it be kept: "keep this one", `这个记一下`."""
    book = caller.store.ruleset.rules
    if not names_nothing(hearing.view.original, "that", book):
        return False
    said = next(reversed(turns(caller, 1)), "")
    return bool(said) and tells(said, book)


def _of_the_turn(hearing: Hearing) -> Command:
    end = len(hearing.view.original)
    return Command(
        action=Action.REMEMBER, target=Target.LATEST, kind=Kind.FACT, text="", span=(0, end), rule=THE_TURN
    )


def _taken(hearing: Hearing, command: Command) -> Span:
    """The stretch that a command takes up: a setting by its name takes no more than its clause."""
    start, end = command.span
    named = command.target is Target.KEY and not is_note(command.key)
    cut = _CLAUSE.search(hearing.view.original, start + 1, end) if named else None
    return start, cut.start() if cut else end


def _of_known(
    caller: Caller, listener: Listener, parts: Sequence[Understood]
) -> tuple[list[Command], list[Understood]]:
    """What a message does to something that was said before, which is put right or forgotten; and its parts,
    where that is nothing: what adds to something known is kept, whatever it sounds like."""
    # What only points at what was said last ("forget what I just said") is no matter of likeness.
    starred = is_starred(listener.hearing)
    leaning = [replace(one, leans=Sort.CORRECT) if starred else one for one in parts]
    near = [
        one
        for one in leaning
        if one.leans is Sort.CORRECT or (one.leans is not None and not just_said(view_of(one.text).text))
    ]
    tried, adds = list(_tried(listener, near)), False
    found: list[_Change] = []
    for span, weighed in tried:
        sure = [one.sort for one in weighed if one.act is Act.ACT and one.sort in _POINTS_BACK]
        stretch = listener.part(*span)
        clear = [stretch.sort, *sure] if listener.is_clear(stretch) else sure
        does = Does.CORRECT if starred else Does(clear[0]) if clear else None
        meant, beside = _meant_by(caller, listener, span, does)
        if meant is not None and (does or _is_sure(meant) or not _asks(listener, *span)):
            found.append(_Change(meant, span, does is not None))
        adds = adds or beside
    found = _not_kept(listener, parts, found)
    clear_ones = [one for one in found if one.meant.clear]
    within = _in_a_clause(caller, listener, [span for span, _ in tried]) if not clear_ones else []
    changes = clear_ones or _not_kept(listener, parts, within) or found
    if not changes:
        return [], [_kept_beside(one) if adds and len(parts) == 1 else one for one in parts]
    first = min(changes, key=lambda one: (not one.commanded, -one.meant.score, one.span))
    low, high = first.span
    apart = [one for one in parts if high <= one.span[0] or one.span[1] <= low]
    return [_about(first.meant, listener, first.span)], apart


class _Change(NamedTuple):
    """What a stretch of a message does to something known."""

    meant: Meant
    span: Span
    commanded: bool  #: it is clear that it puts something right, or wishes it forgotten


def _not_kept(listener: Listener, parts: Sequence[Understood], found: list[_Change]) -> list[_Change]:
    """The changes but for wishes to forget in a sentence that rather asks to keep something: "don't lose
    this"."""
    asks = [one.span for one in parts if one.act is Act.ACT and one.sort is Sort.REMEMBER]

    def keeps(change: _Change) -> bool:
        one = listener.hearing.sentence_at(change.span[0])
        whole = listener.part(one.start, one.end).sort is Sort.REMEMBER
        return whole or any(one.start <= low < one.end for low, _ in asks)

    return [one for one in found if one.meant.does is not Does.FORGET or not keeps(one)]


def _tried(listener: Listener, near: Sequence[Understood]) -> Iterator[tuple[Span, Sequence[Understood]]]:
    """The stretches that are tried first, each with the parts in it: all of a short message at once, where
    no question stands in it, else part by part."""
    whole = heard_whole(listener) if near else None
    asks = whole is not None and _asks(listener, whole.start, whole.end)
    if whole is not None and (not asks or any(one.act is Act.ACT for one in near)):
        yield (whole.start, whole.end), near
    else:
        yield from ((one.span, [one]) for one in near)


def _asks(listener: Listener, start: int, end: int) -> bool:
    """Whether a stretch stands in a sentence that asks something, or holds one."""
    first, last = (listener.hearing.sentence_at(at) for at in (start, max(start, end - 1)))
    return first.marked or last.marked or asks_anywhere(listener.hearing.said[first.start : last.end])


def _is_sure(meant: Meant) -> bool:
    """Whether it is clear enough beside a question, which as a rule is what all of it is about."""
    return meant.score >= model().clear[meant.does] + _BESIDE_A_QUESTION


def _meant_by(caller: Caller, listener: Listener, span: Span, does: Does | None) -> tuple[Meant | None, bool]:
    """What a stretch does to something known, where it is certain what it `does` or it is only heard; and
    whether it adds to something."""
    stretch, text = listener.part(*span), words(listener.hearing, *span)
    said = SaidNow(text, stretch.scores, stretch.seen.signs)
    if does is Does.FORGET:
        fits = fits_to_forget(caller, text, said.signs)
    else:
        fits = fitting(caller, said if does is None else certain(text, does, said.signs))
    own = [one for one in fits if one.is_sentence]
    meant = heard(own, said) if does is None else chosen(caller, own, does, said.signs)
    if meant is not None and meant.does is Does.FORGET:
        points = not meant.is_named and only_points(caller, text)
        meant = meant if listener.wishes_gone(span) and not points else None
    return meant, any(one.words >= 1 and one.statement.lasting for one in fits)


def _in_a_clause(caller: Caller, listener: Listener, tried: Sequence[Span]) -> list[_Change]:
    """The clauses of a longer message that put something right, or wish it forgotten, more clearly than a
    message by itself has to."""
    spans = [one for one in stretches(listener) if one not in tried]
    parts = listener.parts_at(spans[:_CLAUSES_LOOKED_AT])
    near = [one for one in parts if listener.understood(one, explain=False).leans is not None]
    found = []
    for one in sorted(near, key=lambda part: (-nearness(part.scores), part.start))[:_CLAUSES_READ]:
        does = Does(one.sort) if listener.is_clear(one) else None
        meant, _ = _meant_by(caller, listener, (one.start, one.end), does)
        least = _BESIDE_A_QUESTION if _asks(listener, one.start, one.end) else _IN_A_CLAUSE
        if meant is not None and meant.clear and meant.score >= model().clear[meant.does] + least:
            found.append(_Change(meant, (one.start, one.end), does is not None))
    return found


def _kept_beside(part: Understood) -> Understood:
    """ "Leo is 7", where Leo is known: something of its own that lasts."""
    clear = part.sort in (Sort.CORRECT, Sort.LASTING) and part.margin > 0
    return replace(part, sort=Sort.LASTING, act=Act.ACT) if clear else part


def _about(meant: Meant, listener: Listener, span: Span) -> Command:
    return Command(
        action=Action(meant.does),
        target=Target.TEXT,
        kind=Kind.FACT,
        text=words(listener.hearing, *span),
        meant=meant.ids,
        clear=meant.clear,
        why=meant.fits[0].why,
        span=listener.hearing.span(*span),
        rule=f"heard_{meant.does}",
    )


def _ends(part: Understood, today: date) -> bool:
    """Whether something told in passing says until which later day it holds: "at my aunt's till Sunday"."""
    if part.act is not Act.LEAVE or not part.passes:
        return False
    found = lifetime_in(view_of(part.text).text, today)
    if found is None or found.vague:
        return False
    if part.sort is Sort.TEMPORARY and part.margin >= _NAMED_TIME:
        return True
    return found.ttl[-1] in "dw" or (
        found.ttl != SESSION_END and found.ttl[-1].isdigit() and found.ttl > (today + _A_DAY).isoformat()
    )


def _whole(hearing: Hearing, before: Sequence[Understood], part: Understood) -> Understood:
    """A wish is kept with what its sentence says before it, which may be what it is about."""
    start = hearing.sentence_at(part.span[0]).start
    for one in before:
        if one.sort not in _WHY or part.span[1] - start > LONGEST_PART:
            start = max(start, one.span[1])
    return replace(part, text=words(hearing, start, part.span[1]))


def _all_behind(hearing: Hearing, parts: Sequence[Understood]) -> Understood | None:
    """What stands behind a request, up to the end of its sentence or to what is asked there, as one."""
    if not parts:
        return None
    first, end = parts[0], parts[0].span[1]
    sentence = hearing.sentence_at(first.span[0])
    for one in parts if first.sort not in _ASKS else ():
        long = one.span[1] - first.span[0] > LONGEST_PART
        if long or one.sort in _ASKS or hearing.sentence_at(one.span[0]) != sentence:
            break
        end = one.span[1]
    return replace(first, text=words(hearing, first.span[0], end))


def day_of(caller: Caller) -> date:
    """The day it is where the person is, as far as that is known."""
    store = caller.store
    return store.now().astimezone(ZoneInfo(store.config.timezone)).date()


Around = tuple[Understood | None, Understood | None]


def _commands(
    caller: Caller, hearing: Hearing, part: Understood, around: Around, today: date
) -> Iterator[Command]:
    match part.sort:
        case Sort.REMEMBER:
            kept = _kept(hearing, part, around, today)
            yield from (one for one in kept if part.margin >= _CLEARLY or not _is_a_motto(one))
        case Sort.SET:
            found = lifetime_in(view_of(part.text).text, today) if part.timed else None
            lasts = hearing.cue("lasts").search(hearing.said[slice(*part.span)])
            told = _told_how(caller, part, around)
            yield from _set(caller, told, None if found is None or found.vague or lasts else found)
        case Sort.TEMPORARY:
            found = lifetime_in(view_of(part.text).text, today)
            yield from _set(caller, _told_how(caller, part, around), found or _a_while(today))
        case Sort.FORGET:
            before = around[0].text if around[0] is not None else None
            if part.margin >= _CLEARLY or waits_about(caller, part.text) or only_points(caller, part.text):
                yield _command(Action.FORGET, part, text=part.text, old=before)
        case Sort.CORRECT:
            fact = profile_fact(part.text, book=caller.store.ruleset.rules)
            if fact and any(one.key == fact.key for one in keyed(caller)):
                return  # the turn itself puts the newest value of a key in force
            if part.otherwise is not None:  # nothing to put right, but something that now holds
                yield from _commands(caller, hearing, replace(part, sort=part.otherwise), around, today)
            elif part.own and part.margin >= _CLEARLY:
                yield _command(Action.NOTE, part, text=part.text, value=part.text)
        case Sort.CONFIRM | Sort.REJECT:
            if pending(caller):
                action = Action.CONFIRM if part.sort is Sort.CONFIRM else Action.REJECT
                yield replace(_command(action, part), target=Target.LATEST)
        case Sort.LASTING:
            yield _command(Action.NOTE, part, text=part.text, value=part.text)


def _named(caller: Caller, words: str, does: Does) -> bool:
    """Whether it is clear which of all that is known these words mean."""
    meant = chosen(caller, fitting(caller, certain(words, does)), does)
    return meant is not None and meant.clear


def _command(action: Action, part: Understood, **fields: object) -> Command:
    made = Command(
        action=action, target=Target.TEXT, kind=Kind.FACT, span=part.typed, rule=f"heard_{part.sort}"
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def _kept(hearing: Hearing, part: Understood, around: Around, today: date) -> Iterator[Command]:
    """What is to be remembered, and for how long: the rest of the sentence, what follows it, what stands
    before it, or the turn before."""
    words = kept_words(hearing, part.span)
    before, following = around
    back = before is not None and points_back(hearing, part.span)
    if back or not says_something(words, part.text):
        told = following if following is None or following.sort not in _ASKS else None
        other = before if back else told or before
        if other is None and following is not None:
            return  # "remind me, which year was that?" names nothing to keep
        words = other.text if other is not None else words
    found = lifetime_in(view_of(part.text).text, today) if part.timed else None
    ttl = found.ttl if found and not found.vague else None
    space = Space.SESSION if ttl == SESSION_END else None
    own = {"key": note_key(words), "value": words, "text": words, "lifetime": ttl, "space": space}
    yield _command(Action.REMEMBER, part, **own)


def _told_how(caller: Caller, part: Understood, around: Around) -> Understood | None:
    """A way to answer; what only points at it ("like this every time") is what stands before."""
    if not names_nothing(part.text, "thus", caller.store.ruleset.rules):
        return part
    before = around[0].text if around[0] is not None else next(reversed(turns(caller, 1)), "")
    return replace(part, text=before) if before else None


def _set(caller: Caller, part: Understood | None, lifetime: Lifetime | None) -> Iterator[Command]:
    """A way to answer, or a circumstance; for good, or for a time."""
    if part is None:
        return
    book = caller.store.ruleset.rules
    ttl = lifetime.ttl if lifetime else None
    space = Space.SESSION if ttl == SESSION_END else None
    for key, value in ways(part.text, book):
        kind = Kind.INSTRUCTION if value == part.text else Kind.PREFERENCE
        if lifetime and key.startswith(WISH) and not part.wishes:  # "until Friday I'm at my mum's"
            key, kind = note_key(part.text), Kind.FACT
        yield _command(
            Action.SET,
            part,
            target=Target.KEY,
            key=key,
            value=value,
            text=part.text,
            kind=kind,
            lifetime=ttl,
            space=space,
        )


def _a_while(today: date) -> Lifetime:
    return Lifetime((today + VAGUE).isoformat(), (0, 0), vague=True)
