"""The model of a user: read, merged into and reset through the same verbs as every keyed memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from lamina.errors import Denied, InvalidInput, NotFound
from lamina.language.layering import CONFIDENCE
from lamina.language.user_model import belongs, is_item, keys_of, updates_of
from lamina.layers.writing import drafted, kept
from lamina.model import Layer, Memory, Outcome, Receipt, Role, Space
from lamina.read.shelves import keyed, user_model
from lamina.read.snapshot import look
from lamina.records import dataclass
from lamina.write.store import Caller
from lamina.write.verbs import forget, propose


@dataclass(frozen=True, slots=True)
class UserModel:
    """What is known about the caller's user; nobody else's is within reach."""

    caller: Caller

    def get(self) -> dict[str, Any]:
        """The model; what is not known has the defaults of the settings."""
        return look(self.caller, user_model)

    def update(self, partial: Any) -> list[Receipt]:
        """Merge what is given into the model; what is not mentioned stays, and lists grow.

        What an agent says is not written: it waits for the person's word.
        """
        standing = {one.key: one for one in keyed(self.caller) if one.layer is not Layer.WORKING}
        receipts, said = [], updates_of(partial)
        _check_timezone(said.get("user.timezone"))
        for key, value in said.items():
            known = standing.get(key)
            if known is not None and is_item(key):
                receipts.append(Receipt(decision=Outcome.UNCHANGED, code="same", ids=(known.id,)))
                continue
            at_home = known is not None and known.file is not None
            receipt = self._set(key, value, in_file=at_home or not key.startswith("user."))
            if receipt.code.startswith("conflict_") and self.caller.scope.role is Role.AGENT:
                receipt = propose(self.caller, value, key, CONFIDENCE["auto"], "proposed:user_model")
            receipts.append(receipt)
        return receipts

    def agreed(self, guess: Memory, reason: str) -> Receipt:
        """Keep what the person agreed to as their own word; what is under `user.` in the store only."""
        key = guess.key or ""
        details = {"key": key, "kind": guess.kind, "priority": max(70, guess.priority), "reason": reason}
        in_file = not key.startswith("user.") or any(
            one.key == key and one.file for one in keyed(self.caller)
        )
        caller, asked = self.caller, guess.meta.get("asked", {})
        if asked.get("space") == Space.SESSION:  # the one in which it was asked for
            caller = Caller(caller.store, replace(caller.scope, session=guess.provenance.session_id))
        draft = drafted(caller, guess.text, details | asked, place="" if in_file else f"key:{key}")
        made = kept(caller, draft)
        if made.decision is Outcome.DENIED:
            return made
        told = made.acknowledgement
        return Receipt(decision=Outcome.ADMITTED, code="confirmed", ids=made.ids, acknowledgement=told)

    def _set(self, key: str, value: str, *, in_file: bool) -> Receipt:
        person = self.caller.scope.role in (Role.USER, Role.ADMIN)
        sure = CONFIDENCE["human" if person else "auto"]
        reason = "user_model" if person else "proposed:user_model"
        details = {"key": key, "layer": Layer.USER_MODEL, "confidence": sure, "reason": reason}
        # A place of its own keeps it out of the workspace's files, which others may read.
        return kept(self.caller, drafted(self.caller, value, details, place="" if in_file else f"key:{key}"))

    def remove(self, item: str) -> list[Receipt]:
        """Forget one item, restorable like anything forgotten; NotFound where the model does not have it.

        It is named as the model shows it (`expertise.C++`, `notes.<its text>`, `timezone`) or by its key.
        """
        keys = keys_of(item)
        found = [one for one in keyed(self.caller) if one.key in keys and one.layer is not Layer.WORKING]
        if not found:
            raise NotFound("The user model does not have that.", hint="`known` of the model lists its keys.")
        return [forget(self.caller, one.id, reason="user_model remove") for one in found]

    def reset(self) -> int:
        """Forget everything in the model, restorable like anything forgotten; how many values went.

        Raises Denied when some of it is not the caller's to forget.
        """
        found = [one for one in keyed(self.caller) if belongs(one.key) and one.layer is not Layer.WORKING]
        receipts = [forget(self.caller, one.id, reason="user_model reset") for one in found]
        if refused := [one for one in receipts if one.decision is Outcome.DENIED]:
            raise Denied(refused[0].warnings[0], code=refused[0].code, hint="Let the user reset it.")
        return len(receipts)


def _check_timezone(name: str | None) -> None:
    try:
        ZoneInfo(name or "UTC")
    except (OSError, ValueError, KeyError):  # a folder, a name that is a path, a name that is not known
        raise InvalidInput(
            f"There is no time zone {name!r:.60}.",
            code="user_model_invalid",
            hint="Use a name such as Asia/Bangkok or UTC.",
        ) from None
