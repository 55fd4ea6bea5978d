"""A wish never to hear of something again takes away what is known of it, for good; what only sounds like it
takes nothing."""

from __future__ import annotations

import pytest

from lamina.engine import Engine
from lamina.model import State

#: Whose it is, what is known, what stands beside it, what is said.
WISHES = [
    ("me", "My ex-husband is called Gerald.", "I live in Leeds.", "Please never mention Gerald again."),
    ("me", "I was fired from Tesco.", "I like tea.", "I don't want you to ever bring up Tesco again."),
    ("me", "My sister Nadia is in prison.", "My brother plays cello.", "No more talk of Nadia, ever."),
    ("me", "My weight is 104 kilos.", "I swim on Mondays.", "Stop bringing up my weight."),
    ("project", "We nearly hired Tomasz.", "The site is fast.", "Tomasz is not to be mentioned again."),
    ("project", "Bluefin Foods owes us money.", "Standup is at ten.", "Never bring Bluefin Foods up again."),
    ("project", "Acrelane quoted 90k.", "Staging is slow.", "Delete Acrelane from this project's memory."),
    ("me", "แฟนเก่าฉันชื่อต้น", "ฉันอยู่เชียงใหม่", "อย่าพูดถึงต้นอีก"),
    ("me", "บ้านเก่าฉันอยู่ซอยอารีย์", "ฉันขี่จักรยานไปทำงาน", "อย่าเอาเรื่องซอยอารีย์มาพูดอีกนะครับ"),
    ("project", "โปรเจกต์นี้มีชื่อลับว่านกยูง", "โปรเจกต์นี้ใช้ Postgres", "ห้ามเอ่ยชื่อนกยูงอีกเด็ดขาด"),
    ("project", "ซัพพลายเออร์สำรองคือเหล็กไทย", "โกดังอยู่ระยอง", "เหล็กไทย ไม่ต้องพูดถึงอีกแล้ว"),
    ("me", "我得过抑郁症。", "我养了两只猫。", "别再跟我提抑郁症。"),
    ("project", "发布延期是因为审计。", "每周四发版。", "审计的事以后别提了。"),
    ("project", "這個專案的代號是藍鷺。", "這個專案用Postgres。", "不准再提到藍鷺。"),
    ("project", "備用供應商是永豐鋼鐵。", "倉庫在台中。", "永豐鋼鐵別再出現在我們的對話裡。"),
]
#: What is known, and what only sounds like a wish.
OTHERS = [
    ("My brother is called Otto.", "Don't mention it, Otto was glad to help!"),
    ("I like jazz.", "Never mind the jazz, let's look at the budget."),
    ("I have a peanut allergy.", "Never forget my peanut allergy again."),
    ("I play chess.", "I'll never talk about chess with Paul again, he gets so angry."),
    ("My boss is Ruth.", "Ruth told me never to mention the merger again."),
    ("I ran a marathon.", "Forget the marathon time, what is the distance?"),
    ("My deadline is Friday.", "Stop mentioning deadlines in the subject line of the newsletter."),
    ("我的截止日是週五。", "電子報的標題裡別再提截止日。"),
    ("My mother lives in Bath.", "Write a song that never mentions Bath."),
    ("My essay is about whales.", "Delete the second paragraph about whales from my essay."),
    ("ฉันชอบดนตรีแจ๊ส", "ช่างเรื่องแจ๊สเถอะ มาดูงบกันก่อน"),
    ("ฉันแพ้ถั่ว", "อย่าลืมเรื่องแพ้ถั่วของฉันอีกนะ"),
    ("หัวหน้าฉันชื่อวรรณ", "วรรณสั่งว่าห้ามพูดเรื่องเงินเดือนอีก"),
    ("我昨天考试了。", "别提了,昨天的考试难死了。"),
    ("我对花生过敏。", "别再忘了我对花生过敏。"),
    ("我老闆叫淑芬。", "淑芬叫我不要再提加薪的事。"),
    ("我喜歡下棋。", "我再也不跟他聊下棋了。"),
]


@pytest.mark.parametrize("row", range(len(WISHES)))
def test_what_is_not_to_be_heard_of_again_goes_and_stays_gone(engine: Engine, row: int) -> None:
    whose, said, beside, wish = WISHES[row]
    space = "project" if whose == "project" else "user"
    ana = engine.scope(project="p", session="s1")
    one, other = (ana.remember(text, space=space).ids[0] for text in (said, beside))
    ana.hear(wish)
    assert [ana.get(each).state for each in (one, other)] == [State.SOFT_DELETED, State.ACTIVE]
    assert engine.scope(agent="planner", project="p").remember(said).code == "refused_stays"


@pytest.mark.parametrize("row", range(len(OTHERS)))
def test_a_courtesy_a_vow_and_somebody_elses_wish_take_nothing(engine: Engine, row: int) -> None:
    said, beside = OTHERS[row]
    ana = engine.scope(session="s1")
    one = ana.remember(said).ids[0]
    ana.hear(beside)
    assert ana.get(one).state is State.ACTIVE
    assert ana.noes() == []


@pytest.mark.parametrize("order", ["Never mention prices again.", "อย่าพูดถึงราคาอีก", "以后不要再提价格了。"])
def test_where_nothing_is_known_of_it_nothing_is_forgotten(engine: Engine, order: str) -> None:
    ana = engine.scope(session="s1")
    one = ana.remember("The kettle is on").ids[0]
    heard = ana.hear(order)
    assert "not_found" not in {receipt.code for receipt in heard.receipts}
    assert ana.get(one).state is State.ACTIVE
    assert ana.noes() == []


def test_it_again_names_nothing_that_could_go(engine: Engine) -> None:
    ana = engine.scope(session="s1")
    one = ana.remember("I have two cats").ids[0]
    ana.hear("The bar exam is off limits from now on, don't refer to it ever again.")
    assert ana.get(one).state is State.ACTIVE
