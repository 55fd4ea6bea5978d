"""Categories, how each comes into a context, and which of them agents and a project's people may reach."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from lamina.errors import ConfigError, Denied, InvalidInput, did_you_mean
from lamina.late import late, read_rules
from lamina.model import Role, Scope, checked_name
from lamina.records import dataclass

with late():
    from lamina.text import yaml_file

#: Who needs no allowlist: it is theirs, or they look after it.
_PERSONS = (Role.USER, Role.ADMIN, Role.SYSTEM)


class CategoryMode(StrEnum):
    """How a category comes into a context: whole, or as far as it fits the task."""

    ALL = "all"
    RAG = "rag"


@dataclass(frozen=True, slots=True)
class Category:
    """One category; `length` is how many of its memories a context takes at most, None for any number."""

    name: str
    mode: CategoryMode = CategoryMode.RAG
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Categories:
    """What the categories file says; without one there are no limits of this sort."""

    known: Mapping[str, Category] = field(default_factory=dict)
    allowlists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: By project, what each of its people may reach there.
    projects: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)

    def project_reach(self, scope: Scope) -> tuple[str, ...] | None:
        """What a person, and whoever acts for them, may reach in their project; None for everything."""
        lists = self.projects.get(scope.project or "")
        if not lists or scope.role in (Role.ADMIN, Role.SYSTEM):
            return None
        return lists.get(scope.user, ())

    def reach(self, scope: Scope) -> tuple[str, ...] | None:
        """What a caller may reach: a person everything, an agent its allowlist, one without it nothing."""
        if not self.allowlists or (scope.agent is None and scope.role in _PERSONS):
            return None
        return self.allowlists.get(scope.agent or "", ())

    def whole(self) -> list[str]:
        """The categories that a context always has, as far as its budget goes."""
        return sorted(one.name for one in self.known.values() if one.mode is CategoryMode.ALL)

    def checked(self, names: tuple[str, ...], scope: Scope) -> tuple[str, ...]:
        """The names themselves; InvalidInput or Denied names the first that is unknown or out of reach."""
        for name in names:
            if not scope.sees(name) and (name in self.known or not self.known):
                raise Denied(
                    f"The allowlist of {scope.agent} does not have the category {name!r:.60}.",
                    code="category_disallowed",
                    hint=f"It has: {', '.join(scope.reach or ()) or 'none'}.",
                )
            if self.known and name not in self.known:
                raise InvalidInput(
                    f"There is no category {name!r:.60}.",
                    code="category_unknown",
                    hint=_meant(name, self.known if scope.reach is None else scope.reach),
                )
        return names


def load_categories(text: str, name: str) -> Categories:
    """The categories and allowlists of a YAML or TOML file; ConfigError names what is wrong with it."""
    try:
        raw = tomllib.loads(text) if name.endswith(".toml") else yaml_file.safe_load(text)
    except (tomllib.TOMLDecodeError, yaml_file.YAMLError) as error:
        raise _wrong(name, f"it cannot be read: {error}") from None
    if not isinstance(raw, dict) or raw.keys() - {"categories", "allowlists", "projects"}:
        raise _wrong(name, "it has the tables `categories`, `allowlists` and `projects`, and nothing else")
    listed = _table(name, raw, "categories")
    if listed.keys() - {"system", "custom"}:
        raise _wrong(name, "`categories` has the lists `system` and `custom`")
    known = {one: Category(one) for one in read_rules("lamina.policy", "categories.toml")["known"]}
    for kind in ("system", "custom"):
        for given in listed.get(kind) or ():
            category = _category(name, given)
            if kind == "system" and category.name not in known:
                hint = _meant(category.name, known)
                raise _wrong(
                    name, f"{category.name!r:.60} is not a system category", f"{hint} Or use `custom`."
                )
            known[category.name] = category
    allowlists = {
        checked_name("agent", str(agent)): _allowed(name, str(agent), names, known)
        for agent, names in _table(name, raw, "allowlists").items()
    }
    projects = {
        checked_name("project", str(project)): {
            checked_name("user", str(person)): _allowed(name, str(person), names, known)
            for person, names in _table(name, lists, project).items()
        }
        for lists in [_table(name, raw, "projects")]
        for project in lists
    }
    return Categories(known, allowlists, projects)


def _category(file: str, given: Any) -> Category:
    fields = {"name": given} if isinstance(given, str) else given
    if not isinstance(fields, dict) or fields.keys() - {"name", "context", "rag_length"}:
        raise _wrong(file, "a category has a `name`, a `context` and a `rag_length`")
    name, mode, length = fields.get("name"), fields.get("context", "rag"), fields.get("rag_length", -1)
    if not isinstance(name, str) or not name.strip() or name != name.strip() or not name.isprintable():
        raise _wrong(file, "the name of a category is a visible text")
    if mode not in set(CategoryMode):
        raise _wrong(file, f"the context of {name} is `all` or `rag`, not {mode!r:.40}")
    if isinstance(length, bool) or not isinstance(length, int) or length < -1:
        raise _wrong(file, f"the rag_length of {name} is a whole number, or -1 for any")
    return Category(name, CategoryMode(mode), None if length == -1 else length)


def _allowed(file: str, agent: str, names: Any, known: Mapping[str, Category]) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise _wrong(file, f"the allowlist of {agent} is a list of categories")
    for one in names:
        if one not in known:
            what = f"the allowlist of {agent} has {one!r:.60}, which is not a category"
            raise _wrong(file, what, _meant(one, known))
    return tuple(dict.fromkeys(names))


def _table(file: str, raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = raw.get(name) or {}
    if not isinstance(found, dict):
        raise _wrong(file, f"`{name}` is a table")
    return found


def _meant(name: str, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    return did_you_mean(name, known) or f"There are: {', '.join(sorted(known))}."


def _wrong(file: str, what: str, hint: str = "") -> ConfigError:
    hint = hint or "docs/guides/team.md shows such a file."
    return ConfigError(f"{file}: {what}.", code="categories_invalid", hint=hint)
