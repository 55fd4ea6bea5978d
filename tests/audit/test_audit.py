"""Every change is in the chain, with who, what and why, and the chain proves itself."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

from lamina import LaminaError
from lamina.model import CHAIN, AuditRecord

if TYPE_CHECKING:
    from lamina.engine import Engine
    from tests.backends import Place


def live_a_little(engine: Engine, day: int = 1) -> None:
    """Something of every kind of change."""
    user, agent = engine.scope(run="r1"), engine.scope(agent="planner", session="s1")
    one = user.remember(f"Ana likes tea {day}").ids[0]
    user.revise(one, f"Ana likes coffee {day}")
    user.remember(f"friendly {day}", key="tone")
    user.remember(f"formal {day}", key="tone")
    agent.remember("rude", key="tone")
    agent.remember("my password is hunter2secret99")
    user.forget(one)
    user.restore(one)
    agent.remember("for a while", ttl="1h", key="mood")


def test_each_change_is_one_record_in_order(place: Place) -> None:
    engine = place.open()
    live_a_little(engine)

    told = [(record.seq % CHAIN, record.op, record.reason, record.actor) for record in place.audit()]

    assert told == [
        (1, "upsert", "allowed", "user:ana"),
        (2, "upsert", "allowed", "user:ana"),
        (3, "upsert", "allowed", "user:ana"),
        (4, "delete", "superseded", "user:ana"),
        (5, "upsert", "allowed", "user:ana"),
        (6, "deny", "conflict_authority", "agent:planner"),
        (7, "deny", "privacy_deny_sensitive", "agent:planner"),
        (8, "delete", "forgotten", "user:ana"),
        (9, "lift_no", "restored by the person", "user:ana"),
        (10, "restore", "restored", "user:ana"),
        (11, "stage_inferred", "staged", "agent:planner"),
    ]


def test_the_chain_is_whole_while_open_and_after_reopening(place: Place) -> None:
    for day in range(3):
        engine = place.open()
        live_a_little(engine, day)
        place.clock.advance(days=1)
        assert engine.verify_audit().intact
        place.close()

    report = place.open().verify_audit()

    assert report.intact
    assert report.records == len(place.audit()) == place.engines[-1].status().audit_records


def test_each_record_follows_the_one_before_it(place: Place) -> None:
    live_a_little(place.open())
    chain = place.audit()

    assert [record.seq for record in chain] == [place.nth(number + 1) for number in range(len(chain))]
    assert [record.prev for record in chain] == ["", *[record.hash for record in chain[:-1]]]
    assert len({record.hash for record in chain}) == len(chain)


def test_values_are_in_the_chain_as_keyed_hashes_only(place: Place) -> None:
    engine = place.open()
    engine.scope().remember("Ana likes tea")
    engine.scope().remember("Ana likes milk")
    engine.scope(user="bob").remember("Ana likes tea")

    chain = place.audit()

    assert all("Ana likes" not in row for row in place.tables()["audit"])
    assert chain[0].new_hash == chain[2].new_hash != chain[1].new_hash
    assert chain[0].new_hash == engine.ruleset.sealer.fingerprint("Ana likes tea")


def test_a_request_that_fails_leaves_no_record(place: Place) -> None:
    engine = place.open()
    mind = engine.scope()
    memory_id = mind.remember("Ana likes tea").ids[0]
    before = place.audit()

    failed = 0
    for attempt in (
        lambda: mind.remember(""),
        lambda: mind.get("user:ana:semantic:9"),
        lambda: mind.forget("user:ana:semantic:9"),
        lambda: mind.revise(memory_id, "x", expect=9),
        lambda: mind.restore(memory_id),
    ):
        try:
            attempt()
        except LaminaError:
            failed += 1

    assert failed == 5
    assert place.audit() == before
    assert engine.verify_audit().intact


def test_the_records_of_a_run_are_lines_of_its_file(workspace: Place) -> None:
    engine = workspace.open()
    live_a_little(engine)
    assert workspace.folder is not None
    runs = workspace.folder / ".lamina" / "runs"

    def by_run(record: AuditRecord) -> tuple[str, int, str, str]:
        return record.run_id, record.seq, record.op, record.hash

    lines = [
        (file.parent.name, line["seq"], line["op"], line["hash"])
        for file in runs.rglob("memory_audit.jsonl")
        for line in map(json.loads, file.read_text("utf-8").splitlines())
    ]
    assert sorted(lines) == sorted(map(by_run, workspace.audit()))
    assert {run for run, *_ in lines} == {"r1", "s1"}


def commit_without_line(engine: Engine) -> None:
    """Where a writer is between its commit and the line in its run's file."""
    scope = engine.scope().scope
    engine.write(scope, engine.now(), lambda unit: unit.record_act("note", "x", "its line comes next"))


def test_lines_that_a_crash_kept_from_their_file_are_written_at_the_next_start(workspace: Place) -> None:
    engine = workspace.open()
    engine.scope().remember("Ana likes tea")
    commit_without_line(engine)
    del workspace.engines[:]  # as a killed process: not closed
    engine.database.close()

    assert workspace.open().verify_audit().intact


def test_a_crash_of_one_writer_is_mended_whatever_another_did_since(workspace: Place) -> None:
    """A record without its line must not be taken for tampering because a later line was written."""
    crashed, other = workspace.open(), workspace.open()
    commit_without_line(crashed)
    workspace.engines.remove(crashed)
    crashed.database.close()
    other.scope().remember("Ana likes tea")
    other.close()

    report = workspace.open().verify_audit()

    assert report.findings == ()


def test_a_check_during_a_write_is_no_alarm(workspace: Place) -> None:
    """The record is committed and its line is on its way: that is not tampering either."""
    writing, checking = workspace.open(), workspace.open()
    writing.scope().remember("Ana likes tea")
    commit_without_line(writing)

    assert checking.verify_audit().findings == ()


def test_checking_while_others_write_is_no_alarm(workspace: Place) -> None:
    """Each record and its line appear at any moment of the check, from another engine."""
    writing, checking = workspace.open(), workspace.open()
    writing.scope().remember("the first")

    def busy() -> None:
        for number in range(150):
            writing.scope().remember(f"thing {number}")

    writer = threading.Thread(target=busy)
    writer.start()
    findings, checks = [], 0
    while writer.is_alive():
        findings += checking.verify_audit().findings
        checks += 1
    writer.join()

    assert checks > 3
    assert findings == []
    assert checking.verify_audit().findings == ()


def test_a_start_during_a_write_makes_no_alarm(workspace: Place) -> None:
    """Whoever starts between a writer's commit and its line may write that line too."""
    writing = workspace.open()
    writing.scope().remember("Ana likes tea")
    scope = writing.scope().scope
    _, unit = writing.write(
        scope, writing.now(), lambda unit: unit.record_act("note", "x", "its line comes next")
    )
    workspace.open()
    writing.mirror.follow([unit])  # the second half of what `act` does

    assert workspace.open().verify_audit().findings == ()


def test_tenants_that_share_a_workspace_do_not_alarm_each_other(workspace: Place) -> None:
    for turn in range(2):
        for tenant in ("default", "acme"):
            workspace.open(tenant=tenant).scope().remember(f"canary {tenant} {turn}")
            workspace.close()

    for tenant in ("default", "acme"):
        assert workspace.open(tenant=tenant).verify_audit().findings == ()
        workspace.close()
