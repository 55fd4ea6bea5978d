"""Which texts hold a secret. Every token is put together at run time: no valid shape stands in this file."""

from __future__ import annotations

import base64
import importlib
import itertools
import json
import random
import re
import string
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from lamina.language.secrets import privacy, shapes, views
from lamina.language.secrets.privacy import REDACTED, Allowed, SecretFinding, find_secrets, redacted
from lamina.language.secrets.shapes import NAMES, compiled, shape, source

ROOT = Path(__file__).parents[2]

CHANCE = random.Random(20261103)


def of(alphabet: str, length: int) -> str:
    """Characters of the alphabet, the same on every run; at least one digit if it has digits."""
    drawn = "".join(CHANCE.choice(alphabet) for _ in range(length - 1))
    return drawn + ("7" if "7" in alphabet else alphabet[0])


ALNUM = string.ascii_letters + string.digits
HEX = string.digits + "abcdef"
UPPER = string.ascii_uppercase + string.digits
PEM = "PRIVATE " + "KEY-----"

TOKENS = {
    "aws_access_key": ["AK" + "IA" + of(UPPER, 16), "AS" + "IA" + of(UPPER, 16)],
    "github_token": [
        "gh" + "p_" + of(ALNUM, 36),
        "gh" + "o_" + of(ALNUM, 36),
        "github" + "_pat_" + of(ALNUM, 82),
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
    "cloud_key": [
        "LT" + "AI" + of(ALNUM, 20),
        "AK" + "ID" + of(ALNUM, 32),
        "dop" + "_v1_" + of(HEX, 64),
        "dapi" + of(HEX, 32),
        "sbp" + "_" + of(HEX, 40),
        "hvs" + "." + of(ALNUM, 90),
    ],
    "azure_key": ["AccountKey" + "=" + of(ALNUM, 86) + "=="],
    "azure_client_secret": ["a1B8" + "Q~" + of(ALNUM, 34)],
    "twilio_key": ["SK" + of(HEX, 32)],
    "discord_token": ["M" + of(ALNUM, 23) + "." + of(ALNUM, 6) + "." + of(ALNUM, 38)],
    "chat_webhook": ["https://discord.com/api/" + "webhooks/" + of(string.digits, 18) + "/" + of(ALNUM, 68)],
    "model_service_key": ["hf" + "_" + of(ALNUM, 34), "gsk" + "_" + of(ALNUM, 52)],
    "mail_service_key": ["SG" + "." + of(ALNUM, 22) + "." + of(ALNUM, 43), "key" + "-" + of(HEX, 32)],
    "mailchimp_key": [of(HEX, 32) + "-us" + "21"],
    "terraform_token": [of(ALNUM, 14) + ".atlas" + "v1." + of(ALNUM, 67)],
    "airtable_token": ["pat" + of(ALNUM, 14) + "." + of(HEX, 64)],
    "line_channel_token": [of(ALNUM, 150) + "1O/w1" + "cDnyilFU="],
    "service_token": [
        "shp" + "at_" + of(HEX, 32),
        "lin" + "_api_" + of(ALNUM, 40),
        "ntn" + "_" + of(ALNUM, 46),
        "sntr" + "yu_" + of(HEX, 64),
        "AGE-SECRET" + "-KEY-1" + of(UPPER, 58),
        "figd" + "_" + of(ALNUM, 40),
        "gl" + "sa_" + of(ALNUM, 32) + "_" + of(HEX, 8),
        "dckr" + "_pat_" + of(ALNUM, 27),
    ],
    "disk_recovery_key": ["-".join(of(string.digits, 6) for _ in range(8))],
    "prefixed_token": ["acme" + "_live_" + of(ALNUM, 32)],
}
EACH = [(rule, token) for rule, tokens in TOKENS.items() for token in tokens]
FRAMES = [
    "{}",
    "please keep {} for me.",
    "โทเค็นคือ{}ครับ",
    "密钥{}，请记住",
    "密鑰是「{}」",
    "key={}",
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


def test_a_private_key_of_putty_is_found() -> None:
    assert redacted(f"see\nPrivate-Lines: 2\n{of(ALNUM, 64)}\n{of(ALNUM, 20)}\n") == f"see\n{REDACTED}\n"


def test_invisible_and_wide_characters_do_not_hide_a_secret() -> None:
    token = "gh" + "p_" + of(ALNUM, 36)
    hidden = token[:10] + "\u200b" + token[10:20] + "\u2060" + token[20:]
    wide = "".join(chr(ord(char) + 0xFEE0) for char in token)
    for text in (f"ดู {hidden} นะ", f"看 {wide} 吧"):
        assert redacted(text) in (f"ดู {REDACTED} นะ", f"看 {REDACTED} 吧")
    assert redacted("ｐａｓｓｗｏｒｄ is hunter2") == f"ｐａｓｓｗｏｒｄ is {REDACTED}"
    assert redacted("pass\u00adword is hunter2") == f"pass\u00adword is {REDACTED}"


def test_a_finding_holds_the_rule_and_the_place_and_no_text() -> None:
    assert find_secrets("my password is hunter2") == (SecretFinding("password", 15, 22),)
    assert "hunter" not in repr(find_secrets("my password is hunter2"))


def test_findings_come_in_order_and_none_lies_inside_another() -> None:
    token = "gh" + "p_" + of(ALNUM, 36)
    text = f"token: {token} and my password is hunter2 and PIN 1234"
    hits = find_secrets(text)
    assert [hit.rule for hit in hits] == ["github_token", "password", "pin"]
    assert redacted(text) == f"token: {REDACTED} and my password is {REDACTED} and PIN {REDACTED}"


def test_every_rule_compiles_and_names_a_known_shape_and_plain_keywords() -> None:
    rules = [*privacy._TOKENS, *privacy._RULES]
    names = [rule.name for rule in rules]
    assert len(names) == len(set(names))
    for rule in (*rules, *privacy._ENTERED):
        assert compiled(rule.pattern)
        assert shape(rule.shape)
        assert not re.search("@[a-z_]+@", rule.pattern)
    for keyword in [word for rule in (*rules, *NAMES) for word in rule.keywords]:
        assert keyword == keyword.lower()
    assert all(rule.keywords for rule in privacy._RULES)
    assert all(shape(f"named_{name.kind}") for name in NAMES)


def test_every_shape_is_made_of_known_tests_and_every_test_is_used() -> None:
    shapes_of = source("shapes")
    for name in (*shapes_of["shape"], *shapes_of["test"]):
        assert shape(name)
    lines = [line for lines in shapes_of["shape"].values() for line in lines]
    asked = {term.lstrip("!") for line in lines for term in line.split()}
    asked |= {rule.shape for rule in (*privacy._TOKENS, *privacy._RULES, *privacy._ENTERED)}
    asked |= {f"named_{name.kind}" for name in NAMES}
    asked |= {name for kinds in source("names")["kinds"].values() for name in kinds.values()}
    assert {*shapes_of["shape"], *shapes_of["test"]} <= asked
    with pytest.raises(KeyError):
        shape("no_such_test")


def test_no_pattern_uses_what_early_python_3_11_gets_wrong() -> None:
    def written(rules: object) -> Iterator[str]:
        if isinstance(rules, dict | list):
            for rule in rules.values() if isinstance(rules, dict) else rules:
                yield from written(rule)
        elif isinstance(rules, str):
            yield rules

    names = ("secrets", "names", "shapes", "numbers")
    texts = [text for name in names for text in written(source(name))]
    patterns = [compiled(text) for text in texts if set(text) & set("(?[*+{")]
    for module in (privacy, shapes, views):
        patterns += [value for value in vars(module).values() if isinstance(value, re.Pattern)]
    assert len(patterns) > 220
    for pattern in patterns:
        bare = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "c", pattern.pattern)
        assert not re.search(r"[*+?}]\+|\(\?>", bare), pattern.pattern


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password = 'correct horse battery'", "correct horse battery"),
        ("login: ana / hunter2", "hunter2"),
        ("creds are ana:hunter2", "hunter2"),
        ("帳號 ana 密碼 hunter2", "hunter2"),
        ("账密是 ana/hunter2", "hunter2"),
        ("ยูส ana พาส hunter2", "hunter2"),
        ("user: admin / รหัส: Admin#99", "Admin#99"),
        ("u: ana p: hunter2", "hunter2"),
        ("username admin and password raspberry did not work", "raspberry"),
        ("netflix: ana@gmail.com / Popcorn!77", "Popcorn!77"),
        ("我的密码是“芝麻开门”", "芝麻开门"),
        ("รหัสผ่าน: แมวน้ำ1234", "แมวน้ำ1234"),
        ("密碼：龍貓公車88", "龍貓公車88"),
        ("DB_PASSWORD=hunter2", "hunter2"),
        ("export AWS_SECRET_ACCESS_KEY=" + (KEY := of(ALNUM, 40)), KEY),
        ("Server=db1;Uid=app;Pwd=hunter2;Encrypt=true", "hunter2"),
        ("curl -u ana:hunter2 https://x.acme.co", "hunter2"),
        ("mysql -uroot -phunter2 app", "hunter2"),
        ("sshpass -p hunter2 ssh ana@db1", "hunter2"),
        ('"client_secret": "' + KEY + '"', KEY),
        ("- name: API_TOKEN\n  value: " + KEY, KEY),
        ('<add key="ApiKey" value="' + KEY + '" />', KEY),
        ("CREATE USER ana WITH PASSWORD 'hunter2';", "hunter2"),
        ('os.getenv("ADMIN_PASSWORD", "admin123")', "admin123"),
        ("the deploy key I generated: " + KEY, KEY),
        ("our weather key is " + KEY, KEY),
        ("Heroku api key = 8d7f2b1c-9e4a-4c1d-a2b3-77c1d2e3f4a5", "8d7f2b1c-9e4a-4c1d-a2b3-77c1d2e3f4a5"),
        ("the safe combination is 12-34-56", "12-34-56"),
        ("the code for the front door is 4821", "4821"),
        ("The password? It's Fluffy2012!", "Fluffy2012!"),
        ("the password got changed twice, now it is Fluffy2012!", "Fluffy2012!"),
        ("เปลี่ยนรหัสเป็น Phuket#88 แล้วนะ", "Phuket#88"),
        ("รหัสเข้าคอมออฟฟิศ Winter2024", "Winter2024"),
        ("root 密码设置成了 R00t#77", "R00t#77"),
        ("保險箱密碼 30-15-22", "30-15-22"),
        ("门禁密码 4829#", "4829"),
        ("482913 is your verification code", "482913"),
        ("machine mail01 login svc_2 password willow2127", "willow2127"),
        ("username svc.backup password tiger-meadow-378", "tiger-meadow-378"),
        ("aws_secret_access_key = /" + KEY[1:], "/" + KEY[1:]),
        ("Fluffy2012 <- my github password", "Fluffy2012"),
        ("It's Fluffy2012 (that's my bank password)", "Fluffy2012"),
        ("- **Password:** Fluffy2012", "Fluffy2012"),
        ("Password\n\nFluffy2012", "Fluffy2012"),
        ('smtp_pass "Fluffy2012"', "Fluffy2012"),
        ("REDIS_AUTH=Fluffy2012", "Fluffy2012"),
        ("my password is: correct horse battery staple", "correct horse battery staple"),
        ('requests.get(url, auth=("ana", "Fluffy2012"))', "Fluffy2012"),
        ("Set-Cookie: auth=" + KEY + "; HttpOnly", KEY),
        ("password%3DFluffy2012%26x", "Fluffy2012"),
        ("postgres%3A%2F%2Fana%3AFluffy2012%40db%2Fapp", "Fluffy2012"),
    ],
)
def test_what_people_paste_into_a_chat_is_found(text: str, secret: str) -> None:
    start = text.rindex(secret)
    assert any(hit.start <= start and start + len(secret) <= hit.end for hit in find_secrets(text))
    assert secret not in redacted(text)


