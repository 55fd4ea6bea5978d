"""What people say in their own words, end to end: kept, set, forgotten, put right, or left alone."""

from __future__ import annotations

import pytest

from lamina import Denied, InvalidInput, Layer, Outcome
from lamina.engine import Engine
from lamina.language.hearing import hear
from lamina.language.rulebook import rulebook
from lamina.language.slots import kept_words
from lamina.model import Space, State
from lamina.scoped import ScopedMemory
from tests.backends import Place

LASTING = [
    "I live in Chiang Mai with my wife and two kids.",
    "I've been a vegetarian since I was twelve.",
    "ผมทำงานเป็นพยาบาลที่โรงพยาบาลขอนแก่นมาสิบปีแล้ว",
    "ลูกสาวผมแพ้กุ้งมาตั้งแต่เด็ก",
    "我在台中的銀行上班十年了。",
    "我老婆是护士，有两个孩子。",
]
#: A message, and what is to be kept of it: each statement that can stand by itself, and nothing else.
COMPOUND = [
    (
        "I'm a vet in Chiang Mai, and I can't eat peanuts.",
        ["I'm a vet in Chiang Mai", "I can't eat peanuts."],
    ),
    ("I'm diabetic and have two kids, can you suggest a dinner?", ["I'm diabetic and have two kids"]),
    ("ผมแพ้ถั่ว แล้วก็ผมชอบดูบอลทุกเสาร์", ["ผมแพ้ถั่ว", "ผมชอบดูบอลทุกเสาร์"]),
    ("ผมเป็นเบาหวาน ช่วยคิดเมนูเย็นให้หน่อย", ["ผมเป็นเบาหวาน"]),
    ("我老婆是护士，我们有两个孩子。", ["我老婆是护士", "我们有两个孩子。"]),
    ("我女儿叫小米，今年六岁，对牛奶过敏", ["我女儿叫小米，今年六岁，对牛奶过敏"]),
    ("我住板橋，在信義區上班，推薦一家早餐店好嗎？", ["我住板橋", "在信義區上班"]),
    ("以后叫我阿强，我在深圳开出租", ["阿强", "我在深圳开出租"]),
    ("ผมทำงานกะดึกนะครับ ช่วยแนะนำวิธีนอนหน่อย", ["ผมทำงานกะดึกนะครับ"]),
    ("ฉันเป็นครูสอนเลขอยู่ที่ลำปาง แพ้กุ้งด้วยนะ", ["ฉันเป็นครูสอนเลขอยู่ที่ลำปาง", "แพ้กุ้งด้วยนะ"]),
    ("help me plan a menu, we're coeliac", ["we're coeliac"]),
    ("我房贷还有十九年", ["我房贷还有十九年"]),
    ("幫我看一下這張發票，我在埔里開沙發翻修店", ["我在埔里開沙發翻修店"]),
    ("帮我看看发票，我开五金店", ["我开五金店"]),
    ("what can I eat there, I am coeliac, and is it far?", ["I am coeliac"]),
]
ORDINARY = [
    "What's the weather like in Chiang Mai today?",
    "If I lived in Oslo, would I need a car?",
    "My neighbour says 'I am allergic to nuts' every single time.",
    "Translate into French: from now on, please call me Mrs. Bell.",
    "I'm so tired today.",
    "พรุ่งนี้ฝนจะตกไหม",
    "แปลประโยคนี้เป็นอังกฤษที: จำไว้ว่าฉันรักทะเล",
    "如果我住在冰岛，一个月要花多少钱？",
    "今天好累喔",
    "# bot.yaml\ntone: formal\nlanguage: fr\nis the indentation right",
    "Role play with me: I'm a duke and you are my butler.",
    "write a letter to my landlord saying I live below the pipe",
    "our plumber is vegetarian and lives on a barge",
    "บ้านอยู่ริมทะเลจะชื้นไหม",
    "โฆษณาบอกว่าจำเบอร์นี้ไว้ให้ดี",
    "左撇子打網球有優勢嗎",
    "扮演一下，我是住在城堡裡的國王",
    "No need to save this, I'm only thinking out loud: we could move to Bath.",
    "Remember the Maine! which year was that",
    "translate this for me, I live in a small house by the sea",
    "แปลประโยคนี้เป็นเกาหลีให้ที ฉันชอบดื่มชาเขียวทุกเช้า",
    "คำนวณดอกเบี้ยให้หน่อย กู้ 300000 ร้อยละ 7 ต่อปี 5 ปี",
    "oh lovely, another form. yes do always ask for my shoe size",
    "มาเล่นเกมกัน ผมเป็นโจรสลัดชื่อเคราแดง แพ้น้ำจืด",
]

