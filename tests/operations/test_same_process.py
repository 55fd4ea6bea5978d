"""One process: pages, the API and the tools for models on one port."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx

import lamina


def test_serve_has_pages_the_api_and_mcp_on_one_port(tmp_path: Path, lamina_home: Path) -> None:
    with lamina.open(tmp_path / "w", owner="ana") as engine:
        engine.scope().remember("Ana drinks oat milk.")
    command = [sys.executable, "-m", "lamina", "-w", str(tmp_path / "w"), "serve", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ
    ) as server:
        try:
            assert server.stdout is not None
            lines = []
            for raw in server.stdout:
                lines.append(raw.decode())
                if "Ctrl+C" in lines[-1]:
                    break
            told = "".join(lines)
            (link,) = re.findall(r"http://\S+/sign-in\?code=\S+", told)
            (file,) = re.findall(r"\$\(cat (\S+)\)", told)
            url, token = link.partition("/sign-in")[0], Path(file).read_text("ascii").strip()
            with httpx.Client(base_url=url, headers={"accept": "text/html"}, timeout=60) as person:
                assert person.get(link).status_code == 200
                assert "Ana drinks oat milk." in person.get("/").text
                assert "/v1/memories" in person.get("/docs").text
                assert person.get("/favicon.ico").headers["content-type"].startswith("image/")
            bearer = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
            with httpx.Client(base_url=url, headers=bearer, timeout=60) as program:
                assert program.get("/v1/me").json()["total"] == 1
                asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
                call = {"name": "memory_recall", "arguments": {"query": "which milk?"}}
                answer = program.post("/mcp", json={**asked, "params": call})
                assert answer.status_code == 200
                assert "Ana drinks oat milk." in answer.text
            assert httpx.post(f"{url}/mcp", json=asked).status_code == 401
        finally:
            server.terminate()
            server.wait(30)
    assert server.returncode == 0