SEED = "legal winner thank year wave sausage worth useful legal winner thank yellow"


@pytest.mark.parametrize(
    "text",
    [
        f"my wallet seed is {SEED}",
        f"Recovery phrase:\n{SEED}",
        "recovery words: " + " ".join(f"{place}. {word}" for place, word in enumerate(SEED.split(), 1)),
        f"助記詞：{SEED}",
        f"วลีกู้คืนคือ {SEED}",
        "助记词 " + " ".join("的一是在不了有和人这中大"),
    ],
)
def test_a_seed_phrase_is_found_whole(text: str) -> None:
    assert redacted(text).endswith(REDACTED)


@pytest.mark.parametrize(
    "text",
    [
        "my old password was hunter22 but I changed it to hunter33",
        "the passwords are hunter22 and hunter33",
        "change the password from hunter22 to hunter33",
        "รหัสผ่านคือ hunter22 หรือ hunter33",
    ],
)
def test_a_second_password_in_the_sentence_is_found_too(text: str) -> None:
    assert "hunter" not in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "密码为空时使用扫码登录",
        "注册密码为 6-20位数字、字母或两者组合",
        "密码为 null 或空字符串",
        "請確認帳號密碼是否正確",
        "登录的账号和密码是多少？",
        "密钥管理服务 KMS v2.1 上线",
        "凭证号 20240115-003 已入账",
        "เช็กรหัสผ่าน: ภาษาอังกฤษและตัวเลขเท่านั้น",
        "รหัสผ่านคือรหัสนักศึกษา",
        "รหัสโปรโมชั่น SAVE20 ใช้ได้ถึงสิ้นเดือน",
        "พาสปอร์ตเลข AA1234567",
        "passwords like 123456 are weak",
        "the passphrase should be five random words",
        "Change the default password (admin) before going live.",
        "The Wi-Fi password is on the fridge",
        "key: value pairs in YAML",
        "promo code SUMMER24 gives 20% off",
        "error code: 0x8007",
        "the private key never leaves the HSM",
        "login: 09:30, logout: 18:15",
        "account: savings / checking",
        "git rev-parse HEAD -> 3f786850e387550fdab836ed7e6dc881de23001b",
        "session_id: 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "image: app@sha256:" + of(HEX, 64),
        'password: "${DB_PASSWORD}"',
        "password: z.string().min(8),",
        "password = models.CharField(max_length=128)",
        'api_key = "sk-' + "x" * 24 + '"',
        "AKIA" + "IOSFODNN7EXAMPLE",
        "postgres://user:password@localhost/db",
        "curl -u username:password https://api.example.com",
        "const token = req.headers.authorization?.split(' ')[1]",
        '"Forgot password?": "忘记密码？",',
        '"password": "รหัสผ่าน",',
        "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestSecret-a1b2c3",
        '"NextToken": "e1a6b86e-46bd-41ac-bfba-633abcdfdbd7"',
        "password: &anchor",
        "Specify the username user and password password for both",
        "Pass `--timeout=milliseconds` to it",
        "--secret=projects/my-project/secrets/my-secret/versions/2",
        "import apsw; stop = 0xFFFF_FFFF",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "https://example.com/reset%20password?step=2",
        "session=6f32f1ef-8b18-a2bc-3cea-59789c79d441",
        "id pk_" + "live_51HxY2zKJ8sL0aBcDeFgH",
        "La palabra clave es paciencia2024",
        "la clave es escuchar",
        "Le code postal est 75011",
        "Der Schlüssel zum Erfolg ist Geduld",
        "the wifi is slow today",
        "wifi: 100 Mbps down",
        "Ledger Nano X arrived",
        "one two three four five, once I caught a fish alive",
        "U.S.A.F.B.I. agents",
        "二零二六年一月一日",
        "my password manager is KeePassXC 2.7",
        "my password app is mSecure6",
        "Passport expiry: 12042031",
        "通行证到期 20310412",
        "พาสปอร์ต: 12/04/2574",
        "el pasaporte caduca el 12/04/2031",
        "Der Reisepass läuft am 04.08.2032 ab",
        "the locker code is on note 4 in the blue folder",
        "door code: see the note from 2024",
        "Der Türcode steht auf dem Zettel in der Küche",
        "el código de la puerta está en la nota de la nevera",
        "門禁密碼寫在抽屜的便條上",
        "รหัสประตูเขียนไว้ในกระดาษใต้กระถาง",
        "PUK-Brief liegt im Ordner 2",
        "Schließfach 88 kostet 5 Euro",
        "la combinación de colores 12-33-08",
        "el código de error es 5031",
        "the locker room opens with a delay of 15 minutes",
    ],
)
def test_placeholders_hashes_code_and_talk_are_not_secrets(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("La contraseña: Girasol1962x", "Girasol1962x"),
        ("La contraseña del correo de la tienda es Girasol_1962, apúntala", "Girasol_1962"),
        ("Cambié la clave de Spotify, ahora es perroverde33", "perroverde33"),
        ("Mon mot de passe c'est Lavande!2019, garde-le", "Lavande!2019"),
        ("le mdp du PC de la boutique : croissant_beurre75", "croissant_beurre75"),
        ("Das Passwort für Omas Tablet lautet Zwetschge1943", "Zwetschge1943"),
        ("Kennwort fürs Vereinskonto ist jetzt Blaskapelle!12", "Blaskapelle!12"),
        ("Geheimzahl der Sparkassenkarte: 3816, bitte merken", "3816"),
        ("wifi at the cabin: Sunflower-42-Lake", "Sunflower-42-Lake"),
        ("店裡的 Wi-Fi 打 fishporridge55 就連得上", "fishporridge55"),
        ("WPA2 ของหอคือ suandok@312 เพิ่งเปลี่ยน", "suandok@312"),
        ("WIFI:T:WPA;S:Home;P:wugu8888ff;; in the picture", "wugu8888ff"),
        ("p a s s w o r d : hunter2", "hunter2"),
        ("The master password? It's still BlueMonday1983!", "BlueMonday1983"),
        ("Use 'correct horse battery staple' as the passphrase for the drive", "horse battery"),
        ("My Apple ID recovery key: RK4T-9QWE-7ZXC-1VBN-5MLP-3KJH-8GFD", "9QWE-7ZXC"),
        ("locker 17 at the gym opens with 3902", "3902"),
        ("unlock pattern for my phone is 1-4-7-8-9", "1-4-7-8-9"),
        ("the wifi: network Lakehouse, key BlueHeron1987", "BlueHeron1987"),
        ("邮箱授权码是 qwxzplmnbvcdasdf", "qwxzplmnbvcdasdf"),
        ("El código de la alarma es 5590", "5590"),
        ("el código del portal es 3741B", "3741B"),
        ("la combinación de la caja fuerte es 19-45-07", "19-45-07"),
        ("la contraseña sigue siendo gatonegro13, no la cambies", "gatonegro13"),
        ("PIN del móvil 2580", "2580"),
        ("Der Türcode vom Büro ist 6613", "6613"),
        ("Passwort vom Router ist immer noch Hase-Igel-9", "Hase-Igel-9"),
        ("Das Master-Passwort meines KeePass heißt Mondlicht&Kaffee3", "Mondlicht&Kaffee3"),
        ("PUK der SIM: 48291037", "48291037"),
        ("Schließfach 88 am Bahnhof, Code 5127", "5127"),
        ("Code für die Haustür: 7719", "7719"),
        ("the password is p u m p k i n 8 8 ! without the gaps", "p u m p k i n 8 8 !"),
        ("clave: g.i.r.a.s.o.l.6.2 (sin los puntos)", "g.i.r.a.s.o.l.6.2"),
        ("my banking pin is seven two nine one, spelled out", "seven two nine one"),
        ("取款密码是六零四四一八，用汉字写", "六零四四一八"),
        ("พินเอทีเอ็มคือ ห้า แปด สอง ศูนย์ จำไว้นะ", "ห้า แปด สอง ศูนย์"),
        ("the zip opens with Q7v!pelican as before", "Q7v!pelican"),
        ("a row: $2b" + "$12$" + of(ALNUM, 53) + " is there", "$2b$12$"),
        ("AGE-SECRET-" + "KEY-1" + of(UPPER, 58), "KEY-1"),
        ("cookie PHP" + "SESSID=" + of(HEX, 26), "SESSID="),
    ],
)
def test_other_wordings_languages_and_spellings_do_not_hide_a_secret(text: str, secret: str) -> None:
    left = redacted(text)
    assert REDACTED in left
    if not secret.endswith(("$", "=", "-1")):
        assert secret not in left


