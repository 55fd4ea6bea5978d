"""One version for everything that is released together, and a section of the changelog for it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import lamina

ROOT = Path(__file__).parents[2]


def project(folder: str) -> str:
    found: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))
    version: str = found["project"]["version"]
    return version


def told() -> dict[str, str]:
    """Every place that names the version of a release."""
    found = {"lamina": project("."), "lamina-govern": project("packages/lamina-govern")}
    files = ("packages/lamina-client/package.json", "plugins/openclaw/package.json", "server.json")
    for name in (*files, "plugins/openclaw/openclaw.plugin.json", "plugins/codex/.codex-plugin/plugin.json"):
        found[name] = json.loads((ROOT / name).read_text("utf-8"))["version"]
    patterns = {"CITATION.cff": r"^version: (.+)$", "plugins/memory/lamina/plugin.yaml": r"^version: (.+)$"}
    patterns |= {"deploy/kubernetes/lamina.yaml": r"image: lamina:(.+)$"}
    for name, pattern in patterns.items():
        match = re.search(pattern, (ROOT / name).read_text("utf-8"), re.M)
        assert match is not None, name
        found[name] = match[1]
    return found


def test_everything_that_is_released_together_has_one_version() -> None:
    assert set(told().values()) == {lamina.__version__}


def test_the_encoder_goes_with_the_same_minor_version() -> None:
    assert project("packages/lamina-encoder").rsplit(".", 1)[0] == lamina.__version__.rsplit(".", 1)[0]


def test_the_changelog_and_the_page_on_versions_have_this_one() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## (.+)$", changes, re.M)
    assert headings[0] == "Unreleased"
    assert headings[1].startswith(lamina.__version__)
    assert f"| {lamina.__version__.rsplit('.', 1)[0]} |" in (ROOT / "docs" / "versions.md").read_text("utf-8")
