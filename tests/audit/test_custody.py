"""One key seals a store, whoever opens it and from wherever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import psycopg
import pytest

from lamina import ConfigError

if TYPE_CHECKING:
    from lamina.engine import Engine
    from tests.backends import Place


def second_home(place: Place) -> Path:
    """Another machine's configuration folder, with a key of its own."""
    home = place.home.parent / f"{place.home.name}-second"
    (home / "keys").mkdir(parents=True)
    (home / "keys" / "audit.key").write_bytes(b"k" * 32)
    return home


def opened_from(place: Place, home: Path, **settings: object) -> Engine:
    return place.open(environment={"LAMINA_HOME": str(home)}, **settings)


def forget_fingerprint(place: Place) -> None:
    """As a store is that was made before stores knew their key."""
    statement = "DELETE FROM {}property WHERE name = 'audit_key'"
    if place.url is not None:
        with psycopg.connect(place.url) as server:
            server.execute(statement.format("lamina.").encode())
        return
    connection = apsw.Connection(str(place.databases()[0]))
    connection.execute(statement.format(""))
    connection.close()


def refused(attempt: Callable[[], object]) -> ConfigError:
    with pytest.raises(ConfigError) as told:
        attempt()
    assert told.value.code == "audit_key_other"
    return told.value


def test_a_second_server_with_its_own_key_is_refused_and_told_what_to_do(place: Place) -> None:
    engine = place.open()
    engine.scope().remember("Ana likes tea")
    ours, home = engine.ruleset.sealer.key_id, second_home(place)
    before = place.tables()

    told = refused(lambda: opened_from(place, home))

    assert ours in told.message
    assert "keys/audit.key" in told.hint
    assert "LAMINA_AUDIT_KEY_FILE" in told.hint
    assert place.tables() == before
    engine.scope().remember("Ana likes milk")
    assert engine.verify_audit().findings == ()


def test_with_the_key_copied_the_second_server_works_beside_the_first(place: Place) -> None:
    first = place.open()
    first.scope().remember("Ana likes tea")
    home = second_home(place)
    (home / "keys" / "audit.key").write_bytes((place.home / "keys" / "audit.key").read_bytes())

    second = opened_from(place, home)
    second.scope().remember("Ana likes milk")
    first.scope().remember("Ana likes honey")

    assert first.verify_audit().findings == ()
    assert second.verify_audit().findings == ()
    cursor = first.scope(session="s").changes().cursor
    assert second.scope(session="s").changes(cursor) is not None


def test_an_empty_store_belongs_to_whoever_opens_it_first(place: Place) -> None:
    place.open()
    place.close()

    refused(lambda: opened_from(place, second_home(place)))


def test_a_store_from_before_takes_the_key_of_its_newest_record(place: Place) -> None:
    place.open().scope().remember("Ana likes tea")
    place.close()
    forget_fingerprint(place)
    home = second_home(place)

    refused(lambda: opened_from(place, home))
    place.open().close()
    place.engines.clear()
    refused(lambda: opened_from(place, home))


def test_an_edited_newest_record_does_not_lock_its_owner_out_of_a_store_from_before(workspace: Place) -> None:
    """It is found as an edit, and opened all the same."""
    workspace.open().scope().remember("Ana likes tea")
    workspace.close()
    forget_fingerprint(workspace)
    change = "UPDATE {}audit SET actor = 'user:mallory'"
    if workspace.url is not None:
        with psycopg.connect(workspace.url) as server:
            server.execute(change.format("lamina.").encode())
    else:
        connection = apsw.Connection(str(workspace.databases()[0]))
        connection.execute("DROP TRIGGER audit_never_changes")
        connection.execute(change.format(""))
        connection.close()

    assert {one.what for one in workspace.open().verify_audit().findings} == {"edited"}


def test_each_tenant_has_a_key_of_its_own_choice(place: Place) -> None:
    home = second_home(place)
    place.open(tenant="acme").scope().remember("Ana likes tea")
    opened_from(place, home, tenant="globex").scope().remember("Bob likes tea")

    refused(lambda: opened_from(place, home, tenant="acme"))
    refused(lambda: place.open(tenant="globex"))


def test_an_owner_who_lost_the_key_goes_on_with_another_and_the_audit_says_from_where(place: Place) -> None:
    engine = place.open()
    lost = engine.ruleset.sealer.key_id
    memory_id = engine.scope().remember("Ana likes tea").ids[0]
    place.close()
    home = second_home(place)

    opened_from(place, home, adopt="key").close()
    engine = opened_from(place, home)
    engine.scope().revise(memory_id, "Ana likes milk")
    report = engine.verify_audit()

    assert report.findings == ()
    assert [one.what for one in report.notes if one.what == "key_adopted"] == ["key_adopted"]
    assert lost in report.notes[0].detail
    assert "after record " in report.notes[0].detail
    refused(place.open)


def test_another_keys_records_after_the_adoption_are_no_longer_excused(place: Place) -> None:
    """Only what was there when the key was given up is; somebody with the old key cannot add to it."""
    engine = place.open()
    engine.scope().remember("Ana likes tea")
    home = second_home(place)
    opened_from(place, home, adopt="key").close()

    engine.scope().remember("Ana likes milk")  # a server that was running all the while
    findings = opened_from(place, home).verify_audit().findings

    assert "unverifiable" in {one.what for one in findings}


def test_a_file_is_found_out_however_it_was_named(tmp_path: Path, place: Place) -> None:
    """The key may also be named by itself."""
    place.open().close()
    other = tmp_path / "other.key"
    other.write_bytes(b"k" * 32)

    refused(lambda: place.open(audit_key_file=str(other)))
