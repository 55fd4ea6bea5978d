"""POLICY.md: an administrator's guardrails. Nobody on the agent's side reads or writes them.

The file lies outside every workspace. What is in force is not the file but what an administrator last
accepted of it; a change that nobody accepted is reported, and does nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from pathlib import Path

from lamina.audit.chain import Sealer
from lamina.errors import ConfigError, Denied, InvalidInput, NotFound
from lamina.model import Authority, Role, Scope, Value, canonical, quoted
from lamina.records import dataclass
from lamina.storage.database import Transaction
from lamina.storage.small_tables import Properties, parsed
from lamina.text.entries import EntryFile
from lamina.text.normalise import canonical_key
from lamina.write.entry_files import FileProblem
from lamina.write.unit_of_work import Ruleset, UnitOfWork

POLICY = "POLICY.md"
_PROPERTY = "guardrails"
_TOOLS = "policy.allow.tools"
#: Other names of the same tool, so that a rule for one holds for all of them.
_ALIASES = {"write_file": "write_workspace_file", "run_shell_command": "run_safe_command"}
_LARGEST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Guardrails:
    """What was accepted: the entries in force, and the hash of the file they came from."""

    digest: str = ""
    entries: Mapping[str, str] | None = None

    @property
    def tools(self) -> frozenset[str] | None:
        """The tools that may be used; None for all."""
        named = (self.entries or {}).get(_TOOLS)
        return None if named is None else frozenset(map(_tool, named.split(",")))

    def allows(self, tool: str) -> bool:
        return self.tools is None or _tool(tool) in self.tools

    def prohibits(self, what: str) -> bool:
        """Whether `policy.prohibit.<what>` is true."""
        return (self.entries or {}).get(f"policy.prohibit.{what}", "").strip().lower() in ("true", "yes", "1")

    @property
    def values(self) -> dict[str, Value]:
        """The keys outside `policy.`, which the policy sets for everyone."""
        return {
            key: Value(
                value=value,
                scope="policy",
                memory_id=None,
                authority=Authority.SYSTEM_IMPOSED,
                priority=100,
                updated_at=None,
            )
            for key, value in (self.entries or {}).items()
            if not key.startswith("policy.")
        }


def _tool(name: str) -> str:
    plain = name.strip().casefold()
    return _ALIASES.get(plain, plain)


def load_guardrails(transaction: Transaction, sealer: Sealer) -> Guardrails:
    """What was last accepted. It is sealed: what was changed behind our back allows nothing."""
    text = Properties(transaction).sealed(_PROPERTY)
    if text is None:
        return Guardrails()
    seal, _, kept = text.partition(" ")
    if not hmac.compare_digest(seal, sealer.mark(kept)):
        return Guardrails("altered", {_TOOLS: ""})
    value = json.loads(kept)
    return Guardrails(value["digest"], value["entries"])


def digest_of(home: Path) -> str:
    """The hash of the file as it is now; empty where there is none."""
    data = _bytes(home)
    return "" if data is None else hashlib.sha256(data).hexdigest()


def policy_problem(home: Path, accepted: Guardrails) -> tuple[FileProblem, ...]:
    """That the file is not what is in force, if so."""
    if (found := digest_of(home)) == accepted.digest:
        return ()
    message = "It changed, and the change is not used yet." if found else "It is gone; the last one stays."
    hint = "An administrator accepts it with `lamina policy accept`."
    return (FileProblem(file=POLICY, line=1, message=message, hint=hint),)


def accept(unit: UnitOfWork, scope: Scope, home: Path) -> Guardrails:
    """Put the file as it is now in force; an administrator's act, audited without its text."""
    if scope.role is not Role.ADMIN:
        raise Denied("Only an administrator accepts a policy.", code="admin_only")
    data = _bytes(home)
    if data is None:
        raise NotFound("There is no POLICY.md to accept.", hint="Write one in the configuration folder.")
    file = EntryFile.parse(data)
    if file.problems:
        lines = ", ".join(str(problem.line) for problem in file.problems)
        raise ConfigError(f"POLICY.md cannot be used: see line {lines}.", code="policy_invalid")
    entries = {canonical_key(entry.key): entry.value for entry in file.entries}
    made = Guardrails(hashlib.sha256(data).hexdigest(), entries)
    kept = canonical({"digest": made.digest, "entries": entries})
    Properties(unit.transaction).set(_PROPERTY, f"{unit.ruleset.sealer.mark(kept)} {kept}")
    unit.record_act("policy_accept", "policy", f"{len(entries)} entries")
    return made


def _bytes(home: Path) -> bytes | None:
    path = home / POLICY
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        return path.read_bytes()
    except OSError:
        return None


_PREFIX = "allowed:"
_FINGERPRINT = re.compile(r"[0-9a-f]{24}")


def load_allowed(transaction: Transaction, ruleset: Ruleset) -> bool:
    """Bring the ruleset up to date with the store; whether anything was new."""
    found = Properties(transaction).below(_PREFIX)
    kept = {user: frozenset(parsed(marks) or ()) for user, marks in found.items()}
    if kept == ruleset.allowed:
        return False
    ruleset.allowed.clear()
    ruleset.allowed.update(kept)
    return True


def commit_allow(unit: UnitOfWork, scope: Scope, fingerprint: str) -> None:
    """Let a value pass from now on, for this user; only the person can say so."""
    if scope.role not in (Role.USER, Role.ADMIN):
        raise Denied(
            "Only the person can say that something is not a secret.",
            code="allow_disallowed",
            hint="Let the user allow it on the command line.",
        )
    if not _FINGERPRINT.fullmatch(fingerprint):
        raise InvalidInput(
            "This is not a fingerprint.", code="fingerprint_invalid", hint="Copy it from the refusal."
        )
    name = f"{_PREFIX}{quoted(scope.user)}"
    properties = Properties(unit.transaction)
    marks = {*(properties.value(name) or ()), fingerprint}
    properties.set(name, canonical(sorted(marks)))
    unit.record_act("allow", f"user:{quoted(scope.user)}", fingerprint)
