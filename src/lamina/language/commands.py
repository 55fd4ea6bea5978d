"""Commands to the memory in what a person says."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain, islice, pairwise

from lamina.errors import InvalidInput
from lamina.language.command import Action, Command, Target
from lamina.language.facts import trimmed, value_of, whole_fact
from lamina.language.hearing import Hearing, Opening, Sentence, Start, hear
from lamina.language.qualify import Stretch, stretch
from lamina.language.rulebook import Rule, Rulebook, rulebook
from lamina.language.settings import is_setting, manners, setting_of, value_for
from lamina.model.memory import Kind
from lamina.records import dataclass
from lamina.text.normalise import INVISIBLE, canonical_key, note_key

#: How many places of a message are looked at where a command may stand; a paste has more.
_PLACES = 24
#: How many things one message puts right: each is looked for in all that is known.
_CORRECTED = 8
#: How many items of a list are remembered at once.
_ITEMS = 100
_PAIR = re.compile(
    r"(?:(?P<key>[^=:\n]{1,64}?)[ \v]?:?=|(?P<name>[^\W_]+(?:[._-][^\W_]+)+)[ \v]?:)[ \v]?(?P<value>[^\n]+)"
)
_KEY = re.compile(r"(?=[^._]{1,64}[._])[^\W_]+(?:[._-][^\W_]+)+")  #: what nobody would write but as a key
_WORD = re.compile(r"[\w.-]{1,64}")
_NEXT_PAIR = re.compile(r"[,、;][ \v]?(?=[^=,、;\n\x00]{1,40}:?=)")


def commands(text: str, *, book: Rulebook | None = None) -> list[Command]:
    """What a message asks the memory to do, in the order in which it asks.

    Only what the speaker asks for now: nothing quoted, fenced, handed over as material, reported, supposed or
    asked as a question. Never raises; linear in the text.
    """
    return commands_in(hear(text, book or rulebook()))


def commands_in(hearing: Hearing) -> list[Command]:
    """The same for a message that has been heard."""
    places = _places(hearing)
    found: list[tuple[Start, list[Command]]] = []
    taken: set[int] = set()
    following = len(hearing.said)
    for place in reversed(places):
        if made := _read(hearing, place, following, taken):
            found.append((place[0].start, made))
            following = place[0].start.cut
            taken.add(place[0].start.at)
    spoken: set[Sentence] = set()
    kept: list[Command] = []
    for start, made in reversed(found):
        # What stands before the first command of a sentence decides; a later "if" belongs to its words.
        if start.sentence in spoken or hearing.is_spoken(start.sentence, start.at):
            spoken.add(start.sentence)
            kept += made
    return _once(kept)


def _once(asked: list[Command]) -> list[Command]:
    """Whoever asks the same twice in a row, that something be kept or put right, asks once."""
    kept = asked[:1]
    for before, one in pairwise(asked):
        if one.action not in (Action.REMEMBER, Action.CORRECT) or replace(one, span=before.span) != before:
            kept.append(one)
    corrected = [one for one in kept if one.action is Action.CORRECT]
    return [one for one in kept if one not in corrected[_CORRECTED:]]


def _read(hearing: Hearing, place: list[_Head], following: int, taken: set[int]) -> list[Command]:
    """What the first rule that makes something of it finds at one place; `taken` are places after it."""
    for head in place:
        end = hearing.body_end(head.match.end(), head.start.sentence, following)
        if hearing.is_meant(head.start, head.opening, end):
            is_text = head.rule["takes"] == "text" and not head.rule["lasting"]
            body = stretch(hearing, head.match.end(), end, head.opening, text=is_text)
            if made := _Reading(hearing, head, body, taken).commands():
                return made
    return []


@dataclass(frozen=True, slots=True)
class _Head:
    """A rule that applies at a start."""

    start: Start
    opening: Opening
    rule: Rule
    match: re.Match[str]

    def group(self, name: str) -> tuple[int, int] | None:
        """Where the match has what a phrase calls `{name}`."""
        for group in self.match.re.groupindex:
            if group.rpartition("_")[0] == name and self.match.start(group) >= 0:
                return self.match.span(group)
        return None


def _places(hearing: Hearing) -> list[list[_Head]]:
    """For each start where a rule applies, all that do, in the order in which they are tried."""
    places: list[list[_Head]] = []
    seen: set[tuple[int, str]] = set()
    for start in hearing.starts():
        heads = [head for head in _heads(hearing, start) if (head.opening.at, head.rule.name) not in seen]
        if heads and len(places) >= _PLACES:
            break
        if heads:
            seen = {(head.opening.at, head.rule.name) for head in heads}
            places.append(heads)
    return places


def _heads(hearing: Hearing, start: Start, action: str = "") -> list[_Head]:
    found: list[_Head] = []
    anything = hearing.book.any_of("command")
    for opening in hearing.openings(start):
        if not anything.match(hearing.said, opening.at, start.sentence.end):
            continue
        for rule in hearing.book.of("command"):
            if (action and rule["action"] != action) or not _may_stand(rule, start):
                continue
            match = rule.regex.match(hearing.said, opening.at, start.sentence.end)
            if match and not _is_exception(rule, match, hearing.said):
                found.append(_Head(start, opening, rule, match))
    return found


def _may_stand(rule: Rule, start: Start) -> bool:
    order = ("sentence", "clause", "join")
    return order.index(start.kind) <= order.index(rule["starts"] or "clause")


def _is_exception(rule: Rule, match: re.Match[str], said: str) -> bool:
    if said.startswith("-", match.end()) and not match[0].endswith(" "):
        return True  # "forget-me-not" is another word
    return rule.exceptions is not None and rule.exceptions.match(said, match.start()) is not None


@dataclass(frozen=True, slots=True)
class _Reading:
    """A head with the words it is about."""

    hearing: Hearing
    head: _Head
    body: Stretch
    taken: set[int]  #: where other commands begin

    def commands(self) -> list[Command]:
        """What is asked for; empty where it is nothing after all."""
        rule = self.head.rule
        if rule["lasting"] and not self.lasts:
            return []
        read = {
            "text": self._text,
            "target": self._target,
            "key": self._key,
            "value": self._value,
            "manner": self._manner,
            None: self._fixed,
        }[rule["takes"]]
        return read()

    @property
    def lasts(self) -> bool:
        return bool(self.body.qualifiers or "lasts" in self.body.cues)

    def _make(self, target: Target, **fields: object) -> Command:
        action = Action(self.head.rule["action"])
        if action is Action.SET and "corrects" in self.body.cues:
            action = Action.CORRECT
        lifetime, space = self.body.reach()
        made = Command(
            action=action,
            target=target,
            lifetime=lifetime,
            space=space,
            rule=self.head.rule.name,
            span=self.hearing.span(self.head.start.at, max(self.head.match.end(), self.body.whole)),
        )
        return replace(made, **fields)  # type: ignore[arg-type]

    def _fixed(self) -> list[Command]:
        rule = self.head.rule
        if self.body.at < self.body.end:
            return []
        if rule["key"]:
            return [self._make(Target.KEY, key=rule["key"], value=rule["value"], text=self._said())]
        return [self._make(Target(rule["target"] or Target.LATEST))]

    # Values

    def _typed(self, name: str) -> str:
        """What the person typed for a capture, or as the body where the phrase has none of that name."""
        span = self.head.group(name) or (self.body.at, self.body.end)
        return unquoted(self.hearing.view.slice(*span))

    def _said(self) -> str:
        end = max(self.head.match.end(), self.body.end)
        return self.hearing.view.slice(self.head.opening.at, end).strip()

    def _value(self) -> list[Command]:
        book = self.hearing.book
        setting = self.head.group("setting")
        old = self.head.group("old")
        key = self.head.rule["key"]
        if setting:
            key = setting_of(self.hearing.said[slice(*setting)], book)
        if self.head.group("value") and self._goes_on():
            return []
        typed = self._typed("value")
        fields: dict[str, object] = {"text": self._said()}
        if old:
            fields["old"] = trimmed(key or "", unquoted(self.hearing.view.slice(*old)), book)
        if key is None:
            value = trimmed("", typed, book)
            return [self._make(Target.TEXT, value=value, kind=Kind.FACT, **fields)] if value else []
        fields |= {"key": key, "value": value_for(key, typed, book), "kind": _kind(key, book)}
        return [self._make(Target.KEY, **fields)] if fields["value"] else []

    def _goes_on(self) -> bool:
        """Whether more follows what the phrase holds, in the same clause: "the answer in Thai was wrong"."""
        after = self.hearing.said[self.head.match.end() : self.body.end]
        return bool(after.strip()) and after[0] not in ",、\v"

    def _manner(self) -> list[Command]:
        """Each setting that the description before or after the verb comes to.

        Without "from now on" only the language is meant for good; the rest is a guess (infer.py).
        """
        places = (self.head.group("manner"), self.body.edges())
        spans = [span for span in places if span and span[0] < span[1]]
        found = [manners(self.hearing.view.slice(*span), self.hearing.book) for span in spans]
        if not all(found):
            return []
        lasts = self.lasts or self.head.rule["lasting"] is False
        return [
            self._make(Target.KEY, key=key, value=value, text=self._said())
            for key, value in chain.from_iterable(found)
            if lasts or key == "response.language"
        ]

    # Texts

    def _text(self) -> list[Command]:
        at, end = self.head.group("text") or (self.body.at, self.body.end)
        said = self.hearing.said[at:end]
        if not said.strip() or self.hearing.cue("this").fullmatch(said.strip()):
            return [] if self.head.rule["lasting"] else self._latest()
        if "agrees" in self.body.cues and _KEY.fullmatch(said.strip()):
            made = self._make(Target.KEY, key=_key(said.strip()), text=said.strip())
            return [replace(made, action=Action.CONFIRM)]
        return self._about(at, end)

    def _about(self, at: int, end: int) -> list[Command]:
        """What is to be remembered: pairs, settings, a fact, or just the text."""
        hearing = self.hearing
        if pairs := self._pairs(at, end):
            return pairs
        if nested := self._nested(at, end):
            return nested
        text = unquoted(hearing.view.slice(at, end))
        if not text:
            return []
        if fact := whole_fact(text, hearing.book):
            return [self._make(Target.KEY, key=fact.key, value=fact.value, text=text, kind=Kind.FACT)]
        kind = Kind(self.head.rule["kind"] or Kind.FACT)
        if self.head.rule["action"] == Action.CORRECT:
            return [self._make(Target.TEXT, value=text, text=text, kind=kind)]
        return [self._make(Target.TEXT, key=note_key(text), value=text, text=text, kind=kind)]

    def _pairs(self, at: int, end: int) -> list[Command]:
        """`key = value`, or several of them with commas between."""
        cuts = list(_NEXT_PAIR.finditer(self.hearing.said, at, end))
        starts = [at, *(found.end() for found in cuts)]
        ends = [*(found.start() for found in cuts), end]
        made = [self._pair(*span) for span in zip(starts, ends, strict=True)]
        return [] if any(command is None for command in made) else [each for each in made if each]

    def _pair(self, at: int, end: int) -> Command | None:
        found = _PAIR.fullmatch(self.hearing.said, at, end)
        if not found or len((found["key"] or "").split()) > 4:
            return None
        book = self.hearing.book
        name = self.hearing.view.slice(*found.span("key" if found["key"] else "name"))
        key = setting_of((found["key"] or found["name"]).strip(), book)
        if key is None:
            try:
                key = _key(unquoted(name))
            except InvalidInput:
                return None
        typed = unquoted(self.hearing.view.slice(*found.span("value")))
        value = (is_setting(key, book) and value_for(key, typed, book)) or typed
        text = self.hearing.view.slice(at, end).strip()
        return self._make(Target.KEY, key=key, value=value, text=text) if value else None

    def _nested(self, at: int, end: int) -> list[Command]:
        """ "Remember to answer in Thai" sets the language."""
        sentence = replace(self.head.start.sentence, end=end)
        for head in _heads(self.hearing, Start(at, at, "sentence", sentence), Action.SET):
            opening = replace(head.opening, cues=self.body.cues | head.opening.cues | {"lasts"})
            body = stretch(self.hearing, head.match.end(), end, opening, text=False)
            body = replace(body, qualifiers=(*self.body.qualifiers, *body.qualifiers))
            if inner := _Reading(self.hearing, head, body, self.taken).commands():
                outer = self._make(Target.KEY)
                corrects = outer.action is Action.CORRECT
                return [
                    replace(each, span=outer.span, action=outer.action if corrects else each.action)
                    for each in inner
                ]
        return []

    def _latest(self) -> list[Command]:
        """ "Remember that": what stands before it, what was offered, or what was said last."""
        hearing, start = self.hearing, self.head.start
        items = list(islice(hearing.listed(start.sentence.end), _ITEMS)) if self.body.introduces else []
        if items := [item for item in items if item[0] not in self.taken]:
            made = [self._about(*self._item(at, end)) for at, end in items]
            return [
                replace(each, span=hearing.span(at, end))
                for (at, end), several in zip(items, made, strict=True)
                for each in several
            ]
        if "agrees" in self.body.cues:
            return [replace(self._make(Target.LATEST), action=Action.CONFIRM)]
        before = hearing.clause_before(start)
        if before is None or self.head.rule["action"] != Action.REMEMBER:
            return [self._make(Target.LATEST)]
        at, end = stretch(hearing, *before, Opening(before[0], frozenset(), ())).edges()
        first = hearing.span(at, end)[0]
        return [replace(each, span=(first, each.span[1])) for each in self._about(at, end)]

    def _item(self, at: int, end: int) -> tuple[int, int]:
        return stretch(self.hearing, at, end, Opening(at, frozenset(), ())).edges()

    # Targets

    def _key(self) -> list[Command]:
        """A key and nothing else, or nothing at all."""
        made = self._target()
        if made and made[0].target is Target.LATEST:
            agreement = made[0].action in (Action.CONFIRM, Action.REJECT)
            return made if agreement and self._stands_alone() else []
        return made if made and made[0].target is not Target.TEXT else []

    def _stands_alone(self) -> bool:
        sentence = self.head.start.sentence
        return self.head.start.kind == "sentence" and self.body.whole >= sentence.end

    def _target(self) -> list[Command]:
        hearing, rule = self.hearing, self.head.rule
        at, end = self.head.group("text") or (self.body.at, self.body.end)
        said = hearing.said[at:end].strip()
        if rule["target"]:
            return self._aimed(Target(rule["target"]), at, end)
        if not said and rule["action"] == Action.FORGET:
            return []
        if not said or hearing.cue("this").fullmatch(said):
            return [self._make(Target.LATEST)]
        if hearing.cue("all").fullmatch(said):
            return [self._make(Target.EVERYTHING)]
        text = unquoted(hearing.view.slice(at, end))
        key = setting_of(said, hearing.book)
        if key or _KEY.fullmatch(said):
            made = self._make(Target.KEY, key=key or _key(text), text=text)
            return [replace(made, action=Action.REJECT) if made.action is Action.WITHHOLD else made]
        if not text or value_of("", text, hearing.book) == "":
            return []  # "forget what?"
        return [self._make(Target.TEXT, key=_possible_key(text), text=text, kind=Kind.FACT)]

    def _aimed(self, target: Target, at: int, end: int) -> list[Command]:
        text = unquoted(self.hearing.view.slice(at, end))
        if (target is Target.ABOUT) == (not text):
            return []
        return [self._make(target, text=text)]


def unquoted(text: str) -> str:
    """The text without blanks around it, and without the quotation marks that hold all of it."""
    text = text.strip()
    for left, right in ('""', "''", "“”", "‘’", "「」", "『』", "``", "«»"):
        if len(text) > 2 and text[0] == left and text[-1] == right and left not in text[1:-1]:
            return text[1:-1].strip()
    return text


def _possible_key(text: str) -> str | None:
    text = INVISIBLE.sub("", text)
    return canonical_key(text) if _WORD.fullmatch(text) and text.strip("_.-") else None


def _key(text: str) -> str:
    """The key that a person wrote, whatever is in it that nobody sees."""
    return canonical_key(INVISIBLE.sub("", text))


def _kind(key: str, book: Rulebook) -> Kind:
    return Kind.FACT if key in book.keys else Kind.PREFERENCE
