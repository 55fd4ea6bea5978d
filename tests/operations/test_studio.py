"""Studio's door: who is let in, what a form must have, and what programs still get."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

import lamina
from lamina.doors.http.app import create_app
from lamina.engine import Engine
from lamina.lifecycle.tokens import create_token, revoke_token
from lamina.model import Right
from lamina.studio.app import Studio
from lamina.studio.rendering import visible
from lamina.studio.sign_in import COOKIE, IDLE, LONGEST
from lamina.studio.words import LANGUAGES, language_of, tables
from tests.operations.serving import serving

HTML = {"accept": "text/html"}


class Hands:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 17, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def engine(tmp_path: Path, lamina_home: Path, hands: Hands) -> Iterator[Engine]:
    with lamina.open(tmp_path / "w", owner="ana", clock=hands) as opened:
        yield opened


@pytest.fixture
def studio(engine: Engine) -> Studio:
    return Studio(engine)


@pytest.fixture
def url(engine: Engine, studio: Studio) -> Iterator[str]:
    with serving(engine, studio.around(create_app(engine))) as address:
        yield address


@pytest.fixture
def person(url: str, studio: Studio) -> Iterator[httpx.Client]:
    """A browser that has followed the link."""
    with httpx.Client(base_url=url, headers=HTML, timeout=60) as client:
        assert client.get(studio.link(url)).status_code == 200
        yield client


def csrf_of(client: httpx.Client, path: str = "/") -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get(path).text)
    assert found is not None
    return found[1]


def test_a_browser_gets_a_page_and_a_program_gets_json(url: str) -> None:
    page = httpx.get(f"{url}/", headers=HTML)
    assert page.status_code == 401
    assert "<h1>Sign in</h1>" in page.text
    for path in ("/", "/memories", "/v1/memories", "/nowhere"):
        answer = httpx.get(f"{url}{path}")
        assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json"), path


def test_a_link_works_once(url: str, studio: Studio) -> None:
    link = studio.link(url)
    with httpx.Client(headers=HTML) as first, httpx.Client(headers=HTML) as second:
        cookie = first.get(link).headers["set-cookie"]
        assert first.get(f"{url}/").status_code == 200
        assert second.get(link).status_code == 401
        assert second.get(f"{url}/").status_code == 401
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_a_link_and_a_session_end_with_time(url: str, studio: Studio, hands: Hands) -> None:
    old = studio.link(url)
    hands.at += timedelta(hours=2)
    with httpx.Client(headers=HTML) as client:
        assert client.get(old).status_code == 401
        client.get(studio.link(url))
        hands.at += IDLE - timedelta(minutes=1)
        assert client.get(f"{url}/").status_code == 200
        hands.at += IDLE + timedelta(minutes=1)
        assert client.get(f"{url}/").status_code == 401
        client.get(studio.link(url))
        for _ in range(LONGEST // timedelta(hours=8)):
            hands.at += timedelta(hours=8)
            client.get(f"{url}/")
        hands.at += timedelta(hours=8)
        assert client.get(f"{url}/").status_code == 401


def test_a_persons_token_signs_in_and_an_agents_does_not(url: str, engine: Engine) -> None:
    mine, own = create_token(engine, "mine", rights=tuple(Right))
    _, agents = create_token(engine, "planner", agent="planner", rights=tuple(Right))
    _, tools = create_token(engine, "tool", role="tool", rights=tuple(Right))
    with httpx.Client(base_url=url, headers=HTML) as client:
        for refused in (agents, tools, "lam_x_y"):
            answer = client.post("/sign-in", data={"token": refused})
            assert answer.status_code == 401
            assert refused not in answer.text
            assert COOKIE not in client.cookies
        assert client.post("/sign-in", data={"token": own}).status_code == 200
        assert client.get("/").status_code == 200
        revoke_token(engine, mine.id)
        assert client.get("/").status_code == 401


def test_who_fails_too_often_waits_and_who_is_signed_in_does_not(url: str, person: httpx.Client) -> None:
    with httpx.Client(base_url=url, headers=HTML) as stranger:
        answers = [stranger.post("/sign-in", data={"token": "lam_a_b"}).status_code for _ in range(8)]
    assert answers[0] == 401
    assert answers[-1] == 429
    assert person.get("/").status_code == 200
    assert person.get("/memories").status_code == 200


def test_a_form_needs_its_secret_and_our_own_page(person: httpx.Client, engine: Engine) -> None:
    memory = engine.scope().remember("Ana drinks tea.").ids[0]
    secret = csrf_of(person)
    path = f"/memory/{memory}/forget"
    assert person.post(path, data={"reason": "x"}).status_code == 403
    assert person.post(path, data={"csrf": "x"}).status_code == 403
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        assert person.post(path, data={"csrf": secret}, headers=headers).status_code == 403, headers
    assert person.post(path, json={"csrf": secret}).status_code == 415
    assert engine.scope().get(memory).state == "active"
    assert person.post(path, data={"csrf": secret}).status_code == 303
    assert engine.scope().get(memory).state == "soft_deleted"


def test_another_name_for_this_machine_is_not_answered(url: str, person: httpx.Client) -> None:
    assert person.get("/", headers={"host": "evil.example"}).status_code == 421


def test_signing_out_ends_the_session_for_every_window(url: str, person: httpx.Client) -> None:
    cookie = person.cookies[COOKIE]
    assert person.post("/sign-out", data={"csrf": csrf_of(person)}).status_code == 303
    answer = httpx.get(f"{url}/", headers=HTML, cookies={COOKIE: cookie})
    assert answer.status_code == 401


def test_what_was_typed_is_not_lost_with_the_session(
    person: httpx.Client, engine: Engine, hands: Hands
) -> None:
    memory = engine.scope().remember("Ana drinks tea.").ids[0]
    secret = csrf_of(person)
    hands.at += 2 * IDLE
    answer = person.post(
        f"/memory/{memory}", data={"csrf": secret, "text": "My long <text>", "revision": "1"}
    )
    assert answer.status_code == 401
    assert "My long &lt;text&gt;" in answer.text
    assert engine.scope().get(memory).text == "Ana drinks tea."


def test_what_is_denied_or_unfit_comes_back_with_what_was_typed(person: httpx.Client, engine: Engine) -> None:
    memory = engine.scope().remember("Ana drinks tea.").ids[0]
    secret = csrf_of(person)
    for text in ("my key is sk-ant-api03-abcdefghijklmnop1234567890", "bell \x07"):
        data = {"csrf": secret, "text": text, "revision": "1"}
        answer = person.post(f"/memory/{memory}", data=data)
        assert answer.status_code == 200
        assert text in answer.text
        assert 'class="notice problem"' in answer.text
    assert engine.scope().get(memory).text == "Ana drinks tea."


def test_a_sign_in_has_the_rights_of_its_token(url: str, engine: Engine) -> None:
    _, text = create_token(engine, "reader", rights=(Right.READ,))
    memory = engine.scope().remember("Ana drinks tea.").ids[0]
    with httpx.Client(base_url=url, headers=HTML) as client:
        client.post("/sign-in", data={"token": text})
        assert client.get("/memories").status_code == 200
        assert client.get("/audit").status_code == 403
        secret = csrf_of(client)
        assert client.post(f"/memory/{memory}/forget", data={"csrf": secret}).status_code == 403
        assert client.post("/agents/tokens", data={"csrf": secret, "label": "x"}).status_code == 403
    assert engine.scope().get(memory).state == "active"


def test_every_page_is_strict_and_has_a_twin(person: httpx.Client, engine: Engine) -> None:
    memory = engine.scope().remember("Ana drinks tea.").ids[0]
    for path in ("/", "/memories", f"/memory/{memory}", "/review", "/policy", "/audit", "/nowhere", "/docs"):
        page = person.get(path)
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert "unsafe" not in page.headers["content-security-policy"]
        assert page.headers["cache-control"] == "no-store"
        assert not re.search(r"<script(?! type=\"module\" src=\"/static/)|\son\w+=|\sstyle=", page.text), path
    twin = person.get("/memories", headers={"accept": "application/json"}).json()
    assert [one["text"] for one in twin["items"]] == ["Ana drinks tea."]
    assert person.get("/memories?as=json").json() == twin


def test_a_database_that_is_away_is_a_page(url: str, person: httpx.Client, engine: Engine) -> None:
    memory = engine.scope().remember("Ana drinks tea.").ids[0]
    secret = csrf_of(person)
    engine.database.close()
    answer = person.post(f"/memory/{memory}", data={"csrf": secret, "text": "kept words", "revision": "1"})
    assert answer.status_code in (500, 503)
    assert "<h1>" in answer.text
    assert "kept words" in answer.text
    assert "Traceback" not in answer.text


def test_pages_lead_only_to_our_own(person: httpx.Client, engine: Engine) -> None:
    memory = engine.scope().remember("Ana drinks tea.").ids[0]
    secret = csrf_of(person)
    for back in ("//evil.example/", "https://evil.example", "/\\evil.example", "x"):
        data = {"csrf": secret, "act": "pin", "id": memory, "back": back}
        assert person.post("/memories/bulk", data=data).headers["location"] == "/"


def test_every_language_has_every_word_with_the_same_places() -> None:
    english = tables()["en"].table
    for language in LANGUAGES:
        table = tables()[language].table
        assert table.keys() == english.keys()
        for key, text in table.items():
            assert text.strip(), (language, key)
            assert set(re.findall(r"{(\w+)}", text)) == set(re.findall(r"{(\w+)}", english[key])), (
                language,
                key,
            )


def test_every_word_that_a_template_asks_for_is_there() -> None:
    folder = Path(lamina.__file__).parent / "studio"
    known = tables()["en"].table
    for path in [*folder.glob("templates/*.html"), *folder.rglob("*.py")]:
        text = path.read_text("utf-8")
        asked = re.findall(r"\bt\(['\"]([a-z_.A-Z]+)['\"][),]", text) + re.findall(
            r"words\(\"([a-z_.]+)\"", text
        )
        assert [key for key in asked if key not in known] == [], path.name


@pytest.mark.parametrize(
    ("asked", "remembered", "accepted", "language"),
    [
        ("th", "zh-Hans", "en", "th"),
        ("xx", "zh-Hans", "en", "zh-Hans"),
        ("", "", "zh-TW,zh;q=0.9,en;q=0.8", "zh-Hant"),
        ("", "", "zh-CN", "zh-Hans"),
        ("", "", "de-DE, th;q=0.5, en;q=0.4", "th"),
        ("", "", "de;q=x, fr;q=0", "en"),
        ("", "", "", "en"),
    ],
)
def test_the_language_is_what_was_asked_remembered_or_preferred(
    asked: str, remembered: str, accepted: str, language: str
) -> None:
    assert language_of(asked, remembered, accepted) == language


def test_what_cannot_be_seen_is_named() -> None:
    assert "U+202E" in visible("a\u202eb")
    assert visible("<b>&") == "&lt;b&gt;&amp;"


def test_the_live_page_answers_when_something_changes(person: httpx.Client, engine: Engine) -> None:
    cursor = engine.scope(via="studio").changes("").cursor
    engine.scope(agent="planner").remember("The parcels are blue.")
    told: dict[str, Any] = person.get("/live", params={"since": cursor}).json()
    assert told["cursor"] != cursor
    assert [one["text"] for one in told["changes"]] == ["The parcels are blue."]


def test_what_is_sensitive_is_blurred_until_somebody_looks(person: httpx.Client, engine: Engine) -> None:
    engine.scope().remember("Ana Maria", key="user.name")
    engine.scope().remember("Ana drinks tea.")
    for path in ("/", "/memories"):
        page = person.get(path).text
        assert re.search(r'class="blurred">Ana Maria<', page), path
        assert not re.search(r'class="blurred">Ana drinks tea', page), path


@pytest.mark.parametrize(
    ("language", "said", "told"),
    [
        ("en", "Remember that I drink tea without sugar.", "Remembered."),
        ("th", "วันนี้อากาศร้อนจัง", "รับทราบ (เรื่องนี้ไม่ได้จดไว้)"),
        ("zh-TW", "my password is hunter2xyz!", "看起來像密碼、金鑰之類的資料"),
    ],
)
def test_a_person_says_something_on_the_first_page(
    person: httpx.Client, engine: Engine, language: str, said: str, told: str
) -> None:
    empty = person.get("/", headers={"accept-language": language}).text
    assert 'href="/agents"' in empty
    form = {"csrf": csrf_of(person), "text": said}
    page = person.post("/say", data=form, headers={"accept-language": language}, follow_redirects=True).text
    assert told in page
    assert "hunter2" not in page
    assert "note." not in page  # a key that was made up says nothing to a person
    kept = [one.text for one in engine.scope().list().items]
    assert kept == (["I drink tea without sugar"] if language == "en" else [])
