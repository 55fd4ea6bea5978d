"""What a model hears in a message becomes commands: what to keep, for how long, and what to change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from lamina.hear.about import Meant, certain, chosen, fits_to_forget, fitting, heard, only_points, waits_about
from lamina.hear.correct import HEARD
from lamina.language.amend import is_starred
from lamina.language.command import WISH, Action, Command, Target
from lamina.language.facts import profile_fact
from lamina.language.hearing import Hearing
from lamina.language.relation import Does, SaidNow
from lamina.language.slots import (
    just_said,
    kept_words,
    points_back,
    said_before_it,
    says_something,
    ways,
)
from lamina.language.sorts import Sort
from lamina.language.spoken_times import VAGUE, Lifetime, lifetime_in
from lamina.language.understanding import (
    Act,
    Doubt,
    Listener,
    Understood,
    doubt,
    heard_whole,
    said_around,
    understand,
    words,
)
from lamina.language.view import Span, view_of
from lamina.model import Kind, Space
from lamina.read.shelves import keyed
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
#: What holds today ends by itself.
_A_DAY = timedelta(days=1)
_CLAUSE = re.compile(r"[,，、;；:：.!]|(?<=[ก-๎0-9a-z]) (?=[ก-๎])|(?<=[\u3400-\u9fff]) ")


def second_opinion(caller: Caller, listener: Listener, asked: Sequence[Command]) -> list[Command]:
    """The commands that rules found, as far as the model does not say clearly that they are none.

    Whether it is meant for a time, and whether it is rather to be forgotten, the model hears better.
    """
    made = []
    for one in asked:
        named = one.target is Target.KEY and not is_note(one.key)  # a setting by its name is no accident
        doubted = doubt(listener, one.span, sort) if (sort := _SORTS.get(one.action)) else None
        if doubted is None:
            made.append(one)
        elif not doubted.clear and _is_a_motto(one):
            continue
        elif not doubted.in_jest and (named or not doubted.vetoed or _puts_right(caller, one)):
            made.append(_reread(caller, listener.hearing, one, doubted))
    return made


def _is_a_motto(command: Command) -> bool:
    """Whether a request names a thing and says nothing of it: "Remember the Alamo!"."""
    words = (command.value or "").split()
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
    if not found or len(before) < _LOST * len(command.value) or not _CLAUSE.search(before.strip()):
        return command
    return replace(command, value=typed, text=typed, key=note_key(typed))


def listened(caller: Caller, listener: Listener, asked: Sequence[Command]) -> list[Command]:
    """The commands and statements in a message beside those that rules found, in order."""
    hearing = listener.hearing
    parts = understand(listener, [_taken(hearing, one) for one in asked])
    if not asked:
        changes, parts = _of_known(caller, listener, parts)
        if changes:
            return changes
    today = day_of(caller)
    parts = [
        replace(part, sort=Sort.TEMPORARY, act=Act.ACT) if _ends(part, today) else part for part in parts
    ]
    parts = [_whole(hearing, part) if part.sort in _WISHES else part for part in parts]
    made: list[Command] = []
    for at, part in enumerate(parts):
        if part.act is Act.LEAVE or (part.sort in _ANSWERS and len(parts) > 1):
            continue
        before = parts[at - 1] if at else None
        following = parts[at + 1] if at + 1 < len(parts) else None
        found = list(_commands(caller, hearing, part, (before, following), today))
        if part.sort in _POINTS_BACK and before is not None:
            made = [one for one in made if one.action is not Action.NOTE or one.span != before.typed]
        made += found
    kept = {view_of(one.value or "").text for one in [*asked, *made] if one.action is Action.REMEMBER}
    return [one for one in made if one.action is not Action.NOTE or view_of(one.value or "").text not in kept]


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
    parts_near = [listener.part(*one.span) for one in near]
    whole = heard_whole(listener) if near else None
    adds = False
    for stretch in [whole] if whole else parts_near:
        text = words(listener.hearing, stretch.start, stretch.end)
        said = SaidNow(text, stretch.scores, stretch.seen.signs)
        clear = [one.sort for one in [stretch, *(parts_near if whole else ())] if listener.is_clear(one)]
        does = Does.CORRECT if starred else Does(clear[0]) if clear else None
        if does is Does.FORGET:
            fits = fits_to_forget(caller, text, said.signs)
        else:
            fits = fitting(caller, said if does is None else certain(text, does, said.signs))
        own = [one for one in fits if one.is_sentence]
        meant = heard(own, said) if does is None else chosen(own, does, said.signs)
        forgets = meant is not None and meant.does is Does.FORGET and not meant.is_named
        if forgets and only_points(caller, text):
            meant = None
        if meant is not None:
            return [_about(meant, text, listener.hearing.span(stretch.start, stretch.end))], []
        adds = adds or any(one.words >= 1 and one.statement.lasting for one in fits)
    return [], [_kept_beside(one) if adds and len(parts) == 1 else one for one in parts]


def _kept_beside(part: Understood) -> Understood:
    """ "Leo is 7", where Leo is known: something of its own that lasts."""
    clear = part.sort in (Sort.CORRECT, Sort.LASTING) and part.margin > 0
    return replace(part, sort=Sort.LASTING, act=Act.ACT) if clear else part


def _about(meant: Meant, text: str, span: Span) -> Command:
    return Command(
        action=Action(meant.does),
        target=Target.TEXT,
        kind=Kind.FACT,
        text=text,
        meant=meant.ids,
        clear=meant.clear,
        why=meant.fits[0].why,
        span=span,
        rule=f"heard_{meant.does}",
    )


def _ends(part: Understood, today: date) -> bool:
    """Whether something told in passing says until which later day it holds: "at my aunt's till Sunday"."""
    if part.act is not Act.LEAVE or not part.passes:
        return False
    found = lifetime_in(view_of(part.text).text, today)
    if found is None or found.vague:
        return False
    return found.ttl[-1] in "dw" or (
        found.ttl != SESSION_END and found.ttl[-1].isdigit() and found.ttl > (today + _A_DAY).isoformat()
    )


def _whole(hearing: Hearing, part: Understood) -> Understood:
    """A wish is kept with what its sentence says before it, which may be what it is about."""
    sentence = hearing.sentence_at(part.span[0])
    return replace(part, text=words(hearing, sentence.start, part.span[1]))


def day_of(caller: Caller) -> date:
    """The day it is where the person is, as far as that is known."""
    store = caller.store
    return store.now().astimezone(ZoneInfo(store.config.timezone)).date()


Around = tuple[Understood | None, Understood | None]  #: the part before, and the one behind


def _commands(
    caller: Caller, hearing: Hearing, part: Understood, around: Around, today: date
) -> Iterator[Command]:
    match part.sort:
        case Sort.REMEMBER:
            yield from _kept(hearing, part, around, today)
        case Sort.SET:
            found = lifetime_in(view_of(part.text).text, today) if part.timed else None
            lasts = hearing.cue("lasts").search(hearing.said[slice(*part.span)])
            yield from _set(caller, part, None if found is None or found.vague or lasts else found)
        case Sort.TEMPORARY:
            found = lifetime_in(view_of(part.text).text, today)
            yield from _set(caller, part, found or _a_while(today))
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
    meant = chosen(fitting(caller, certain(words, does)), does)
    return meant is not None and meant.clear


def _command(action: Action, part: Understood, **fields: object) -> Command:
    made = Command(
        action=action, target=Target.TEXT, kind=Kind.FACT, span=part.typed, rule=f"heard_{part.sort}"
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def _kept(hearing: Hearing, part: Understood, around: Around, today: date) -> Iterator[Command]:
    """What is to be remembered, and for how long: the rest of the sentence, what follows it, or what stands
    before it."""
    words = kept_words(hearing, part.span)
    before, following = around
    back = before is not None and points_back(hearing, part.span)
    if back or not says_something(words, part.text):
        other = before if back else following or before
        words = other.text if other is not None else words
    found = lifetime_in(view_of(part.text).text, today) if part.timed else None
    ttl = found.ttl if found and not found.vague else None
    space = Space.SESSION if ttl == SESSION_END else None
    own = {"key": note_key(words), "value": words, "text": words, "lifetime": ttl, "space": space}
    yield _command(Action.REMEMBER, part, **own)


def _set(caller: Caller, part: Understood, lifetime: Lifetime | None) -> Iterator[Command]:
    """A way to answer, or a circumstance; for good, or for a time."""
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
