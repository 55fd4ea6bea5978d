"""A real Chromium, and a server with a believable memory behind it; skipped with a reason where none is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import lamina
from lamina.doors.http.app import create_app
from lamina.engine import Engine
from lamina.studio.app import Studio
from tests.operations.serving import serving

#: As a container lets it start; nothing is fetched from anywhere.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def chromium_program() -> str | None:
    """The Chromium of this machine: LAMINA_TEST_CHROMIUM, or one that is on the path."""
    return os.environ.get("LAMINA_TEST_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


@pytest.fixture
def chromium() -> Iterator[Any]:
    """A browser for one test: its driver runs an event loop in this thread, where none may stay."""
    program = chromium_program()
    if program is None:
        pytest.skip(
            "there is no Chromium here: apt-get install chromium, or name one in LAMINA_TEST_CHROMIUM"
        )
    # Here, not above: every worker imports this file, and that package takes longer than all of us.
    playwright = pytest.importorskip("playwright.sync_api", reason="the package `playwright` is missing")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Site:
    """A server with pages, and the memory behind it."""

    url: str
    engine: Engine
    studio: Studio

    def link(self) -> str:
        return self.studio.link(self.url)


@dataclass
class Window:
    """One page of a browser, and everything that went wrong on it."""

    page: Any
    url: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> Any:
        """Go there; the answer, so that its status can be looked at."""
        return self.page.goto(f"{self.url}{path}", wait_until="load")


def seeded(folder: Path, home: Path) -> Engine:
    """A memory with something of every sort, in three languages."""
    engine = lamina.open(folder, owner="ana", environment={"LAMINA_HOME": str(home)})
    ana, planner = engine.scope(via="cli"), engine.scope(agent="planner", via="mcp")
    ana.remember("Ana is allergic to peanuts.", kind="constraint", category="health", tags=["diet"])
    ana.remember("Ana drinks oat milk.", kind="preference", category="health", tags=["diet"])
    ana.remember("安娜每週三晚上學書法。", category="life")
    ana.remember("อานาชอบทำงานตอนเช้าที่ร้านกาแฟ", category="life")
    first = ana.remember("Deliveries take five days.", category="shop").ids[0]
    ana.revise(first, "Deliveries take four days.", reason="the new carrier")
    gone = ana.remember("The old printer is broken.", category="office").ids[0]
    ana.forget(gone, reason="it was sold")
    planner.remember("The web shop sells forty orders a week.", category="shop")
    planner.remember("concise", key="response.verbosity")
    planner.remember("Bangkok", key="home.city")
    planner.remember("tabs", key="code.style")
    ana.learn("The kiln is fired every Tuesday.")
    planner.learn("The kiln is fired every Thursday.", resolution="ask")
    ana.learn_procedure("When a customer asks for a refund", ["Look up the order", "Offer a replacement"])
    ana.record_episode("Moved the shop to the new server.", outcome="partial", topics=["server"])
    ana.update_user_model({"name": "Ana", "timezone": "Asia/Bangkok", "expertise": {"docker": "expert"}})
    (folder / "memory").mkdir(exist_ok=True)
    (folder / "memory" / "2026-11-05.md").write_text(_DECISIONS, "utf-8")
    assert engine.library is not None
    engine.library.index(engine.now())
    return engine


_DECISIONS = "".join(
    f"""## Decision: Ship with {name}
- id: DECISION-20261105-ship-with-{name.lower()}
- date: 2026-11-05
- source:
  - session_id: shop
  - session_path: sessions/shop.jsonl
  - message_range: 4-6
- why: They come every day.
- finding: Two were tried.
- conclusion: Parcels go with {name}.
- impact: None.
- confidence: 0.9
- status: active

"""
    for name in ("Kerry", "Flash")
)


@pytest.fixture
def site(tmp_path: Path, lamina_home: Path) -> Iterator[Site]:
    """A server of this test's own."""
    with seeded(tmp_path / "workspace", lamina_home) as engine:
        studio = Studio(engine)
        with serving(engine, studio.around(create_app(engine))) as url:
            yield Site(url, engine, studio)


@pytest.fixture
def window(chromium: Any, site: Site) -> Iterator[Window]:
    """A browser that has signed in; the test fails if a page logs an error or breaks the policy."""
    yield from opened(chromium, site)


def opened(chromium: Any, site: Site, **options: Any) -> Iterator[Window]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, **options)
    page = context.new_page()
    made = Window(page, site.url)
    watch(page, made.faults)
    page.goto(site.link())
    page.wait_for_url(f"{site.url}/")
    yield made
    context.close()
    assert made.faults == []


def watch(page: Any, faults: list[str]) -> None:
    """Console errors (a broken policy is one), exceptions of scripts, and requests that leave the server."""

    def console(message: Any) -> None:
        # A page that says no (404, 409, 422) is logged by the browser as a resource that did not load.
        if message.type == "error" and "Failed to load resource" not in message.text:
            faults.append(f"console: {message.text}")

    page.on("console", console)
    page.on("pageerror", lambda error: faults.append(f"script: {error}"))
    page.on("dialog", lambda dialog: dialog.accept())
