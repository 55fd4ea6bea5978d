"""What a caller may say beside the text, as typed keyword arguments, checked once for every surface."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from lamina.errors import InvalidInput, did_you_mean
from lamina.language.events import Weighed, importance
from lamina.model import Draft, Kind, Layer, Query, Scope, Space
from lamina.text.normalise import canonical_key, well_formed
from lamina.text.ttl import check_ttl, parse_time, parse_ttl

if TYPE_CHECKING:
    from lamina.language.rulebook import Rulebook

E = TypeVar("E", bound=StrEnum)

MAX_TAGS = 64
MAX_K = 1000
MAX_QUERY_CHARS = 20_000


class Details(TypedDict, total=False):
    """Everything `remember` takes beside the text."""

    kind: str
    space: str
    layer: str
    key: str
    category: str
    tags: Iterable[str]
    importance: int
    priority: int
    confidence: float
    pin: bool
    ttl: str
    reason: str
    reference: str
    merge: bool
    derived_from: Iterable[str]
    idempotency_key: str


class Narrowing(TypedDict, total=False):
    """Everything `recall` takes beside the question."""

    k: int
    spaces: Iterable[str]
    layers: Iterable[str]
    kinds: Iterable[str]
    categories: Iterable[str]
    since: datetime
    until: datetime
    budget_tokens: int
    across_phases: bool
    trusted_only: bool
    changes_since: str
    as_of: datetime


def check_who(who: Mapping[str, Any], known: Collection[str]) -> None:
    """Raises InvalidInput for a field that is none, and for one that is given and names nobody.

    Either would else be passed over, and whoever asks would silently be somebody else.
    """
    for name, value in who.items():
        if name not in known:
            raise InvalidInput(
                f"There is no field {name!r:.40} to say who asks. {did_you_mean(name, known)}".rstrip(),
                code="who_unknown",
                hint=f"The fields are: {', '.join(known)}.",
            )
        if value == "" or (value is None and name == "user"):
            raise InvalidInput(
                f"`{name}` is given and empty.",
                code="name_invalid",
                hint="Give a name, or leave the field out.",
            )


def check_details(given: Iterable[str], known: Collection[str]) -> None:
    """Raises InvalidInput for a detail that there is not, and says which there are."""
    for name in sorted(set(given) - set(known)):
        raise InvalidInput(
            f"There is no detail {name!r:.40}. {did_you_mean(name, known)}".rstrip(),
            code="detail_unknown",
            hint=f"The details are: {', '.join(sorted(known))}.",
        )


def chosen(kind: type[E], value: Any, what: str) -> E:
    """The member of an enumeration that a caller named."""
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(kind)
        raise InvalidInput(
            f"{value!r:.60} is not a known {what}.", code=f"{what}_invalid", hint=f"Choose one of: {known}."
        ) from None


def whole_number(value: Any, what: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"{what} must be a whole number from {least} to {most}.", code=f"{what}_invalid")
    return value


def named_time(text: str, what: str) -> datetime:
    """The date or time that a text names, or InvalidInput."""
    if (at := parse_time(text)) is None:
        raise InvalidInput(
            f"{what} is not a date or time: {text!r:.60}.",
            code="time_invalid",
            hint="Write it like 2026-11-30 or 2026-11-30T18:00:00Z.",
        )
    return at


def fraction(value: Any, what: str) -> float:
    """A number from 0 to 1, or InvalidInput."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{what} must be a number from 0 to 1.", code=f"{what}_invalid")
    return float(value)


