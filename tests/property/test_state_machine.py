"""Whatever is asked in whatever order, a memory does what a dictionary would."""

from __future__ import annotations

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import lamina
from lamina import Conflict, NotFound, Outcome, State
from lamina.testing import ManualClock
from lamina.text.entries import EntryFile
from lamina.text.normalise import dedup_key
from tests.effort import times

USERS = st.sampled_from(["ana", "bob"])
KEYS = st.sampled_from(["tone", "lang", "Tone"])
TEXTS = st.sampled_from(
    ["tea", "Tea!", "green tea", "milk | tea", "two\nlines", "茶馆", "กาแฟ", "- key:x | value:y"]
)


class Memory(RuleBasedStateMachine):
    """The engine beside a model of it: per user, what each id says, its key and its state."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="lamina-states-", dir=_memory_disk()))
        self.clock = ManualClock()
        self.known: dict[str, dict[str, object]] = {}
        self.engine = self._opened()

    def _opened(self) -> lamina.engine.Engine:
        home = {"LAMINA_HOME": str(self.folder / "home")}
        return lamina.open(self.folder / "w", owner="ana", clock=self.clock, environment=home)

    def teardown(self) -> None:
        try:
            assert self.engine.verify_audit().findings == ()
        finally:
            self.engine.close()
            shutil.rmtree(self.folder)

    def _active(self, user: str, identity: str) -> str | None:
        return next(
            (
                one
                for one, known in self.known.items()
                if known["user"] == user and known["identity"] == identity and known["state"] is State.ACTIVE
            ),
            None,
        )

    def _new(self, one: str, user: str, text: str, key: str | None, identity: str) -> str:
        assert one not in self.known
        self.known[one] = {
            "user": user,
            "text": text,
            "key": key,
            "identity": identity,
            "state": State.ACTIVE,
            "revision": 1,
            "purge_at": None,
        }
        return one

    @initialize(target=ids)
    def first(self) -> str:
        one = self.engine.scope().remember("the first").ids[0]
        return self._new(one, "ana", "the first", None, dedup_key("fact", "the first"))

    @rule(target=ids, user=USERS, text=TEXTS)
    def remember(self, user: str, text: str) -> str:
        identity = dedup_key("fact", text)
        same = self._active(user, identity)
        receipt = self.engine.scope(user=user).remember(text)
        if same is not None:
            assert (receipt.decision, receipt.ids) == (Outcome.UNCHANGED, (same,))
            return same
        assert receipt.decision is Outcome.ADMITTED
        return self._new(receipt.ids[0], user, text, None, identity)

    @rule(target=ids, user=USERS, key=KEYS, text=TEXTS)
    def set_key(self, user: str, key: str, text: str) -> str:
        text = f"{text} of {key.lower()}"  # no two say the same: forgetting one would take the other along
        identity = f"key:{key.lower()}"
        old = self._active(user, identity)
        receipt = self.engine.scope(user=user).remember(text, key=key)
        if old is not None and self.known[old]["text"] == text:
            assert (receipt.decision, receipt.ids) == (Outcome.UNCHANGED, (old,))
            return old
        assert receipt.code == ("allowed" if old is None else "superseded")
        if old is not None:
            self.known[old].update(state=State.SUPERSEDED, revision=self.known[old]["revision"] + 1)  # type: ignore[operator]
        return self._new(receipt.ids[0], user, text, key.lower(), identity)

    @rule(one=ids, text=TEXTS, stale=st.booleans())
    def revise(self, one: str, text: str, stale: bool) -> None:
        known = self.known[one]
        text = f"{text} of {known['key']}" if known["key"] else text
        mind = self.engine.scope(user=known["user"])  # type: ignore[typeddict-item]
        identity = known["identity"] if known["key"] else dedup_key("fact", text)
        expect = known["revision"] + (1 if stale else 0)  # type: ignore[operator]
        twin = self._active(str(known["user"]), str(identity))
        if known["state"] is not State.ACTIVE:
            with pytest.raises(NotFound):
                mind.revise(one, text, expect=expect)
        elif stale or (twin not in (None, one) and text != known["text"]):
            with pytest.raises(Conflict):
                mind.revise(one, text, expect=expect)
        elif text == known["text"]:
            assert mind.revise(one, text, expect=expect).decision is Outcome.UNCHANGED
        else:
            assert mind.revise(one, text, expect=expect).revision == expect + 1
            known.update(text=text, identity=identity, revision=expect + 1)

    @rule(one=ids, by_key=st.booleans())
    def forget(self, one: str, by_key: bool) -> None:
        known = self.known[one]
        mind = self.engine.scope(user=known["user"])  # type: ignore[typeddict-item]
        if known["state"] is not State.ACTIVE:
            with pytest.raises(NotFound):
                mind.forget(one)
            return
        name = str(known["key"]) if by_key and known["key"] else one
        assert mind.forget(name).ids == (one,)
        known.update(
            state=State.SOFT_DELETED,
            revision=known["revision"] + 1,  # type: ignore[operator]
            purge_at=self.clock.now() + timedelta(days=30),
        )

    @rule(one=ids)
    def restore(self, one: str) -> None:
        known = self.known[one]
        mind = self.engine.scope(user=known["user"])  # type: ignore[typeddict-item]
        if known["state"] is not State.SOFT_DELETED or known["purge_at"] <= self.clock.now():  # type: ignore[operator]
            with pytest.raises(NotFound):
                mind.restore(one)
        elif self._active(str(known["user"]), str(known["identity"])) is not None:
            with pytest.raises(Conflict):
                mind.restore(one)
        else:
            mind.restore(one)
            known.update(state=State.ACTIVE, revision=known["revision"] + 1, purge_at=None)  # type: ignore[operator]

    @rule(one=ids, user=USERS)
    def look(self, one: str, user: str) -> None:
        known, mind = self.known[one], self.engine.scope(user=user)
        hits = mind.recall(one).hits
        if user != known["user"]:
            with pytest.raises(NotFound):
                mind.get(one)
            assert one not in [hit.id for hit in hits]
            return
        memory = mind.get(one)
        assert (memory.text, memory.key, memory.state, memory.revision) == (
            known["text"],
            known["key"],
            known["state"],
            known["revision"],
        )
        assert (bool(hits) and hits[0].id == one) == (known["state"] is State.ACTIVE)
        assert len(mind.history(one)) == known["revision"]

    @rule(days=st.sampled_from([1, 29, 30]))
    def wait(self, days: int) -> None:
        self.clock.advance(days=days)

    @rule()
    def reopen(self) -> None:
        self.engine.close()
        self.engine = self._opened()

    @rule(one=consumes(ids))
    def stop_looking_at(self, one: str) -> None:
        """Old ids make room for new ones."""

    @invariant()
    def the_file_is_what_the_owner_has_under_keys(self) -> None:
        file = EntryFile.parse((self.folder / "w" / "PROFILE.md").read_bytes())
        expected = {
            known["key"]: known["text"]
            for known in self.known.values()
            if known["user"] == "ana" and known["key"] and known["state"] is State.ACTIVE
        }
        assert {entry.canonical: entry.value for entry in file.entries} == expected
        assert file.problems == ()


def _memory_disk() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def test_a_memory_does_what_a_dictionary_would() -> None:
    run_state_machine_as_test(
        Memory,
        settings=settings(
            max_examples=times(12, 100),
            stateful_step_count=30,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        ),
    )
