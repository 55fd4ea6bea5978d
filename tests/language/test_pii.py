"""Numbers that name a person or an account: which add up, and which the words around make something else."""

from __future__ import annotations

import pytest

from lamina.language.secrets import privacy
from lamina.language.secrets.privacy import REDACTED, find_personal, find_secrets, passes_luhn, redacted
from lamina.language.secrets.shapes import compiled

CHECKS = {
    "payment_card": privacy.CHECKS["luhn"],
    "thai_national_id": privacy.CHECKS["thai"],
    "chinese_resident_id": privacy.CHECKS["chinese"],
    "iban": privacy.CHECKS["iban"],
    "taiwan_national_id": privacy.CHECKS["taiwan"],
}

CARD, AMEX, JCB, UNION_PAY = "4539148803436467", "371449635398431", "3530111333300000", "6250941006528599"
THAI, CHINESE, TAIWAN = "1101700230708", "11010519491231002X", "A123456789"
IBAN = "DE89370400440532013000"


def rules(text: str) -> list[str]:
    return [hit.rule for hit in find_secrets(text)]


@pytest.mark.parametrize(
    ("rule", "number"),
    [
        ("payment_card", CARD),
        ("payment_card", AMEX),
        ("payment_card", JCB),
        ("payment_card", UNION_PAY),
        ("chinese_resident_id", CHINESE),
        ("iban", IBAN),
        ("iban", "GB29NWBK60161331926819"),
    ],
)
def test_a_number_adds_up_and_no_longer_with_any_other_digit_in_it(rule: str, number: str) -> None:
    check = CHECKS[rule]
    assert check(number)
    for at, char in enumerate(number):
        if char.isdigit():
            others = [number[:at] + other + number[at + 1 :] for other in "0123456789" if other != char]
            assert not any(map(check, others))


@pytest.mark.parametrize(("rule", "number"), [("thai_national_id", THAI), ("taiwan_national_id", TAIWAN)])
def test_most_wrong_digits_are_noticed_where_the_check_is_weak(rule: str, number: str) -> None:
    check = CHECKS[rule]
    assert check(number)
    others = [number[:-1] + other for other in "0123456789" if other != number[-1]]
    assert not any(map(check, others))


@pytest.mark.parametrize("number", ["", "4", "0" * 16, "9" * 18, "x"])
def test_no_short_or_odd_number_is_taken_for_one(number: str) -> None:
    assert list(find_personal(number)) == []


def test_luhn() -> None:
    assert passes_luhn("79927398713")
    assert not passes_luhn("79927398710")


@pytest.mark.parametrize(
    "written",
    [
        CARD,
        "4539 1488 0343 6467",
        "4539-1488-0343-6467",
        "45391488 03436467",
        "3714 496353 98431",
        "６２５０ ９４１０ ０６５２ ８５９９",
        "๔๕๓๙๑๔๘๘๐๓๔๓๖๔๖๗",
        "4539148803\n436467",
    ],
)
@pytest.mark.parametrize("frame", ["{}", "pay with {} please", "ตัดบัตร {} ได้เลย", "卡号{}，谢谢", "卡號：{}"])
def test_a_card_is_found_however_it_is_written(frame: str, written: str) -> None:
    assert redacted(frame.format(written)) == frame.format(REDACTED)


@pytest.mark.parametrize(
    "frame",
    [
        "order {}",
        "order number {}",
        "order id: {}",
        "tracking {}",
        "IMEI {}",
        "invoice #{}",
        "x = -{}",
        "serial no. {}",
        "ticket {}",
        '"id": {}',
        "user_id={}",
        "https://x.acme.co/{}",
        "0.{}",
        "{}.5",
        "a{}",
        "v-{}",
        "订单号{}",
        "快递单号：{}",
        "訂單編號 {}",
        "เลขพัสดุ {}",
        "หมายเลขคำสั่งซื้อ {}",
    ],
)
def test_a_card_number_with_another_meaning_is_none(frame: str) -> None:
    assert rules(frame.format(CARD)) == []


def test_a_card_after_a_cvv_and_a_date_is_found_alone() -> None:
    assert redacted("card 4539 1488 0343 6467 124 12/27") == f"card {REDACTED} 124 12/27"


@pytest.mark.parametrize(
    "text",
    [
        "1-1017-00230-70-8",
        "1 1017 00230 70 8",
        f"เลขบัตรประชาชน {THAI}",
        f"my Thai ID is {THAI}",
        f"national id: {THAI}",
    ],
)
def test_a_thai_id_is_found(text: str) -> None:
    assert rules(text) == ["thai_national_id"]


@pytest.mark.parametrize(
    "text", ["at 1717171717174", "EAN 8850123456785", "ISBN 9783161484100", f"order {THAI}"]
)
def test_thirteen_digits_are_mostly_something_else(text: str) -> None:
    assert rules(text) == []


@pytest.mark.parametrize("text", [CHINESE, CHINESE.lower(), f"身份证{CHINESE}", "110105 19491231 002X"])
def test_a_chinese_id_is_found(text: str) -> None:
    assert rules(text) == ["chinese_resident_id"]


def test_a_date_nobody_was_born_on_is_no_chinese_id() -> None:
    assert not CHECKS["chinese_resident_id"]("110105194913310021")


@pytest.mark.parametrize(
    "text", [IBAN, "DE89 3704 0044 0532 0130 00", "wire to GB29 NWBK 6016 1331 9268 19 today"]
)
def test_an_iban_is_found(text: str) -> None:
    assert rules(text) == ["iban"]
    assert redacted("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFF") == f"IBAN {REDACTED} BIC COBADEFF"


def test_ids_that_are_short_need_a_word_that_says_what_they_are() -> None:
    assert rules("536-22-1845") == rules("call 536-22-1845") == []
    assert rules("my SSN is 536-22-1845") == rules("social security number: 536221845") == ["us_ssn"]
    assert rules("SSN 666-22-1845") == rules("SSN 536-00-1845") == rules("SSN 000-12-3456") == []
    assert rules(f"part {TAIWAN}") == []
    assert rules(f"身分證字號 {TAIWAN}") == ["taiwan_national_id"]


def test_every_number_names_a_known_check_and_its_patterns_compile() -> None:
    for number in privacy.NUMBERS:
        assert number.check in privacy.CHECKS
        assert all(map(compiled, [*number.patterns, number.digits, number.needs, number.unless]))


@pytest.mark.parametrize("number", ["9999999999999995", "1234567812345670"])
def test_a_number_that_no_issuer_uses_is_no_card(number: str) -> None:
    assert passes_luhn(number)
    assert rules(f"card {number}") == []


def test_an_account_of_a_country_that_has_none_or_of_another_length_is_no_iban() -> None:
    longer = f"{IBAN[:4]}0{IBAN[4:]}"
    assert privacy.CHECKS["iban"](longer)
    assert rules(longer) == rules("ZZ89370400440532013000") == rules(IBAN[:-1]) == rules(f"{IBAN}0") == []
