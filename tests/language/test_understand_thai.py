"""What Thai messages are and say; a third of each table must not match."""

from __future__ import annotations

import pytest

from lamina.language.events import event_type, importance
from lamina.language.facts import profile_fact
from lamina.language.hints import Hint, promotion_hint
from lamina.language.signal import low_signal
from lamina.model import Kind, Role, Space

KINDS = {
    Kind.CORRECTION: [
        "จริงๆ แล้วผมชื่อสมชาย",
        "จริง ๆ แล้ว ผมอยู่เชียงใหม่",
        "ที่จริงแล้วผมอยู่เชียงใหม่",
        "ไม่ใช่ชาแต่เป็นกาแฟ",
        "ไม่ใช่วันจันทร์ แต่เป็นวันอังคาร",
        "ขอแก้ไข พอร์ตคือ 8080",
        "ขอโทษ พูดผิด เป็นวันพุธ",
        "ผมพิมพ์ผิด ต้องเป็น 8081",
    ],
    Kind.PREFERENCE: [
        "ฉันชอบชามากกว่ากาแฟ",
        "ผมชอบ dark mode",
        "ผมอยากได้ธีมมืด",
        "ชอบกาแฟดำ",
        "ผมต้องการคำตอบสั้นๆ",
        "ผมเกลียดแมลงสาบ",
        "ห้ามใช้แท็บ",
        "อย่าทำแบบนี้อีก",
        "ผมชอบกาแฟ แล้วคุณล่ะ?",
        "ดิฉันชอบสีเขียวค่ะ",
    ],
    Kind.DECISION: [
        "เราตัดสินใจใช้ PostgreSQL",
        "ตกลงใช้ Rust",
        "ทีมตกลงกันว่าจะปล่อยวันศุกร์",
        "เราจะใช้ Kafka",
        "มาใช้ Kafka กันเถอะ",
        "ใช้แท็บแทนช่องว่าง",
        "กรุณาใช้ UTF-8",
        "ผมเลือกใช้ Go",
        "เปลี่ยนไปใช้ Postgres",
        "จำไว้สำหรับโปรเจกต์นี้: เราใช้แท็บ",
    ],
    Kind.FACT: [
        "ฉันชื่อนก",
        "เรียกผมว่าบอสครับ",
        "เขตเวลาของฉันคือกรุงเทพ",
        "ภาษาของฉันคือภาษาไทย",
        "โปรเจกต์ของฉันชื่อลามินา",
        "อีดิเตอร์ของผมคือ vim",
        "ใช้หน่วยเมตริก",
        "ผมชื่อนก คุณชื่ออะไร",
    ],
    Kind.CONTEXT: [
        "ผมใช้ Python",
        "ระบบนี้ใช้ Docker",
        "วันนี้ฝนตก",
        "ผมเป็นวิศวกร",
        "ใช้เวลานานมาก",
        "ใช้งานไม่ได้",
        "ผมรับผิดชอบโปรเจกต์นี้",
        # denied
        "ผมไม่ชอบผักชี",
        "เรายังไม่ได้ตัดสินใจ",
        "เราไม่ใช้ Docker",
        "อย่าใช้แท็บ",
        "ฉันไม่ได้ชื่อบ๊อบ",
        "ยังไม่มีการตัดสินใจ",
        # somebody else's
        "เขาชอบกาแฟ",
        "แมวของฉันชอบปลา",
        "แฟนผมชอบแมว",
        "น้องสาวฉันชอบสีแดง",
        "เขาบอกว่าฉันชอบชา",
        'เขาบอกว่า "ฉันชอบชา"',
        "เพื่อนผมชื่อแดง",
        # asked and supposed
        "เราควรใช้ Redis ไหม",
        "ใช้ Postgres ดีไหม",
        "คุณชอบกาแฟไหม",
        "ผมชอบกาแฟใช่ไหม",
        "ฉันชื่ออะไร",
        "ใช้แท็บหรือเว้นวรรคดี",
        "ถ้าเราตัดสินใจใช้ Redis",
        "เขาถามว่าเราตัดสินใจหรือยัง",
        "ช่วยตัดสินใจหน่อย",
        "ไม่ใช่แค่ชาแต่ยังมีกาแฟด้วย",
    ],
}

FACTS = {
    "ฉันชื่อนก": ("name", "นก"),
    "ฉันชื่อนกค่ะ ยินดีที่ได้รู้จัก": ("name", "นก"),
    "ผมชื่อสมชาย ใจดี": ("name", "สมชาย ใจดี"),
    "ผมชื่อมานะครับ": ("name", "มานะ"),
    "ผมชื่อ John ครับ ทำงานที่กรุงเทพ": ("name", "John"),
    "ชื่อเล่นของผมคือต้น": ("name", "ต้น"),
    'ฉันชื่อ "นก"': ("name", "นก"),
    "เรียกฉันว่านกก็ได้นะคะ": ("name", "นก"),
    "เรียกผมว่า บอส นะครับ": ("name", "บอส"),
    "ฉันชื\u200b่อน้ำ": ("name", "น้ำ"),
    "หนูชื่อพลอย ชอบสีชมพู": ("name", "พลอย"),
    "ผมชื่อปิติ นามสกุลใจดี": ("name", "ปิติ"),
    "เขตเวลาของฉันคือกรุงเทพ": ("timezone", "Asia/Bangkok"),
    "ไทม์โซนของผมคือ UTC+๗": ("timezone", "UTC+07:00"),
    "ผมอยู่ในเขตเวลา Asia/Bangkok": ("timezone", "Asia/Bangkok"),
    "ภาษาแม่ของผมคือภาษาลาว": ("language", "ภาษาลาว"),
    "โปรเจกต์ของฉันชื่อลามินา": ("project", "ลามินา"),
    "ตอนนี้ผมกำลังทำโปรเจกต์ชื่อ Salt": ("project", "Salt"),
    "อีดิเตอร์ของผมคือ vim ครับ": ("editor", "vim"),
    "ผมใช้ vim เป็น editor": ("editor", "vim"),
    "ใช้หน่วยเมตริก": ("units", "metric"),
    "ใช้ระบบอิมพีเรียล": ("units", "imperial"),
    "ฉันไม่ได้ชื่อบ๊อบ": None,
    "ชื่อของฉันไม่ใช่สมหญิง": None,
    "อย่าเรียกฉันว่าบ๊อบ": None,
    "เพื่อนผมชื่อแดง": None,
    "เขาชื่อแดง": None,
    "คุณรู้ไหมว่าผมชื่ออะไร": None,
    "เขาบอกว่าผมชื่อแดง": None,
    "เขตเวลาของเซิร์ฟเวอร์คือ UTC": None,
    "อย่าใช้หน่วยเมตริก": None,
    "คนอเมริกันใช้ระบบอิมพีเรียล": None,
    "โปรเจกต์ของผมล่าช้า": None,
}

