"""What holds for any text whatever: the scan never raises, names places in the text, and stays fast."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.policy import privacy
from lamina.policy.privacy import find_secrets, redacted, without_allowed
from lamina.policy.shapes_named import NAMES
from lamina.policy.views import decoded, joined, plain

SIZE = 16_384
SURROGATES_TOO = st.text(st.characters(codec=None))
PIECES = [
    "password", "my password is ", "token=", "key: ", "密码是", "รหัสผ่านคือ ", "login: ana / ", "hunter2",
    "Tr0ub4dor&3", "4539 1488 0343 6467", "1-1017-00230-70-8", "DE89", "://u:", "@", "'", '"', "\n", "\\",
    " ", "=", "\u200b", "ｐ", "р", "aGVsbG8gd29ybGQ", "\U000e0041", "İ", "ﬀ", "㍿", "-----BEGIN PRIVATE ",
    "seed phrase: ", "abandon ",
]
TALK = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map("".join)
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3
UNSEEN = st.sampled_from(["\u200b", "\u200d", "\u2060", "\u00ad", "\ufe0f", "\u034f", "\u0301", "\U000e0001"])


@given(SURROGATES_TOO | TALK)
@settings(deadline=None, max_examples=300)
def test_every_finding_is_a_place_in_the_text_in_order_and_outside_of_the_one_before(text: str) -> None:
    end = 0
    for hit in find_secrets(text):
        assert 0 <= hit.start < hit.end <= len(text)
        assert hit.end > end
        assert hit.group in ("secret", "personal")
        end = hit.end
    assert find_secrets(text) == find_secrets(text)
    assert (redacted(text) == text) == (not find_secrets(text))


@given(SURROGATES_TOO | TALK)
@settings(deadline=None)
def test_every_place_of_a_view_has_an_origin(text: str) -> None:
    view = plain(text)
    whole = joined(view)
    for seen in (view, whole):
        if seen is not None and seen.origin is not None:
            assert len(seen.origin) == len(seen.text)
            assert list(seen.origin) == sorted(seen.origin)
    if (said := decoded(view.text)) is not None:
        for at in range(len(said.text)):
            start, end = said.run(at)
            assert 0 <= start < end <= len(view.text)


@given(
    st.lists(st.tuples(st.integers(1, len(TOKEN) - 1), UNSEEN), max_size=6),
    st.sampled_from(["", "ดู", "看", "x "]),
)
@settings(deadline=None)
def test_no_invisible_character_hides_a_token(marks: list[tuple[int, str]], before: str) -> None:
    hidden = TOKEN
    for at, mark in sorted(marks, reverse=True):
        hidden = hidden[:at] + mark + hidden[at:]
    text = f"{before} {hidden} นะ"
    (hit,) = find_secrets(text)
    assert text[hit.start : hit.end] == hidden


@given(TALK)
@settings(deadline=None)
def test_whoever_allows_everything_is_told_nothing(text: str) -> None:
    found = find_secrets(text)
    assert without_allowed(text, found, lambda _: True) == ()
    assert without_allowed(text, found, lambda _: False) == found


REPEATED = [
    "password ", "my password is a ", "密码", "密码是a", "รหัสผ่าน", "eyJ", "sk-", "ab://x:", "@", "1",
    "1 ", "12-", "4111 ", "change my password to ", "token=", "key: ", "curl -u a ", "login: a / ",
    "u:a p:", "pin ", "seed phrase is ", "abandon ", "passphrase is word word word ", "DE89 ",
    "a@b.co / ", "mysql -p ", "echo a | ", "identified by '", "-----BEGIN PRIVATE KEY-----", "\n",
    "A1" * 20 + "\n", "aGVsbG8gd29ybGQ ", "\u200b", "é", "ｐ", "password: '", "a1 is my ",
    "a1是我的密码", "x_live_", "=", "...", "set set set password to to ", "is is is ",
    "password for for ", "ssn 123-45-", "&quot;", "a.b.c.", "password a1 or ", "xxxxxxxx", "my-my-my-",
    "\U000e0041", "hooks.slack.com/services/",
]
WORDS = sorted({word for rule in (*privacy._TOKENS, *privacy._RULES, *NAMES) for word in rule.keywords})


def best_of_three(text: str) -> float:
    took = []
    for _ in range(3):
        start = time.thread_time()
        find_secrets(text)
        took.append(time.thread_time() - start)
    return min(took)


@pytest.mark.parametrize("piece", [*REPEATED, *WORDS])
def test_sixteen_kilobytes_of_anything_repeated_are_scanned_in_time(piece: str) -> None:
    # 50 ms on a machine of its own; tests share theirs.
    assert best_of_three((piece * (SIZE // len(piece) + 1))[:SIZE]) < 0.15


@given(st.lists(st.sampled_from([*REPEATED, *WORDS]), min_size=1, max_size=5))
@settings(deadline=None, max_examples=60)
def test_sixteen_kilobytes_of_any_pattern_are_scanned_in_time(pieces: list[str]) -> None:
    pattern = "".join(pieces)
    assert best_of_three((pattern * (SIZE // len(pattern) + 1))[:SIZE]) < 0.2


def test_twice_the_text_takes_about_twice_the_time() -> None:
    text = "my password is a and the token for b is c, login: d / e; " * 300
    assert best_of_three(text * 4) < 12 * best_of_three(text) + 0.01
