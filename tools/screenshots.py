"""Takes the pictures of Studio in `docs/images`: `python -m tools.screenshots`.

Makes the demo in a scratch folder, serves it, and visits it with the Chromium of this machine. That one needs
fonts for Thai and Chinese (Debian: fonts-thai-tlwg-otf, fonts-wqy-zenhei).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
LAMINA = [sys.executable, "-m", "lamina"]
#: Name, address, width, height, language.
SHOTS = (
    ("home", "/", 1100, 760, "en"),
    ("review", "/review", 1100, 760, "en"),
    ("prompt", "/prompt?task=deploy+the+web+shop", 1100, 760, "en"),
    ("memory", "/memory/user:ana:profile:7", 1100, 760, "en"),
    ("phone", "/", 390, 760, "th"),
)


@contextmanager
def served() -> Iterator[str]:
    """The link that signs in to a demo of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "LAMINA_HOME": f"{scratch}/home", "PYTHONUTF8": "1"}
        subprocess.run([*LAMINA, "demo", f"{scratch}/demo"], env=environment, check=True, capture_output=True)
        serve = [*LAMINA, "-w", f"{scratch}/demo", "serve", "--port", "0"]
        with subprocess.Popen(serve, env=environment, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                yield next(
                    found[0] for line in server.stderr if (found := re.search(r"http\S+code=\S+", line))
                )
            finally:
                server.terminate()


def main() -> None:
    """Take every picture."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with served() as link, sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        page: Any = browser.new_context().new_page()
        page.goto(link)
        base = link.partition("/sign-in")[0]
        for name, address, width, height, language in SHOTS:
            page.set_viewport_size({"width": width, "height": height})
            page.set_extra_http_headers({"Accept-Language": language})
            assert page.goto(base + address).ok, address
            page.screenshot(path=IMAGES / f"studio-{name}.png")
            print(f"studio-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
