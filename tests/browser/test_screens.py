"""Every screen in a real browser: in four languages, wide and narrow, light and dark, without a complaint."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lamina.studio.routes import NAVIGATION
from lamina.studio.words import LANGUAGES
from tests.browser.conftest import Site, Window, opened

#: What is wrong with a page for those who use it otherwise: labels, names, headings, contrast.
CHECKS = r"""
() => {
  const wrong = [], seen = new Set();
  const shown = (one) => one.checkVisibility({checkVisibilityCSS: true});
  if (!document.documentElement.lang) wrong.push("no language");
  if (!document.title) wrong.push("no title");
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  if (!document.querySelector("main")) wrong.push("no main");
  for (const one of document.querySelectorAll("[id]")) {
    if (seen.has(one.id)) wrong.push("id twice: " + one.id);
    seen.add(one.id);
  }
  for (const one of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    const named = one.labels?.length || one.getAttribute("aria-label");
    if (!named) wrong.push("no label: " + one.outerHTML.slice(0, 90));
  }
  for (const one of document.querySelectorAll("a, button, summary")) {
    const name = (one.textContent + (one.getAttribute("aria-label") ?? "")).trim();
    if (shown(one) && !name) wrong.push("no name: " + one.outerHTML.slice(0, 90));
  }
  for (const one of document.querySelectorAll("img:not([alt]), svg:not([role])")) {
    wrong.push("no alt: " + one.outerHTML.slice(0, 60));
  }
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const linear = (v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = (colour) => colour.slice(0, 3).map((v) => linear(v / 255))
    .reduce((sum, v, n) => sum + v * [.2126, .7152, .0722][n], 0);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > .99) return colour;
    }
    return [255, 255, 255];
  };
  for (const one of document.querySelectorAll("body *:not(svg *)")) {
    const words = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!words || !shown(one) || one.closest(".skip")) continue;
    const style = getComputedStyle(one), ink = parts(style.color);
    const [high, low] = [light(ink), light(behind(one))].sort((a, b) => b - a);
    const ratio = (high + .05) / (low + .05), large = parseFloat(style.fontSize) >= 24;
    const words_shown = one.textContent.trim().slice(0, 40);
    if (ratio < (large ? 3 : 4.5)) wrong.push(`contrast ${ratio.toFixed(2)}: ${words_shown}`);
  }
  return wrong;
}
"""


def paths_of(site: Site) -> list[str]:
    """Every screen there is, each with something on it."""
    known = site.engine.scope(via="cli").recall("deliveries", k=1).hits[0].id
    return [
        *(path for path, _ in NAVIGATION),
        "/memories?q=oat&kind=preference",
        "/memories?state=soft_deleted&order=oldest",
        f"/memory/{known}",
        f"/memory/{known}?edit=1",
        "/ask?q=which+milk%3F&beside=trusted",
        f"/ask?q=kiln&why_not={known}",
        "/prompt?task=answer+a+refund&agent=planner&budget=400",
        "/time?before=2026-01-01&show=all",
        "/documents/memory/2026-11-05.md",
        "/docs",
        "/nowhere",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_screen_opens_without_a_complaint(chromium: Any, site: Site, language: str) -> None:
    dark = language in ("th", "zh-Hant")
    for window in opened(chromium, site, color_scheme="dark" if dark else "light"):
        window.open(f"/?lang={language}")
        for path in paths_of(site):
            answer = window.open(path)
            assert answer.status == (404 if path == "/nowhere" else 200), path
            assert window.page.evaluate("document.documentElement.lang") == language, path
            wrong = window.page.evaluate(CHECKS)
            assert wrong == [], (path, wrong)
            assert _axe(window) == [], path


def test_every_screen_fits_a_telephone(chromium: Any, site: Site) -> None:
    for window in opened(chromium, site, color_scheme="dark"):
        window.page.set_viewport_size({"width": 360, "height": 740})
        for path in paths_of(site):
            window.open(path)
            assert window.page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_a_page_reads_and_works_without_a_script(chromium: Any, site: Site) -> None:
    for window in opened(chromium, site, java_script_enabled=False):
        for path in paths_of(site):
            assert window.open(path).status in (200, 404), path
        window.open("/memories?q=oat+milk")
        window.page.locator("td.text a", has_text="oat milk").click()
        window.page.wait_for_url("**/memory/*")
        window.page.locator("button", has_text="Forget").first.click()
        window.page.locator(".notice button", has_text="Undo").click()
        assert window.page.locator(".state.active").count() == 1


def _axe(window: Window) -> list[str]:
    """What axe-core finds serious, where this machine has it; we ship and fetch none."""
    script = Path(os.environ.get("LAMINA_TEST_AXE") or "node_modules/axe-core/axe.min.js")
    if not script.is_file():
        return []
    window.page.evaluate(script.read_text("utf-8"))
    found = window.page.evaluate("axe.run()")["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in grave]
