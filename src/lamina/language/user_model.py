"""The model of a user as a reading of their keyed memories, and an update to it as values for keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from lamina.errors import InvalidInput
from lamina.model import Memory
from lamina.text.normalise import canonical_key, well_formed

LEVELS = ("novice", "intermediate", "advanced", "expert")
_EXPERTISE, _TOPIC, _NOTE = "user.expertise.", "user.topic.", "user.note."
#: A field of the model, and the key that holds it. Those outside `user.` are the profile's own.
PREFERENCES = {
    "language": "response.language",
    "responseLength": "response.verbosity",
    "responseStyle": "response.style",
    "codeStyle": "code.style",
}
_TIMEZONE, _HOURS, _NAME = "user.timezone", "user.active_hours", "user.name"
#: What a person said of themselves in a conversation stands for what the model lacks.
_HEARD = {_TIMEZONE: "timezone", _NAME: "name", "response.language": "language"}
_LISTS = {"commonTopics": _TOPIC, "notes": _NOTE}
MOST = 200  #: how many values one update may set
LANGUAGES = ("th", "en", "mixed", "zh", "zh-Hans", "zh-Hant")
#: What tells C from C++ and C#, and what a key cannot hold: spelt there, and read back from it.
_SPELT = {"+": "-u2b", "#": "-u23", "*": "-u2a"}
_WIDE = str.maketrans("＋＃＊♯", "+#*#")


def belongs(key: str | None) -> bool:
    """Whether a key is part of the model of a user."""
    return key is not None and (key.startswith("user.") or key in PREFERENCES.values())


def is_item(key: str) -> bool:
    """Whether a key holds an item of a list, which is there or not and has no other value."""
    return key.startswith((_TOPIC, _NOTE))


def model_of(user: str, memories: Iterable[Memory], language: str, timezone: str) -> dict[str, Any]:
    """The whole model; in the language and the time zone of somebody not known yet."""
    known = {one.key: one for one in memories if one.key}
    said = {key: one.text for key, one in known.items()}
    for key, heard in _HEARD.items():
        if heard in said:
            said.setdefault(key, said[heard])
    counted = [one for key, one in sorted(known.items()) if key and (belongs(key) or key in _HEARD.values())]
    preferences = {"language": language, "responseLength": "auto", "responseStyle": "casual"}
    preferences |= {name: said[key] for name, key in PREFERENCES.items() if key in said}
    return {
        "userId": user,
        **({"name": said[_NAME]} if _NAME in said else {}),
        "expertise": {topic_of(key): said[key] for key in _under(said, _EXPERTISE)},
        "preferences": preferences,
        "commonTopics": _listed(known, _TOPIC),
        "timezone": said.get(_TIMEZONE, timezone),
        **({"activeHours": json.loads(said[_HOURS])} if _HOURS in said else {}),
        "notes": _listed(known, _NOTE),
        "updatedAt": max((int(one.updated_at.timestamp() * 1000) for one in counted), default=0),
        "confidence": round(sum(one.confidence for one in counted) / len(counted), 2) if counted else 0.0,
        "known": sorted(key for key in said if key and (belongs(key) or key in _HEARD.values())),
    }


def _under(said: Mapping[str, str], prefix: str) -> list[str]:
    return sorted(key for key in said if key and key.startswith(prefix))


def _listed(known: Mapping[str, Memory], prefix: str) -> list[str]:
    """The items of a list in the order in which they were added."""
    items = [known[key] for key in known if key and key.startswith(prefix)]
    return [one.text for one in sorted(items, key=lambda one: (one.created_at, one.tick, one.id))]


def updates_of(partial: Any) -> dict[str, str]:
    """Key to value for everything an update says; InvalidInput names the field that cannot be used.

    What it does not mention stays, and an item of a list is added to the list, once.
    """
    if not isinstance(partial, Mapping):
        raise _wrong("updates", "an object")
    found: dict[str, str] = {}
    for name, value in partial.items():
        if value is None or name in ("userId", "updatedAt", "confidence", "known"):
            continue
        if name == "expertise":
            found |= _expertise(value)
        elif name == "preferences":
            found |= _preferences(value)
        elif name in _LISTS:
            found |= {f"{_LISTS[name]}{_mark(one)}": one for one in _texts(value, name)}
        elif name in ("timezone", "name"):
            found[f"user.{name}"] = well_formed(value, name, 128)
        elif name == "activeHours":
            found[_HOURS] = _hours(value)
        else:
            raise _wrong(str(name)[:40], "a field of the user model")
    if len(found) > MOST:
        raise _wrong("updates", f"at most {MOST} values")
    return found


def _expertise(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(level in LEVELS for level in value.values()):
        raise _wrong("expertise", f"topics, each with one of {', '.join(LEVELS)}")
    return {expertise_key(str(topic)): str(level) for topic, level in value.items()}


def expertise_key(topic: str) -> str:
    """The key of a topic, another one for C, C++ and C#; InvalidInput where no letter or digit is in it."""
    plain = topic.translate(_WIDE).strip()
    if not any(char.isalnum() for char in plain):
        hint = "Write its name, such as python."
        raise InvalidInput(
            f"The topic {topic!r:.40} has no letter or digit.", code="user_model_invalid", hint=hint
        )
    return canonical_key(_EXPERTISE + "".join(_SPELT.get(char, char) for char in plain))


def topic_of(key: str) -> str:
    """The topic of a key of expertise."""
    topic = key.removeprefix(_EXPERTISE)
    for char, spelt in _SPELT.items():
        topic = topic.replace(spelt, char)
    return topic


def keys_of(item: str) -> tuple[str, ...]:
    """The keys that hold one item: `expertise.C++`, `notes.<its text>`, `timezone`, or a key in `known`."""
    field, _, rest = item.partition(".")
    if belongs(item):
        key = item
    elif field == "expertise" and rest:
        key = expertise_key(rest)
    elif field in _LISTS and rest:
        key = f"{_LISTS[field]}{_mark(rest)}"
    else:
        key = {**PREFERENCES, "timezone": _TIMEZONE, "name": _NAME, "activeHours": _HOURS}.get(
            rest if field == "preferences" else item, ""
        )
    if not key:
        raise _wrong("item", "one of the model's, such as expertise.docker, preferences.language or timezone")
    return (key, _HEARD[key]) if key in _HEARD else (key,)


def _preferences(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not value.keys() <= PREFERENCES.keys():
        raise _wrong("preferences", f"an object of {', '.join(PREFERENCES)}")
    if value.get("language") not in (None, *LANGUAGES):
        raise _wrong("preferences.language", f"one of {', '.join(LANGUAGES)}")
    return {PREFERENCES[name]: well_formed(one, name, 128) for name, one in value.items() if one is not None}


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list):
        raise _wrong(name, "a list of texts")
    return [well_formed(one, name, 1000) for one in value]


def _hours(value: Any) -> str:
    hours = [value.get(end) for end in ("start", "end")] if isinstance(value, Mapping) else []
    if len(hours) != 2 or not all(type(one) is int and 0 <= one <= 24 for one in hours):
        raise _wrong("activeHours", "start and end, hours from 0 to 24")
    return json.dumps({"start": hours[0], "end": hours[1]})


def _mark(text: str) -> str:
    """The same item said again is the same item, whatever its case and blanks."""
    return sha256(" ".join(text.split()).casefold().encode()).hexdigest()[:12]


def _wrong(field: str, wanted: str) -> InvalidInput:
    return InvalidInput(f"`{field}` must be {wanted}.", code="user_model_invalid")
