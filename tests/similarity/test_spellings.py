"""The clothes a statement comes in: what it is under escapes, codes, threads and numerals."""

from __future__ import annotations

import base64
import gzip
import zlib

import pytest

from lamina.similarity.repeats import telling_of
from lamina.similarity.spellings import in_digits, letters, told


@pytest.mark.parametrize(
    ("numeral", "digits"),
    [
        ("二十三个月", "23个月"),
        ("两万三千元", "23000元"),
        ("二〇一九年", "2019年"),
        ("十五", "15"),
        ("三亿零二百万", "302000000"),
        ("一百零一", "101"),
        ("三个人", "3个人"),
        ("一起去", "一起去"),
    ],
)
def test_chinese_numerals_are_digits(numeral: str, digits: str) -> None:
    assert in_digits(numeral) == digits


def test_what_is_written_otherwise_is_read() -> None:
    said = "Tomas lives in Riga"
    coded = base64.b64encode(said.encode()).decode()
    for form in (f"see {coded}", "&#84;omas lives in Riga", "<b>Tomas</b> lives in Riga", ".".join(said)):
        assert said in list(told(form))
    assert list(told("plain words, nothing else")) == ["plain words, nothing else"]


@pytest.mark.parametrize("said", ["Tomas lives in Riga", "โทมัสอยู่ที่รีกา", "托马斯住在里加"])
def test_codes_that_anybody_can_undo_are_read(said: str) -> None:
    raw = said.encode()
    for code in (
        base64.b32encode(raw).decode(),
        base64.b85encode(raw).decode(),
        base64.a85encode(raw, adobe=True).decode(),
        base64.b64encode(gzip.compress(raw)).decode(),
        base64.b64encode(zlib.compress(raw)).decode(),
        " ".join(f"{one:08b}" for one in raw),
        ", ".join(str(one) for one in raw),
        " ".join(str(ord(one)) for one in said),
        "".join(f"\\{one:03o}" for one in raw),
        raw.hex(),
    ):
        assert any(said in form for form in told(f"note: {code} for later")), code
    assert any(said in form for form in told(said.encode("utf-7").decode()))


def test_what_is_zipped_small_and_is_huge_is_not_unpacked_whole() -> None:
    bomb = base64.b64encode(zlib.compress(b"a" * 50_000_000)).decode()
    assert max(map(len, told(bomb[:20_000]))) <= 20_000


def test_signs_that_tell_values_apart_leave_no_letters() -> None:
    assert letters("C++ is fine") == letters("1.5 euros") == letters("50% off") == ""
    assert letters("To-mas: lives") == "tomaslives"


def test_signs_between_letters_part_no_words() -> None:
    whole = telling_of("我妹妹住在河内").terms
    assert telling_of("我/妹/妹/住/在/河/内").terms == whole
    assert telling_of("earn_84200_euros").numbers == {"84200"}


def test_hostile_texts_are_read_in_time() -> None:
    for text in (
        "<" * 100_000,
        "&" * 100_000,
        "\\u00" * 25_000,
        "一" * 5_000,
        "a." * 50_000,
        "12 " * 30_000,
        "=AB" * 30_000,
    ):
        assert told(text)[0] == text
        letters(text)
        in_digits(text)
