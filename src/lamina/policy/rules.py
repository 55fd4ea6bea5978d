"""The policy in force: who may write where, and whose word weighs more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lamina.model import Authority, Role, Space

_OWN = frozenset({Space.SESSION, Space.USER, Space.PROJECT})
_ALL = frozenset(Space)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the gates decide by; traces carry the part that applied."""

    authority_order: tuple[Authority, ...] = tuple(Authority)
    write_spaces: Mapping[Role, frozenset[Space]] = field(
        default_factory=lambda: {
            role: _ALL if role in (Role.SYSTEM, Role.ADMIN) else _OWN for role in Role
        }
    )

    def outranks(self, one: Authority, other: Authority) -> bool:
        """Whether the first authority is strictly higher."""
        return self.authority_order.index(one) < self.authority_order.index(other)

    def snapshot(self, role: Role) -> dict[str, object]:
        """The part that applied to a caller, for traces."""
        return {
            "authority_order": [authority.value for authority in self.authority_order],
            "write_spaces": [space.value for space in Space if space in self.write_spaces[role]],
        }
