"""The Writer port: a language model that fills in a form, within limits, and is believed once checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from lamina.errors import ConfigError, Unavailable
from lamina.late import files
from lamina.records import dataclass

Schema = Mapping[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What asking cost; `usd` is None where the price of a model is not known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def plus(self, other: Cost) -> Cost:
        """Both together; unknown with anything is unknown."""
        return Cost(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            usd=None if self.usd is None or other.usd is None else round(self.usd + other.usd, 8),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request: a prompt of ours, the material it is about, and the form of the answer."""

    prompt: str  #: the name of a file in `prompts`, such as `summary-2`
    material: str
    schema: Schema  #: JSON Schema: type, properties, required, items, enum, maxLength, maxItems
    max_tokens: int = 2_000
    timeout_s: float = 60.0

    @property
    def instructions(self) -> str:
        return prompt_text(self.prompt)


@dataclass(frozen=True, slots=True)
class Written:
    """An answer as it came, and what it cost."""

    value: Any
    cost: Cost = field(default_factory=Cost)


class Writer(Protocol):
    """A language model behind an adapter, at temperature 0; raises Unavailable when it cannot answer."""

    def write(self, asking: Asking) -> Written: ...


class Purse(Protocol):
    """What may be spent in a longer time than a run."""

    def take(self) -> None:
        """Count one request; raises Unavailable when there is nothing left to spend."""
        ...

    def pay(self, cost: Cost) -> None:
        """Count what a request cost."""
        ...


@dataclass(slots=True)
class Budgeted:
    """A Writer whose answers fit their form or are refused, and whose cost is added up.

    It stops at `max_calls`, and where its purse is empty, so that no job runs up a bill.
    """

    writer: Writer
    max_calls: int = 40
    purse: Purse | None = None
    cost: Cost = field(default_factory=Cost)

    def write(self, asking: Asking) -> Written:
        if self.cost.calls >= self.max_calls:
            raise Unavailable(
                f"The language model was asked {self.max_calls} times in this run, which is the limit.",
                code="writer_limit",
            )
        if self.purse is not None:
            self.purse.take()
        written = self.writer.write(asking)
        self.cost = self.cost.plus(written.cost)
        if self.purse is not None:
            self.purse.pay(written.cost)
        if problem := misfit(written.value, asking.schema):
            message = f"The language model's answer has another form: {problem}."
            raise Unavailable(message, code="writer_misfit")
        return written


def misfit(value: Any, schema: Schema, where: str = "it") -> str:
    """What in a value is not as a schema says; empty when it fits. Names places, never the value."""
    kind = str(schema["type"])
    if not isinstance(value, _TYPES[kind]) or (kind != "boolean" and isinstance(value, bool)):
        return f"{where} is not of the type {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is not one of those asked for"
    if isinstance(value, str) and len(value) > schema.get("maxLength", 10_000):
        return f"{where} is too long"
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", 1_000):
            return f"{where} has too many items"
        found = (misfit(one, schema["items"], f"{where}[{at}]") for at, one in enumerate(value))
        return next(filter(None, found), "")
    if isinstance(value, dict):
        known = schema["properties"]
        if {*schema.get("required", ())} - value.keys() or value.keys() - known.keys():
            return f"{where} lacks a field, or has one too many"
        found = (misfit(one, known[name], f"{where}.{name}") for name, one in value.items())
        return next(filter(None, found), "")
    return ""


def prompt_text(name: str) -> str:
    """A prompt by its name and version; a prompt that changes gets a new number."""
    file = files("lamina.jobs") / "prompts" / f"{name}.md"
    if not file.is_file():
        raise ConfigError(f"There is no prompt {name!r:.60}.", code="prompt_unknown")
    return file.read_text("utf-8")
