"""A correction changes the lasting memory that is meant, or asks, or says that it did not (T-3, T-4, T-5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamina.engine import Engine
from lamina.language.acknowledge import acknowledge
from lamina.model import Outcome
from lamina.scoped import ScopedMemory
from lamina.text.entries import EntryFile
from tests.backends import Place


@pytest.fixture
def home(workspace: Place) -> Engine:
    return workspace.open()


@pytest.fixture
def me(home: Engine) -> ScopedMemory:
    return home.scope()


def values(path: Path) -> list[str]:
    return [entry.value for entry in EntryFile.parse(path.read_bytes()).entries]


#: What was remembered, how it is put right, and what the file says then.
CORRECTIONS = [
    ("Remember that we meet on Monday", "It's not Monday but Tuesday", "we meet on Tuesday"),
    ("Remember that we meet on Monday", "No, it's Tuesday, not Monday.", "we meet on Tuesday"),
    ("Remember that we meet on Monday", "Sorry, I meant Tuesday", "we meet on Tuesday"),
    ("Remember that we meet on Monday", "Actually, we meet on Tuesday.", "we meet on Tuesday"),
    ("Remember that we meet on Monday", "Change Monday to Tuesday, please", "we meet on Tuesday"),
    ("Remember that the rent is due on the 3rd", "Update the rent to the 5th", "the rent is due on the 5th"),
    ("Remember that lunch is at noon", "Correction: lunch is at 1pm", "lunch is at 1pm"),
    ("Remember that my sister is called Mia", "She's called Mira, not Mia", "my sister is called Mira"),
    ("Remember that I live in Osaka", "We've moved to Kyoto.", "I live in Kyoto"),
    ("Remember that I live in Osaka", "I don't live in Osaka any more, I live in Kyoto", "I live in Kyoto"),
    ("จำไว้ว่าเราประชุมวันจันทร์", "ไม่ใช่วันจันทร์ แต่เป็นวันอังคาร", "เราประชุมวันอังคาร"),
    ("จำไว้ว่าเราประชุมวันจันทร์", "ไม่ใช่วันจันทร์ วันอังคารต่างหาก", "เราประชุมวันอังคาร"),
    ("จำไว้ว่าเราประชุมวันจันทร์", "จริงๆ แล้วเราประชุมวันอังคาร", "เราประชุมวันอังคาร"),
    ("จำไว้ว่ากำหนดส่งคือวันพฤหัส", "แก้กำหนดส่งเป็นวันศุกร์", "กำหนดส่งคือวันศุกร์"),
    ("จำไว้ว่าผมชอบชา", "แก้ preference ว่าผมชอบกาแฟมากกว่าชา", "ผมชอบกาแฟมากกว่าชา"),
    ("จำไว้ว่าฉันแพ้ถั่วลิสง", "ฉันแพ้กุ้ง ไม่ใช่ถั่วลิสง", "ฉันแพ้กุ้ง"),
    ("记住我们周一开会", "不是周一，是周二", "我们周二开会"),
    ("記住我們週一開會", "不是週一而是週二", "我們週二開會"),
    ("记住我们周一开会", "把周一改成周二", "我们周二开会"),
    ("記住截止日是週四", "更正：截止日是週五", "截止日是週五"),
    ("记住截止日是周四", "截止日改到周五了", "截止日是周五"),
    ("记住我的预算是500元", "我的预算不是500元，是800元", "我的预算是800元"),
    ("記住我住在大阪", "我搬到京都了", "我住在京都"),
    ("记住我妹妹叫小美", "我妹妹叫小梅，不是小美", "我妹妹叫小梅"),
    # A time is not cut at its colon, and both values that are named are read before anything else.
    ("Remember that choir is at 6:30", "sorry, not 6:30, it's 7:10 for choir", "choir is at 7:10"),
    (
        "Remember that the vet comes on Tuesday",
        "It's not Tuesday, it's Friday, the vet",
        "the vet comes on Friday",
    ),
    # More than the number of an address changes.
    (
        "remember parcel address: 3 Elm Court",
        "change the parcel address to 40 Dock Row",
        "parcel address: 40 Dock Row",
    ),
    # Of several numbers the one beside the same word is meant.
    (
        "Remember that I keep two goats and three ducks",
        "Actually four ducks",
        "I keep two goats and four ducks",
    ),
]


@pytest.mark.parametrize(("said", "correction", "now"), CORRECTIONS)
def test_a_correction_changes_the_line_in_the_file_and_says_what_it_says_now(
    workspace: Place, me: ScopedMemory, said: str, correction: str, now: str
) -> None:
    first = me.hear(said)
    with me.turn(correction) as turn:
        assert now in turn.heard.acknowledgement
    assert turn.done(), turn.missing()
    assert values(workspace.profile) == [now]
    memory = me.get(turn.heard.receipts[0].ids[0])
    assert (memory.text, memory.id) == (now, first.receipts[0].ids[0])
    assert [one.old_text for one in me.history(memory.id)] == [None, first_text(me, memory.id)]
    assert [turn for turn in me.turns(5) if turn == said], "what was said stays as it was said"


def first_text(mind: ScopedMemory, memory_id: str) -> str | None:
    return mind.history(memory_id)[0].new_text


def test_a_correction_is_taken_back_when_somebody_takes_the_line_out(
    workspace: Place, me: ScopedMemory
) -> None:
    me.hear("Remember that we meet on Monday")
    with me.turn("It's not Monday but Tuesday") as turn:
        pass
    assert turn.done()
    text = workspace.profile.read_text()
    workspace.profile.write_text("".join(line for line in text.splitlines(True) if "Tuesday" not in line))
    assert not turn.done()


def test_a_memory_that_is_in_no_file_is_corrected_too(engine: Engine) -> None:
    ana = engine.scope(session="s")
    one = ana.remember("The gate is painted green").ids[0]
    assert ana.hear("The gate is painted blue, not green").receipts[0].ids == (one,)
    assert ana.get(one).text == "The gate is painted blue"


ASKED_BACK = [
    (
        ["Remember that we meet on Monday", "Remember that the gym is on Monday"],
        "It's not Monday but Tuesday",
        "several_meant",
    ),
    (["จำไว้ว่าเราประชุมวันจันทร์", "จำไว้ว่ายิมปิดวันจันทร์"], "ไม่ใช่วันจันทร์ แต่เป็นวันอังคาร", "several_meant"),
    (["记住我们周一开会", "记住健身房周一关门"], "不是周一，是周二", "several_meant"),
    (["記住我們週一開會", "記住健身房週一關門"], "不是週一，是週二", "several_meant"),
    (["Remember that the office has a red door"], "Change the office to Berlin", "correction_unclear"),
    (["记住小张负责网站"], "不是小张负责网站，是小陈", "correction_unclear"),
    ([], "It's not Monday but Tuesday", "not_found"),
    ([], "ไม่ใช่วันจันทร์ แต่เป็นวันอังคาร", "not_found"),
    ([], "不是周一，是周二", "not_found"),
]


@pytest.mark.parametrize(("known", "correction", "code"), ASKED_BACK)
def test_a_correction_that_does_not_say_what_of_asks_and_changes_nothing(
    workspace: Place, me: ScopedMemory, known: list[str], correction: str, code: str
) -> None:
    for said in known:
        me.hear(said)
    before = workspace.profile.read_bytes()
    with me.turn(correction) as turn:
        pass
    receipt = turn.heard.receipts[0]
    assert (receipt.code, receipt.decision) == (code, Outcome.DENIED)
    assert turn.missing() == (turn.heard.acknowledgement,) != ("",)
    assert not turn.done()
    assert workspace.profile.read_bytes() == before


def test_asking_which_names_the_memories_and_the_answer_settles_it(
    workspace: Place, me: ScopedMemory
) -> None:
    me.hear("Remember that we meet on Monday")
    me.hear("Remember that the gym is closed on Monday")
    with me.turn("It's not Monday but Tuesday") as turn:
        assert '"we meet on Monday", "the gym is closed on Monday"' in turn.heard.acknowledgement
    assert not turn.done()
    turn.settle("The gym is closed on Tuesday, not Monday")
    assert turn.done(), turn.missing()
    assert values(workspace.profile) == ["we meet on Monday", "the gym is closed on Tuesday"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("แก้ preference ว่าชอบกาแฟมากกว่าชา", "ชอบกาแฟมากกว่าชา"),
        ("Update my preference: I want tables instead of bullets", "I want tables instead of bullets"),
        ("Correction: the deadline is Friday", "the deadline is Friday"),
        ("更正：截止日是周五", "截止日是周五"),
        ("更正：截止日是週五", "截止日是週五"),
    ],
)
def test_a_correction_of_what_was_never_said_is_kept_and_called_new(
    workspace: Place, me: ScopedMemory, said: str, kept: str
) -> None:
    with me.turn(said) as turn:
        assert turn.heard.acknowledgement
    assert turn.done(), turn.missing()
    assert values(workspace.profile) == [kept]
    texts = [acknowledge("new_instead", one, value=kept) for one in ("en", "th", "zh-Hans", "zh-Hant")]
    assert turn.heard.acknowledgement in texts


def test_what_a_correction_says_is_not_kept_twice(workspace: Place, me: ScopedMemory) -> None:
    me.hear("Remember that we meet on Monday")
    me.hear("It's not Monday but Tuesday")
    assert me.hear("Remember that we meet on Tuesday").receipts[0].code == "same"
    assert values(workspace.profile) == ["we meet on Tuesday"]


@pytest.mark.parametrize(
    "said",
    [
        "He said it's not Monday but Tuesday",
        "Is it Tuesday, not Monday?",
        "What if it's not Monday?",
        "Replace Monday with Tuesday in the email draft",
        "Correct this sentence: we meets on Monday",
        "Actually, can you summarise this?",
        "I moved the couch and now my back hurts.",
        "เขาบอกว่าไม่ใช่วันจันทร์ แต่เป็นวันอังคาร",
        "ช่วยแก้คำผิดบรรทัดที่ 3",
        "จริงๆ แล้วช่วยสรุปบทความนี้หน่อย",
        "他说不是周一而是周二",
        "把标题的字体改成 Arial",
        "其实你能总结一下这篇文章吗",
        "是周一还是周二？",
    ],
)
def test_ordinary_talk_corrects_nothing(workspace: Place, me: ScopedMemory, said: str) -> None:
    for known in ("Remember that we meet on Monday", "จำไว้ว่าเราประชุมวันจันทร์", "记住我们周一开会"):
        me.hear(known)
    before = workspace.profile.read_bytes()
    with me.turn(said) as turn:
        assert turn.heard.asked == 0
    assert turn.done()
    assert workspace.profile.read_bytes() == before


def test_an_episode_and_a_turn_are_never_rewritten(engine: Engine) -> None:
    ana = engine.scope(session="s")
    one = ana.remember("We met on Monday", layer="episodic", kind="context").ids[0]
    ana.hear("We will meet on Monday again")
    ana.hear("It's not Monday but Tuesday")
    assert ana.get(one).text == "We met on Monday"
    assert ana.turns(5) == ["We will meet on Monday again", "It's not Monday but Tuesday"]


def test_an_agent_cannot_correct_what_its_user_said(home: Engine, me: ScopedMemory, workspace: Place) -> None:
    me.hear("Remember that we meet on Monday")
    heard = home.scope(agent="planner", speaks_for=False).hear("It's not Monday but Tuesday")
    assert heard.receipts[0].decision is Outcome.DENIED
    assert heard.acknowledgement.startswith("Nothing was changed: ")
    assert values(workspace.profile) == ["we meet on Monday"]


# Every command ends proven, asked back, or refused in words.

SECRET = "hunter2-Blue42"


@pytest.mark.parametrize(
    ("said", "message", "language"),
    [
        (f"Remember that my password is {SECRET}", "refused_secret", "en"),
        (f"จำไว้ว่ารหัสผ่านคือ {SECRET}", "refused_secret", "th"),
        (f"记住我的密码是 {SECRET}", "refused_secret", "zh-Hans"),
        (f"請記住我的密碼是 {SECRET}", "refused_secret", "zh-Hant"),
        (f"Remember this for me: my password is {SECRET}.", "refused_secret", "en"),
        ("Remember for 0 hours that I am on call", "refused_lifetime", "en"),
        ("Forget everything", "everything", "en"),
        ("ลืมทุกอย่าง", "everything", "th"),
        ("忘记一切", "everything", "zh-Hans"),
        ("忘記一切", "everything", "zh-Hant"),
        ("Forget that I like unicorns", "not_found", "en"),
        ("Confirm memory response.tone", "nothing_pending", "en"),
        ("confirm memory all", "nothing_pending", "en"),
        ("Remember this for everyone: we ship on Fridays", "refused_policy", "en"),
    ],
)
def test_what_is_not_done_is_said_in_words_and_the_step_is_not_done(
    me: ScopedMemory, said: str, message: str, language: str
) -> None:
    with me.turn(said) as turn:
        pass
    key = "response.tone" if "response.tone" in said else ""
    assert turn.heard.acknowledgement == acknowledge(message, language, key=key)  # type: ignore[arg-type]
    assert turn.missing() == (turn.heard.acknowledgement,)
    assert not turn.done()
    assert SECRET not in turn.heard.acknowledgement
    turn.settle("Never mind.")
    assert turn.done(), turn.missing()


def test_settling_keeps_what_was_done_under_proof(workspace: Place, me: ScopedMemory) -> None:
    with me.turn("Remember that I like tea. Forget everything") as turn:
        pass
    assert len(turn.missing()) == 1
    turn.settle("Never mind.")
    assert turn.done()
    text = workspace.profile.read_text()
    workspace.profile.write_text("".join(line for line in text.splitlines(True) if "tea" not in line))
    assert not turn.done()


#: What is known, how somebody wants one of it gone without naming it, and which that is.
UNNAMED = [
    (["I'm a member of Bethel Tabernacle"], "I'd like you to forget where I go to church.", 0),
    (["ผมชอบสะสมแสตมป์", "ผมเป็นหอบหืด"], "เรื่องโรคประจำตัวไม่ต้องจำ ลบให้ด้วย", 1),
    (["我月薪一万二"], "刚说的工资别记录哈，算完就扔", 0),
]


@pytest.mark.parametrize(("known", "wish", "gone"), UNNAMED)
def test_a_clear_wish_takes_the_one_that_is_ahead_and_says_which(
    home: Engine, known: list[str], wish: str, gone: int
) -> None:
    scope = home.scope(session="one")
    for one in known:
        scope.remember(one)
    heard = scope.hear(wish)
    left = [one.text for one in scope.list().items if one.space == "user"]
    assert sorted(left) == sorted(one for at, one in enumerate(known) if at != gone)
    assert known[gone] in heard.acknowledgement


def test_a_wish_takes_nothing_that_it_says_shall_stay(home: Engine) -> None:
    scope = home.scope(session="one")
    scope.remember("我的牙醫是蘇醫師")
    scope.remember("我喜歡喝冬瓜茶")
    scope.hear("牙醫的資料請移除，冬瓜茶留著")
    assert [one.text for one in scope.list().items if one.space == "user"] == ["我喜歡喝冬瓜茶"]


def test_what_is_left_of_a_memory_says_of_whom_it_is(home: Engine) -> None:
    scope = home.scope(session="one")
    scope.remember("我的心理咨询师叫安宁，每周三见她")
    scope.hear("咨询师那事儿你就当我没说过吧")
    assert [one.text for one in scope.list().items if one.space == "user"] == []


@pytest.mark.parametrize(
    ("known", "said", "now"),
    [
        ("หนูเล่นไวโอลิน", "จริงๆ หนูเล่นวิโอลา ไม่ใช่ไวโอลิน คนสับสนกันเยอะ", "หนูเล่นวิโอลา"),
        (
            "我是初級採購",
            "升職啦，不是初級了，現在是資深採購",
            "我是初級採購 → 升職啦，不是初級了，現在是資深採購",
        ),
        (
            "我的狗麻糬是柴犬",
            "麻糬不是柴犬啦，獸醫說是米克斯",
            "我的狗麻糬是柴犬 → 麻糬不是柴犬啦，獸醫說是米克斯",
        ),
    ],
)
def test_the_clause_that_is_about_the_memory_has_the_new_value(
    home: Engine, known: str, said: str, now: str
) -> None:
    scope = home.scope(session="one")
    scope.remember(known)
    scope.hear(said)
    assert [one.text for one in scope.list().items if one.space == "user"] == [now]


@pytest.mark.parametrize(
    "said",
    [
        "Up to the 30th our branch closes at four instead of six, please go by that.",
        "Hold on to this till the exam on Tuesday and then chuck it: my seat is row F number 22.",
        "ตอนนี้เข้าเวรดึกไปถึงวันที่ 25",
    ],
)
def test_a_request_that_says_until_when_ends_then(home: Engine, said: str) -> None:
    scope = home.scope(session="one")
    scope.hear(said)
    assert [one.expires_at is not None for one in scope.list().items if one.space == "user"] == [True]
