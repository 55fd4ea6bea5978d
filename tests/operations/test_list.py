"""A list is the same wherever it is asked for."""

from __future__ import annotations

from pathlib import Path

import httpx

import lamina
from lamina.lifecycle.tokens import create_token
from tests.operations.serving import serving


def test_a_list_over_http_is_the_list(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "w", owner="ana") as engine, serving(engine) as url:
        ana = engine.scope()
        ana.remember("Tea at four", category="food", tags=["drink"])
        ana.remember("Honey from Samui", category="food")
        ana.remember("Ship it in May", category="goals")
        _, token = create_token(engine, "reader")
        with lamina.connect(url, token) as remote:
            far = remote.scope()
            assert far.list() == ana.list()
            first = far.list(limit=2)
            assert (first.total, len(first.items)) == (3, 2)
            rest = far.list(limit=2, cursor=first.cursor)
            assert [one.text for one in rest.items] == ["Tea at four"]
            narrowed = {"tags": ["drink"], "categories": ["food"]}
            assert far.list(**narrowed) == ana.list(**narrowed)  # type: ignore[arg-type]
        head = {"Authorization": f"Bearer {token}"}
        answer = httpx.get(f"{url}/v1/memories", params={"category": ["goals"], "limit": 1}, headers=head)
        body = answer.json()
        assert [one["text"] for one in body["items"]] == ["Ship it in May"]
        assert body["facets"]["category"] == {"goals": 1}
        refused = httpx.get(f"{url}/v1/memories", params={"cursor": "x"}, headers=head)
        assert (refused.status_code, refused.json()["code"]) == (422, "cursor_invalid")
        unknown = httpx.get(f"{url}/v1/memories", params={"colour": "red"}, headers=head)
        assert unknown.status_code in (400, 422)