#: A request and what is to be kept in sentences of their own, and what has to be found later.
IN_TWO = [
    ("Mental note for us both. The landlord's name is Pawel Nowicki.", "Nowicki"),
    ("you'll want to know this later. The kids break up on July 19th this year", "July 19"),
    ("有件事你要記得喔。我媽的生日是三月八號。", "三月八"),
    ("อันนี้สำคัญนะ จดไว้ด้วย! วันเกิดแม่ 8 มีนา", "8 มีนา"),
]
#: What is told in passing with the day until which it holds.
WITH_AN_END = [
    "we're staying with my aunt in Hull until the 28th",
    "ช่วงนี้พักอยู่บ้านพี่สาวที่ระยองถึงวันที่ 28",
    "我们到月底都住在岳母家",
]


def known(engine: Engine, question: str) -> list[str]:
    return [hit.text for hit in engine.scope(session="s2").recall(question).hits]


@pytest.mark.parametrize("said", LASTING)
def test_what_a_person_says_of_themselves_is_kept_without_being_asked(engine: Engine, said: str) -> None:
    heard = engine.scope(session="s1").hear(said)
    assert heard.acknowledgement
    assert any(said.rstrip(".。") in one for one in known(engine, said))


@pytest.mark.parametrize(("said", "statements"), COMPOUND)
def test_several_facts_in_a_message_are_several_memories(
    engine: Engine, said: str, statements: list[str]
) -> None:
    mine = engine.scope(session="s1")
    mine.hear(said)
    kept = [one.text for one in mine.list().items if one.layer is not Layer.WORKING]
    assert sorted(one for one in kept if one != said or one in statements) == sorted(statements)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("can you plan dinner for friday? btw i don't eat pork", "i don't eat pork"),
        ("By the way, I don't eat pork", "I don't eat pork"),
        ("oh and also, my mum turns 70 in May", "my mum turns 70 in May"),
        ("สวัสดีค่ะ ดิฉันแพ้ถั่วลิสง", "ดิฉันแพ้ถั่วลิสง"),
        ("อ้อ อีกอย่าง ผมแพ้กุ้งนะ", "ผมแพ้กุ้งนะ"),
        ("對了，我不吃牛", "我不吃牛"),
        ("顺便说一下我老公是素食者", "我老公是素食者"),
    ],
)
def test_what_only_leads_in_to_a_statement_is_no_part_of_it(engine: Engine, said: str, kept: str) -> None:
    mine = engine.scope(session="s1")
    mine.hear(said)
    assert [one.text for one in mine.list().items if one.layer is not Layer.WORKING] == [kept]


@pytest.mark.parametrize("said", ORDINARY)
def test_ordinary_talk_is_left_alone(place: Place, engine: Engine, said: str) -> None:
    mine = engine.scope(session="s1")
    before = place.files() if place.folder else {}
    heard = mine.hear(said)
    assert (heard.acknowledgement, mine.pending(), known(engine, said)) == ("", [], [])
    pages = [path for path in before if path.name in ("PROFILE.md", "SESSION.md")]
    assert all(path.read_bytes() == before[path] for path in pages)


@pytest.mark.parametrize(("said", "word"), IN_TWO)
def test_a_request_and_what_it_is_about_may_be_two_sentences(engine: Engine, said: str, word: str) -> None:
    assert engine.scope(session="s1").hear(said).acknowledgement
    assert any(word in one for one in known(engine, said))


@pytest.mark.parametrize("said", WITH_AN_END)
def test_what_holds_until_a_named_day_is_kept_until_then(place: Place, engine: Engine, said: str) -> None:
    assert engine.scope(session="s1").hear(said).acknowledgement
    entry = next(one for one in engine.scope(session="s2").list().items if one.text == said)
    assert entry.expires_at is not None


def test_the_persons_words_through_an_agent_are_the_persons(engine: Engine) -> None:
    engine.scope(agent="helper", session="s1").hear(LASTING[0])
    mine = engine.scope(session="s2").recall("where do I live?").hits
    memory = engine.scope().get(mine[0].id)
    assert (memory.authority, memory.provenance.agent) == ("user_asserted", "helper")


