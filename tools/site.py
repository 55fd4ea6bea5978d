"""Makes the documentation's site in `build/site`: `make docs`.

The pages in `docs/` link to files beside it, as they are read in the repository. For the site they are copied
to `build/docs` together with the pages that stand elsewhere; links are turned round to them, and links to
files that are no pages become plain words. `llms.txt` lists the pages for programs that read. Zensical makes
the rest, with a search that works without a server.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build"
#: What pages that are opened from a folder would fetch, so that their search works; ours is `worker.js`.
SHIM = "https://unpkg.com/iframe-worker/shim"
LINK = re.compile(r"(!?)\[([^\]\[]*)\]\(([^()\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.M | re.S)

#: The order of the menu. What stands in a folder and in no list follows under the last title of that folder.
MENU = {
    "Start here": ["index", "quickstart", "concepts", "ten-minutes"],
    "By task": [
        "guides/chatbot",
        "guides/agents",
        "guides/governance",
        "guides/correct-forget-prove",
        "guides/consent",
        "guides/move",
        "guides/langgraph",
        "guides/deploy",
        "guides/operate",
        "guides/policy",
        "guides/testing",
        "guides/studio",
    ],
    "Frameworks": [
        "guides/anthropic",
        "guides/openai-agents",
        "guides/mem0",
        "guides/pydantic-ai",
        "guides/llama-index",
        "guides/google-adk",
        "guides/deepagents",
        "guides/crewai",
        "guides/hermes",
        "guides/openclaw",
        "guides/other-frameworks",
        "guides/typescript",
    ],
    "Examples": [],
    "In depth": ["guides/commands", "guides/core-memory", "guides/search"],
    "Reference": ["reference/cli", "reference/python", "reference/http", "reference/mcp"],
    "About Lamina": ["versions", "security", "changelog", "architecture", "conformance", "benchmarks"],
    "Decisions": [],
}
REST = {"guides": "In depth", "reference": "Reference", "decisions": "Decisions", "examples": "Examples"}
CODES = "reference/errors"
#: Pages that stand outside of `docs/`, by their place in the site.
ELSEWHERE = {
    "security": "SECURITY.md",
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "conduct": "CODE_OF_CONDUCT.md",
    "packages/lamina-govern": "packages/lamina-govern/README.md",
    "packages/lamina-encoder": "packages/lamina-encoder/README.md",
    "packages/lamina-client": "packages/lamina-client/README.md",
}


def pages() -> dict[Path, str]:
    """Every page: its file, and its place in the site without the ending."""
    found = {file: file.relative_to(ROOT / "docs").with_suffix("") for file in (ROOT / "docs").rglob("*.md")}
    places = {file: place.as_posix() for file, place in sorted(found.items())}
    places |= {ROOT / file: place for place, file in ELSEWHERE.items() if (ROOT / file).exists()}
    places[ROOT / "examples" / "README.md"] = "examples/index"
    for file in sorted((ROOT / "examples").glob("*/README.md")):
        places[file] = f"examples/{file.parent.name}"
    return places


def title_of(page: str) -> str:
    """The first heading."""
    found = re.search(r"^# (.+)$", page, re.M)
    assert found is not None
    return found[1].replace("`", "")


def summary_of(page: str) -> str:
    """The first sentence of prose after the heading."""
    plain = LINK.sub(r"\2", CODE.sub("", page.partition("\n")[2]))
    prose = [part for part in plain.split("\n\n") if re.match(r"\s*[A-Z*`]", part)]
    text = " ".join(prose[0].split()) if prose else ""
    return re.split(r"(?<=[.!?:])\s", text.replace("*", ""), maxsplit=1)[0]


def turned(text: str, file: Path, places: dict[Path, str]) -> str:
    """A page with its links as the site has them."""
    here = Path(places[file]).parent

    def link(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or "://" in target or target.startswith("mailto:"):
            return match[0]
        to = Path(os.path.normpath(file.parent / path))
        if to.is_dir():
            to = to / "README.md"
        if to in places:
            place = os.path.relpath(f"{places[to]}.md", here)
        elif to.is_relative_to(ROOT / "docs") and to.is_file():
            place = os.path.relpath(to.relative_to(ROOT / "docs"), here)
        else:
            return words
        return f"{mark}[{words}]({place}{'#' + anchor if anchor else ''})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def anchored(page: str) -> str:
    """The page of codes with an anchor for each, so that `errors.html#store_gone` leads there."""
    seen: set[str] = set()

    def anchor(match: re.Match[str]) -> str:
        new = match[1] not in seen
        seen.add(match[1])
        return f'| <a id="{match[1]}"></a>`{match[1]}` |' if new else match[0]

    return re.sub(r"^\| `([a-z][a-z0-9_]+)` \|", anchor, page, flags=re.M)


def menu(places: dict[Path, str]) -> dict[str, list[str]]:
    """Every page once, under its title."""
    listed = {title: list(names) for title, names in MENU.items()}
    known = {name for names in MENU.values() for name in names}
    for place in sorted(places.values()):
        if place not in known:
            listed[REST.get(place.partition("/")[0], "About Lamina")].append(place)
    return listed


def llms(places: dict[Path, str], texts: dict[str, str]) -> str:
    """The list of pages for programs that read (llmstxt.org)."""
    lines = ["# Lamina", "", f"> {summary_of(texts['index'])}", ""]
    for title, names in menu(places).items():
        lines += [f"## {title}", ""]
        for name in names:
            lines.append(f"- [{title_of(texts[name])}]({name}.md): {summary_of(texts[name])}")
        lines.append("")
    return "\n".join(lines)


def config(places: dict[Path, str], texts: dict[str, str]) -> str:
    """What Zensical is given: TOML, whose strings are JSON's."""
    said = json.dumps
    rows = []
    for title, names in menu(places).items():
        items = ", ".join(f"{{{said(title_of(texts[name]))} = {said(name + '.md')}}}" for name in names)
        rows.append(f"  {{{said(title)} = [{items}]}},")
    head = ['site_name = "Lamina"', f"site_description = {said(summary_of(texts['index']))}"]
    head += ['docs_dir = "docs"', 'site_dir = "site"', "use_directory_urls = false"]
    theme = ["[project.theme]", 'features = ["navigation.sections", "navigation.top", "search.highlight"]']
    theme += ["font = false", "[project.plugins.offline]"]
    return "\n".join(["[project]", *head, "nav = [", *rows, "]", *theme, ""])