def test_letters_that_stand_apart_take_linear_time() -> None:
    for hostile in ("a " * 30_000, "a.b" * 20_000, "one two " * 8_000, "一二" * 30_000, "- " * 30_000):
        started = time.process_time()
        find_secrets(hostile)
        assert time.process_time() - started < 2


KEY_OF_THE_STORE = b"a key that only this store has"


def test_an_allowed_value_is_no_finding_and_every_other_still_is() -> None:
    text = "the password is hunter2, the PIN is 1234"
    password, pin = find_secrets(text)
    allowed = Allowed(KEY_OF_THE_STORE, frozenset({Allowed(KEY_OF_THE_STORE).fingerprint(text, password)}))
    assert find_secrets(text, allowed) == (pin,)
    assert find_secrets("รหัสผ่านคือ hunter2", allowed) == find_secrets("密碼是hunter2", allowed) == ()
    assert find_secrets("my password is hunter3", allowed)


def test_a_fingerprint_needs_the_key_and_says_nothing_about_the_value() -> None:
    text = "my PIN is 1234"
    (hit,) = find_secrets(text)
    one, other = (Allowed(key).fingerprint(text, hit) for key in (KEY_OF_THE_STORE, KEY_OF_THE_STORE[::-1]))
    assert one != other
    assert re.fullmatch("[0-9a-f]{24}", one)
    assert find_secrets(text, Allowed(KEY_OF_THE_STORE, frozenset({other}))) == (hit,)
    with pytest.raises(ValueError, match="16 bytes"):
        Allowed(b"")