def test_an_agent_that_does_not_speak_for_them_keeps_nothing_as_theirs(engine: Engine) -> None:
    engine.scope(agent="helper", session="s1", speaks_for=False).hear(LASTING[0])
    assert known(engine, "where do I live?") == []
    assert engine.scope(agent="helper", speaks_for=True).remember("tea", key="drink").decision is Outcome.HELD


@pytest.mark.parametrize(
    ("said", "ttl"),
    [
        ("Just for today, answer me in Spanish.", "2026-01-02"),
        ("อาทิตย์นี้ขอคำตอบสั้นๆ นะ", "2026-01-05"),
        ("到這個月底為止，回答都短一點。", "2026-02-01"),
    ],
)
def test_a_spoken_time_becomes_an_end(engine: Engine, said: str, ttl: str) -> None:
    mine = engine.scope(session="s1")
    receipts = mine.hear(said).receipts
    kept = mine.get(receipts[0].ids[0])
    assert kept.expires_at is not None
    assert kept.expires_at.date().isoformat() == ttl


def test_a_wish_for_the_session_is_obeyed_in_it_and_the_profile_after_it(engine: Engine) -> None:
    mine = engine.scope(session="s1")
    mine.hear("Set the tone to formal.")
    mine.hear("For this session only, set the tone to casual")
    assert mine.resolve(["response.tone"])["response.tone"].value == "casual"
    assert engine.scope(session="s2").resolve(["response.tone"])["response.tone"].value == "formal"


def test_a_wish_for_a_time_stands_over_a_lasting_one_which_holds_again_afterwards(place: Place) -> None:
    engine, clock = place.open(), place.clock
    me = engine.scope(session="s1")
    me.hear("From now on, always answer in English.")
    told = me.hear("For the next three days, answer in French.").acknowledgement
    assert "the language of answers" in told
    assert "for_now" not in told
    assert me.resolve(["response.language"])["response.language"].value == "fr"
    assert [one.value for one in me.resolve(["response.language"])["response.language"].shadows] == ["en"]
    assert "- en" not in me.context("Which language?").text
    clock.advance(days=5)
    assert engine.scope(session="s2").resolve(["response.language"])["response.language"].value == "en"


def test_a_new_lasting_wish_ends_the_one_for_a_time(engine: Engine) -> None:
    me = engine.scope(session="s1")
    for said in ("From now on, always answer in English.", "For the next three days, answer in French."):
        me.hear(said)
    me.hear("From now on, always answer in Thai.")
    assert me.resolve(["response.language"])["response.language"].value == "th"


def test_the_newest_word_of_a_person_wins_among_their_own(engine: Engine) -> None:
    mine = engine.scope(session="s1")
    mine.hear("My timezone is Asia/Tokyo.")
    mine.hear("Actually, my timezone is UTC.")
    mine.hear("My timezone is Asia/Bangkok.")
    assert mine.resolve(["timezone"])["timezone"].value == "Asia/Bangkok"


def test_what_is_to_be_forgotten_is_asked_back_and_the_answer_is_heard(engine: Engine) -> None:
    mine = engine.scope(session="s1")
    mine.hear("Remember that my dentist is Dr Su")
    mine.hear("Remember that my dentist visit is on Friday")
    asked = mine.hear("forget the dentist thing")
    assert "Dr Su" in asked.acknowledgement
    assert "Friday" in asked.acknowledgement
    assert asked.receipts[0].decision is Outcome.DENIED
    mine.hear("the second one")
    assert known(engine, "when is my dentist visit?") == ["my dentist is Dr Su"]


def test_a_correction_of_two_sentences_is_made_once(engine: Engine) -> None:
    """The second sentence does not undo what the first one did."""
    ana = engine.scope(session="s")
    goats = ana.hear("We have six goats").receipts[-1].ids[0]
    ana.hear("You still think we have six goats. It's eleven now, they kidded at Easter.")
    assert "eleven" in ana.get(goats).text


def test_only_what_is_named_is_forgotten(engine: Engine) -> None:
    mine = engine.scope(session="s1")
    mine.hear("Remember that my therapist is Dr. Okonjo")
    mine.hear("Remember that I pay rent on the 1st")
    mine.hear("Please wipe what I told you about my therapist. Keep the rent one.")
    texts = known(engine, "therapist rent")
    assert not any("Okonjo" in one for one in texts)
    assert any("rent" in one for one in texts)