def stage() -> Iterator[Path]:
    """Write `build/docs` and what Zensical needs; gives each page as it is there."""
    places = pages()
    shutil.rmtree(BUILD / "docs", ignore_errors=True)
    shutil.copytree(ROOT / "docs", BUILD / "docs", ignore=shutil.ignore_patterns("*.md"))
    texts = {place: turned(file.read_text("utf-8"), file, places) for file, place in places.items()}
    texts[CODES] = anchored(texts[CODES])
    for place, text in texts.items():
        to = BUILD / "docs" / f"{place}.md"
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, "utf-8")
        yield to
    (BUILD / "docs" / "llms.txt").write_text(llms(places, texts), "utf-8")
    (BUILD / "zensical.toml").write_text(config(places, texts), "utf-8")


def main() -> None:
    """Stage the pages and build the site; a warning is an error."""
    print(f"{len(list(stage()))} pages")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", "zensical.toml"]
    if code := subprocess.run(command, cwd=BUILD, check=False).returncode:
        sys.exit(code)
    finish()
    print("build/site/index.html")


def finish() -> None:
    """What Zensical leaves to the network is put beside the pages; so are the pages as they were written."""
    shutil.copy(Path(__file__).with_name("worker.js"), BUILD / "site" / "assets" / "worker.js")
    for page in (BUILD / "site").rglob("*.html"):
        worker = os.path.relpath(BUILD / "site" / "assets" / "worker.js", page.parent)
        page.write_text(page.read_text("utf-8").replace(SHIM, Path(worker).as_posix()), "utf-8")
    for page in (BUILD / "docs").rglob("*.md"):
        shutil.copy(page, BUILD / "site" / page.relative_to(BUILD / "docs"))


if __name__ == "__main__":
    main()
