"""Which texts hold a secret. Every token is put together at run time: no valid shape stands in this file."""

from __future__ import annotations

import random
import re
import string

import pytest

from lamina.policy import privacy
from lamina.policy.privacy import REDACTED, Finding, find_secrets, redacted

CHANCE = random.Random(20261103)


def of(alphabet: str, length: int) -> str:
    """Characters of the alphabet, the same on every run; at least one digit if it has digits."""
    drawn = "".join(CHANCE.choice(alphabet) for _ in range(length - 1))
    return drawn + ("7" if "7" in alphabet else alphabet[0])


ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
PEM = "PRIVATE " + "KEY-----"

TOKENS = {
    "aws_access_key": ["AK" + "IA" + of(UPPER, 16), "AS" + "IA" + of(UPPER, 16)],
    "github_token": [
        "gh" + "p_" + of(ALNUM, 36), "gh" + "o_" + of(ALNUM, 36), "github" + "_pat_" + of(ALNUM, 82),
    ],
    "gitlab_token": ["gl" + "pat-" + of(ALNUM, 20)],
    "slack_token": ["xox" + "b-" + of(string.digits, 12) + "-" + of(ALNUM, 24)],
    "slack_webhook": [
        "https://hooks.slack" + f".com/services/T{of(UPPER, 8)}/B{of(UPPER, 8)}/{of(ALNUM, 24)}",
    ],
    "stripe_key": ["sk_" + "live_" + of(ALNUM, 24), "rk_" + "live_" + of(ALNUM, 24)],
    "anthropic_key": ["sk-" + "ant-" + "api03-" + of(ALNUM, 90)],
    "openai_key": ["sk-" + of(ALNUM, 48), "sk-" + "proj-" + of(ALNUM, 60)],
    "google_key": ["AI" + "za" + of(ALNUM, 35)],
    "npm_token": ["npm" + "_" + of(ALNUM, 36)],
    "pypi_token": ["pypi" + "-AgEI" + of(ALNUM, 90)],
    "telegram_bot_token": [of(string.digits, 9) + ":AA" + of(ALNUM, 33)],
    "json_web_token": ["ey" + "J" + of(ALNUM, 20) + "." + "ey" + "J" + of(ALNUM, 40) + "." + of(ALNUM, 43)],
    "lamina_token": ["lam" + "_" + of(ALNUM, 43)],
    "private_key": [f"-----BEGIN RSA {PEM}\n{of(ALNUM, 64)}\n{of(ALNUM, 20)}==\n-----END RSA {PEM}"],
    "cloud_key": ["LT" + "AI" + of(ALNUM, 20)],
    "service_token": ["hf" + "_" + of(ALNUM, 34), "SG" + "." + of(ALNUM, 22) + "." + of(ALNUM, 43)],
}
EACH = [(rule, token) for rule, tokens in TOKENS.items() for token in tokens]
FRAMES = [
    "{}", "please keep {} for me.", "โทเค็นคือ{}ครับ", "密钥{}，请记住", "密鑰是「{}」", "key={}",
    '{{"k": "{}"}}',
]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(("rule", "token"), EACH, ids=[rule for rule, _ in EACH])
def test_a_provider_token_is_found_in_any_sentence(rule: str, token: str, frame: str) -> None:
    text = frame.format(token)
    assert rule in {hit.rule for hit in find_secrets(text)}
    assert token not in redacted(text)
    assert token[-12:] not in redacted(text)


NAMED = [
    "my password is {}",
    "My password's {}",
    "the password for the staging server is {}.",
    "the password I use for github is {}",
    "changed my password to {}",
    "{} is my password",
    "use {} as the admin password",
    "log in with password {}",
    "DB_PASSWORD={}",
    '{{"password": "{}"}}',
    "mysql --password {}",
    "the client secret is {}",
    "API key: {}",
    "refresh token = {}",
    "รหัสผ่านคือ {}",
    "รหัสผ่านของฉันคือ{}ครับ",
    "รหัสผ่านของ server01 คือ {}",
    "พาสเวิร์ด: {}",
    "รหัสไวไฟบ้านเป็น {}",
    "โทเค็น {}",
    "คีย์ลับ = {}",
    "password คือ {}",
    "我的密码是{}",
    "我的密碼是{}。",
    "wifi密碼：{}，別忘了",
    "口令为 {}",
    "密钥是{}",
    "密鑰改為 {}",
    "令牌「{}」",
    "通行證是 {}",
    "password 是 {}",
]


@pytest.mark.parametrize("sentence", NAMED)
@pytest.mark.parametrize("secret", ["hunter2", "Tr0ub4dor3", "x9Y8z7W6v5"])
def test_a_named_secret_is_found_and_only_it_is_taken_out(sentence: str, secret: str) -> None:
    text = sentence.format(secret)
    (hit,) = find_secrets(text)
    assert text[hit.start : hit.end] == secret
    assert redacted(text) == sentence.format(REDACTED)


