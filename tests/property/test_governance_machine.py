"""Whatever is said, moved, forgotten and divided in whatever order, the store holds what a small model says.

The model below knows the contract and nothing of the engine: a clock a shelf, ids in order, four rules for a
conflict, ticks for retention, a window of turns, phases; what a person forgets goes with its twins and stays
away; an agent that repeats a tool weighs no more than it. After each step every active memory is compared.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import lamina
from lamina import Conflict, NotFound, Receipt
from lamina.storage.memories import Memories
from lamina.testing import ManualClock

STEPS = 50
WINDOW = 3
POLICY = f"""
extends = "normal"
short_term_turns = {WINDOW}
[retention.semantic]
fact = "ttl 6"
preference = "decay 5"
decision = "never"
correction = "decay 3"
"*" = "never"
"""
SESSION, USER, PROJECT = "session:ana,s", "user:ana", "project:main"
AUTHORITY = {"user": 2, "agent": 3, "tool": 1, "document": 3, "system": 0}  # 0 is the highest
UNTRUSTED = ("tool", "document")
#: No two share a term, so that one is never near another.
WORDS = ("green tea", "black ink", "茶馆老板", "รองเท้าหนัง", "wool socks")
VALUES = ("warm", "brisk", "เป็นกันเอง")


@dataclass
class Item:
    """A memory as the model sees it."""

    id: str
    shelf: str
    kind: str
    text: str
    key: str | None
    place: str
    role: str
    tick: int
    phase: int
    expires: int | None
    revision: int = 1
    state: str = "active"
    trusted: bool = True
    turns: tuple[str, ...] = ()  #: where it was heard; of a summary what it tells of
    gone_with: tuple[str, str] | None = None  #: the memory it was forgotten with, and what it was before

    @property
    def own(self) -> bool:
        """Whether it is a person's or their session's."""
        return self.shelf != PROJECT

    @property
    def layer(self) -> str:
        return self.id.split(":")[2]


@dataclass
class Shelf:
    tick: int = 0
    phase: int = 0
    counters: dict[str, int] = field(default_factory=dict)


class Model:
    """The contract in a hundred lines."""

    def __init__(self) -> None:
        self.shelves = {name: Shelf() for name in (SESSION, USER, PROJECT)}
        self.items: dict[str, Item] = {}
        self.touched: list[str] = []
        self.noes: set[str] = set()  #: what the person forgot, until they say it again
        self.shown: set[str] = set()  #: what somebody untrusted said

    def active(self, shelf: str, place: str) -> Item | None:
        found = (one for one in self.items.values() if (one.shelf, one.place) == (shelf, place))
        return next((one for one in found if one.state == "active"), None)

    def open(self, name: str) -> Shelf:
        shelf = self.shelves[name]
        if shelf.phase == 0:
            shelf.phase, shelf.tick = 1, shelf.tick + 1
        if name not in self.touched:
            self.touched.append(name)
        return shelf

    def numbered(self, name: str, layer: str) -> str:
        shelf = self.shelves[name]
        shelf.tick += 1
        shelf.counters[layer] = shelf.counters.get(layer, 0) + 1
        return f"{name}:{layer}:{shelf.counters[layer]}"

    def expiry(self, name: str, layer: str, kind: str) -> int | None:
        if name != SESSION or layer != "semantic":
            return None
        ends = {"fact": 6, "preference": 6, "correction": 4}
        return self.shelves[name].tick + ends[kind] if kind in ends else None

    def trusts(self, text: str, role: str) -> bool:
        """An agent that repeats what nobody vouches for is trusted no more than that."""
        return role not in UNTRUSTED and not (role == "agent" and text in self.shown)

    def wins(self, old: Item, kind: str, role: str, trusted: bool) -> str:
        """The rule by which a newcomer wins, or `!` and the rule by which it loses."""
        was = old.trusted
        if trusted != was:
            return "authority" if trusted else "!authority"
        new_rank, old_rank = AUTHORITY[role], AUTHORITY[old.role]
        fixes, fixed = kind == "correction", old.kind == "correction"
        if new_rank != old_rank:
            if fixes and not fixed and new_rank <= AUTHORITY["user"]:
                return "correction"
            if fixed and not fixes and old_rank <= AUTHORITY["user"]:
                return "!correction"
            return "authority" if new_rank < old_rank else "!authority"
        if fixes != fixed and (fixes or new_rank != AUTHORITY["user"]):
            return "correction" if fixes else "!correction"
        return "recency"  # also of a person's own words after their correction: docs/decisions/0019

    def put(
        self,
        name: str,
        layer: str,
        kind: str,
        text: str,
        key: str | None,
        place: str,
        role: str,
        turns: tuple[str, ...] = (),
        trusted: bool | None = None,
    ) -> str:
        """Store something that the gates let pass; returns the code of the receipt and the id, if any."""
        old = self.active(name, place)
        trusted = self.trusts(text, role) if trusted is None else trusted
        if role == "user":
            self.noes.discard(text)
        shelf = self.open(name)
        if old is not None:
            rule_name = self.wins(old, kind, role, trusted)
            again = key is None or (text == old.text and len({kind, old.kind} - {"correction"}) < 2)
            if again and rule_name != "authority":
                return self.restate(old, shelf)
            if rule_name.startswith("!"):
                self.numbered(name, layer)
                return f"conflict_{rule_name[1:]} {old.id}"
        if text in self.noes:
            return "refused_stays"
        if old is not None:
            self.end(old, "superseded")
        one = self.numbered(name, layer)
        expires = self.expiry(name, layer, kind)
        new = Item(one, name, kind, text, key, place, role, shelf.tick, shelf.phase, expires)
        new.trusted, new.turns = trusted, turns
        self.items[one] = new
        if not trusted:
            self.shown.add(text)
        return f"{'allowed' if old is None else 'superseded'} {one}"

    def restate(self, old: Item, shelf: Shelf) -> str:
        expires = None if old.expires is None else self.expiry(old.shelf, old.layer, old.kind)
        if (old.phase, old.expires) != (shelf.phase, expires):
            old.phase, old.expires, old.revision = shelf.phase, expires, old.revision + 1
        return f"same {old.id}"

    def end(self, item: Item, state: str) -> None:
        item.state, item.revision = state, item.revision + 1

    def settle(self) -> None:
        """What happens at the end of a change: the window narrows, then time passes."""
        for name in self.touched:
            shelf = self.shelves[name]
            turns = [
                one
                for one in self.items.values()
                if one.shelf == name
                and one.state == "active"
                and one.place.startswith("turn:")
                and one.phase == shelf.phase
            ]
            leaving = turns[: max(0, len(turns) - WINDOW)]
            for one in leaving:
                self.end(one, "expired")
            if leaving:
                place = f"summary:{shelf.phase}"
                if (summary := self.active(name, place)) is not None:
                    summary.revision += 1
                else:
                    self.put(name, "short_term", "context", "", None, place, "system")
                    summary = self.active(name, place)
                assert summary is not None
                summary.turns += tuple(one.id for one in leaving)
            for one in list(self.items.values()):
                if one.shelf == name and one.state == "active" and one.expires and one.expires <= shelf.tick:
                    self.end(one, "expired")
        self.touched = []

    def hear(self, text: str, kind: str, name: str | None) -> list[str]:
        """A turn by the user: the turn, what lasts of it, and the fact in it."""
        self.open(SESSION)
        told = [self.put(SESSION, "short_term", kind, text, None, f"turn:{len(self.items):09}", "user")]
        turn = (told[0].split()[1],)
        self.items[turn[0]].turns = turn
        if kind != "context":
            told.append(self.put(SESSION, "semantic", kind, text, None, f"{kind}:{text}", "user", turn))
        if name is not None:
            told.append(self.put(SESSION, "profile", kind, name, "name", "heard:name", "user", turn))
        self.settle()
        return told

    def promote(self, item: Item, target: str, role: str) -> str:
        """Move something; what is not allowed has a code, and nothing happens."""
        space = item.shelf.split(":")[0]
        wanted = target.split(":")[0]
        if (space, wanted) not in (("session", "user"), ("session", "project"), ("user", "project")):
            return "promotion_disallowed"
        if not item.trusted:
            return "promotion_untrusted"
        if item.layer == "short_term" or item.kind not in ("preference", "decision", "fact", "correction"):
            return "promotion_event_type"
        least = 1 if (space, wanted) == ("session", "project") and item.kind != "decision" else 2
        if AUTHORITY[item.role] > least:
            return "promotion_authority"
        if role in UNTRUSTED:
            return "promotion_untrusted"
        if AUTHORITY[item.role] < AUTHORITY[role]:
            return "promotion_authority"
        self.open(target)
        place = item.place.replace("heard:", "key:")
        code = self.put_moved(item, target, place)
        if code.startswith("conflict_"):
            self.settle()
            return code
        self.end(item, "superseded")
        self.settle()
        return code

    def put_moved(self, item: Item, target: str, place: str) -> str:
        before = {**self.shelves[target].counters}, self.shelves[target].tick
        told = self.put(
            target, item.layer, item.kind, item.text, item.key, place, item.role, item.turns, item.trusted
        )
        if told.startswith("conflict_"):  # here the loser has an id already: its own
            self.shelves[target].counters, self.shelves[target].tick = before
            return told.split()[0]
        return f"promoted {told.split()[1]}"

    def twins(self, item: Item) -> set[str]:
        """What says the very same of a person, and goes when they forget it."""
        return {
            one.id
            for one in self.items.values()
            if one.own and item.own and one is not item and one.state in ("active", "expired")
            if one.text == item.text and not outranks(one, "user")
        }

    def related(self, one: Item, item: Item) -> bool:
        """Whether one may go with another: its turn, what else was made of that, a turn that repeats it."""
        heard = bool(set(one.turns) & {*item.turns, item.id}) and "summary" not in one.place
        return one.own and (heard or item.text.lower() in one.text.lower())

    def forget(self, item: Item, also: tuple[str, ...]) -> None:
        """A person's forgetting: what says it goes with it, summaries tell it no more, and it stays away."""
        assert self.twins(item) <= set(also)
        for one in map(self.items.__getitem__, also):
            assert self.related(one, item), (one, item)
            one.gone_with = item.id, one.state
            self.end(one, "soft_deleted")
        self.end(item, "soft_deleted")
        self.noes.add(item.text)
        gone = {item.id, *also}
        for one in self.items.values():
            if one.state == "active" and one.place.startswith("summary:") and gone & set(one.turns):
                one.turns, one.revision = tuple(x for x in one.turns if x not in gone), one.revision + 1

    def restore(self, item: Item) -> list[str]:
        """Back, with what went with it and has its place free; and the no is over."""
        self.noes.discard(item.text)
        self.revive(item)
        away = sorted(one.id for one in self.items.values() if one.gone_with and one.gone_with[0] == item.id)
        return [item.id, *(one for one in away if self.back(self.items[one]))]

    def back(self, one: Item) -> bool:
        assert one.gone_with is not None
        free = one.state == "soft_deleted" and self.active(one.shelf, one.place) is None
        if free and one.gone_with[1] == "active":
            self.revive(one)
            return True
        return False

    def revive(self, item: Item) -> None:
        item.state, item.revision, item.gone_with = "active", item.revision + 1, None
        if item.expires is not None:
            item.expires = self.expiry(item.shelf, item.layer, item.kind)


