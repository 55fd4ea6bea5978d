"""A second corpus in another hand: other sentences, other providers, other values than `secret_corpus.py`.

It was written before the rules were last worked on, to tell a rule from a fitted example: they found 98.5 %
of it at first sight, and raised no false alarm. A line is a text; `{pw}` and the like are made anew for every
text, and what stands in `SECRETS` must not survive. Every token is put together at run time.
"""

from __future__ import annotations

import base64
import random
import re
import string
from collections.abc import Callable, Iterator

from bench.secret_corpus import Sample

DIGITS, LOWER, UPPER = string.digits, string.ascii_lowercase, string.ascii_uppercase
HEX, ALNUM = DIGITS + "abcdef", string.ascii_letters + DIGITS
ROUNDS = 3
PETS = ["Rex", "Mochi", "Luna", "Simba", "Coco", "Nong", "Wang", "Somsak", "Xiaoming", "Bella"]
SEEDS = ["ritual", "scout", "oven", "myth", "elbow", "topic", "vivid", "canoe", "drift", "fossil", "mango"]


def corpus(seed: int) -> list[Sample]:
    """Texts with a secret, texts that only look like it, and ordinary ones."""
    return [*_made(seed, WITH_SECRET), *_made(seed + 1, WITHOUT_SECRET)]


def _made(seed: int, blocks: dict[str, str]) -> Iterator[Sample]:
    chance = random.Random(seed)
    seen: set[str] = set()
    for _ in range(ROUNDS):
        for kind, block in blocks.items():
            for line in block.strip("\n").split("\n"):
                sample = _filled(chance, kind, line.replace("\\n", "\n"))
                if sample.text not in seen:
                    seen.add(sample.text)
                    yield sample


def _filled(chance: random.Random, kind: str, template: str) -> Sample:
    secrets: list[str] = []

    def fill(slot: re.Match[str]) -> str:
        if slot[1] not in MAKERS:
            return slot[0]
        made = MAKERS[slot[1]](chance)
        if slot[1] in SECRETS:
            secrets.append(made)
        return made

    text = re.sub(r"\{([a-z0-9_]+)\}", fill, template)
    return Sample(text, kind, _language(template), tuple(secrets))


def _language(text: str) -> str:
    if re.search("[\u0e00-\u0e7f]", text):
        return "th"
    return "zh" if re.search("[\u4e00-\u9fff]", text) else "en"


def _of(chance: random.Random, alphabet: str, length: int) -> str:
    drawn = "".join(chance.choice(alphabet) for _ in range(length - 2))
    return drawn + chance.choice(alphabet[:10]) + alphabet[-1]


def _digits(chance: random.Random, length: int) -> str:
    return "".join(chance.choice(DIGITS) for _ in range(length))


def _password(chance: random.Random) -> str:
    pet = chance.choice(PETS)
    season = chance.choice(["Summer", "Winter", "Spring", "Autumn", "Monday", "October"])
    return chance.choice(
        [
            f"{season}{chance.randrange(2015, 2027)}!",
            f"{pet}@{chance.randrange(1970, 2020)}",
            f"{pet.lower()}{chance.randrange(100, 9999)}",
            f"P@ss{chance.randrange(10, 99)}w0rd",
            f"{_of(chance, ALNUM, 12)}",
            f"{_of(chance, ALNUM, 6)}#{_of(chance, ALNUM, 5)}$",
            f"qwe{chance.randrange(100, 999)}RTY",
            f"I<3{pet}{chance.randrange(10, 99)}".replace("<", "l"),
            f"{pet}_{season}_{chance.randrange(1, 99)}",
            f"!{season.lower()}{chance.randrange(10, 99)}{pet}",
        ]
    )


def _weak(chance: random.Random) -> str:
    return chance.choice(["letmein", "iloveyou", "qwertyuiop", "trustno1", "football", "sawasdee", "woaini"])


