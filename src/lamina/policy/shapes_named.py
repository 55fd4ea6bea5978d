"""Secrets that somebody names: "the password for the router is …", "รหัสผ่านคือ …", "密码：…", `DB_PASSWORD=…`.

A name is found first; then the words that link it to a value ("is", ":", "คือ", "是"); then the value is
judged by how clear the link is. Each name looks no further than the second name after it, so that the whole
takes linear time. How names, links and values are written is data (`data/secrets.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from typing import Any

from lamina.policy import shapes
from lamina.policy.shapes import SOURCE, compiled


class Link(IntEnum):
    """How clearly a value is said to be what the name says, the clearest first."""

    DIRECT = 0  #: name, link, value
    DETAIL = 1  #: name, what it is for, link, value
    BESIDE = 2  #: name, value
    LOOSE = 3  #: name, anything, link, value


@dataclass(frozen=True, slots=True)
class Value:
    """A candidate at `view[start:end]`, and how it is tied to its name."""

    start: int
    end: int
    quoted: bool
    link: Link
    by: str  #: the link itself, stripped


@dataclass(frozen=True, slots=True)
class Name:
    """What people call a secret, and how the value that follows is judged."""

    rule: str
    kind: str
    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    before: re.Pattern[str] | None = None


def find_named(view: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    """Rule, start and end of each named secret; `lowered` is the view in lower case, of the same length."""
    for name in NAMES:
        hits = [
            hit
            for hit in matches_at(name.pattern, lowered, lowered, name.keywords)
            if _stands_alone(view, lowered, hit, name)
        ]
        yield from _of_name(view, lowered, name, hits)


def matches_at(
    pattern: re.Pattern[str], view: str, lowered: str, keywords: Iterable[str]
) -> Iterator[re.Match[str]]:
    """The matches of a pattern that begins with one of the keywords; much cheaper than to try every place."""
    places: set[int] = set()
    for keyword in keywords:
        at = lowered.find(keyword)
        while at >= 0:
            places.add(at)
            at = lowered.find(keyword, at + 1)
    done = 0
    for at in sorted(places):
        if at >= done and (hit := pattern.match(view, at)) is not None:
            yield hit
            done = hit.end()


def _of_name(
    view: str, lowered: str, name: Name, hits: Sequence[re.Match[str]]
) -> Iterator[tuple[str, int, int]]:
    done = 0
    for number, hit in enumerate(hits):
        if hit.start() < done:
            continue  # the word is a part of the value before it
        limit = min(hits[number + 2].start() if number + 2 < len(hits) else len(view), hit.end() + _WINDOW)
        if (value := _after(view, lowered, name, hit.end(), limit)) is not None:
            done = value.end
            yield name.rule, value.start, value.end
            while (more := _again(view, name, done, limit)) is not None:
                done = more.end
                yield name.rule, more.start, more.end
        elif name.kind in ("password", "token", "pin"):
            since = max(done, hits[number - 1].end() if number else 0, hit.start() - _WINDOW)
            if (span := _first(view, since, hit, name)) is not None:
                yield name.rule, *span


def _again(view: str, name: Name, at: int, limit: int) -> Value | None:
    """A further value: "hunter2 or hunter3", "… but I changed it to hunter3"."""
    if name.kind not in ("password", "token") or (link := _AGAIN.match(view, at, limit)) is None:
        return None
    value = _value(view, link.end(), Link.BESIDE, "", name)
    is_value = shapes.is_mixed if name.kind == "password" else shapes.is_token
    return value if value.end > value.start and is_value(view, value.start, value.end) else None


def _stands_alone(view: str, lowered: str, hit: re.Match[str], name: Name) -> bool:
    """Not a part of a longer word, unless that is one like `dbPassword` or `accesstoken`."""
    at = hit.start()
    if name.before is not None:
        return name.before.search(lowered, max(0, at - _LOOK_BACK), at) is not None
    if name.kind == "token" and _PAGING.search(lowered, max(0, at - _LOOK_BACK), hit.end()):
        return False
    if at > 1 and view[at - 1] == ":" and view[at - 2].isdigit():
        return False  # a part of a longer name, as in `arn:…:123456789012:secret:…`
    if at == 0 or not view[at].isascii():
        return True
    before = view[at - 1]
    if name.kind == "password":
        return before != "1" or not lowered.startswith("password", at)  # the product
    if before.isascii() and before.isalpha():
        if before.islower() and view[at].isupper():
            return True
        return _GLUED.search(lowered, max(0, at - _LOOK_BACK), at) is not None
    return not before.isdigit()


def _after(view: str, lowered: str, name: Name, at: int, limit: int) -> Value | None:
    """The value after a name, if there is one that its kind accepts."""
    if (suffix := _SUFFIX.match(lowered, at)) is not None:
        if _is_other_noun(suffix[1] or "") or (suffix[1] and name.kind == "weak"):
            return None
        at = suffix.end()
    if _CJK_OTHER_NOUN.match(lowered, at) or lowered.startswith("@", at):
        return None
    accepts = _KINDS[name.kind]
    for value in _candidates(view, lowered, name, at, limit):
        if value.end > value.start and accepts(view, value):
            return value
    return None


def _candidates(view: str, lowered: str, name: Name, at: int, limit: int) -> Iterator[Value]:
    if (beside := _ASIDE.match(lowered, at)) is not None:
        at = beside.end()
    if (word := _NEXT_WORD.match(lowered, at)) is not None and _is_other_noun(word[1]):
        return
    direct = _DIRECT.match(lowered, at)
    if direct is not None:
        yield _value(view, direct.end(), Link.DIRECT, direct[0].strip(), name)
    links = _LINK.finditer(lowered, direct.end() if direct else at, limit)
    for link in islice(links, _MOST_LINKS):
        gap = lowered[at : link.start()]
        if _SENTENCE_END.search(gap):
            break
        by = link[0].strip()
        own = not lowered[at - 1].isascii()
        kind = Link.DIRECT if not gap.strip() else Link.DETAIL if _is_detail(gap, own=own) else Link.LOOSE
        yield _value(view, link.end(), Link.LOOSE if by[:1] in (",", "?") else kind, by, name)
    blank = _BLANK if lowered[at - 1].isascii() else _NO_BLANK
    if (thai := _THAI_GAP.match(lowered, at)) is not None:
        yield _value(view, thai.end(), Link.BESIDE, thai[0].strip(), name)
    if direct is None and (gap_end := blank.match(lowered, at)) is not None:
        yield _value(view, gap_end.end(), Link.BESIDE, _word_before(lowered, at), name)


def _value(view: str, at: int, link: Link, by: str, name: Name) -> Value:
    if name.kind == "pair" and (user := _USER.match(view, at)) is not None:
        at = user.end()
        by = user[1].strip() or " "
    elif name.kind == "pair":
        return Value(at, at, False, link, by)
    lead = _LEAD.match(view, at)
    start = lead.end() if lead else at
    opening = view[start - 1] if start > at else ""
    if opening in _CLOSING and opening:
        end = min((view.find(mark, start, start + _LONGEST) for mark in _CLOSING[opening]), key=_found_first)
        if end > start and "\n" not in view[start:end]:
            return Value(start, end, True, link, by)
    return Value(start, _end_of(view, start, name.kind), False, link, by)


def _found_first(place: int) -> int:
    return place if place >= 0 else 1 << 30


def _end_of(view: str, start: int, kind: str) -> int:
    """Where an unquoted value ends; the punctuation of the sentence is not a part of it."""
    if kind in ("phrase", "seed") and (words := _SEED.match(view, start) or _PHRASE.match(view, start)):
        return words.end()
    if kind == "pin":
        digits = _PIN.match(view, start)
        return digits.end() if digits else start
    if (run := _ASCII_RUN.match(view, start)) is not None:
        end = run.end()
        if (cut := _NEXT_FIELD.search(view, start, end)) is not None and cut.start() > start:
            end = cut.start()
        return start + len(trimmed(view[start:end]))
    own = _OWN_RUN.match(view, start)
    if own is None:
        return start
    return start + len(_PARTICLE.sub("", own[0]))


def trimmed(value: str) -> str:
    """Without the punctuation that belongs to the sentence; a bracket that was opened inside stays."""
    short = value.rstrip(_TRAILING)
    return value[: len(short) + 1] if value[len(short) :].startswith(")") and "(" in short else short


def _first(view: str, since: int, hit: re.Match[str], name: Name) -> tuple[int, int] | None:
    """The value before a name: "X is my password", "X 是我的密码", "ใช้ X เป็นรหัสผ่าน"."""
    said = _VALUE_FIRST.search(view, since, hit.start())
    if said is None or _NOT_THIS.match(view, hit.end()):
        return None
    start, end = said.start("value"), said.start("value") + len(trimmed(said["value"]))
    if end <= start or shapes.is_slug(view[start:end]):
        return None
    if name.kind == "pin":
        return (start, end) if _SENT_PIN.fullmatch(view, start, end) else None
    judge = shapes.is_mixed if name.kind == "password" else shapes.is_token
    return (start, end) if judge(view, start, end) else None


def _is_detail(gap: str, *, own: bool) -> bool:
    """What a secret is for; after a name in Thai or Chinese nearly anything is."""
    return bool(_DETAIL.fullmatch(gap)) or ((own or not gap.isascii()) and bool(_OWN_DETAIL.fullmatch(gap)))


def _is_other_noun(word: str) -> bool:
    return word in _OTHER_NOUNS or (word.endswith("s") and word[:-1] in _OTHER_NOUNS)


def _word_before(lowered: str, at: int) -> str:
    """The words up to the end of a name, which decide whether a value may follow without a link."""
    return lowered[max(0, at - _LOOK_BACK) : at]


# ---- the kinds of names


def _accepts_password(view: str, value: Value) -> bool:
    at = (view, value.start, value.end)
    text = view[value.start : value.end]
    if value.by in _CHANGES and text.isascii():
        clear = value.by != "from" and value.link is Link.DIRECT
        return _CHANGED.search(view, max(0, value.start - _WINDOW), value.start) is not None and (
            shapes.is_password(*at) if clear else shapes.is_mixed(*at)
        )
    if value.link is Link.LOOSE:
        return shapes.is_strong(*at)
    if value.quoted:
        return shapes.is_quoted(*at) if value.by not in _WEAK_LINKS else shapes.is_mixed(*at)
    if not text.isascii():
        return shapes.is_own(*at) and (
            shapes.ends_in_digits(text) or (value.by in _COLONS and bool(_ENDS_LINE.match(view, value.end)))
        )
    if value.link is Link.BESIDE:
        return _accepts_beside(view, value)
    if value.by in _WEAK_LINKS:
        return shapes.is_mixed(*at) and not shapes.is_slug(text)
    if " " in text:
        return shapes.is_passphrase(*at)
    return shapes.is_password(*at)


def _accepts_beside(view: str, value: Value) -> bool:
    """A value right after the name: clear in Thai and Chinese, in English only after some words."""
    at = (view, value.start, value.end)
    text = view[value.start : value.end]
    if text.rstrip("#").isdigit():
        shortest = _BESIDE_DIGITS if value.by.isascii() else _OWN_BESIDE_DIGITS
        return len(text) >= shortest and shapes.is_pin(*at)
    if not value.by[-1:].isascii():
        return shapes.is_mixed(*at) or (_IN_A_PAIR.search(value.by) is not None and shapes.is_password(*at))
    if _AFTER_A_USER.search(value.by) and shapes.is_uncommon_word(text):
        return not shapes.is_placeholder(*at)
    if shapes.is_slug(text) or not shapes.is_mixed(*at):
        return False
    return bool(_GIVEN.search(value.by)) or shapes.is_strong(*at)


def _accepts_weak(view: str, value: Value) -> bool:
    """After `pass` and `pw`, which are words of their own."""
    at = (view, value.start, value.end)
    if value.link is Link.BESIDE:
        return shapes.is_mixed(*at) and (
            (value.quoted and value.by.endswith(("_pass", "_pw")))
            or bool(_IN_A_PAIR.search(value.by)) or (value.by.endswith("pw") and shapes.is_strong(*at))
        )
    if value.link is Link.LOOSE or value.by in _WEAK_LINKS:
        return shapes.is_strong(*at) and not _FIELD.match(view, value.start, value.end)
    if value.quoted:
        return shapes.is_quoted(*at)
    if value.by not in _COLONS:
        return shapes.is_mixed(*at)
    text = view[value.start : value.end]
    if text.isdigit():
        return value.link is Link.DIRECT and len(text) >= _BESIDE_DIGITS
    return shapes.is_mixed(*at) or shapes.is_secret_word(*at)


def _accepts_bare(view: str, value: Value) -> bool:
    """After a word that means any code, where an account was named before it."""
    before = view[max(0, value.start - _PAIR_REACH) : value.start].lower()
    return bool(_IN_A_PAIR.search(before)) and value.link is not Link.LOOSE and _accepts_password(view, value)


def _accepts_answer(view: str, value: Value) -> bool:
    return value.link <= Link.DETAIL and (
        shapes.is_quoted(view, value.start, value.end) if value.quoted
        else shapes.is_password(view, value.start, value.end)
    )


def _accepts_token(view: str, value: Value) -> bool:
    at = (view, value.start, value.end)
    text = view[value.start : value.end]
    if not text.isascii() or " " in text:
        return False
    if value.link is Link.LOOSE:
        return shapes.is_long_random(*at)
    if value.link is Link.BESIDE and value.by[-1:].isascii():
        random = len(text) >= _BESIDE_TOKEN and shapes.changes(text) >= _BESIDE_CHANGES
        return random and shapes.is_token(*at)
    return shapes.is_token(*at)


def _accepts_key(view: str, value: Value) -> bool:
    if value.link is Link.LOOSE or not view[value.start : value.end].isascii():
        return False
    if value.link is Link.BESIDE and shapes.is_hexadecimal(view[value.start : value.end]):
        return False
    return shapes.is_long_random(view, value.start, value.end) and not _PUBLIC_KEY.search(
        view, max(0, value.start - _LOOK_BACK), value.start
    )


def _accepts_pin(view: str, value: Value) -> bool:
    text = view[value.start : value.end]
    if value.link is Link.LOOSE:
        before = view[max(0, value.start - _LOOK_BACK) : value.start]
        return value.by == "," and text.isdigit() and bool(_SENT_CODE.search(before)) and shapes.is_pin(
            view, value.start, value.end
        )
    if not text.replace(" ", "").replace("-", "").isdigit():
        return value.link is not Link.BESIDE and shapes.is_mixed(view, value.start, value.end)
    if value.link is Link.BESIDE and value.by.isascii():
        name = view[max(0, value.start - _LOOK_BACK) : value.start]
        return bool(_PIN_BESIDE.search(name)) and shapes.is_pin(view, value.start, value.end)
    return shapes.is_pin(view, value.start, value.end)


def _accepts_phrase(view: str, value: Value) -> bool:
    at = (view, value.start, value.end)
    if shapes.is_seed(*at):
        return True
    if value.link > Link.DETAIL or value.by in _WEAK_LINKS:
        return False
    words = len(view[value.start : value.end].split())
    if words < _PHRASE_WORDS and not value.quoted:
        return words == _PHRASE_WORDS - 1 and shapes.is_passphrase(*at) and not shapes.has_plain_word(*at)
    return shapes.is_passphrase(*at)


def _accepts_seed(view: str, value: Value) -> bool:
    return shapes.is_seed(view, value.start, value.end)


def _accepts_pair(view: str, value: Value) -> bool:
    at = (view, value.start, value.end)
    text = view[value.start : value.end]
    if not text.isascii() or shapes.is_slug(text) or _FIELD.match(text):
        return False
    if value.link is Link.LOOSE or value.by in (",", " "):
        return shapes.is_strong(*at)
    if text.isdigit():
        return len(text) >= _BESIDE_DIGITS and value.by == "/" and not view[value.start - 2].isdigit()
    return shapes.is_mixed(*at)


_KINDS: dict[str, Callable[[str, Value], bool]] = {
    "password": _accepts_password,
    "weak": _accepts_weak,
    "bare": _accepts_bare,
    "answer": _accepts_answer,
    "token": _accepts_token,
    "key": _accepts_key,
    "pin": _accepts_pin,
    "phrase": _accepts_phrase,
    "seed": _accepts_seed,
    "pair": _accepts_pair,
}


def _grammar(key: str) -> re.Pattern[str]:
    parts: dict[str, str] = SOURCE["grammar"]
    return compiled(parts[key].replace("@is@", parts["is"]).replace("@own_is@", parts["own_is"]))


def _names(source: dict[str, Any]) -> tuple[Name, ...]:
    return tuple(
        Name(
            name["rule"],
            name["kind"],
            tuple(name["keywords"]),
            compiled(name["pattern"]),
            compiled(name["before"]) if "before" in name else None,
        )
        for name in source["name"]
    )


#: How far a value may be from its name, and a word that matters from a value.
_WINDOW, _LOOK_BACK, _LONGEST = 110, 40, 160
_MOST_LINKS, _PAIR_REACH = 4, 60
_BESIDE_DIGITS, _OWN_BESIDE_DIGITS, _BESIDE_TOKEN, _BESIDE_CHANGES = 6, 4, 10, 3
_PHRASE_WORDS = 4

# Punctuation of the sentence, not of the secret.
_TRAILING = ".,;:)]}*"
_CLOSING = {
    '"': '"”', "'": "'’", "`": "`", "“": '”"', "‘": "’'", "「": "」", "『": "』", "《": "》", "【": "】",
}
_COLONS = frozenset({":", "=", ":=", "=>", "->", "→", "==", "is:", "คือ:", "是:", "为:"})
_WEAK_LINKS = frozenset({"|", "-", "--", "", "(", ",", "to", "as", "from"})
_CHANGES = frozenset({"to", "as", "from"})

_OTHER_NOUNS = frozenset(SOURCE["values"]["other_noun"].split())
_CJK_OTHER_NOUN = compiled(rf"\s?(?:{SOURCE['values']['cjk_other_noun']})")
NAMES = _names(SOURCE)

_PAGING = _grammar("paging")
_GLUED = _grammar("glued")
_SUFFIX = _grammar("suffix")
_ASIDE = _grammar("aside")
_NEXT_WORD = _grammar("next_word")
_LINK = _grammar("link")
_DIRECT = _grammar("direct")
_BLANK = _grammar("blank")
_NO_BLANK = _grammar("no_blank")
_SENTENCE_END = _grammar("sentence_end")
_DETAIL = _grammar("detail")
_OWN_DETAIL = _grammar("own_detail")
_THAI_GAP = _grammar("thai_gap")
_LEAD = _grammar("lead")
_ASCII_RUN = _grammar("ascii_run")
_OWN_RUN = _grammar("own_run")
_NEXT_FIELD = _grammar("next_field")
_PARTICLE = _grammar("particle")
_AGAIN = _grammar("again")
_PIN = _grammar("pin_value")
_SEED = _grammar("seed_value")
_PHRASE = _grammar("phrase_value")
_ENDS_LINE = _grammar("ends_line")
_USER = _grammar("user_name")
_FIELD = _grammar("field")
_VALUE_FIRST = _grammar("value_first")
_NOT_THIS = _grammar("not_this")
_CHANGED = _grammar("changed")
_GIVEN = _grammar("given")
_AFTER_A_USER = _grammar("after_a_user")
_IN_A_PAIR = _grammar("in_a_pair")
_PUBLIC_KEY = _grammar("public_key")
_PIN_BESIDE = _grammar("pin_beside")
_SENT_CODE = _grammar("sent_code")
_SENT_PIN = _grammar("sent_pin")
