"""Settings a person may name, and the values they may give them."""

from __future__ import annotations

import re

from lamina.language.facts import VALUE_LIMIT, trimmed, value_of
from lamina.language.rulebook import Rulebook
from lamina.language.view import PAUSE, view_of

_STYLE = "response.style"
_PIECES = re.compile(rf"[,、{PAUSE}]")


def setting_of(said: str, book: Rulebook) -> str | None:
    """The key of a setting by one of its names, in the folded view; None where it is none of them."""
    for rule in book.of("setting"):
        if rule.regex.fullmatch(said):
            return str(rule["key"])
    return None


def is_setting(key: str, book: Rulebook) -> bool:
    return any(rule["key"] == key for rule in book.of("setting"))


def value_for(key: str, typed: str, book: Rulebook) -> str:
    """The value a person gives a key, in its canonical form; empty where it is none."""
    for reading in (typed, trimmed("manner", typed, book)):
        for rule in book.of("value", "means"):
            if rule["key"] == key and rule.regex.fullmatch(view_of(reading).text):
                return str(rule["means"])
    if piece := _PIECES.search(view_of(typed).text):
        return value_for(key, view_of(typed).slice(0, piece.start()), book)
    if any(rule["closed"] for rule in book.of("setting") if rule["key"] == key):
        return ""
    return "" if len(typed) > VALUE_LIMIT else value_of(key, typed, book)


def manners(typed: str, book: Rulebook) -> list[tuple[str, str]]:
    """The settings that a description of how to answer comes to; empty where a part of it is none."""
    found: list[tuple[str, str]] = []
    for piece in _pieces(typed, book):
        meant = _manner(piece, book)
        if meant is None:
            return []
        found.append(meant)
    return found


def _pieces(typed: str, book: Rulebook) -> list[str]:
    view = view_of(typed)
    cuts = [*_PIECES.finditer(view.text), *book.any_of("cue", "joins").finditer(view.text)]
    pieces: list[str] = []
    done = 0
    for cut in sorted(cuts, key=lambda each: each.start()):
        if cut.start() >= done:
            pieces.append(view.slice(done, cut.start()))
            done = cut.end()
    pieces.append(view.slice(done, len(view.text)))
    return [piece for piece in pieces if piece.strip()]


def meaning(piece: str, book: Rulebook) -> tuple[str, str] | None:
    """The setting and value that one description of how to answer comes to, where the rules know it."""
    short = trimmed("manner", piece, book)
    for reading in (view_of(piece.strip()).text, view_of(short).text):
        for rule in book.of("value", "means"):
            key = str(rule["key"])
            if key.startswith("response.") and rule.regex.fullmatch(reading):
                return key, str(rule["means"])
    return None


def _manner(piece: str, book: Rulebook) -> tuple[str, str] | None:
    short = trimmed("manner", piece, book)
    if meant := meaning(piece, book):
        return meant
    if book.any_of("cue", "this").fullmatch(view_of(short).text):
        return None  # "like this" names no way
    if book.any_of("cue", "manner").match(view_of(piece.strip()).text) and len(short) <= VALUE_LIMIT:
        return _STYLE, trimmed(_STYLE, piece, book)
    return None