def test_a_dry_run_says_what_would_be_done_and_why_and_does_nothing(engine: Engine) -> None:
    mine = engine.scope(session="s1")
    heard = mine.hear(f"{LASTING[0]} What's the weather today?", dry_run=True)
    note, left = heard.understood
    assert (note.sort, note.outcome, left.outcome) == ("note", "act", "leave")
    assert "Chiang Mai" in note.would
    assert note.why
    assert (heard.receipts, known(engine, "where do I live?")) == ((), [])


def test_that_was_no_command_takes_it_back_and_is_learnt_at_once(engine: Engine) -> None:
    mine = engine.scope(session="s1")
    mine.hear(LASTING[0])
    assert mine.hear("That was no command.").receipts[0].code == "misheard"
    assert known(engine, "where do I live?") == []
    mine.hear(LASTING[0])
    assert known(engine, "where do I live?") == []


def test_what_a_sentence_is_may_be_taught_by_the_person_alone(engine: Engine, ana: ScopedMemory) -> None:
    ana.teach(LASTING[1], "none")
    ana.hear(LASTING[1])
    assert known(engine, "do I eat meat?") == []
    with pytest.raises(InvalidInput):
        ana.teach("hello", "nonsense")
    with pytest.raises(Denied):
        engine.scope(agent="helper").teach(LASTING[0])


def test_what_may_harm_a_person_waits_for_their_word(engine: Engine) -> None:
    mine = engine.scope(session="s1")
    mine.hear("I'm bipolar, I was diagnosed in 2019 and I take lithium every day.")
    assert [one.text for one in mine.pending()]
    assert known(engine, "what was I diagnosed with?") == []


def test_only_the_part_that_is_meant_is_forgotten(engine: Engine) -> None:
    mine = engine.scope(session="s1")
    mine.hear("Remember that I live in Osaka and my cat is Tom")
    told = mine.hear("Forget that I live in Osaka").acknowledgement
    assert "my cat is Tom" in told
    assert known(engine, "what is my cat called, and where do I live?") == ["my cat is Tom"]


PLAIN = [
    "I'm left-handed.",
    "My car is a Skoda Fabia.",
    "ผมทำงานเป็นช่างไม้",
    "ฉันมีแมวสามตัว",
    "我住在昆明",
    "我對雞蛋過敏",
]


@pytest.mark.parametrize("said", PLAIN)
def test_one_plain_thing_that_somebody_says_of_themselves_is_kept(engine: Engine, said: str) -> None:
    engine.scope(session="s").hear(said)
    assert [hit for hit in engine.scope(session="t").recall(said) if said.rstrip(".") in hit.text]


@pytest.mark.parametrize(
    "said",
    [
        "别再提我前女友了",
        "Let's discuss pricing. I lean towards 9 euros.",
        "前端的事我改主意了：前端不用 React 了，改用 Vue。",
        "stop telling me about gin",
    ],
)
def test_nothing_is_forgotten_or_changed_that_was_not_named(engine: Engine, said: str) -> None:
    ana = engine.scope(session="s")
    kept = ana.hear("Please remember that my locker is number 218.").receipts[0].ids[0]
    ana.hear(said)
    assert (ana.get(kept).state, "218" in ana.get(kept).text) == (State.ACTIVE, True)


@pytest.mark.parametrize(
    ("known", "said", "kept"),
    [
        ("I've two weddings next week", "oi don't you forget this, the lens is at Terry's shop", "Terry"),
        ("อาทิตย์หน้ามีงานแต่งสองงาน", "นี่ ห้ามลืมเรื่องนี้นะ กล้องผมส่งซ่อมอยู่ร้านพี่ต้น", "พี่ต้น"),
        ("这个月又差点晚交租", "帮我记住,房东只收微信,给现金她会退回来", "微信"),
    ],
)
def test_what_is_to_be_kept_takes_nothing_away(engine: Engine, known: str, said: str, kept: str) -> None:
    ana = engine.scope(session="s")
    before = ana.remember(known).ids[0]
    ana.hear(said)
    texts = [one.text for one in ana.list().items if one.space == "user"]
    assert ana.get(before).state is State.ACTIVE
    assert any(kept in one for one in texts)


