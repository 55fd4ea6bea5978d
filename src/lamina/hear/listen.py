"""What a model hears in a message becomes commands: what to keep, for how long, and what to change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from zoneinfo import ZoneInfo

from lamina.hear.about import ABOUT_IT, Fit, meant, waits_about
from lamina.hear.correct import HEARD
from lamina.language.command import Action, Command, Target
from lamina.language.commands import is_note, note_key
from lamina.language.facts import profile_fact
from lamina.language.hearing import Hearing
from lamina.language.slots import kept_words, points_back, said_before_it, says_something, ways
from lamina.language.sorts import Sort
from lamina.language.spoken_times import VAGUE, Lifetime, lifetime_in
from lamina.language.understanding import Act, Doubt, Listener, Understood, doubt, said_around, understand
from lamina.language.view import view_of
from lamina.model import Kind, Space
from lamina.text.ttl import SESSION_END
from lamina.write.caller import Caller
from lamina.write.propose import pending

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
#: What is about a text at hand, or asked: it puts nothing right that is known.
_OF_A_TEXT = (Sort.TASK, Sort.QUESTION, Sort.QUOTE, Sort.HYPOTHETICAL)
#: Orders whose words can be those of another: "don't remember the porridge thing any more".
_MIXED_UP = (Action.REMEMBER, Action.WITHHOLD)
_TIMED = (Action.REMEMBER, Action.SET)
#: How much longer what stands before a note is than the note, where the note is not what was meant.
_LOST = 1.2
#: How much has to be said again of what is known, before what only may mean it does.
_SHARED = {Sort.CORRECT: 1.0, Sort.FORGET: 2.0}
#: How much of a note is looked at for how long it is to be kept, and how early that has to be said.
_HEAD, _EARLY = 48, 5
#: So many letters beside "delete all of it" say what it is all of.
_A_TOPIC = 8
#: Sentences beside a correction that are longer together say something else.
_TOGETHER = 240
#: From this margin on it is clear that something is to be forgotten or put right, whatever it is called.
_CLEARLY = 3000
_CLAUSE = re.compile(r"[,，、;；:：.!]|(?<=[ก-๎]) (?=[ก-๎])|(?<=[\u3400-\u9fff]) ")


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
    return command.action is Action.CORRECT and bool(meant(caller, command.text))


def _reread(caller: Caller, hearing: Hearing, command: Command, doubted: Doubt) -> Command:
    mixed = command.action in _MIXED_UP and doubted.instead is Sort.FORGET
    if command.action is Action.FORGET and command.target is Target.EVERYTHING:  # all of what?
        said = said_around(hearing, command.span)
        beside = len(said) - (command.span[1] - command.span[0]) >= _A_TOPIC
        mixed = beside and any(one.about >= ABOUT_IT for one in meant(caller, said))
    elif command.action is Action.FORGET and command.old is None:
        command = replace(command, old=said_around(hearing, command.span))
    if mixed or (command.action is Action.WITHHOLD and meant(caller, said_around(hearing, command.span))):
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
    if command.action is Action.CORRECT and command.target is Target.TEXT and command.old is None:
        command = _with_its_sentence(caller, hearing, command)
    command = _fuller(hearing, command)
    if command.lifetime is None and (lent := _lent(caller, command)) is not None:
        return replace(command, lifetime=lent.ttl)
    if command.action in _TIMED and command.lifetime is None and doubted.timed:
        sure = doubted.instead is Sort.TEMPORARY
        found = lifetime_in(view_of(said_around(hearing, command.span)).text, day_of(caller))
        if found is not None and (sure or not found.vague):
            space = Space.SESSION if found.ttl == SESSION_END else command.space
            return replace(command, lifetime=found.ttl, space=space)
    return command


def _with_its_sentence(caller: Caller, hearing: Hearing, command: Command) -> Command:
    """A correction whose own words fit nothing, with its sentence where that says what it is about:
    "about the delivery address, change it to 8 Mill Rise"."""
    typed = said_around(hearing, command.span)
    if len(typed) < len(command.text) + _EARLY or _named(caller, command.text) or not _named(caller, typed):
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
    parts = understand(listener, [one.span for one in asked])
    parts = [_of_known(caller, hearing, part) for part in parts]
    parts = [_whole(hearing, part) if part.sort in _WISHES else part for part in parts]
    today = day_of(caller)
    made: list[Command] = []
    for at, part in enumerate(parts):
        if part.act is Act.LEAVE or (part.sort in _ANSWERS and len(parts) > 1):
            continue
        before = parts[at - 1] if at else None
        following = parts[at + 1] if at + 1 < len(parts) else None
        found = list(_commands(caller, hearing, part, (before, following), today))
        if part.sort is Sort.CORRECT:  # read with the one before it, which would only be undone
            typed = " ".join(hearing.view.original[slice(*part.typed)].split())
            read = [one.text for one in made if one.action is Action.CORRECT]
            found = [] if any(typed in text for text in read) else found
        if part.sort in _POINTS_BACK and before is not None:
            made = [one for one in made if one.action is not Action.NOTE or one.span != before.typed]
        made += found
    kept = {view_of(one.value or "").text for one in [*asked, *made] if one.action is Action.REMEMBER}
    return [one for one in made if one.action is not Action.NOTE or view_of(one.value or "").text not in kept]


def _of_known(caller: Caller, hearing: Hearing, part: Understood) -> Understood:
    """What would be left alone, or kept as something new, but clearly puts right something that is known."""
    if part.leans is None or (part.act is not Act.LEAVE and part.sort is not Sort.LASTING):
        return part
    if part.leans is Sort.CORRECT and part.sort in _OF_A_TEXT:
        return part  # "replace Monday with Tuesday in the draft"
    whole = hearing.view.original if len(hearing.view.original) <= _TOGETHER else part.text
    fits = meant(caller, part.text) or (
        meant(caller, whole) if len(whole) > len(part.text) + _A_TOPIC else []
    )
    least = 0.0 if part.sort is part.leans else _SHARED[part.leans]
    if len(fits) != 1 or not fits[0].is_sentence or fits[0].words < least or fits[0].about < ABOUT_IT:
        return part
    said = hearing.said[slice(*part.span)]
    renewed = part.sort is Sort.LASTING and fits[0].recent and bool(hearing.cue("signals").search(said))
    clashes = (fits[0].clashes or renewed) and len(
        fits[0].memory.text
    ) <= _TOGETHER // 2  # a story is no value
    changes = clashes if part.leans is Sort.CORRECT else part.act is Act.LEAVE
    return replace(part, sort=part.leans, act=Act.ACT, margin=_CLEARLY) if changes else part


def _whole(hearing: Hearing, part: Understood) -> Understood:
    """A wish is kept with its whole sentence: what it is about may stand in the clause before it."""
    return replace(part, text=said_around(hearing, part.typed))


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
            yield from _kept(hearing, part, around)
        case Sort.SET:
            found = lifetime_in(view_of(part.text).text, today) if part.timed else None
            lasts = hearing.cue("lasts").search(hearing.said[slice(*part.span)])
            yield from _set(caller, part, None if found is None or found.vague or lasts else found)
        case Sort.TEMPORARY:
            found = lifetime_in(view_of(part.text).text, today)
            yield from _set(caller, part, found or _a_while(today))
        case Sort.FORGET:
            before = around[0].text if around[0] is not None else None
            named = _named(caller, part.text) or waits_about(caller, part.text)
            if part.margin >= _CLEARLY or named or (before and _named(caller, before)):
                yield _command(Action.FORGET, part, text=part.text, old=before)
        case Sort.CORRECT:
            if profile_fact(part.text, book=caller.store.ruleset.rules):
                return  # a fact with a key: the turn itself puts its newest value in force
            said = _said_together(hearing, part, around)
            if any(one.is_sentence for one in _put_right(caller, part, said)):
                yield _command(Action.CORRECT, part, text=said)
            elif part.otherwise is not None:  # nothing to put right, but something that now holds
                yield from _commands(caller, hearing, replace(part, sort=part.otherwise), around, today)
            elif part.own and part.margin >= _CLEARLY:
                yield _command(Action.NOTE, part, text=part.text, value=part.text)
        case Sort.CONFIRM | Sort.REJECT:
            if pending(caller):
                action = Action.CONFIRM if part.sort is Sort.CONFIRM else Action.REJECT
                yield replace(_command(action, part), target=Target.LATEST)
        case Sort.LASTING:
            yield _command(Action.NOTE, part, text=part.text, value=part.text)


def _said_together(hearing: Hearing, part: Understood, around: Around) -> str:
    """A correction with the sentences beside it: what it is about, or what is right, may stand in one."""
    spans = [one.typed for one in (around[0], part, around[1]) if one is not None]
    low, high = min(start for start, _ in spans), max(end for _, end in spans)
    return " ".join(hearing.view.original[low:high].split()) if high - low <= _TOGETHER else part.text


def _put_right(caller: Caller, part: Understood, said: str) -> list[Fit]:
    """What a correction may be about: by words, by another value of the same sort, or as it is clear one."""
    found = meant(caller, part.text) or meant(caller, said)
    sure = part.margin >= _CLEARLY
    return [one for one in found if (sure and one.is_sure) or one.words > 0 or (one.clashes and one.recent)]


def _named(caller: Caller, words: str) -> list[Fit]:
    """What is meant and has a word in common with what is said, or is very like it."""
    return [one for one in meant(caller, words) if one.is_sure]


def _command(action: Action, part: Understood, **fields: object) -> Command:
    made = Command(
        action=action, target=Target.TEXT, kind=Kind.FACT, span=part.typed, rule=f"heard_{part.sort}"
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def _kept(hearing: Hearing, part: Understood, around: Around) -> Iterator[Command]:
    """What is to be remembered: the rest of the sentence, what follows it, or what stands before it."""
    words = kept_words(hearing, part.span)
    before, following = around
    back = before is not None and points_back(hearing, part.span)
    if back or not says_something(words, part.text):
        other = before if back else following or before
        words = other.text if other is not None else words
    yield _command(Action.REMEMBER, part, key=note_key(words), value=words, text=words)


def _set(caller: Caller, part: Understood, lifetime: Lifetime | None) -> Iterator[Command]:
    """A way to answer, or a circumstance; for good, or for a time."""
    book = caller.store.ruleset.rules
    ttl = lifetime.ttl if lifetime else None
    space = Space.SESSION if ttl == SESSION_END else None
    for key, value in ways(part.text, book):
        kind = Kind.INSTRUCTION if value == part.text else Kind.PREFERENCE
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