@pytest.mark.parametrize(
    "text",
    [
        "my password is 123",
        "my password is swordfish",
        "Password: swordfish",
        "the password is 'swordfish'",
        "my password is pa$$word",
        "my PIN is 1234",
        "PIN 1234",
        "the OTP is 123456",
        "my passphrase is correct horse battery staple",
        "seed phrase: legal winner thank year wave sausage worth useful",
        "change the password from hunter2 to hunter3",
        "password is password: hunter2",
        "พิน 1234",
        "รหัสพินของผมคือ 987654",
        "รหัสผ่านคือ ๑๒๓๔๕๖",
        "รหัสผ่านของฉันคือ swordfish",
        "验证码是 123456",
        "驗證碼：１２３４５６",
        "密码123456",
        "密碼是swordfish",
    ],
)
def test_passwords_and_pins_need_not_look_random_where_they_are_named(text: str) -> None:
    assert find_secrets(text)
    assert not find_secrets(redacted(text))


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password",
        "I forgot my password yesterday.",
        "the password policy is strict",
        "my password is strong",
        "reset your password at the portal",
        "The password is in 1Password",
        "I need the password to server01.",
        "Set a password to protect the file",
        "password length is 12 characters",
        "the password is 128 characters long",
        "passwords are hashed with bcrypt",
        "Password: required",
        "password: <your password>",
        "password = os.environ['DB_PASSWORD']",
        "password = getpass.getpass()",
        "API key: OPENAI_API_KEY",
        "Get your API key: https://example.com/api-keys",
        "keyboard token ring",
        "monkey tokenization",
        "max_tokens: 4096",
        "the token limit is 4096",
        "the token is valid for 24h",
        "token: ${TOKEN}",
        "the secret is out",
        "Bearer of bad news arrived",
        "the opinion is 1234 words long",
        "sk-learn-contrib-imbalanced-learn-tools",
        "task-force-alpha-bravo-charlie-delta",
        "http://localhost:3000/@scope/name",
        "ฉันลืมรหัสผ่าน",
        "นโยบายรหัสผ่านเข้มงวด",
        "รหัสผ่านต้องมี 8 ตัว",
        "รหัสผ่านหมดอายุทุก 90 วัน",
        "รีเซ็ตรหัสผ่านที่พอร์ทัล",
        "รหัสไปรษณีย์ 10110",
        "พินัยกรรม 1234 ฉบับ",
        "คีย์บอร์ดกับโทเคนริง",
        "我忘記密碼了",
        "密码策略很严格",
        "密碼有效期是180天",
        "密码长度为128位",
        "密碼學教材是2023版",
        "令牌环网络",
        "请在门户重置密码",
        "Ana likes tea",
        "",
    ],
)
def test_talk_about_secrets_is_not_a_secret(text: str) -> None:
    assert find_secrets(text) == ()
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("postgres://app:s3cr3t@db/x", "postgres://app:(redacted)@db/x"),
        ("https://u:p@ss@host/", "https://u:(redacted)@host/"),
        ("redis://:s3cr3t@cache:6379/0", "redis://:(redacted)@cache:6379/0"),
    ],
)
def test_credentials_in_an_address_are_found(text: str, left: str) -> None:
    assert redacted(text) == left


@pytest.mark.parametrize(
    "password", ["password", "pass", "${PASS}", "$DB_PASSWORD", "****", "xxx", "changeme", "{pw}"]
)
def test_placeholders_in_an_address_are_not_secrets(password: str) -> None:
    assert find_secrets(f"postgres://user:{password}@localhost/db") == ()


@pytest.mark.parametrize(
    "header", ["Authorization: Bearer {}", "authorization: Basic {}", "curl -H 'Bearer {}'"]
)
def test_authorization_headers_are_found(header: str) -> None:
    token = of(ALNUM, 30)
    assert redacted(header.format(token)) == header.format(REDACTED)


def test_a_private_key_without_its_end_is_taken_out_to_the_end_of_the_text() -> None:
    body = of(ALNUM, 64)
    assert redacted(f"see -----BEGIN {PEM}\n{body}\n") == f"see {REDACTED}"


def test_invisible_and_wide_characters_do_not_hide_a_secret() -> None:
    token = "gh" + "p_" + of(ALNUM, 36)
    hidden = token[:10] + "\u200b" + token[10:20] + "\u2060" + token[20:]
    wide = "".join(chr(ord(char) + 0xFEE0) for char in token)
    for text in (f"ดู {hidden} นะ", f"看 {wide} 吧"):
        assert redacted(text) in (f"ดู {REDACTED} นะ", f"看 {REDACTED} 吧")
    assert redacted("ｐａｓｓｗｏｒｄ is hunter2") == f"ｐａｓｓｗｏｒｄ is {REDACTED}"
    assert redacted("pass\u00adword is hunter2") == f"pass\u00adword is {REDACTED}"


def test_a_finding_holds_the_rule_and_the_place_and_no_text() -> None:
    assert find_secrets("my password is hunter2") == (Finding("password", 15, 22),)
    assert "hunter" not in repr(find_secrets("my password is hunter2"))


def test_findings_come_in_order_and_none_lies_inside_another() -> None:
    token = "gh" + "p_" + of(ALNUM, 36)
    text = f"token: {token} and my password is hunter2 and PIN 1234"
    hits = find_secrets(text)
    assert [hit.rule for hit in hits] == ["github_token", "password", "pin"]
    assert redacted(text) == f"token: {REDACTED} and my password is {REDACTED} and PIN {REDACTED}"


def test_every_rule_compiles_and_names_a_known_shape_and_plain_keywords() -> None:
    names = [rule.name for rule in privacy._RULES]
    assert len(names) == len(set(names))
    for rule in privacy._RULES:
        assert privacy._compiled(rule.pattern)
        assert rule.shape in privacy._SHAPES
        assert not re.search("@[a-z_]+@", rule.pattern)
        assert all(keyword == keyword.lower() for keyword in rule.keywords)