TOKEN = "gh" + "p_" + of(ALNUM, 36)


@pytest.mark.parametrize(
    "hidden",
    [
        TOKEN[:12] + "\n" + TOKEN[12:],
        TOKEN[:20] + "\r\n    " + TOKEN[20:],
        TOKEN[:20] + "\\\n" + TOKEN[20:],
        TOKEN[:8] + "\u00ad" + TOKEN[8:],
        TOKEN[:8] + "\u034f\ufe0f" + TOKEN[8:],
        TOKEN.translate(str.maketrans("pohe", "рοһе")),
        base64.b64encode(f"my token is {TOKEN}".encode()).decode(),
        base64.urlsafe_b64encode(f"看 {TOKEN}".encode()).decode().rstrip("="),
        base64.b64encode(f"token {TOKEN}".encode("utf-16-le")).decode(),
        "".join(chr(0xE0000 + ord(char)) for char in TOKEN),
        "".join(f"%{ord(char):02X}" for char in TOKEN),
    ],
)
@pytest.mark.parametrize("frame", ["see {} there", "ดู {} นะ", "看 {} 。"])
def test_a_hidden_token_is_found_and_the_place_is_that_in_the_text(frame: str, hidden: str) -> None:
    text = frame.format(hidden)
    (hit,) = find_secrets(text)
    assert text[hit.start : hit.end] == hidden
    assert hit.rule == "github_token"