HINTS = {
    "ช่วยจำเรื่องนี้ให้ฉันด้วย": (Space.USER, "hint:remember_for_me"),
    "ช่วยจำไว้ให้หน่อยนะ": (Space.USER, "hint:remember_for_me"),
    "จำเรื่องนี้เกี่ยวกับฉันไว้": (Space.USER, "hint:remember_about_me"),
    "บันทึกเรื่องนี้ไว้ให้ฉัน": (Space.USER, "hint:save_for_me"),
    "จำไว้สำหรับโปรเจกต์นี้: เราใช้แท็บ": (Space.PROJECT, "hint:remember_for_project"),
    "เราใช้แท็บ จำไว้สำหรับโครงการนี้": (Space.PROJECT, "hint:remember_for_project"),
    "บันทึกลงในความจำของโปรเจกต์: ใช้แท็บ": (Space.PROJECT, "hint:project_memory"),
    "ให้ทุกคนรู้ว่าเราปล่อยเวอร์ชันทุกศุกร์": (Space.SYSTEM, "hint:remember_for_everyone"),
    "จดไว้สำหรับทุกคน: ปิดวันจันทร์": (Space.SYSTEM, "hint:remember_for_everyone"),
    "จำไว้สำหรับระบบ: เปิด 9 โมง": (Space.SYSTEM, "hint:remember_for_system"),
    "บันทึกไว้ในหน่วยความจำของระบบ": (Space.SYSTEM, "hint:system_memory"),
    "จำไว้ให้ดี": None,
    "คุณจำเรื่องนี้ให้ฉันได้ไหม": None,
    'เธอพูดว่า "จำเรื่องนี้ให้ฉัน"': None,
    "เขาบอกว่าจำไว้สำหรับโปรเจกต์นี้": None,
    "อย่าจำเรื่องนี้ให้ฉัน": None,
    "ไม่ต้องจำไว้สำหรับโปรเจกต์นี้": None,
    "บันทึกไฟล์ให้ฉัน": None,
    "ทุกคนรู้ว่าพรุ่งนี้หยุด": None,
    "ผมจำเรื่องนี้สำหรับโปรเจกต์ไม่ได้": None,
}

SAYS_NOTHING = [
    "สวัสดีครับ",
    "ขอบคุณมากค่ะ",
    "โอเคครับ",
    "๕๕๕๕",
    "555+",
    "ฮ่าๆๆ",
    "รับทราบครับผม",
    "โอเค ขอบคุณครับ",
    "หวัดดีจ้า 😊",
]
SAYS_SOMETHING = ["555 บาท", "สวัสดี ผมชื่อนก", "ขอบคุณสำหรับไฟล์", "โอเค เริ่มงานได้", "ใช้แท็บครับ"]

EMPHATIC = ["ต้องทดสอบก่อน", "ทดสอบเสมอ", "ห้ามลบ", "อย่าลบ", "หลีกเลี่ยงแท็บ"]
PLAIN = ["ต้องการทดสอบ", "ถูกต้องครับ", "ไม่ต้องทดสอบ", "อย่างนี้ดี"]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind in KINDS for text in KINDS[kind]])
def test_the_kind_of_a_message(kind: Kind, text: str) -> None:
    assert event_type(text, Role.USER).kind is kind


@pytest.mark.parametrize(("text", "expected"), FACTS.items())
def test_the_fact_in_a_message(text: str, expected: tuple[str, str] | None) -> None:
    fact = profile_fact(text)
    assert (fact and (fact.key, fact.value)) == expected


@pytest.mark.parametrize(("text", "expected"), HINTS.items())
def test_where_a_message_asks_to_be_kept(text: str, expected: tuple[Space, str] | None) -> None:
    assert promotion_hint(text) == (expected and Hint(*expected))


@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_a_message_that_says_nothing(text: str) -> None:
    assert low_signal(text)


@pytest.mark.parametrize("text", SAYS_SOMETHING)
def test_a_message_that_says_something(text: str) -> None:
    assert not low_signal(text)


@pytest.mark.parametrize("text", EMPHATIC)
def test_a_word_of_emphasis_is_a_point(text: str) -> None:
    assert importance(Kind.DECISION, Role.USER, text).reasons == ("event:decision", "source:user", "emphasis")


@pytest.mark.parametrize("text", PLAIN)
def test_a_word_that_only_looks_emphatic_is_none(text: str) -> None:
    assert importance(Kind.DECISION, Role.USER, text).reasons == ("event:decision", "source:user")