def outranks(item: Item, role: str) -> bool:
    """Whether a memory is above somebody; what nobody vouches for is above no person."""
    return AUTHORITY[item.role] < AUTHORITY[role] and (item.trusted or role != "user")


SENTENCES = st.sampled_from(
    [
        ("My name is Ada.", "fact", "Ada", False),
        ("My name is Bob.", "fact", "Bob", False),
        ("Actually, my name is Ada.", "correction", "Ada", False),
        ("ฉันชื่ออาดา", "fact", "อาดา", False),
        ("我的名字是爱达。", "fact", "爱达", False),
        ("I prefer oolong.", "preference", None, False),
        ("The sky was grey over there.", "context", None, False),
        ("Remember this for me: I prefer dark mode.", "preference", None, True),
        ("Remember this for me: my name is Eve.", "fact", "Eve", True),
    ]
)
ROLES = st.sampled_from(["user", "user", "agent", "tool", "document", "system"])


class Governance(RuleBasedStateMachine):
    """The engine beside the model."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="lamina-machine-", dir=_memory_disk()))
        policy = self.folder / "policy.toml"
        policy.write_text(POLICY)
        self.engine = lamina.open(
            f"sqlite:///{self.folder}/m.db",
            owner="ana",
            clock=ManualClock(),
            policy=str(policy),
            understanding=False,  # the rules alone: what the trained model keeps is tested beside it
            environment={"LAMINA_HOME": str(self.folder / "home")},
        )
        self.model = Model()
        self.minds = {
            role: self.engine.scope(
                session="s", role=role, agent=None if role in ("user", "system") else role
            )
            for role in AUTHORITY
        }

    def teardown(self) -> None:
        try:
            assert self.engine.verify_audit().findings == ()
        finally:
            self.engine.close()
            shutil.rmtree(self.folder)

    def pick(self, data: st.DataObject, *, active: bool = True) -> Item | None:
        known = [one for one in self.model.items.values() if (one.state == "active") is active]
        return data.draw(st.sampled_from(known)) if known else None

    @rule(role=ROLES, text=st.sampled_from(WORDS), kind=st.sampled_from(["fact", "preference", "decision"]))
    def remember_for_the_session(self, role: str, text: str, kind: str) -> None:
        if kind == "decision" and role == "agent" and text in self.model.shown:
            return  # it would wait for the person, too: tests/write/test_origins.py
        receipt = self.minds[role].remember(text, space="session", layer="semantic", kind=kind)
        told = self.model.put(SESSION, "semantic", kind, text, None, f"{kind}:{text}", role)
        self.model.settle()
        assert said(receipt) == told

    @rule(role=ROLES, data=st.data(), keyed=st.booleans())
    def remember_for_the_user(self, role: str, data: st.DataObject, keyed: bool) -> None:
        key = "tone" if keyed else None
        text = data.draw(st.sampled_from(VALUES if keyed else WORDS))
        if (
            keyed
            and role == "agent"
            and (text in self.model.shown or self.model.active(USER, "key:tone") is None)
        ):
            return  # it would wait for the person: tests/write/test_held.py
        receipt = self.minds[role].remember(text, kind="fact", **({"key": "tone"} if keyed else {}))
        denied = [event for event in receipt.events if event["type"] == "memory_denied"]
        if keyed and role in UNTRUSTED:
            assert (receipt.code, receipt.ids, len(denied)) == ("trust_deny_key", (), 1)
            return
        layer = "profile" if keyed else "semantic"
        told = self.model.put(USER, layer, "fact", text, key, "key:tone" if keyed else f"fact:{text}", role)
        self.model.settle()
        assert said(receipt) == told
        assert len(denied) == told.startswith(("conflict_", "refused_"))

    @rule()
    def passing_talk_is_refused(self) -> None:
        receipt = self.minds["user"].remember("passing talk", kind="context")
        assert (receipt.code, receipt.ids) == ("write_policy_context", ())

    @rule(said=SENTENCES)
    def hear(self, said: tuple[str, str, str | None, bool]) -> None:
        text, kind, name, wanted = said
        heard = self.minds["user"].hear(text)
        told = self.model.hear(text, kind, name)
        if wanted:
            lasting = [
                self.model.items[one.split()[1]] for one in told[1:] if not one.startswith("conflict_")
            ]
            told += [self.model.promote(one, USER, "user") for one in lasting]
        if kind == "context":
            told.insert(1, "write_policy_context ")
        for receipt, expected in zip(heard.receipts, told, strict=True):
            code, *ids = expected.split()
            assert receipt.code == code
            assert not ids or receipt.ids == tuple(ids)

    @rule(
        data=st.data(),
        role=st.sampled_from(["user", "agent", "tool"]),
        where=st.sampled_from([USER, PROJECT]),
    )
    def promote(self, data: st.DataObject, role: str, where: str) -> None:
        if (item := self.pick(data)) is None:
            return
        receipt = self.minds[role].promote(item.id, where.split(":")[0])
        told = self.model.promote(item, where, role)
        assert receipt.code == told.split()[0]
        if receipt.code == "promoted":
            assert receipt.ids[0] == told.split()[1]

    @rule(data=st.data(), role=st.sampled_from(["user", "user", "agent", "tool"]))
    def forget(self, data: st.DataObject, role: str) -> None:
        if (item := self.pick(data)) is None:
            return
        receipt = self.minds[role].forget(item.id)
        if role in UNTRUSTED and item.trusted:
            assert receipt.code == "trust_deny_change"
        elif outranks(item, role):
            another = item.shelf == PROJECT and item.role == "user"
            assert receipt.code == ("not_yours" if another else "conflict_authority")
        else:
            assert (receipt.code, receipt.ids[0]) == ("forgotten", item.id)
            if role == "user":
                self.model.forget(item, receipt.ids[1:])
            else:
                assert receipt.ids == (item.id,)
                self.model.end(item, "soft_deleted")

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        if (item := self.pick(data, active=False)) is None:
            return
        mind = self.minds["user"]
        if item.state != "soft_deleted":
            with pytest.raises(NotFound):
                mind.restore(item.id)
        elif self.model.active(item.shelf, item.place) is not None:
            with pytest.raises(Conflict):
                mind.restore(item.id)
        else:
            receipt = mind.restore(item.id)
            assert receipt.code == "restored"
            assert list(receipt.ids) == self.model.restore(item)

    @rule(data=st.data())
    def revise(self, data: st.DataObject) -> None:
        if (item := self.pick(data)) is None or item.layer == "short_term":
            return
        text = data.draw(st.sampled_from(VALUES if item.key else WORDS))
        place = item.place if item.key else f"{item.kind}:{text}"
        mind = self.minds["system"]
        if text == item.text:
            assert mind.revise(item.id, text).code == "same"
        elif text in self.model.noes:
            assert mind.revise(item.id, text).code == "refused_stays"
        elif place != item.place and self.model.active(item.shelf, place) is not None:
            with pytest.raises(Conflict):
                mind.revise(item.id, text)
        else:
            assert mind.revise(item.id, text).code == "allowed"
            item.text, item.place, item.revision = text, place, item.revision + 1
            if not item.trusted:
                self.model.shown.add(text)

    @rule(space=st.sampled_from(["session", "session", "user"]))
    def begin_a_phase(self, space: str) -> None:
        name = SESSION if space == "session" else USER
        phase = self.minds["user"].start_phase(space)
        shelf = self.model.shelves[name]
        shelf.phase, shelf.tick = shelf.phase + 1, shelf.tick + 1
        self.model.touched.append(name)
        self.model.settle()
        assert (phase.number, phase.started_tick) == (shelf.phase, shelf.tick)

    @precondition(lambda self: self.model.items)
    @rule(data=st.data())
    def recall(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(list(self.model.items.values())))
        mind = self.minds["user"]
        current = item.phase == self.model.shelves[item.shelf].phase
        hit = next((one for one in mind.recall(item.id, k=100) if one.id == item.id), None)
        assert (hit is not None) == (item.state == "active" and current)
        past = next(
            (one for one in mind.recall(item.id, k=100, across_phases=True) if one.id == item.id), None
        )
        assert (past is not None) == (item.state == "active")
        if past is not None:
            assert (past.trust == "untrusted") == (not item.trusted)
            only = [one.id for one in mind.recall(item.id, k=100, across_phases=True, trusted_only=True)]
            assert (item.id in only) == item.trusted

    @invariant()
    def every_active_memory_is_the_models(self) -> None:
        found = self.engine.database.read(lambda tx: Memories(tx).load(Memories(tx).in_order()))
        engine = {
            one.id: (
                one.kind,
                one.key,
                one.provenance.role,
                one.tick,
                one.phase,
                one.expires_tick,
                one.revision,
                one.text if "summary_of" not in one.meta else "",
            )
            for one in found.values()
        }
        model = {
            one.id: (
                one.kind,
                one.key,
                one.role,
                one.tick,
                f"phase-{one.phase}",
                one.expires,
                one.revision,
                one.text,
            )
            for one in self.model.items.values()
            if one.state == "active"
        }
        assert engine == model


def said(receipt: Receipt) -> str:
    return f"{receipt.code} {receipt.ids[0]}" if receipt.ids else receipt.code


def _memory_disk() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


@pytest.mark.parametrize("examples", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_the_engine_is_the_contract_in_more_lines(examples: int) -> None:
    run_state_machine_as_test(
        Governance,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        ),
    )
