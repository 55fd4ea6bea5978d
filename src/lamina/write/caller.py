"""Who asks, and the store as they may use it: what the functions of every room take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Unpack

from lamina.errors import Denied, InvalidInput
from lamina.language.secrets.privacy import check_name
from lamina.model import Layer, Role, Scope, Space, State, quoted, unquoted
from lamina.records import dataclass
from lamina.storage.shelf_contents import people
from lamina.write.details import chosen
from lamina.write.entry_files import DEFAULT_SESSION
from lamina.write.parts import Who
from lamina.write.store import Store


@dataclass(frozen=True, init=False)
class Caller:
    """One who asks. Everything happens within the scope; nothing outside it exists here."""

    store: Store  #: as the caller may read it: what is outside its allowlist is in no answer
    scope: Scope

    def __init__(self, store: Store, scope: Scope) -> None:
        for name in (scope.user, scope.agent, scope.session, scope.run, scope.project):
            check_name(name or "")
        lists = store.ruleset.categories
        reach = lists.reach(scope)
        if reach and plans_or_acts(store, scope):  # whoever has a list and acts needs to know how (IS-12)
            reach = tuple(dict.fromkeys((*reach, Layer.PROCEDURAL)))
        seen = replace(scope, reach=reach, project_reach=lists.project_reach(scope))
        object.__setattr__(self, "scope", seen)
        object.__setattr__(self, "store", store.seen_by(seen))

    @property
    def in_session(self) -> Scope:
        """The scope with the session it is in, named or not."""
        if self.scope.session:
            return self.scope
        return replace(self.scope, session=self.default_session(self.store.current_session))

    def scope_of(self, memory_id: str) -> Scope:
        """The scope that reaches a memory: a session's is reached from that session, named or not.

        A person reaches what was said in any session of theirs.
        """
        if not memory_id.startswith(f"{Space.SESSION}:"):
            return self.scope
        owner, _, name = memory_id.removeprefix(f"{Space.SESSION}:").partition(":")[0].partition(",")
        if not self.sees_past or not name or owner != quoted(self.scope.user):
            return self.in_session
        try:
            return replace(self.scope, session=unquoted(name))
        except InvalidInput:  # no session can have this name
            return self.in_session

    @property
    def sees_past(self) -> bool:
        """Whether what is forgotten, superseded or expired exists for the caller: not for an agent."""
        return self.scope.role in (Role.USER, Role.ADMIN, Role.SYSTEM)

    @property
    def states(self) -> tuple[State, ...]:
        """The states in which the caller may look at a memory; what is purged is in none."""
        return tuple(State) if self.sees_past else (State.ACTIVE,)

    def default_session(self, current: Callable[[], str]) -> str:
        """The session of a caller who names none: the owner's is the one that SESSION.md is about."""
        return current() if self.scope.user == self.store.config.owner else DEFAULT_SESSION

    @property
    def is_owner(self) -> bool:
        """Whether the workspace's files are the caller's own, and within its allowlist."""
        return self.scope.user == self.store.config.owner and self.scope.sees("documents")

    @property
    def acts(self) -> bool:
        """Whether the caller is given procedures unasked: a person, or an agent that plans or acts."""
        return self.scope.agent is None or plans_or_acts(self.store, self.scope)

    def shelf(self, space: str) -> str:
        """The caller's shelf in a space it may write to."""
        where = chosen(Space, space, "space")
        name = self.in_session.shelf(where)
        if name is None or not self.store.ruleset.policy.may_write(self.scope.role, where):
            raise Denied(f"This caller does not divide the {where} space.", code="write_space_disallowed")
        return name


def plans_or_acts(store: Store, scope: Scope) -> bool:
    """Whether this is an agent that the setting `procedure_agents` names."""
    names = store.config.procedure_agents.split(",")
    return scope.agent is not None and any(fnmatchcase(scope.agent, name.strip()) for name in names)


def callers_of(store: Store) -> list[Caller]:
    """Everybody this tenant holds something of, in the order of names, as a job acts for them."""
    users, tenant = sorted(store.database.read(people)), store.config.tenant
    return [Caller(store, Scope(tenant=tenant, user=user, role=Role.SYSTEM, via="job")) for user in users]


def caller_of(store: Store, **who: Unpack[Who]) -> Caller:
    """A caller by name; what is left out is the workspace's owner, speaking for themselves."""
    return Caller(store, store.scope_of(**who))
