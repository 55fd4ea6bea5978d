"""What stands in `deploy/` works: its settings exist, and what an image starts serves a real PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
import yaml

import lamina
from lamina.config import knobs

DEPLOY = Path(__file__).parents[2] / "deploy"
SETTINGS = {f"LAMINA_{name.upper()}" for name, *_ in knobs()} | {"LAMINA_HOME", "LAMINA_WORKSPACE"}


def image_environment() -> dict[str, str]:
    """What the image sets."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    found = [line.removeprefix("ENV ") for line in text.splitlines() if line.startswith("ENV ")]
    return dict(pair.partition("=")[::2] for line in found for pair in shlex.split(line))


@pytest.mark.parametrize(
    "file", sorted(path for path in DEPLOY.rglob("*") if path.is_file()), ids=lambda one: one.name
)
def test_every_setting_that_a_file_names_exists(file: Path) -> None:
    assert set(re.findall(r"\bLAMINA_[A-Z_]+\b", file.read_text())) <= SETTINGS


def test_the_files_can_be_read_and_ask_for_no_more_than_they_need() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    server = compose["services"]["lamina"]
    assert server["read_only"]
    assert server["cap_drop"] == ["ALL"]
    deployment, service = yaml.safe_load_all((DEPLOY / "kubernetes/lamina.yaml").read_text())
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    probes = {pod["containers"][0][name]["httpGet"]["path"] for name in ("readinessProbe", "livenessProbe")}
    assert probes == {"/readyz", "/livez"}


@contextmanager
def container(folder: Path, store: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """The image's program in an empty folder, with the image's environment and nothing of ours."""
    environment = {
        **image_environment(),
        "LAMINA_HOME": str(folder / "home"),
        "LAMINA_STORE": store,
        "PATH": os.defpath,
        "HOME": str(folder),
    }
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "lamina"), *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_what_the_image_starts_serves_a_team_and_stops_when_it_is_told(
    postgres_database: str, tmp_path: Path
) -> None:
    with container(tmp_path, postgres_database, "serve", "--port", "0") as process:
        _, told = process.communicate(timeout=120)
        assert process.returncode == 2
        assert "lamina token create" in told  # nobody has made a token yet
    with container(
        tmp_path, postgres_database, "--json", "token", "create", "laptop", "--right", "read,write,admin"
    ) as one:
        made, told = one.communicate(timeout=120)
        assert one.returncode == 0, told
    token = json.loads(made)["data"]["text"]
    with container(tmp_path, postgres_database, "serve", "--port", "0") as process:
        assert process.stderr is not None
        port = next(
            found[1]
            for line in process.stderr
            if (found := re.search(r"http://127\.0\.0\.1:(\d+)$", line.strip()))
        )
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            assert client.get("/readyz").json()["status"] == "ok"
            assert client.get("/metrics").status_code == 401
            client.headers["Authorization"] = f"Bearer {token}"
            assert (
                client.post("/v1/memories", json={"text": "The kiln is fired on Thursdays."}).status_code
                == 201
            )
            assert client.post("/v1/recall", json={"query": "kiln"}).json()["hits"]
            assert client.get("/v1/nowhere").status_code == 404
            page = client.get("/metrics").text
        assert 'lamina_requests_total{method="POST",route="/v1/memories",status="201"} 1.0' in page
        assert 'route="none",status="404"' in page
        assert "lamina_store_up 1.0" in page
        assert "kiln" not in page
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 0
        assert all(json.loads(line) for line in told.splitlines() if line.startswith("{"))


def test_one_server_serves_every_tenant_whose_token_comes_and_runs_their_jobs(
    postgres_database: str, tmp_path: Path
) -> None:
    """Nobody has a token in the server's own tenant: those of others let it listen, too."""
    tokens = {}
    for tenant in ("acme", "globex"):
        with container(
            tmp_path, postgres_database, "--json", "--tenant", tenant, "token", "create", "laptop"
        ) as one:
            made, told = one.communicate(timeout=120)
            assert one.returncode == 0, told
            tokens[tenant] = json.loads(made)["data"]["text"]
    with container(tmp_path, postgres_database, "serve", "--port", "0") as process:
        assert process.stderr is not None
        port = next(
            found[1]
            for line in process.stderr
            if (found := re.search(r"http://127\.0\.0\.1:(\d+)$", line.strip()))
        )
        for tenant, token in tokens.items():
            with lamina.connect(f"http://127.0.0.1:{port}", token) as server:
                memory = server.scope()
                memory.remember(f"The kiln of {tenant} is fired on Thursdays.")
                assert [hit.text for hit in memory.recall("kiln").hits] == [
                    f"The kiln of {tenant} is fired on Thursdays."
                ]
        with psycopg.connect(postgres_database) as rows_of:
            until = time.monotonic() + 60
            seen: set[str] = set()
            while seen < {"acme", "default", "globex"} and time.monotonic() < until:
                rows = rows_of.execute("SELECT DISTINCT tenant FROM lamina.job_run").fetchall()
                seen = {tenant for (tenant,) in rows}
                rows_of.rollback()
                time.sleep(0.2)
        assert seen == {"acme", "default", "globex"}
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0
