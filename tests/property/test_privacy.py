"""What holds for any text whatever: the scan never raises and names places in the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.language.secrets.privacy import Allowed, find_secrets, redacted
from lamina.language.secrets.views import decoded, joined, plain
from tests.effort import times

SIZE = 16_384
SURROGATES_TOO = st.text(st.characters(codec=None))
PIECES = [
    "password",
    "my password is ",
    "token=",
    "key: ",
    "密码是",
    "รหัสผ่านคือ ",
    "login: ana / ",
    "hunter2",
    "Tr0ub4dor&3",
    "4539 1488 0343 6467",
    "1-1017-00230-70-8",
    "DE89",
    "://u:",
    "@",
    "'",
    '"',
    "\n",
    "\\",
    " ",
    "=",
    "\u200b",
    "ｐ",
    "р",
    "aGVsbG8gd29ybGQ",
    "\U000e0041",
    "İ",
    "ﬀ",
    "㍿",
    "-----BEGIN PRIVATE ",
    "seed phrase: ",
    "abandon ",
]
TALK = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map("".join)
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3
UNSEEN = st.sampled_from(["\u200b", "\u200d", "\u2060", "\u00ad", "\ufe0f", "\u034f", "\u0301", "\U000e0001"])


@given(SURROGATES_TOO | TALK)
@settings(deadline=None, max_examples=times(25, 300))
def test_every_finding_is_a_place_in_the_text_in_order_and_outside_of_the_one_before(text: str) -> None:
    end = 0
    for hit in find_secrets(text):
        assert 0 <= hit.start < hit.end <= len(text)
        assert hit.end > end
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
    for start, end, _ in decoded(view.text):
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


@given(SURROGATES_TOO | TALK, st.binary(min_size=16))
@settings(deadline=None)
def test_whoever_allows_what_was_found_is_told_nothing_more(text: str, key: bytes) -> None:
    found = find_secrets(text)
    names = frozenset(Allowed(key).fingerprint(text, hit) for hit in found)
    assert find_secrets(text, Allowed(key)) == found
    assert find_secrets(text, Allowed(key, names)) == ()
    assert find_secrets(text, Allowed(key + b"?", names)) == found


REPEATED = [
    "password ",
    "my password is a ",
    "密码",
    "密码是a",
    "รหัสผ่าน",
    "eyJ",
    "sk-",
    "ab://x:",
    "@",
    "1",
    "1 ",
    "12-",
    "4111 ",
    "change my password to ",
    "token=",
    "key: ",
    "curl -u a ",
    "login: a / ",
    "u:a p:",
    "pin ",
    "seed phrase is ",
    "abandon ",
    "passphrase is word word word ",
    "DE89 ",
    "a@b.co / ",
    "mysql -p ",
    "echo a | ",
    "identified by '",
    "-----BEGIN PRIVATE KEY-----",
    "\n",
    "A1" * 20 + "\n",
    "aGVsbG8gd29ybGQ ",
    "\u200b",
    "é",
    "ｐ",
    "password: '",
    "a1 is my ",
    "a1是我的密码",
    "x_live_",
    "=",
    "...",
    "set set set password to to ",
    "is is is ",
    "password for for ",
    "ssn 123-45-",
    "&quot;",
    "a.b.c.",
    "password a1 or ",
    "xxxxxxxx",
    "my-my-my-",
    "\U000e0041",
    "hooks.slack.com/services/",
]


@pytest.mark.parametrize("piece", REPEATED)
def test_sixteen_kilobytes_of_anything_repeated_are_scanned_to_the_end(piece: str) -> None:
    """A pattern that tries every way to split a text would not come back before the test is stopped."""
    flood = (piece * (SIZE // len(piece) + 1))[:SIZE]
    assert find_secrets(f"{flood}\n\n{TOKEN}")[-1].end >= SIZE
