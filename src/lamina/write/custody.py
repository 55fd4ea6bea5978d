"""Whose key seals a store: one for all who write to it, which the store knows by its fingerprint."""

from __future__ import annotations

from lamina.audit.chain import Sealer
from lamina.clock import random_token
from lamina.errors import ConfigError
from lamina.storage.database import Database, Transaction
from lamina.storage.logs import AuditLog
from lamina.storage.small_tables import Properties
from lamina.write.seals import ANEW, BEGUN, seal_store, under_seal
from lamina.write.unit_of_work import UnitOfWork

#: The act by which a store went on with another key, and the property that holds the fingerprint in use.
ADOPTED = "key_adopted"
_PROPERTY = "audit_key"


def store_id(database: Database) -> str:
    """The name by which a store's anchor is known; made when the store is."""

    def work(transaction: Transaction) -> str:
        properties = Properties(transaction)
        known = properties.get("store_id")
        if known is None:
            known = random_token(12)
            properties.set("store_id", known)
        return known

    return database.read(lambda tx: Properties(tx).get("store_id")) or database.write(work)


def check_key(transaction: Transaction, sealer: Sealer) -> None:
    """Raise ConfigError (`audit_key_other`) where another key seals this store: what the two write would look
    forged to each other."""
    known = _sealing(transaction, sealer)
    if known not in (None, sealer.key_id):
        raise ConfigError(
            f"Another key seals the audit of this store: its fingerprint is {known}, and that of the key here"
            f" is {sealer.key_id}.",
            code="audit_key_other",
            hint="Copy `keys/audit.key` in the LAMINA_HOME of the machine that made the store to its place"
            " here, or name it in LAMINA_AUDIT_KEY_FILE. If it is lost, `lamina audit adopt-key` goes on with"
            " the key here; what was sealed before can then no longer be checked.",
        )


def in_custody(transaction: Transaction, sealer: Sealer) -> bool:
    """Whether our key is known to be the one of this store, and its story is under the seal."""
    ours = Properties(transaction).get(_PROPERTY) == sealer.key_id
    return ours and under_seal(transaction, sealer)


def claim_key(unit: UnitOfWork, *, adopt: bool, anew: bool = False) -> None:
    """Make our key the one of this store: a new one, one from before stores knew theirs, or one to adopt.

    The story comes under the seal with it, where it is not; with `anew` it is taken as it is found.
    """
    transaction, sealer = unit.transaction, unit.ruleset.sealer
    if not adopt:
        check_key(transaction, sealer)
    known = _sealing(transaction, sealer)
    if known not in (None, sealer.key_id):
        seal_store(unit, ADOPTED, known)
    elif anew:
        seal_store(unit, ANEW, "owner")
    elif not under_seal(transaction, sealer):
        seal_store(unit, BEGUN)
    if Properties(transaction).get(_PROPERTY) != sealer.key_id:
        Properties(transaction).set(_PROPERTY, sealer.key_id)


def _sealing(transaction: Transaction, sealer: Sealer) -> str | None:
    """The fingerprint of the key that seals this store; of an older store, that of its newest record."""
    if known := Properties(transaction).get(_PROPERTY):
        return known
    newest = AuditLog(transaction).newest_record()
    if newest is None or sealer.intact(newest):
        return None if newest is None else sealer.key_id
    return newest.key_id
