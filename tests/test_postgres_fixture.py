"""The PostgreSQL that tests are given is real, current, empty and theirs alone."""

from __future__ import annotations

import subprocess
import sys

import psycopg


def test_the_server_is_current_and_has_vectors(postgres_database: str) -> None:
    with psycopg.connect(postgres_database) as connection:
        assert connection.info.server_version >= 160000
        connection.execute("CREATE EXTENSION vector")
        assert connection.execute("SELECT '[3,4]'::vector <-> '[0,0]'").fetchone() == (5.0,)


def test_what_one_test_leaves_behind_is_gone(postgres_database: str) -> None:
    assert _left_behind(postgres_database) is None


def test_what_one_test_leaves_behind_is_gone_in_either_order(postgres_database: str) -> None:
    assert _left_behind(postgres_database) is None


def test_another_process_reaches_the_database_by_its_url(postgres_database: str) -> None:
    program = """
import psycopg, sys
with psycopg.connect(sys.argv[1]) as connection:
    connection.execute("CREATE TABLE t (x int)")
"""
    subprocess.run([sys.executable, "-c", program, postgres_database], check=True)
    with psycopg.connect(postgres_database) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)


def _left_behind(url: str) -> str | None:
    """What was there on arrival; leaves something for whoever comes next."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT to_regclass('left_behind')::text").fetchone()
        connection.execute("CREATE TABLE left_behind ()")
        return row[0] if row else None