def checked_tags(values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput("Tags must be a list of texts.", code="tags_invalid")
    tags = tuple(well_formed(tag, "tag", 128) for tag in values)
    if len(tags) > MAX_TAGS:
        raise InvalidInput(f"A memory has at most {MAX_TAGS} tags.", code="tags_invalid")
    return tags


def _short(value: Any, what: str, limit: int = 1000) -> str | None:
    return None if value is None else well_formed(value, what, limit)


def draft_of(scope: Scope, text: str, details: Details, now: datetime, limit: int, rules: Rulebook) -> Draft:
    """A checked draft, or InvalidInput that says what is wrong; the text is kept exactly as given."""
    check_details(details, Details.__annotations__)
    given = {name: value for name, value in details.items() if value is not None}
    key = canonical_key(given["key"]) if "key" in given else None  # type: ignore[arg-type]
    space = chosen(Space, given.get("space", Space.USER), "space")
    kind = chosen(Kind, given.get("kind", Kind.PREFERENCE if key else Kind.FACT), "kind")
    if scope.shelf(space) is None:
        raise InvalidInput(
            f"There is no {space} here to remember this for.",
            code="space_unknown",
            hint=f"Name the {space} (for example with --{space}), or choose another space.",
        )
    words = well_formed(text, "text", limit)
    if "importance" in given:
        weight = Weighed(whole_number(given["importance"], "importance", 1, 5), ("given",))
    else:
        weight = importance(kind, scope.role, words, book=rules)
    return Draft(
        scope=scope,
        text=words,
        space=space,
        layer=chosen(Layer, given.get("layer", _default_layer(key, space)), "layer"),
        kind=_file_kind(kind) if key else kind,
        key=key,
        category=_short(given.get("category"), "category", 128),
        tags=checked_tags(given.get("tags", ())),
        importance=weight.value,
        importance_reason=weight.reasons,
        priority=whole_number(given.get("priority", 50), "priority", 0, 100),
        confidence=fraction(given.get("confidence", 1.0), "confidence"),
        pinned=bool(given.get("pin", False)),
        ttl=check_ttl(parse_ttl(str(given.get("ttl", "none")), now)[0], space),
        reason=_short(given.get("reason"), "reason"),
        reference=_short(given.get("reference"), "reference"),
        merge=_merge(given.get("merge"), key),
        origins=origins_of(given.get("derived_from", ())),
    )


def origins_of(ids: Any) -> tuple[str, ...]:
    """The ids that something is said to be made of, or InvalidInput."""
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise InvalidInput("`derived_from` is a list of ids.", code="origin_unknown")
    found = tuple(well_formed(one, "origin", 4000) for one in ids)
    if len(found) > MAX_TAGS:
        raise InvalidInput(f"Something is made of at most {MAX_TAGS} memories.", code="origin_unknown")
    return found


def _merge(value: Any, key: str | None) -> bool | None:
    if value and key:
        hint = "A key has one value, and a new one takes its place by itself."
        raise InvalidInput("What has a key is not merged.", code="merge_unfit", hint=hint)
    return None if value is None else bool(value)


def _default_layer(key: str | None, space: Space) -> Layer:
    if space is Space.SESSION:
        return Layer.WORKING
    return Layer.USER_MODEL if key and space is Space.USER else Layer.SEMANTIC


def _file_kind(kind: Kind) -> Kind:
    allowed = (Kind.PREFERENCE, Kind.CONSTRAINT, Kind.FACT, Kind.INSTRUCTION)
    if kind not in allowed:
        raise InvalidInput(
            f"A memory with a key cannot be of the kind {kind}.",
            code="kind_invalid",
            hint=f"Choose one of: {', '.join(allowed)}; or leave the key out.",
        )
    return kind


def _budget(value: Any) -> int | None:
    return None if value is None else whole_number(value, "budget_tokens", 0, 2**31)


def time_of(value: Any, what: str) -> datetime:
    """A time with its zone, or InvalidInput."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise InvalidInput(f"{what} must be a time with its zone.", code="time_invalid")
    return value


def _several(given: Mapping[str, Any], what: str) -> Iterable[Any]:
    """What a caller gave of what may be several; a text is no list, though it can be looped over."""
    if isinstance(value := given.get(f"{what}s", ()), str):
        raise InvalidInput(f"{what}s must be a list of texts.", code=f"{what}_invalid")
    return value  # type: ignore[no-any-return]


def query_of(scope: Scope, text: str, narrowing: Narrowing, default_k: int) -> Query:
    """A query from what a caller said; names are checked, the rest by `checked_query`."""
    check_details(narrowing, Narrowing.__annotations__)
    given: dict[str, Any] = {name: value for name, value in narrowing.items() if value is not None}
    for name in ("since", "until"):
        if name in given:
            time_of(given[name], name)
    return Query(
        scope=scope,
        text=text,
        k=whole_number(given.get("k", default_k), "k", 1, 1000),
        spaces=tuple(chosen(Space, one, "space") for one in _several(given, "space")) or tuple(Space),
        layers=tuple(chosen(Layer, one, "layer") for one in _several(given, "layer")),
        kinds=tuple(chosen(Kind, one, "kind") for one in _several(given, "kind")),
        categories=tuple(well_formed(one, "category", 128) for one in given.get("categories", ())),
        since=given.get("since"),
        until=given.get("until"),
        budget_tokens=_budget(given.get("budget_tokens")),
        across_phases=bool(given.get("across_phases", False)),
        trusted_only=bool(given.get("trusted_only", False)),
    )


def checked_query(query: Query) -> Query:
    """The query, or InvalidInput that says what is wrong with it."""
    well_formed(query.text, "question", MAX_QUERY_CHARS)
    if not 1 <= query.k <= MAX_K:
        raise InvalidInput(f"k must be between 1 and {MAX_K}, not {query.k}.", code="k_invalid")
    return query
