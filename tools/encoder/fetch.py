"""Downloads packages by name through the package managers that are configured on this machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.encoder.sources import Source

_NAME = re.compile(r"^(@?[^@=]+)")


def fetch(sources: Iterable[Source], folder: Path) -> None:
    """Every package of the sources into a folder per manager; what is there already stays."""
    for source in sources:
        for package in source.packages:
            archive(package, source.manager, folder)


def archive(package: str, manager: str, folder: Path) -> Path:
    """The file of one package, downloaded now if it is not there."""
    home = folder / manager
    home.mkdir(parents=True, exist_ok=True)
    unit = home / "files.json"
    known = json.loads(unit.read_text()) if unit.exists() else {}
    if package not in known or not (home / known[package]).exists():
        print(f"fetching {package} ({manager})", file=sys.stderr, flush=True)
        known[package] = _downloaded(package, manager, home)
        unit.write_text(json.dumps(known, indent=1, sort_keys=True))
    return home / known[package]


def name_of(package: str) -> str:
    """The package's name without its version."""
    return _NAME.match(package)[1]


def _downloaded(package: str, manager: str, home: Path) -> str:
    commands = {
        "pip": [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", package],
        "npm": ["npm", "pack", "--silent", package],
        "apt": ["apt-get", "download", "--quiet", package],
    }
    before = set(home.iterdir())
    done = subprocess.run(commands[manager], cwd=home, capture_output=True, text=True)
    new = sorted(path.name for path in set(home.iterdir()) - before if path.name != "files.json")
    stem = name_of(package).lstrip("@").replace("/", "-").replace("_", "-").lower()
    there = new or sorted(
        path.name
        for path in before
        if re.match(rf"{re.escape(stem)}[-_]\d", path.name.replace("_", "-").lower())
    )
    if done.returncode or not there:
        raise SystemExit(f"{manager} could not download {package}: {done.stderr.strip()[-400:]}")
    return there[-1]
