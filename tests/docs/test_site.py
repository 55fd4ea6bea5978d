"""Every link of the documentation leads somewhere, and the site has every page and nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import site
from tools.site import CODE, LINK, ROOT, anchored, llms, menu, pages, stage, summary_of, title_of, turned

FILES = [ROOT / "README.md", *pages()]


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", page), re.M)
    plain = [LINK.sub(r"\2", one).lower() for one in headings]
    return {re.sub(r"[^\w\- ]", "", one).strip().replace(" ", "-") for one in plain}


def broken(file: Path) -> list[str]:
    """Links of a page to a file or a heading that is not there."""
    found = []
    for _, _, target in LINK.findall(CODE.sub("", file.read_text("utf-8"))):
        path, _, anchor = target.partition("#")
        to = (file.parent / path).resolve() if path else file
        if "://" in target:
            continue
        if not to.exists() or (anchor and anchor not in anchors(to.read_text("utf-8"))):
            found.append(f"{file.relative_to(ROOT)}: {target}")
    return found


def test_every_link_leads_to_a_file_and_to_a_heading_that_is_there() -> None:
    assert [one for file in FILES for one in broken(file)] == []


def test_a_link_to_nothing_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](#one) [b](#two) [c](no.md) [d](page.md#one)\n")
    assert broken(page) == ["page.md: #two", "page.md: no.md"]


def test_the_menu_has_every_page_once() -> None:
    listed = [place for names in menu(pages()).values() for place in names]
    assert sorted(listed) == sorted(pages().values())


def test_every_page_begins_with_its_title() -> None:
    assert [str(file) for file in pages() if not file.read_text("utf-8").startswith("# ")] == []


def test_links_to_what_is_no_page_become_words_and_code_stays_as_it_is() -> None:
    places = pages()
    file = ROOT / "docs" / "guides" / "deploy.md"
    code = "\n```\n[a](b.md)\n```"
    text = "[unit](../../deploy/lamina.service) [s](../../SECURITY.md#reporting) [o](operate.md)"
    assert turned(text + code, file, places) == f"unit [s](../security.md#reporting) [o](operate.md){code}"


def test_the_list_for_programs_names_every_page_with_what_it_says() -> None:
    places = pages()
    texts = {place: file.read_text("utf-8") for file, place in places.items()}
    told = llms(places, texts)
    assert told.startswith("# Lamina\n\n> Memory for AI agents")
    assert all(f"]({place}.md)" in told for place in places.values())
    assert title_of("# `a` b\n") == "a b"
    assert summary_of("# T\n\n![x](y)\n\nOne [two](z). Three.") == "One two."


def test_every_code_has_an_anchor_of_its_own() -> None:
    page = anchored((ROOT / "docs" / "reference" / "errors.md").read_text("utf-8"))
    found = re.findall(r'<a id="(\w+)"></a>', page)
    assert len(found) == len(set(found)) > 200
    known = (ROOT / "src/lamina/doors/data/codes.tsv").read_text("utf-8")
    assert set(found) <= {line.split("\t")[0] for line in known.splitlines()}


@pytest.mark.skipif(importlib.util.find_spec("zensical") is None, reason="pip install --group docs")
def test_the_site_builds_without_a_warning_and_fetches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "BUILD", tmp_path)
    assert len(list(stage())) == len(pages())
    command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", "zensical.toml"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    site.finish()
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert re.findall(r'(?:src|link[^>]*href)="(https?:[^"]+)"', page) == []
