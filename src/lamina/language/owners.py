"""Who is to do what a sentence says: the name before *will*, *needs to*, จะ or 负责."""

from __future__ import annotations

import re

from lamina.language.view import PAUSE, View, view_of
from lamina.text.terms import is_stop_word

_LOOKED_AT = 400  #: characters

_NAME = r"[A-Z\u00c0-\u00de][\w\u00c0-\u024f'’-]{1,20}"
_DOES = (
    r"(?:will|needs?|has|have|must|should|shall|is|are|to|can|gets?|owes|promised|volunteered|agreed|takes|does"
    r"|[a-z]{2,12}s)"
)
_ENGLISH = (
    re.compile(rf"(?:[Rr]emind|[Aa]sk|[Tt]ell|[Gg]et|[Hh]ave) ({_NAME}) (?:to |[a-z])"),
    re.compile(
        r"(?:^|[.!?;:,—–-] ?|\b(?:and|so|then|but|And|But|So) )"
        rf"({_NAME}(?:(?:,| and| &) {_NAME}){{0,2}}),? {_DOES}\b"
    ),
    re.compile(rf"(?:^|[.!?;:] ?)({_NAME})(?:'s|’s) (?:job|task|turn)\b"),
    re.compile(rf"(?:^|[.!?;:] ?)({_NAME}),? (?:please|can you|could you|would you|will you|you)"),
    re.compile(rf"(?:can|could|would|will) you [^?.!]{{3,80}}, ({_NAME})\?"),
    re.compile(rf"\b(?:so|for|to|by|with) ({_NAME}) (?:is on it|does it|takes it|handles it|has it)\b"),
    re.compile(rf"\b({_NAME}) is (?:on it|on the|doing|sorting|handling|writing)\b"),
    re.compile(rf"(?:[Gg]ive|[Ll]eave) (?:it|that|this|the [a-z ]{{2,30}}) to ({_NAME})"),
    re.compile(
        r"(?:^|[.!?;:,] ?|\band )([A-Z\u00c0-\u00de][\w\u00c0-\u024f-]{1,20})['’]s (?:going to|to|got to)\b"
    ),
    re.compile(rf"\b({_NAME}) (?:will|must|has to|needs to|is going to|takes care|does it|will do)\b"),
)
_ENGLISH_ME = re.compile(r"(?<![a-z'])(?:i'll|i will|i'm|i am|i|my|me)(?![a-z'])")

_TODO_TH = (
    "จะ|ต้อง|ควร|รับผิดชอบ|ส่ง|โทร|ติดต่อ|ไป|เตรียม|ร่าง|เขียน|ตรวจ|เช็ก|เช็ค|ซ่อม|พิมพ์|สั่ง|จอง|แจ้ง|นัด|คุย|หา|ยื่น|เคลียร์|ทดสอบ|เอา|ดู|ทำ"
    "|รับ|วัด|เปลี่ยน|แก้|ถาม|ซื้อ|จัด|อัปเดต|ช่วย|ตาม|สรุป"
)
_THAI = re.compile(
    rf"(?:\A|(?<=[\n:.,{PAUSE} ]))(?:ฝากให้|ฝากเตือน|ฝาก|ให้|รบกวน|มอบหมายให้|มอบให้|เดี๋ยว|แล้ว|และ|ใช่[ {PAUSE}]?)?"
    r"(?!ผม|ฉัน|ดิฉัน|หนู|เรา|เดี๋ยว|วันนี้|พรุ่งนี้|คืนนี้|แล้ว|ก็|ถ้า|ยัง|ไม่|ใคร|ทุกคน|ต้องทำ|ต้อง|ควร|จะ|ช่วย|อย่า|ของ|งาน|เรื่อง)"
    rf"((?:พี่|น้อง|คุณ|ช่าง|ป้า|ลุง)?[ก-๎a-z]{{2,12}}?(?:กับ(?:พี่|น้อง|คุณ)?[ก-๎]{{2,8}}?)?)[ {PAUSE}]?(?:{_TODO_TH})"
)
_THAI_ME = re.compile("ผม|ฉัน|ดิฉัน|หนู")

_WHEN_ZH = (
    "下?(?:周|星期|礼拜)|这周|本周|明|今|后天|月底|年底|周末|[0-9一二三四五六七八九十]{1,3}[月号日点]|负责|去|把|要|会|得|来|将|尽快|带|写|发|送|交|找"
    "|你|妳|您|通知|联系|准备|整理|打|跟|看|修|订|测|清|盘|做|吃完|在|月|答应|再"
)
_CHINESE = re.compile(
    r"(?:\A|(?<=[\n:,。;!?\v ]))(?:对,?|好,?|另外,?|还有,?|然后|待办:|提醒|让|请|由|叫|麻烦)?"
    r"(?!小程序|小红书|小时|小区|小组|小学|老板|老师|老客|老家|阿里|我|你|您|他|她|它|咱|大家|这|那|报价|合同|机票|今天|今晚|明天|明早|下午|上午|晚上|客户|资料|新|所有|每|月底|下周|周|以后|从|不|还|都|就|要|得|先|再|把|别)"
    r"((?:[小老阿][\u4e00-\u9fff]|[a-z]{2,20}|[\u4e00-\u9fff]{1,2}(?:姐|哥|总|叔|姨|经理|师傅|老师|主任)|[\u4e00-\u9fff]{2,3}?)"
    rf"(?:[和跟、](?:[小老阿][\u4e00-\u9fff]|[\u4e00-\u9fff]{{2}}))?),? ?(?={_WHEN_ZH})"
)
_CHINESE_CHARGED = re.compile(
    r"(?:由|归|让|请|交给)((?:[小老阿][\u4e00-\u9fff]|[a-z]{2,20}|[\u4e00-\u9fff]{2,3}?))(?=负责|去|来|做|跟|处理|管|[,。]|\Z)"
)
_CHINESE_ME = re.compile("我")


def owner_in(text: str) -> str:
    """Who is to do what a sentence says: a name as it was typed, `me` for the speaker, empty for nobody."""
    said = text[:_LOOKED_AT]
    view = view_of(said)
    if re.search("[\u0e01-\u0e4e]", view.text):
        return _first(view, _THAI) or ("me" if _THAI_ME.search(view.text) else "")
    if re.search("[\u3400-\u9fff]", view.text):
        named = _first(view, _CHINESE) or _first(view, _CHINESE_CHARGED)
        return named or ("me" if _CHINESE_ME.search(view.text) else "")
    for shape in _ENGLISH:
        for found in shape.finditer(said):
            if (
                not is_stop_word(found[1].split()[0].lower().strip("'’"))
                and found[1].lower() not in _NO_NAMES
            ):
                return found[1]
    return "me" if _ENGLISH_ME.search(view.text) else ""


_NO_NAMES = {
    *(
        "yes",
        "no",
        "ok",
        "okay",
        "true",
        "right",
        "sure",
        "good",
        "great",
        "fine",
        "thanks",
        "everything",
        "nothing",
    ),
    *(
        "something",
        "someone",
        "somebody",
        "everyone",
        "everybody",
        "nobody",
        "today",
        "tomorrow",
        "please",
        "todo",
    ),
    *(
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "also",
        "then",
        "next",
        "later",
    ),
    *(
        "maybe",
        "perhaps",
        "first",
        "finally",
        "again",
        "let",
        "let's",
        "there",
        "here",
        "need",
        "can't",
        "remind",
    ),
}


def _first(view: View, shape: re.Pattern[str]) -> str:
    found = shape.search(view.text)
    return view.slice(found.start(1), found.end(1)).strip() if found else ""