def _token(chance: random.Random) -> str:
    def alnum(length: int) -> str:
        return _of(chance, ALNUM, length)

    def hexa(length: int) -> str:
        return "".join(chance.choice(HEX) for _ in range(length - 1)) + "7"

    def upper(length: int) -> str:
        return _of(chance, UPPER + DIGITS, length)

    jwt = base64.urlsafe_b64encode(b'{"alg":"RS256","kid":"k1"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(f'{{"sub":"{alnum(12)}","exp":1790000000}}'.encode()).decode().rstrip("=")
    return chance.choice(
        [
            "AS" + "IA" + upper(16),
            "AK" + "IA" + upper(16),
            "gh" + "s_" + alnum(36),
            "gh" + "r_" + alnum(36),
            "github" + "_pat_11" + upper(20) + "_" + alnum(59),
            "gl" + "pat-" + alnum(20),
            "xox" + "e.xoxp-1-" + alnum(150),
            "xapp" + "-1-A" + upper(10) + "-" + _digits(chance, 13) + "-" + hexa(64),
            "sk" + "_test_" + alnum(24),
            "sk" + "_live_51" + alnum(97),
            "whsec" + "_" + alnum(32),
            "sk-" + "proj-" + alnum(74) + "T3" + "Blbk" + "FJ" + alnum(74),
            "sk-" + "ant-admin01-" + alnum(80),
            "sk-" + "or-v1-" + hexa(64),
            "AI" + "za" + "Sy" + alnum(33),
            "hf" + "_" + alnum(34),
            "r8" + "_" + alnum(37),
            "gsk" + "_" + alnum(52),
            "xai" + "-" + alnum(80),
            "pplx" + "-" + alnum(48),
            "npm" + "_" + alnum(36),
            "pypi" + "-AgEIcHlwaS5vcmcCJ" + alnum(120),
            "SG" + "." + alnum(22) + "." + alnum(43),
            "".join(chance.choice(DIGITS[1:]) for _ in range(9)) + ":AA" + alnum(33),
            "glpat" + "-" + alnum(10) + "_" + alnum(9),
            "shp" + "ca_" + hexa(32),
            "dop" + "_v1_" + hexa(64),
            "ATATT" + "3xFfGF0" + alnum(180),
            "eyJ" + jwt[3:] + "." + body + "." + alnum(86),
            "doo" + "_v1_" + hexa(64),
            "lin" + "_oauth_" + hexa(64),
            "ghu" + "_" + alnum(36),
            "tskey" + "-auth-" + alnum(12) + "CNTRL-" + alnum(32),
            "EAACEdEose0c" + "BA" + alnum(120),
            "nvapi" + "-" + alnum(64),
            "ya29" + ".a0" + alnum(150),
            "GOC" + "SPX-" + alnum(28),
            "hvs" + ".CAES" + alnum(90),
            "postman: PMAK" + "-" + hexa(24) + "-" + hexa(34),
            "https://hooks.slack" + ".com/services/T0" + upper(8) + "/B0" + upper(8) + "/" + alnum(24),
            "sb" + "_secret_" + alnum(31),
            "acme" + "_prod_" + alnum(40),
        ]
    )


def _pem(chance: random.Random) -> str:
    kind = chance.choice(["RSA ", "EC ", "", "OPENSSH ", "ENCRYPTED ", "DSA "])
    lines = "\n".join(_of(chance, ALNUM + "+/", 64) for _ in range(chance.randrange(2, 6)))
    return f"-----BEGIN {kind}PRIVATE" + f" KEY-----\n{lines}\n-----END {kind}PRIVATE" + " KEY-----"


def _luhn(body: str) -> str:
    total = 0
    for place, digit in enumerate(reversed(body)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return body + str(-total % 10)


def _card(chance: random.Random) -> str:
    head = chance.choice(["4532", "4916", "5425", "2720", "5105", "6011", "3566", "6225", "4000"])
    number = _luhn(head + _digits(chance, 11))
    by = chance.choice(["", " ", "-"])
    return by.join(number[at : at + 4] for at in range(0, 16, 4))


def _amex(chance: random.Random) -> str:
    number = _luhn("3782" + _digits(chance, 10))
    return f"{number[:4]} {number[4:10]} {number[10:]}"


def _thai_id(chance: random.Random) -> str:
    body = chance.choice("12358") + _digits(chance, 11)
    check = (11 - sum(int(digit) * (13 - at) for at, digit in enumerate(body)) % 11) % 10
    return body + str(check)


def _dashed(number: str) -> str:
    return f"{number[0]}-{number[1:5]}-{number[5:10]}-{number[10:12]}-{number[12]}"


def _chinese_id(chance: random.Random) -> str:
    body = chance.choice(["330106", "320583", "500112", "420111", "210204"])
    body += f"{chance.randrange(1960, 2008)}{chance.randrange(1, 13):02}{chance.randrange(1, 28):02}"
    body += f"{chance.randrange(1, 999):03}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return body + "10X98765432"[sum(int(d) * w for d, w in zip(body, weights, strict=True)) % 11]


def _iban(chance: random.Random) -> str:
    country, bank = chance.choice([("DE", "37040044"), ("ES", "2100"), ("GB", "BARC"), ("IT", "X05428")])
    lengths = {"DE": 18, "ES": 20, "GB": 18, "IT": 23}
    body = bank + _digits(chance, lengths[country] - len(bank))
    number = int("".join(str(int(char, 36)) for char in body + country + "00"))
    whole = f"{country}{98 - number % 97:02}{body}"
    if chance.random() < 0.5:
        return whole
    return " ".join(whole[at : at + 4] for at in range(0, len(whole), 4))


def _spoiled(number: str) -> str:
    return number[:-1] + ("1" if number[-1] in "X0" else str(int(number[-1]) - 1))


SECRETS = frozenset(
    (
        "pw",
        "weak",
        "tok",
        "pem",
        "card",
        "amex",
        "thid",
        "thid_dashed",
        "cnid",
        "iban",
        "key",
        "hex40",
        "pin",
        "otp",
        "b64pw",
        "seed",
    )
)
MAKERS: dict[str, Callable[[random.Random], str]] = {
    "pw": _password,
    "weak": _weak,
    "tok": _token,
    "pem": _pem,
    "card": _card,
    "amex": _amex,
    "thid": _thai_id,
    "thid_dashed": lambda chance: _dashed(_thai_id(chance)),
    "cnid": _chinese_id,
    "iban": _iban,
    "key": lambda chance: _of(chance, ALNUM, chance.choice([20, 32, 40, 43])),
    "hex40": lambda chance: "".join(chance.choice(HEX) for _ in range(39)) + "7",
    "pin": lambda chance: _digits(chance, chance.choice([4, 6])),
    "otp": lambda chance: _digits(chance, 6),
    "b64pw": lambda chance: base64.b64encode(f"password={_password(chance)}".encode()).decode(),
    "seed": lambda chance: " ".join(chance.choice(SEEDS) for _ in range(12)),
    # matter of every day
    "user": lambda chance: chance.choice(["jane", "wichai", "liming", "svc_report", "bob.smith"]),
    "host": lambda chance: chance.choice(["db.internal", "10.1.2.3", "api.acme.dev", "nas.local"]),
    "n": lambda chance: str(chance.randrange(3, 99)),
    "big": lambda chance: str(chance.randrange(10_000, 999_999)),
    "year": lambda chance: str(chance.randrange(1995, 2027)),
    "sha": lambda chance: "".join(chance.choice(HEX) for _ in range(40)),
    "sha256": lambda chance: "".join(chance.choice(HEX) for _ in range(64)),
    "short": lambda chance: "".join(chance.choice(HEX) for _ in range(8)),
    "md5": lambda chance: "".join(chance.choice(HEX) for _ in range(32)),
    "uuid": lambda chance: "-".join("".join(chance.choice(HEX) for _ in range(n)) for n in (8, 4, 4, 4, 12)),
    "b64": lambda chance: base64.b64encode(chance.randbytes(60)).decode(),
    "sri": lambda chance: base64.b64encode(chance.randbytes(64)).decode(),
    "ver": lambda chance: f"{chance.randrange(9)}.{chance.randrange(30)}.{chance.randrange(30)}",
    "d9": lambda chance: _digits(chance, 9),
    "d12": lambda chance: "8" + _digits(chance, 11),
    "phone": lambda chance: f"08{_digits(chance, 1)}-{_digits(chance, 3)}-{_digits(chance, 4)}",
    "cnphone": lambda chance: f"1{chance.choice('3578')}{chance.randrange(100_000_000, 999_999_999)}",
    "badcard": lambda chance: _spoiled(_card(chance)),
    "badthid": lambda chance: _dashed(_spoiled(_thai_id(chance))),
    "badcnid": lambda chance: _spoiled(_chinese_id(chance)),
    "isbn": lambda chance: f"978-0-{_digits(chance, 3)}-{_digits(chance, 5)}-{_digits(chance, 1)}",
    "ean": lambda chance: "885" + _digits(chance, 10),
    "ulid": lambda chance: "01J" + "".join(chance.choice(UPPER + DIGITS) for _ in range(23)),
}

WITH_SECRET = {
    "token": """
Hey, the deploy job needs {tok} in its environment
{tok}
Use this for CI → {tok}
const client = new Client("{tok}");
headers = {"x-api-key": "{tok}"}
note to self ({tok}) rotate in May
set GH_TOKEN {tok}
TOKEN='{tok}' make release
ตัวนี้ใช้กับ production นะ {tok}
นี่คือคีย์ที่ได้มาวันนี้:{tok}ครับ
โทเคนใหม่={tok}
这是线上用的 {tok}，不要外传
新的token：{tok}
API 金鑰是 {tok} 請保密
把{tok}填到配置里
{pem}
here is the deploy key:\\n{pem}\\nthanks
""",
    "sentence": """
my password is {pw}
My new password is {pw}, write it down please.
the wifi password at the office is {pw}
For the VPN the password is {pw}
btw password for {user} is {pw}
password to the shared drive: {pw}
I set the router password to {pw}
the root password has been changed to {pw}.
Login with {user} and the password {pw}
Her Netflix password is "{pw}".
username: {user}, password: {pw}
user {user} password {pw}
creds for {host}: {user} / {pw}
Remember that my Apple ID password is {pw}
please remember my password: {pw}
the password = {pw}
Password is {pw}
pw: {pw}
pwd is {pw}
passphrase for the ssh key is {pw}
It's {pw} (that's my bank password)
{pw} is the password for the admin panel
My password used to be {pw}
the secret is {key}
our API key is {key}
the api token for the billing service is {key}
client secret: {key}
access key {key}
my wifi password is {weak}
my password is {weak}
The admin password is '{weak}'.
my atm pin is {pin}
the PIN for my card is {pin}
my phone's passcode is {pin}
your verification code is {otp}
OTP: {otp}
seed phrase: {seed}
my wallet recovery phrase is {seed}
The encryption key is {hex40}
bearer token is {key}
the signing secret for webhooks is {hex40}
""",
    "thai": """
รหัสผ่านคือ {pw}
รหัสผ่านของฉันคือ {pw}
พาสเวิร์ดของผมคือ {pw} ครับ
รหัสผ่าน wifi คือ {pw}
รหัส wifi ร้าน {pw}
รหัสผ่าน: {pw}
รหัสผ่านใหม่คือ{pw}ค่ะ
รหัสผ่านสำหรับเข้าเซิร์ฟเวอร์ {host} คือ {pw}
เปลี่ยนรหัสผ่านเป็น {pw} แล้วนะ
จำรหัสผ่านอีเมลของฉันไว้ด้วย {pw}
ยูสเซอร์ {user} พาสเวิร์ด {pw}
ชื่อผู้ใช้ {user} รหัสผ่าน {pw}
ไอดี {user} รหัส {pw}
พาสคือ {pw}
พาสเวิร์ด={pw}
รหัสลับคือ {pw}
คีย์ API คือ {key}
โทเค็นของบอทคือ {key}
API key ของเราคือ {key}
รหัส ATM ของแม่คือ {pin}
รหัสพิน {pin}
รหัส OTP คือ {otp}
รหัสผ่านธนาคารของฉันคือ {weak}
password ของฉันคือ {pw}
ช่วยจำหน่อย password เข้าเมล {pw}
""",
    "chinese": """
我的密码是{pw}
密码是：{pw}
密码：{pw}
我的邮箱密码是 {pw}，帮我记住
WiFi密码为{pw}
服务器{host}的密码是{pw}
账号 {user} 密码 {pw}
用户名：{user}，密码：{pw}
用户名{user}密码{pw}
数据库的口令是 {pw}
把密码改成 {pw}
新密码设置为{pw}
登录密码 {pw}
我的银行卡密码是{pin}
支付密码{pin}
验证码是{otp}
API密钥是{key}
密钥：{key}
访问令牌为 {key}
我的密码是{weak}
我的密碼是{pw}
密碼：{pw}
無線網路密碼是 {pw}
管理員密碼設為{pw}
帳號{user}，密碼{pw}
請記住我的信箱密碼：{pw}
提款卡密碼是{pin}
驗證碼為 {otp}
存取權杖：{key}
API 金鑰：{key}
伺服器的密碼改為「{pw}」
密碼是「{pw}」
password是{pw}
token是{key}
""",
    "config": """
DB_PASSWORD={pw}
export DB_PASS="{pw}"
MYSQL_ROOT_PASSWORD: {pw}
password: {pw}
  password: "{pw}"
"password": "{pw}",
{"user": "{user}", "pass": "{pw}"}
spring.datasource.password={pw}
SECRET_KEY = '{key}'
AWS_SECRET_ACCESS_KEY={key}
aws_secret_access_key = {key}
api_key: {key}
"apiKey": "{key}"
const API_KEY = "{key}";
clientSecret: '{key}'
auth_token={key}
JWT_SECRET={key}
private static final String PASSWORD = "{pw}";
db = connect(host="{host}", user="{user}", password="{pw}")
psql "host={host} user={user} password={pw}"
Server={host};Database=app;User Id={user};Password={pw};
postgresql://{user}:{key}@{host}:5432/app
mongodb+srv://{user}:{key}@{host}/test
redis://:{key}@{host}:6379
amqp://{user}:{key}@{host}
https://{user}:{key}@github.com/acme/repo.git
curl -u {user}:{pw} https://{host}/
curl -H "Authorization: Bearer {key}" https://{host}/
Authorization: Bearer {key}
Authorization: Basic {b64pw}
mysql -u root -p{key} app
sshpass -p '{pw}' ssh {user}@{host}
docker login -u {user} -p {key}
--password {key}
<password>{pw}</password>
<add key="ApiSecret" value="{key}" />
$password = '{pw}';
password := "{pw}"
let secret = "{key}"
ENV API_TOKEN={key}
PGPASSWORD={pw} psql -h {host}
machine {host} login {user} password {pw}
"client_secret":"{key}"
config.token = "{key}"
set password for {user} = "{pw}"
CREATE USER {user} WITH PASSWORD '{pw}';
ALTER USER {user} IDENTIFIED BY '{pw}';
X-Api-Key: {key}
x-auth-token: {key}
| {user} | password | {pw} |
- **Password:** {pw}
- Password: `{pw}`
_password_: {pw}
echo "{pw}" | sudo -S apt update
net use Z: \\\\srv\\share /user:{user} {pw}
{b64pw}
""",
    "personal": """
my card is {card}
{card}
Visa {card} exp 04/29 cvv 123
charge it to {card} please
amex {amex}
บัตรเครดิต {card}
เลขบัตรคือ{card}
信用卡号 {card}
信用卡號是{card}
银行卡：{card}
เลขบัตรประชาชน {thid}
เลขประจำตัวประชาชน {thid_dashed}
{thid_dashed}
บัตร ปชช. {thid}
my Thai ID is {thid}
national id: {thid}
我的身份证号是{cnid}
身份证：{cnid}
身分證字號 {cnid}
{cnid}
ID card number {cnid}
IBAN {iban}
please wire it to {iban}
โอนเข้า {iban}
账户 {iban}
""",
}

WITHOUT_SECRET = {
    "talk": """
I forgot my password and need to reset it
The password is reset every {n} days
password must contain at least {n} characters and a symbol
Never share your password with anyone.
The password is required.
The password is case sensitive.
my password is too weak according to the form
my password is the name of my first dog
my password is stored in KeePass
my password is about to expire
The password is correct but login still fails
what is the password?
is the password still the same?
I changed my password yesterday
he changed the password to something longer
Please enter your password below
Password strength: medium
Password hint: your favourite colour
Password reset link expires in {n} minutes
password-less login is enabled
Passwords are salted and hashed using argon2id with {n} iterations
Use a password manager such as Bitwarden or 1Password
The secret of happiness is low expectations
There's no secret ingredient
The secretary is out until {n} May
token budget is {big} tokens
The tokenizer splits words into tokens
Each token costs ${n}
Our token bucket refills {n} per second
max tokens is set to {big}
tokens per second: {n}
The token is invalid or expired
access token lifetime is {n} minutes
Refresh tokens are rotated on every use
the CSRF token is missing
key results for Q{n}
The key is under the mat
API key rotation happens monthly
the api key is missing
An API key is a string that identifies the caller
API keys: see the admin page
Public key cryptography was invented in {year}
keyboard shortcuts are listed in the appendix
my keyboard is a Keychron K{n}
pin the dependency to {ver}
PIN entry is disabled after {n} attempts
opinion: {n} of us prefer tabs
the passage is {n} lines long
boarding pass for flight TG{n}
pass rate is {n}%
All tests pass: {n}
The pass completion was {n} of {n}
login takes {n} seconds
credentials are read from the environment
The credentials expire in {year}
Authentication uses OAuth2 with PKCE
bearer tokens must be sent over TLS
The recovery phrase has 12 words; never type it into a website.
security code is printed on the back of the card
code {n} means the printer is out of paper
the door code changes every month
postcode is {big}
Verification codes are valid for {n} minutes
The card number field accepts 16 digits
We never store IBANs in plain text
her passport expires in {year}
dress code is smart casual
the source code is {big} lines
discount code SUMMER{n}
""",
    "thai_talk": """
ฉันลืมรหัสผ่าน ต้องทำอย่างไร
รหัสผ่านต้องมีอย่างน้อย {n} ตัวอักษร
อย่าใช้รหัสผ่านเดียวกันทุกเว็บ
รหัสผ่านจะหมดอายุทุก {n} วัน
กรุณาใส่รหัสผ่านของคุณ
รหัสผ่านไม่ถูกต้อง
ระบบจะส่งรหัสผ่านใหม่ไปทางอีเมล
รหัสผ่านคือสิ่งที่ใช้ยืนยันตัวตน
รหัสผ่านที่ดีควรยาวและเดายาก
เปลี่ยนรหัสผ่านเป็นประจำทุก {n} เดือน
เปลี่ยนรหัสผ่านเป็นของใหม่แล้ว
เขาใช้โปรแกรมจัดการรหัสผ่าน
โทเค็นคือหน่วยย่อยของข้อความ
โมเดลนี้รับได้ {big} โทเค็น
รหัสไปรษณีย์ {big}
รหัสนักศึกษา {d9}
รหัสสินค้าคือ AB-{big}
รหัสคำสั่งซื้อ {d12}
เบอร์โทรของเขาคือ {phone}
บัญชีผู้ใช้ถูกล็อกหลังใส่รหัสผิด {n} ครั้ง
คีย์บอร์ดตัวนี้ราคา {big} บาท
กุญแจบ้านอยู่ใต้กระถาง
ความลับของร้านนี้คือน้ำซุป
ฉันชอบดื่มกาแฟตอนเช้า
ประชุมวันที่ {n} มีนาคม {year}
รหัส OTP จะหมดอายุใน {n} นาที
ห้ามบอกรหัส OTP แก่ผู้อื่น
โปรเจกต์นี้ใช้ Python {ver}
เลขบัตรประชาชนมี 13 หลัก
เลขที่ใบเสร็จ {d12}
""",
    "chinese_talk": """
我忘记密码了，怎么重置
密码至少需要{n}个字符
密码每{n}天更换一次
密码是保护账号的第一道防线
密码是区分大小写的
密码为空时返回错误
请输入密码
密码错误，请重试
不要把密码告诉任何人
建议使用密码管理器
两步验证的验证码有效期为{n}分钟
验证码错误
令牌桶算法每秒{n}个
这个模型支持{big}个token
密钥轮换周期为{n}天
公钥加密发明于{year}年
成功的秘诀是坚持
账号已被锁定，请{n}分钟后再试
密碼必須包含大小寫字母
密碼每{n}天需要更換
密碼錯誤次數過多
請勿將密碼告訴他人
密碼是用來保護帳號的
忘記密碼請點此
驗證碼已寄出，{n}分鐘內有效
密碼強度：中
订单号：{d12}
我的手机号是{cnphone}
学号{d9}
邮编{big}
快递单号 SF{d12}
身份证号有18位
我喜欢早上喝咖啡
會議在{year}年{n}月舉行
统一社会信用代码见附件
""",
    "placeholder": """
password: <your-password>
PASSWORD=xxxxxxxx
password=***
password: "${DB_PASSWORD}"
password = os.environ["DB_PASSWORD"]
password = os.getenv("DB_PASSWORD", "")
const pw = process.env.DB_PASSWORD;
api_key = "YOUR_API_KEY"
api_key: your-api-key-here
API_KEY=<insert key here>
token: "{{ .Values.token }}"
token: !vault |
secret: !Ref DbSecret
password: {{ lookup('env', 'PW') }}
SECRET_KEY=change-me
SECRET_KEY=replace_me
password = ""
password = None
password: null
"password": ""
"token": true
Authorization: Bearer <token>
Authorization: Bearer YOUR_TOKEN
Authorization: Bearer ${token}
curl -u user:pass https://example.com
postgres://user:pass@localhost/db
postgresql://postgres:postgres@localhost:5432/postgres
https://<user>:<token>@github.com/acme/x.git
sk-...
sk-xxxxxxxxxxxxxxxxxxxxxxxx
ghp_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
xoxb-your-token-here
AKIAXXXXXXXXXXXXXXXX
-----BEGIN PUBLIC KEY-----
my password is ********
my password is [redacted]
my password is (hidden)
the key is <redacted>
รหัสผ่าน: <รหัสผ่านของคุณ>
รหัสผ่านคือ ******
密码：<在此输入>
密码是******
密碼：「你的密碼」
密碼：xxxxxx
PIN: ****
--password "$PW"
--token=$GITHUB_TOKEN
echo $PASSWORD
${{ secrets.NPM_TOKEN }}
vault kv get -field=password secret/db
password=$(pass show db)
password: file:/run/secrets/db
passwordFile: /run/secrets/db_password
password_env: DB_PASSWORD
""",
    "code": """
def check_password(password: str, hashed: bytes) -> bool:
user.set_password(form.cleaned_data["password"])
if password != confirm_password:
token = request.headers.get("Authorization")
token = jwt.encode(payload, key, algorithm="HS256")
tokens = tokenizer.encode(text)
key = f"user:{user_id}"
cache_key = "users:all"
for key in sorted(data):
sorted(items, key=lambda x: x[1])
PRIMARY KEY (id),
api_key = load_config().api_key
self._token = token or self._refresh()
return secrets.token_urlsafe(32)
secret = hmac.new(key, msg, hashlib.sha256).hexdigest()
<input type="password" id="password" autocomplete="current-password">
<label>Password</label>
.password-field { color: #{short}; }
@pytest.fixture
const token = await getToken();
let password = prompt("Password?");
password = input("Password: ")
import { Token } from "./token";
type Token = { kind: string; value: string };
public string Password { get; set; }
password VARCHAR(255) NOT NULL
ALTER TABLE users ADD COLUMN password_hash TEXT;
grep -n "password" config.yaml
token_count = len(tokens)
n_tokens: {big}
"max_tokens": {n}
--max-tokens {big}
key="value"
raise ValueError("password too short")
logger.info("token refreshed for %s", user)
assert find_secrets("") == ()
git log --pretty=format:%H
PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
password_reset_timeout = {big}
session_key = session.session_key
x = tokens[0]; y = tokens[1]
""",
    "hashes": """
commit {sha}
Merge commit {short} into release
"integrity": "sha512-{sri}"
resolved "https://registry.example/pkg/-/pkg-{ver}.tgz#{sha}"
sha256 = "{sha256}"
{ hash = "sha256:{sha256}", url = "https://files.example/x.whl" }
Digest: sha256:{sha256}
id: {uuid}
The request id was {uuid}.
trace_id={md5}
md5sum: {md5}
checksum {sha256} ok
etag "{md5}"
![logo](data:image/png;base64,iVBORw0KGgo{b64})
<img src="data:image/jpeg;base64,/9j/{b64}">
session {ulid} started
ulid={ulid}
revision: {sha}
docker pull app@sha256:{sha256}
blob {sha} 1234
fingerprint SHA256:{b64}
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b64} jane@laptop
see https://example.com/a/{uuid}?page={n}
https://github.com/acme/app/commit/{sha}
https://drive.example.com/file/d/{ulid}/view
h1:{b64}
ดู commit {sha} นะ
งาน {uuid} เสร็จแล้ว
见提交 {sha}
雜湊 {sha256}
node {short} is down
build {big}-{short}
""",
    "numbers": """
order #{d12}
Order number: {d9}
ISBN {isbn}
EAN {ean}
call {phone} or mail me
phone +66 81 234 {big}
invoice {year}-{big}
version {ver}
{ver}-rc{n}
ip 192.168.{n}.{n}
at 14:{n} on {year}-05-12
population {big}
timestamp 17{d9}00
1700{d9}
{badcard}
{badthid}
{badcnid}
card ending in {n}42
tracking 1Z999AA1{d9}
account balance is {big}.{n}
coordinates 13.7563, 100.5018
ราคา {big} บาท
เลขห้อง {n}
电话{cnphone}
价格{big}元
serial SN-{d9}
SKU {big}-{n}
pi is 3.14159265358979323846
{big} rows in {n} ms
2^64 = 18446744073709551616
""",
    "prose": """
She prefers tea over coffee in the morning.
We agreed to ship on the {n}th of March {year}.
The meeting moved to room {n}B.
Deploys go out every Tuesday after standup.
He lives in Chiang Mai and works remotely.
The backup runs nightly at 02:{n}.
My sister's name is Ploy and she is {n}.
Please answer in Thai when I write in Thai.
Use ruff with line length {n}.
The function returns a tuple of findings.
Our staging host is {host}.
Her email is {user}@example.org
Flight SQ{n} lands at 06:{n}
I read "The Secret Garden" in {year}
Our mascot is called Token
The song is in the key of G
He scored on a through pass in minute {n}
แม่ชอบกินผัดไทย
พรุ่งนี้มีนัดหมอฟันตอนบ่ายสอง
她喜欢喝乌龙茶
我们下周二发布版本{ver}
他住在台北，喜歡爬山
會議改到週四下午
The museum's opening hours are 9-17
""",
}
