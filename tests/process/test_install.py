"""What README says to install can be installed, and what is installed works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
OWN = sorted(ROOT.glob("packages/*/pyproject.toml"))
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def project(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))["project"]
    return found


def named(requirement: str) -> str:
    """The distribution that a requirement is about."""
    found = NAME.match(requirement)
    assert found is not None, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def extras() -> dict[str, list[str]]:
    found: dict[str, list[str]] = project(ROOT / "pyproject.toml")["optional-dependencies"]
    return found


def test_nothing_that_pip_is_asked_for_is_a_package_that_no_index_has() -> None:
    """Our own packages are installed out of their folders; an extra that names one cannot be installed."""
    ours = {named(project(file)["name"]) for file in OWN}
    assert ours == {"lamina-encoder", "lamina-govern"}
    wanted = [*project(ROOT / "pyproject.toml")["dependencies"], *(r for rs in extras().values() for r in rs)]

    assert [one for one in wanted if named(one) in ours] == []


#: Each goes with a framework of its own, which few have and which do not all fit into one environment.
FRAMEWORKS = {
    "agent-framework",
    "autogen",
    "crewai",
    "deepagents",
    "google-adk",
    "hermes",
    "llama-index",
    "openai-agents",
    "pydantic-ai",
    "strands",
}


def test_the_extra_all_is_all_of_them_but_the_frameworks() -> None:
    assert set(extras()) >= FRAMEWORKS
    (whole,) = extras()["all"]
    assert named(whole) == "lamina"
    assert set(whole[whole.index("[") + 1 : -1].split(",")) == set(extras()) - {"all"} - FRAMEWORKS


def advice() -> list[tuple[str, str]]:
    """Every `pip install …` that we tell anybody, with its place."""
    files = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    files += ROOT.glob("src/**/*.py")
    return [
        (file.name, line)
        for file in files
        for line in re.findall(r"pip install ([^\n`\"#)]+)", file.read_text("utf-8"))
    ]


def test_what_people_are_told_to_install_exists() -> None:
    told = advice()
    assert len(told) > 8
    for place, line in told:
        for group in re.findall(r"\[([a-z,-]+)\]", line):
            assert set(group.split(",")) <= set(extras()), (place, line)
        assert not re.search(r"(?<![./])lamina-encoder", line), (place, line)
        # No index has Lamina: the name is somebody else's there. A program that runs has it installed.
        assert place.endswith(".py") or not re.search(r"(?<![\w./-])lamina(?![\w-])", line), (place, line)
        for folder in re.findall(r"\./[\w./-]+", line):
            assert (ROOT / folder.rstrip(".") / "pyproject.toml").is_file(), (place, line)


def run(*command: str | Path, cwd: Path) -> str:
    """What a program printed; of this environment it sees the system's programs and pip's settings."""
    clean = {"LAMINA_HOME": str(cwd.parent / "lamina-home")}
    clean |= {
        name: value for name, value in os.environ.items() if name in ("PATH", "HOME") or name[:4] == "PIP_"
    }
    words = [str(one) for one in command]
    done = subprocess.run(words, cwd=cwd, env=clean, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Both distributions, built out of this clone without an index."""
    folder = tmp_path_factory.mktemp("wheels")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    run(*pip, "-w", folder, ROOT, *(file.parent for file in OWN), cwd=folder)
    found = sorted(folder.glob("*.whl"))
    assert [one.name.split("-")[0] for one in found] == ["lamina", "lamina_encoder", "lamina_govern"]
    return found


def try_out(programs: Path, folder: Path) -> None:
    """The first minutes of somebody who just installed it."""
    folder.mkdir()
    lamina = programs / "lamina"
    assert run(lamina, "--version", cwd=folder).startswith("lamina 0.")
    run(lamina, "init", "--owner", "ana", cwd=folder)
    run(lamina, "remember", "Ana is lactose intolerant and drinks oat milk.", cwd=folder)
    assert "oat milk" in run(lamina, "recall", "which milk should I buy?", cwd=folder)
    where = run(programs / "python", "-c", "import lamina; print(lamina.__file__)", cwd=folder)
    assert str(ROOT) not in where
    assert "every text has its vector" in run(lamina, "doctor", cwd=folder)


def test_the_wheels_work_in_an_environment_without_this_clone(wheels: list[Path], tmp_path: Path) -> None:
    """Offline: what they depend on is lent by the environment of these tests, and nothing else is."""
    venv.create(tmp_path / "venv", symlinks=True)
    programs = tmp_path / "venv" / "bin"
    pip = (sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet")
    run(*pip, "--no-deps", "--no-index", *wheels, cwd=tmp_path)
    # A path in a .pth file is added as it is: the editable installation of this clone does not come with it.
    packages = next((tmp_path / "venv").rglob("site-packages"))
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")

    try_out(programs, tmp_path / "w")


def index_answers(folder: Path) -> bool:
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries", "0")
    done = subprocess.run([*pip, "-d", str(folder), "filelock"], capture_output=True, check=False)
    return done.returncode == 0


def interpreter(version: str) -> str | None:
    """A Python of that version that starts, out of the path or where pyenv keeps them."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for one in (f"python{version}", *map(str, sorted(kept.glob(f"{version}.*/bin/python")))):
        found = shutil.which(one)
        if found and not subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
            return found
    return None


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_wheels_and_what_they_depend_on_come_into_an_empty_environment(
    version: str, wheels: list[Path], tmp_path: Path
) -> None:
    """Needs an index, for what Lamina depends on."""
    if not index_answers(tmp_path / "tried"):
        pytest.skip("no package index can be reached")
    python = interpreter(version) or pytest.skip(f"there is no Python {version} here")
    run(python, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    programs = tmp_path / "venv" / "bin"
    assert run(programs / "python", "--version", cwd=tmp_path).startswith(f"Python {version}.")
    run(programs / "python", "-m", "pip", "install", "--quiet", *wheels, cwd=tmp_path)

    try_out(programs, tmp_path / "w")