@pytest.mark.parametrize("said", ["please forget what I just said", "把刚才那个忘了吧", "ลืมเรื่องเมื่อกี้ไปเลย"])
def test_what_was_said_a_moment_ago_can_be_pointed_at(engine: Engine, said: str) -> None:
    ana = engine.scope(session="s")
    kept = ana.hear("Please remember that my locker is number 218.").receipts[0].ids[0]
    ana.hear(said)
    assert ana.get(kept).state is State.SOFT_DELETED


def test_what_was_said_last_and_not_kept_is_what_was_just_said(place: Place) -> None:
    engine, clock = place.open(), place.clock
    ana = engine.scope(session="s")
    kept = ana.hear("Please remember that my locker is number 218.").receipts[0].ids[0]
    for said in ("What's the weather like in Oslo?", "The tram was late again."):
        clock.advance(minutes=1)
        ana.hear(said)
    ana.hear("please forget what I just said")
    assert ana.get(kept).state is State.ACTIVE


@pytest.mark.parametrize(
    "said", ["Scratch that.", "please forget what I just said", "Forget what I said about being an alcoholic"]
)
def test_what_waits_is_dropped_where_it_is_meant(engine: Engine, said: str) -> None:
    """Another memory does not go in its place."""
    ana = engine.scope(session="s")
    dog = ana.hear("I have a dog called Biscuit.").receipts[-1].ids[0]
    ana.hear("I'm a recovering alcoholic, four years sober.")
    assert len(ana.pending()) == 1
    ana.hear(said)
    assert (ana.pending(), ana.get(dog).state) == ([], State.ACTIVE)


@pytest.mark.parametrize("said", ["把猫的事忘了吧", "忘掉我的貓"])
def test_one_character_can_name_a_thing(engine: Engine, said: str) -> None:
    ana = engine.scope(session="s")
    cat = ana.hear("我养了一只猫，叫豆豆").receipts[-1].ids[0]
    tea = ana.hear("我喜欢下午喝茶").receipts[-1].ids[0]
    ana.hear(said)
    assert (ana.get(cat).state, ana.get(tea).state) == (State.SOFT_DELETED, State.ACTIVE)


@pytest.mark.parametrize("said", ["ไม่ต้องจดนะ บ่นเฉยๆ ผมอยู่ระนอง", "不用记，我就随口一说，我属兔"])
def test_what_is_said_not_to_be_kept_is_not_kept(engine: Engine, said: str) -> None:
    engine.scope(session="s1").hear(said)
    assert known(engine, said) == []


def test_without_a_word_in_common_nothing_is_forgotten_unasked(engine: Engine) -> None:
    me = engine.scope(session="s1")
    me.hear("ผมแพ้เพนิซิลลิน")
    heard = me.hear("ลบเรื่องยูนิคอร์นของฉัน")
    assert heard.receipts[0].decision is Outcome.DENIED
    assert known(engine, "ผมแพ้ยาอะไร") == ["ผมแพ้เพนิซิลลิน"]
    me.hear("ใช่")
    assert known(engine, "ผมแพ้ยาอะไร") == []


def test_what_stands_before_a_request_is_not_lost_with_it() -> None:
    hearing = hear("ใบเสร็จอยู่ในกล่องใต้ตู้เสื้อผ้า ช่วยจำแทนทีเถอะ ลืมกันทุกคน", rulebook())
    assert "กล่องใต้ตู้เสื้อผ้า" in kept_words(hearing, (0, len(hearing.said)))


def test_a_request_that_names_a_space_keeps_what_it_names(engine: Engine) -> None:
    engine.scope(session="s1").hear("จำให้ผมที เลขที่นั่งในโรงหนังคือ ข 14")
    assert any("ข 14" in one for one in known(engine, "เลขที่นั่งในโรงหนัง"))


def test_a_wish_without_a_setting_is_said_back_in_its_own_words_and_with_its_end(engine: Engine) -> None:
    me = engine.scope(session="s1")
    assert "response.instruction" not in me.hear("don't use semicolons with me, ever").acknowledgement
    assert "until 20" in me.hear("Until Friday keep answers to one line.").acknowledgement


