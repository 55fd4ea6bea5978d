"""Everyday tasks of a person, with mouse and keys: each in few clicks, what it did read from the store."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx

from lamina.model import State
from tests.browser.conftest import Site, Window, opened


class Clicks:
    """Counts what a person would click or press."""

    def __init__(self, window: Window) -> None:
        self.page, self.count = window.page, 0

    def on(self, selector: str, **options: Any) -> None:
        self.page.locator(selector, **options).first.click()
        self.count += 1
        self.page.wait_for_load_state("load")

    def press(self, key: str) -> None:
        self.page.wait_for_load_state("load")  # keys are heard from then on
        self.page.keyboard.press(key)
        self.count += 1


def nav(clicks: Clicks, name: str) -> None:
    clicks.on(f'nav a:has-text("{name}")')
    clicks.page.locator("h1", has_text=name).wait_for()


def test_find_what_is_known_about_my_diet_correct_it_and_see_why(site: Site, window: Window) -> None:
    clicks = Clicks(window)
    nav(clicks, "Memories")
    window.page.fill("#q", "oat milk")  # the table follows as it is typed
    row = window.page.locator("td.text a", has_text="oat milk")
    window.page.wait_for_url("**q=oat*")
    row.first.click()
    window.page.locator("#why li").first.wait_for()
    assert "user:ana said it" in window.page.locator("#why").inner_text()
    clicks.press("e")
    window.page.locator("textarea[name=text]").fill("Ana drinks soy milk.")
    assert window.page.locator("#preview ins").inner_text() == "soy"
    clicks.on("button:has-text('Save')")
    window.page.locator(".notice.done").wait_for()
    assert "Ana drinks soy milk." in [one.text for one in site.engine.scope().list().items]
    assert window.page.locator(".history del").first.inner_text() == "oat"
    assert clicks.count + 1 <= 4


def test_approve_guesses_with_keys_edit_one_and_say_no_for_good(site: Site, window: Window) -> None:
    ana, clicks = site.engine.scope(), Clicks(window)
    nav(clicks, "Review")
    before = len(ana.pending())
    clicks.press("y")
    window.page.locator(".notice.done").wait_for()
    assert len(ana.pending()) == before - 1
    assert ana.resolve(["response.verbosity"])["response.verbosity"].value == "concise"
    clicks.press("e")
    window.page.locator("[data-item] textarea").first.fill("Chiang Mai")
    window.page.locator("[data-item] [data-act=yes]").first.click()
    window.page.locator(f'#waiting[data-count="{before - 2}"]').wait_for()
    assert ana.resolve(["home.city"])["home.city"].value == "Chiang Mai"
    clicks.press("n")
    window.page.locator(f'#waiting[data-count="{before - 3}"]').wait_for()
    assert "code.style" not in ana.resolve(["code.style"])
    again = site.engine.scope(agent="planner").remember("tabs", key="code.style")
    assert again.decision == "denied"


def test_answer_many_at_once(site: Site, window: Window) -> None:
    clicks = Clicks(window)
    nav(clicks, "Review")
    clicks.on("#all")
    clicks.on("button:has-text('Yes to the selected')")
    window.page.locator(".notice.done").wait_for()
    assert site.engine.scope().pending() == []
    kiln = [one.text for one in site.engine.scope().list().items if "kiln" in one.text]
    assert kiln == ["The kiln is fired every Thursday."]
    assert clicks.count <= 4


def test_forget_what_an_agent_wrote_and_take_it_back(site: Site, window: Window) -> None:
    clicks = Clicks(window)
    window.open("/memories?by=agent%3Aplanner")
    clicks.on("#all")
    clicks.on("button:has-text('Forget')")
    window.page.locator(".notice.done").wait_for()
    assert not site.engine.scope().list(by="agent:planner").items
    clicks.press("u")
    window.page.locator(".notice", has_text="Restored").wait_for()
    assert [one.text for one in site.engine.scope().list(by="agent:planner").items] == [
        "The web shop sells forty orders a week."
    ]
    assert clicks.count <= 4


def test_see_what_an_agent_is_told_for_a_task(site: Site, window: Window) -> None:
    clicks = Clicks(window)
    nav(clicks, "Prompt")
    window.page.fill("#task", "answer a customer who asks for a refund")
    window.page.fill("#agent", "planner")
    clicks.press("Enter")
    window.page.locator("details.block").first.wait_for()
    told = site.engine.scope(agent="planner").context("answer a customer who asks for a refund")
    shown = window.page.locator("details >> pre").last.text_content()
    assert shown == told.text
    assert clicks.count <= 4


def test_forget_for_good_with_the_receipt(site: Site, window: Window) -> None:
    known = site.engine.scope().recall("oat milk", k=1).hits[0].id
    window.open(f"/memory/{known}")
    clicks = Clicks(window)
    clicks.on("button:has-text('Forget for good')")
    window.page.locator("h1", has_text="Gone for good").wait_for()
    assert "nothing of it is left" in window.page.locator("main").inner_text()
    assert site.engine.scope().verify_purge(known).clean
    assert window.open(f"/memory/{known}").status == 404
    assert clicks.count + 1 <= 4  # and the question before it


def test_make_a_token_use_it_and_revoke_it(site: Site, window: Window) -> None:
    clicks = Clicks(window)
    nav(clicks, "Agents")
    window.page.fill("#label", "editor")
    window.page.fill("#agent", "writer")
    clicks.on("button:has-text('Create')")
    token = window.page.locator("#secret").input_value()
    with httpx.Client(base_url=site.url, headers={"authorization": f"Bearer {token}"}) as program:
        assert program.get("/v1/me").status_code == 200
        clicks.on("button:has-text('Revoke')")
        window.page.locator(".notice.done").wait_for()
        assert program.get("/v1/me").status_code == 401
    assert token not in window.page.content()


def test_import_what_another_tool_knows(site: Site, window: Window, tmp_path: Path) -> None:
    words = {"content_type": "text", "parts": ["I moved to Lisbon in May."]}
    said = {"author": {"role": "user"}, "content": words, "recipient": "all", "metadata": {}}
    message = {"id": "m", "create_time": site.engine.now().timestamp() - 3600, **said}
    talk = [
        {"id": "c1", "current_node": "a", "mapping": {"a": {"id": "a", "parent": None, "message": message}}}
    ]
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps(talk), "utf-8")
    clicks = Clicks(window)
    nav(clicks, "Import, export, jobs")
    window.page.set_input_files("#file", export)
    clicks.on("button:has-text('See what would happen')")
    window.page.locator("h3", has_text="What would come in").wait_for()
    assert not any("Lisbon" in one.text for one in site.engine.scope().list(limit=500).items)
    clicks.on("button:has-text('conversations.json')")
    window.page.locator("h3", has_text="What came in").wait_for()
    assert any("Lisbon" in one.text for one in site.engine.scope().list(limit=500).items)
    assert clicks.count + 1 <= 4  # and the choice of the file


def test_verify_the_audit(window: Window) -> None:
    clicks = Clicks(window)
    nav(clicks, "Audit")
    clicks.on("button:has-text('Verify')")
    window.page.locator(".good", has_text=re.compile("Intact: [0-9]+ records")).wait_for()
    assert clicks.count <= 4


def test_try_a_sentence_on_the_policy_and_keep_nothing(site: Site, window: Window) -> None:
    before = site.engine.status()
    window.open("/policy")
    window.page.fill("#text", "my key is sk-ant-api03-abcdefghijklmnop1234567890")
    window.page.keyboard.press("Enter")
    window.page.locator(".gates .stopped", has_text="Privacy").wait_for()
    assert "sk-ant" not in window.page.url
    assert site.engine.status().audit_records == before.audit_records


def test_a_stale_form_shows_both_versions_and_keeps_what_was_typed(site: Site, window: Window) -> None:
    ana = site.engine.scope()
    known = ana.recall("oat milk", k=1).hits[0].id
    window.open(f"/memory/{known}?edit=1")
    ana.revise(known, "Ana drinks rice milk.")
    window.page.locator("textarea[name=text]").fill("Ana drinks almond milk.")
    window.page.locator("button", has_text="Save").click()
    window.page.locator("h1", has_text="Somebody changed it first").wait_for()
    shown = window.page.locator("main").inner_text()
    assert "Ana drinks rice milk." in shown
    assert "Ana drinks almond milk." in shown
    assert ana.get(known).text == "Ana drinks rice milk."
    window.page.locator("button", has_text="Save mine").click()
    window.page.locator(".notice.done").wait_for()
    assert ana.get(known).text == "Ana drinks almond milk."


def test_a_memory_that_an_agent_writes_appears_by_itself(site: Site, window: Window) -> None:
    window.open("/memories")
    planner = site.engine.scope(agent="planner", via="mcp")
    planner.remember("The parcels are blue from today on.")
    window.page.locator("td.text a", has_text="The parcels are blue").wait_for(timeout=20_000)
    before = int(window.page.locator("#waiting").get_attribute("data-count") or 0)
    planner.remember("spaces", key="editor.indent")
    window.page.locator(f'#waiting[data-count="{before + 1}"]').wait_for(timeout=20_000)


def test_a_decision_is_overruled_and_a_file_read(site: Site, window: Window) -> None:
    window.open("/decisions")
    window.page.locator("summary", has_text="Replace").first.click()
    window.page.locator("details[open] input[name=because]").fill("three broken bowls")
    window.page.locator("details[open] button").click()
    window.page.locator("h2", has_text="Replaced decisions").wait_for()
    found = site.engine.scope().decisions("superseded").decisions
    assert [one.decision.superseded_because for one in found] == ["three broken bowls"]
    window.page.locator("td a", has_text="memory/2026-11-05.md").click()
    window.page.locator("h1", has_text="memory/2026-11-05.md").wait_for()


def test_the_person_is_a_form(site: Site, window: Window) -> None:
    window.open("/layers")
    window.page.fill("#name", "Nan")
    window.page.fill("#note", "Likes maps.")
    window.page.locator("main button", has_text="Save").first.click()
    window.page.locator(".notice.done").wait_for()
    model = site.engine.scope().user_model()
    assert (model["name"], model["notes"]) == ("Nan", ["Likes maps."])


def test_erasing_asks_for_the_name_and_then_leaves_nothing(site: Site, window: Window) -> None:
    window.open("/transfer")
    window.page.fill("#confirm", "Ana")
    window.page.locator("button", has_text="Erase me").click()
    window.page.locator(".notice.problem").wait_for()
    assert site.engine.scope().list().items
    window.page.fill("#confirm", "ana")
    window.page.locator("button", has_text="Erase me").click()
    window.page.locator(".danger pre").wait_for()
    assert not site.engine.scope().list(states=list(State)).items


def test_hostile_words_are_shown_and_never_run(chromium: Any, site: Site) -> None:
    """The corpus through every field that takes text: nothing runs, and all of it is shown as it is."""
    corpus = [
        "<script>document.title='owned'</script>",
        '"><img src=x onerror="document.title=\'owned\'">',
        "<svg/onload=document.title='owned'>",
        "javascript:document.title='owned'",
        "{{ 7 * 7 }} {% raw %} ${7*7} &lt;b&gt; &#x3c;i&#x3e;",
        "</textarea></title><script>document.title='owned'</script>",
        "'; document.title='owned'; //",
        "right \u202e to left \u2066 and zero\u200bwidth",
        "<a href='javascript:document.title=1'>click</a>",
        "<style>*{display:none}</style>",
    ]
    ana, agent = site.engine.scope(), site.engine.scope(agent="planner")
    ids = [ana.remember(text, tags=["<b>tag</b>"], category="<i>cat</i>").ids[0] for text in corpus]
    for number, text in enumerate(corpus):
        agent.remember(text, key=f"hostile.key{number}", reason=text[:80])
    ana.learn_procedure(corpus[0], corpus[1:4])
    ana.record_episode(corpus[2], topics=[corpus[1]])
    ana.update_user_model({"name": "<script>1</script>", "notes": [corpus[1]]})
    for window in opened(chromium, site):
        marked = "/memories?q=" + "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
        paths = ["/", "/memories", marked, "/review", "/layers", "/time", "/audit", "/agents", "/policy"]
        paths += [
            f"/ask?q={httpx.QueryParams({'q': corpus[1]})['q']}",
            "/prompt?task=%3Cscript%3E1%3C/script%3E",
        ]
        paths += [f"/memory/{one}" for one in ids] + [f"/memory/{one}?edit=1" for one in ids[:2]]
        for path in paths:
            window.open(path)
            assert "owned" not in window.page.title(), path
            assert (
                window.page.locator("main img, main script, main style, main a[href^='javascript']").count()
                == 0
            )
        for name, text in zip(ids, corpus, strict=True):
            window.open(f"/memory/{name}")
            shown = window.page.locator(".words").inner_text()
            if "\u202e" in text:
                assert "U+202E" in shown
                assert "\u202e" not in shown
            else:
                assert shown.split() == text.split()


def test_a_very_long_memory_is_a_page_and_not_a_hang(site: Site, window: Window) -> None:
    words = "\n".join(f"line {number} <b>" for number in range(10_000))
    limit = site.engine.config.max_text_chars
    made = site.engine.scope().remember(words[:limit]).ids[0]
    assert window.open(f"/memory/{made}").status == 200
    assert len(window.page.content()) < 400_000
    window.open(f"/memory/{made}?edit=1")
    assert window.page.locator("textarea[name=text]").input_value() == words[:limit]