def test_the_line_after_a_token_is_not_a_part_of_it() -> None:
    text = f"{TOKEN}\nand then we went home\n{TOKEN}"
    assert redacted(text) == f"{REDACTED}\nand then we went home\n{REDACTED}"


def test_a_column_of_numbers_is_no_card() -> None:
    assert find_secrets("4539\n1488\n0343\n6467") == ()


def test_readable_base64_without_a_secret_is_no_finding() -> None:
    assert find_secrets(base64.b64encode(b"the quick brown fox jumps over the lazy dog").decode()) == ()


def test_a_text_full_of_names_still_gives_up_a_secret_at_its_end() -> None:
    assert find_secrets("password: none " * 2000 + "password: hunter2")


@pytest.fixture
def detector(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.detector")


CORPORA = ["tuning", "held_out", "second_hand"]


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("seed", [20261103, 5])
def test_recall_and_precision_are_at_least_98_percent(detector: ModuleType, name: str, seed: int) -> None:
    result = detector.measure(name, seed)
    wrong = [(sample.kind, sample.text) for sample in result.wrong[:20]]
    assert result.recall >= 0.98, wrong
    assert result.precision >= 0.98, wrong


@pytest.mark.parametrize("name", CORPORA)
def test_the_corpus_is_large_in_three_languages_and_always_the_same(detector: ModuleType, name: str) -> None:
    samples = detector.CORPORA[name](5)
    assert samples == detector.CORPORA[name](5)
    assert sum(bool(sample.secrets) for sample in samples) >= 500
    assert sum(not sample.secrets for sample in samples) >= 550
    for secret in (True, False):
        languages = {sample.language[:2] for sample in samples if bool(sample.secrets) is secret}
        assert languages == {"en", "th", "zh"}


def test_the_corpora_share_no_text(detector: ModuleType) -> None:
    texts = [{sample.text for sample in make(5)} for make in detector.CORPORA.values()]
    for one, other in itertools.combinations(texts, 2):
        assert len(one & other) <= 12, one & other


def test_our_own_documentation_raises_no_alarm(detector: ModuleType) -> None:
    shows_it = [ROOT / "README.md", ROOT / "docs" / "ten-minutes.md"]  # a password being refused
    paths = [path for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")) if path not in shows_it]
    count, alarms = detector.alarms(paths)
    assert count > 500
    assert alarms == []
    shown = [line for _, line in detector.lines(shows_it) if find_secrets(line)]
    assert all("remember" in line for line in shown), shown


@pytest.mark.parametrize(
    "said",
    [
        "my password is hunter2-Blue42",
        "hunter2-Blue42 is my password",
        "รหัสผ่านคือ hunter2-Blue42",
        "密码是 hunter2-Blue42",
    ],
)
def test_what_json_escapes_does_not_hide_a_secret(said: str) -> None:
    """Tools answer in JSON, and JSON within JSON: a line break is two signs there, and a quote too."""
    for inner in (f"one\n{said}\nthree", f'"{said}"', json.dumps({"log": said}, ensure_ascii=False)):
        text = json.dumps([{"out": inner}], ensure_ascii=False)
        assert "hunter2" not in redacted(text)
        allowed = json.dumps({"a": "harmless", "b": inner}, ensure_ascii=False)
        assert redacted(allowed).startswith('{"a": "harmless"')
    assert redacted(r"C:\new\temp\reports") == r"C:\new\temp\reports"