@pytest.mark.parametrize(
    ("said", "wish", "question"),
    [
        (
            ["I was born in Tehran.", "I run a dry cleaner's."],
            "could you un-remember my birthplace?",
            "Tehran",
        ),
        (["我每个月工资八千五", "我养了两只猫"], "我挣多少那条请清掉", "工资"),
        (["ผมเป็นเบาหวาน", "ผมขับแท็กซี่"], "เรื่องโรคประจำตัวช่วยลบออกด้วย", "เบาหวาน"),
    ],
)
def test_what_a_wish_means_goes_though_it_shares_no_word_with_it(
    engine: Engine, said: list[str], wish: str, question: str
) -> None:
    me = engine.scope(session="s1")
    for one in said:
        me.hear(one)
    me.hear(wish)
    assert said[0].rstrip(".") not in " ".join(known(engine, question))
    assert known(engine, said[1]) == [said[1]]


def test_a_thing_that_is_named_is_not_what_was_said_last(engine: Engine) -> None:
    me = engine.scope(session="s1")
    me.hear("我在银行上班")
    me.hear("籍貫那條刪掉吧")
    assert known(engine, "我在哪里上班") == ["我在银行上班"]


@pytest.mark.parametrize(
    ("said", "now", "question", "holds"),
    [
        ("我家的垃圾車七點來", "講錯了，垃圾車八點十分才來", "垃圾車幾點來", "八點十分"),
        (
            "My niece is called Elodie.",
            "sorry, Melodie with an M! typo",
            "what is my niece called?",
            "Melodie",
        ),
        ("我婚宴摆十五桌。", "*十七桌", "婚宴几桌", "十七桌"),
        ("ตามีหลานเจ็ดคน", "เมื่อกี้ตานับผิดไป หลานแปดคน", "ตามีหลานกี่คน", "แปดคน"),
    ],
)
def test_what_somebody_puts_right_is_known_in_the_next_session(
    engine: Engine, said: str, now: str, question: str, holds: str
) -> None:
    me = engine.scope(session="s1")
    me.hear(said)
    me.hear(now)
    assert holds in known(engine, question)[0]


@pytest.mark.parametrize(
    "said", ["抱歉，我剛剛在開會", "sorry, the doorbell rang", "ขอโทษที เมื่อกี้หลุดไป เน็ตไม่ดี"]
)
def test_an_excuse_puts_nothing_right(engine: Engine, said: str) -> None:
    me = engine.scope(session="s1")
    me.hear("我住台中。")
    me.hear(said)
    assert known(engine, "我住哪裡") == ["我住台中。"]


@pytest.mark.parametrize(
    "said",
    [
        "oh btw Tom is coeliac so anything food related keep gluten out",
        "Dad is on warfarin so remember to leave out the spinach",
    ],
)
def test_a_request_takes_nothing_away_that_says_something(said: str) -> None:
    hearing = hear(said, rulebook())
    assert kept_words(hearing, (0, len(hearing.said))) == said


@pytest.mark.parametrize(
    ("known", "said", "goes", "stays"),
    [
        (["我體重九十二公斤", "我身高一七五"], "忘掉我體重，身高留著沒關係", "九十二", "一七五"),
        (["ผมสูง 172 ซม.", "ผมหนัก 80 กิโล"], "ลบน้ำหนักออกไป ส่วนส่วนสูงเก็บไว้", "80", "172"),
        (["I weigh 92 kilos", "I am 175 tall"], "forget what I weigh, but keep how tall I am", "92", "175"),
    ],
)
def test_what_a_wish_says_shall_stay_is_not_what_it_means(
    engine: Engine, known: list[str], said: str, goes: str, stays: str
) -> None:
    mine = engine.scope(session="s1")
    for one in known:
        mine.hear(one)
    mine.hear(said)
    kept = " ".join(one.text for one in mine.list().items if one.layer is not Layer.WORKING)
    assert stays in kept
    assert goes not in kept


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("仅限今天，随便骂脏话", "骂脏话"),
        ("วันนี้วันเดียว ตอบเป็นภาษาอังกฤษให้หน่อย", "อังกฤษ"),
        ("only today, talk to me like a pirate", "like a pirate"),
    ],
)
def test_what_is_wished_for_a_time_is_kept_with_its_time(engine: Engine, said: str, wish: str) -> None:
    ana = engine.scope(session="s")
    ana.hear(said)

    (entry,) = [one for one in ana.list().items if one.layer is not Layer.WORKING]
    assert wish in entry.text
    assert entry.expires_at is not None or entry.space is Space.SESSION
