"""Made-up texts with and without secrets, in four ways of writing, from one seed.

The two splits share the makers of values and nothing else: the held-out sentences, snippets and providers
were written before the rules. No token of a valid shape stands in this file: every one is put together at run
time.

`<<P>>` and the like in a template is replaced by a value; the first group of names are secrets, the rest is
ordinary matter. A template without a secret makes a negative.
"""

from __future__ import annotations

import base64
import random
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

Split = Literal["tuning", "held_out"]

SEED = 20261103
POSITIVES = 520
NEGATIVES = 1000


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, what kind it is, and the secrets that must not be left in it."""

    text: str
    kind: str
    language: str
    secrets: tuple[str, ...]


# ---- values

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGITS
HEX = DIGITS + "abcdef"
BASE32 = LOWER + "234567"


def words(text: str) -> list[str]:
    return text.split()


WORDS = words(
    """sunflower bangkok dragon monkey coffee winter tiger pepper orange rocket purple guitar silver banana
    falcon marble thunder velvet cactus lantern harbor willow copper anchor meadow pickle saturn ginger"""
)
SEEDS = words(
    """abandon ability cable cactus dawn decade eager eagle fabric faculty gadget galaxy habit hammer icon
    idea jacket jaguar kangaroo keen label ladder machine magnet naive napkin oak object paddle palace quality
    quantum rabbit raccoon sadness saddle table tackle ugly umbrella vacant vacuum wagon walnut young zebra"""
)
NAMES = words("ana somchai wei lina kenji malee ploy jun admin root deploy svc.backup ops test01")
PLACES = words("db1 staging-web nas router mail01 10.0.4.17 vpn.acme.co portal.acme.io")
THINGS = words("tea coffee green-tea jazz hiking vim dark-mode Kubernetes PostgreSQL Rust badminton ramen")


class Values:
    """The makers behind the names in a template; the same seed gives the same values."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        """Characters of the alphabet, with a digit and a letter in it if it has both."""
        while True:
            drawn = "".join(self.chance.choice(alphabet) for _ in range(length))
            if alphabet.isdigit() or alphabet.isalpha() or length < 6:
                return drawn
            if re.search("[0-9]", drawn) and re.search("[A-Za-z]", drawn):
                return drawn

    def word(self) -> str:
        return self.chance.choice(WORDS)

    def password(self) -> str:
        """What people really choose: a word and a number, letters exchanged, or what a manager made."""
        style = self.chance.randrange(6)
        word = self.word()
        if style == 0:
            return word + str(self.chance.randrange(2, 9999))
        if style == 1:
            leet = word.replace("a", "@").replace("o", "0").replace("e", "3").replace("i", "1")
            return leet.capitalize() + self.chance.choice("!#$&") + str(self.chance.randrange(10, 99))
        if style == 2:
            return f"{word.capitalize()}{self.word().capitalize()}{self.chance.randrange(10, 99)}"
        if style == 3:
            return f"{word}-{self.word()}-{self.chance.randrange(100, 999)}"
        if style == 4:
            return self.of(ALNUM, self.chance.randrange(8, 15))
        return self.of(ALNUM, 5) + self.chance.choice("!@#$%^&*") + self.of(ALNUM, 5)

    def plain_word(self) -> str:
        return self.word() + self.chance.choice(["", self.word()])

    def key(self) -> str:
        return self.of(ALNUM, self.chance.randrange(24, 49))

    def hexadecimal(self) -> str:
        return self.of(HEX, self.chance.choice([32, 40, 64]))

    def uuid(self) -> str:
        digits = self.of(HEX, 32)
        return "-".join((digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:]))

    def pin(self) -> str:
        return self.of(DIGITS, self.chance.choice([4, 6]))

    def phrase(self) -> str:
        return " ".join(self.chance.choice(SEEDS) for _ in range(self.chance.choice([12, 24])))

    def few_words(self) -> str:
        return " ".join(self.chance.sample(WORDS, self.chance.choice([3, 4, 5])))

    def foreign(self) -> str:
        """A password in the writer's own letters."""
        return self.chance.choice(
            ["แมวน้ำ", "กาแฟเย็น", "芝麻开门", "龍貓公車", "ช้างน้อย", "小熊猫", "любовь", "élégante"]
        ) + self.of(DIGITS, 4)

    def card(self) -> str:
        head, length, groups = self.chance.choice(
            [
                ("4", 16, (4,) * 4),
                ("51", 16, (4,) * 4),
                ("37", 15, (4, 6, 5)),
                ("3528", 16, (4,) * 4),
                ("6217", 16, (4,) * 4),
                ("6011", 16, (4,) * 4),
                ("2221", 16, (4,) * 4),
            ]
        )
        number = head + self.of(DIGITS, length - len(head) - 1)
        return grouped(number + luhn_digit(number), groups, self.chance.choice(["", " ", "-"]))

    def thai_id(self) -> str:
        number = self.chance.choice("1235") + self.chance.choice(["1005", "3401", "1017", "4099"])
        number += self.of(DIGITS, 7)
        total = sum(int(digit) * (13 - place) for place, digit in enumerate(number))
        number += str((11 - total % 11) % 10)
        return grouped(number, (1, 4, 5, 2, 1), self.chance.choice(["", "-", " "]))

    def chinese_id(self) -> str:
        number = self.chance.choice(["110105", "310115", "440306", "510107"])
        number += f"{self.chance.randrange(1950, 2006)}{self.chance.randrange(1, 13):02}"
        number += f"{self.chance.randrange(1, 29):02}{self.of(DIGITS, 3)}"
        total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(number))
        return number + "10X98765432"[total % 11]

    def iban(self) -> str:
        country, body = self.chance.choice(
            [
                ("DE", self.of(DIGITS, 18)),
                ("GB", "NWBK" + self.of(DIGITS, 14)),
                ("FR", self.of(DIGITS, 23)),
                ("NL", "ABNA" + self.of(DIGITS, 10)),
                ("CH", self.of(DIGITS, 17)),
            ]
        )
        value = int("".join(str(int(char, 36)) for char in f"{body}{country}00"))
        number = f"{country}{98 - value % 97:02}{body}"
        return grouped(number, (4,) * 8, self.chance.choice(["", " "]))

    def ssn(self) -> str:
        area, group, serial = (self.chance.randrange(*ends) for ends in ((100, 660), (10, 99), (1000, 9999)))
        return f"{area}-{group}-{serial}"


def luhn_digit(number: str) -> str:
    doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(reversed(number))]
    return str(-sum(value - 9 * (value > 9) for value in doubled) % 10)


def grouped(number: str, sizes: tuple[int, ...], by: str) -> str:
    parts = []
    for size in sizes:
        parts.append(number[:size])
        number = number[size:]
    return by.join(part for part in (*parts, number) if part)


SECRET: dict[str, Callable[[Values], str]] = {
    "P": Values.password,
    "W": Values.plain_word,
    "K": Values.key,
    "H": Values.hexadecimal,
    "UU": Values.uuid,
    "PIN": Values.pin,
    "SEED": Values.phrase,
    "FEW": Values.few_words,
    "OWN": Values.foreign,
    "CARD": Values.card,
    "THID": Values.thai_id,
    "CNID": Values.chinese_id,
    "IBAN": Values.iban,
    "SSN": Values.ssn,
}
MATTER: dict[str, Callable[[Values], str]] = {
    "USER": lambda values: values.chance.choice(NAMES),
    "HOST": lambda values: values.chance.choice(PLACES),
    "THING": lambda values: values.chance.choice(THINGS),
    "NUM": lambda values: str(values.chance.randrange(2, 60)),
    "BIG": lambda values: str(values.chance.randrange(10_000, 9_999_999)),
    "YEAR": lambda values: str(values.chance.randrange(1990, 2027)),
    "SHA1": lambda values: values.of(HEX, 40),
    "SHA7": lambda values: values.of(HEX, 7),
    "SHA256": lambda values: values.of(HEX, 64),
    "MD5": lambda values: values.of(HEX, 32),
    "UUID": Values.uuid,
    "B64": lambda values: base64.b64encode(values.chance.randbytes(48)).decode(),
    "ISBN": lambda values: "978" + values.of(DIGITS, 10),
    "MS": lambda values: "17" + values.of(DIGITS, 11),
    "US": lambda values: "17" + values.of(DIGITS, 14),
    "D12": lambda values: values.of(DIGITS, 12),
    "D14": lambda values: "9" + values.of(DIGITS, 13),
    "IMEI": lambda values: "35" + (body := values.of(DIGITS, 12)) + luhn_digit("35" + body),
    "BADCARD": lambda values: wrong(values.card()),
    "BADTHID": lambda values: wrong(grouped(re.sub("[ -]", "", values.thai_id()), (1, 4, 5, 2, 1), "-")),
    "BADCNID": lambda values: wrong(values.chinese_id()),
    "ORDER": lambda values: re.sub("[ -]", "", values.card()),
    "PHONE": lambda values: f"+66 8{values.of(DIGITS, 1)} {values.of(DIGITS, 3)} {values.of(DIGITS, 4)}",
    "VERSION": lambda values: ".".join(str(values.chance.randrange(0, 30)) for _ in range(3)),
    "TEXT64": lambda values: base64.b64encode(
        values.chance.choice(["the quick brown fox jumps over it", '{"alg": "none", "page": 12}']).encode()
    ).decode(),
}


def wrong(number: str) -> str:
    """The number with a last digit that does not add up."""
    return number[:-1] + ("4" if number[-1] == "X" else str((int(number[-1]) + 3) % 10))


# ---- tokens of providers: name, then the parts of the shape

PROVIDERS: dict[Split, list[Callable[[Values], str]]] = {
    "held_out": [
        lambda v: "gh" + "u_" + v.of(ALNUM, 36),
        lambda v: "gl" + "rt-" + v.of(ALNUM, 20),
        lambda v: "xox" + "p-" + "-".join(v.of(DIGITS, 12) for _ in range(3)) + "-" + v.of(HEX, 32),
        lambda v: "rk" + "_live_" + v.of(ALNUM, 30),
        lambda v: "sk-" + "svcacct-" + v.of(ALNUM, 60),
        lambda v: "GOC" + "SPX-" + v.of(ALNUM, 28),
        lambda v: "dor" + "_v1_" + v.of(HEX, 64),
        lambda v: "SG" + "." + v.of(ALNUM, 22) + "." + v.of(ALNUM, 43),
        lambda v: "key" + "-" + v.of(HEX, 32),
        lambda v: "shp" + "ss_" + v.of(HEX, 32),
        lambda v: "dapi" + v.of(HEX, 32),
        lambda v: "lin" + "_api_" + v.of(ALNUM, 40),
        lambda v: "sbp" + "_" + v.of(HEX, 40),
        lambda v: "LT" + "AI" + "5t" + v.of(ALNUM, 18),
        lambda v: "sntr" + "yu_" + v.of(HEX, 64),
        lambda v: "gl" + "sa_" + v.of(ALNUM, 32) + "_" + v.of(HEX, 8),
        lambda v: "pat" + v.of(ALNUM, 14) + "." + v.of(HEX, 64),
        lambda v: "figd" + "_" + v.of(ALNUM, 40),
        lambda v: "hvs" + "." + v.of(ALNUM, 90),
        lambda v: "dckr" + "_pat_" + v.of(ALNUM, 27),
        lambda v: "NRAK" + "-" + v.of(UPPER + DIGITS, 27),
        lambda v: "xkeysib" + "-" + v.of(HEX, 64) + "-" + v.of(ALNUM, 16),
        lambda v: "AGE-SECRET" + "-KEY-1" + v.of(UPPER + DIGITS, 58),
        lambda v: v.of(ALNUM, 3) + "8" + "Q~" + v.of(ALNUM, 34),
        lambda v: "AT" + "ATT3xFfGF0" + v.of(ALNUM, 170) + "=" + v.of(UPPER + DIGITS, 8),
        lambda v: "nv" + "api-" + v.of(ALNUM, 64),
        lambda v: (
            "-----BEGIN EC PRIVATE "
            + "KEY-----\n"
            + v.of(ALNUM, 64)
            + "\n"
            + v.of(ALNUM, 40)
            + "==\n-----END EC PRIVATE "
            + "KEY-----"
        ),
        lambda v: (
            "-----BEGIN PGP PRIVATE "
            + "KEY BLOCK-----\n\n"
            + v.of(ALNUM, 64)
            + "\n="
            + v.of(ALNUM, 4)
            + "\n-----END PGP PRIVATE "
            + "KEY BLOCK-----"
        ),
        lambda v: "https://discord.com/api/" + "webhooks/" + v.of(DIGITS, 18) + "/" + v.of(ALNUM, 68),
        lambda v: "https://open.feishu.cn/open-apis/bot/v2/" + "hook/" + v.uuid(),
    ],
    "tuning": [
        lambda v: "AK" + "IA" + v.of(UPPER + DIGITS, 16),
        lambda v: "gh" + "p_" + v.of(ALNUM, 36),
        lambda v: "github" + "_pat_" + v.of(ALNUM, 22) + "_" + v.of(ALNUM, 59),
        lambda v: "gl" + "pat-" + v.of(ALNUM, 20),
        lambda v: "xox" + "b-" + v.of(DIGITS, 12) + "-" + v.of(DIGITS, 12) + "-" + v.of(ALNUM, 24),
        lambda v: "sk" + "_live_" + v.of(ALNUM, 24),
        lambda v: "sk-" + "ant-api03-" + v.of(ALNUM, 93) + "AA",
        lambda v: "sk-" + "proj-" + v.of(ALNUM, 48),
        lambda v: "AI" + "za" + v.of(ALNUM, 35),
        lambda v: "ya29" + "." + v.of(ALNUM, 80),
        lambda v: "npm" + "_" + v.of(ALNUM, 36),
        lambda v: "pypi" + "-AgEIcHlwaS5vcmc" + v.of(ALNUM, 90),
        lambda v: v.of(DIGITS[1:], 10) + ":AA" + v.of(ALNUM, 33),
        lambda v: "hf" + "_" + v.of(LOWER + UPPER, 33) + "7",
        lambda v: "shp" + "at_" + v.of(HEX, 32),
        lambda v: "dop" + "_v1_" + v.of(HEX, 64),
        lambda v: "ntn" + "_" + v.of(DIGITS, 11) + v.of(ALNUM, 35),
        lambda v: "SK" + v.of(HEX, 32),
        lambda v: "AK" + "ID" + v.of(ALNUM, 32),
        lambda v: v.of(HEX, 32) + "-us" + "14",
        lambda v: "M" + v.of(ALNUM, 23) + "." + v.of(ALNUM, 6) + "." + v.of(ALNUM, 38),
        lambda v: "AccountKey" + "=" + v.of(ALNUM, 86) + "==",
        lambda v: (
            "https://hooks.slack"
            + ".com/services/T"
            + v.of(UPPER + DIGITS, 8)
            + "/B"
            + v.of(UPPER + DIGITS, 8)
            + "/"
            + v.of(ALNUM, 24)
        ),
        lambda v: "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "J" + v.of(ALNUM, 60) + "." + v.of(ALNUM, 43),
        lambda v: (
            "-----BEGIN OPENSSH PRIVATE "
            + "KEY-----\n"
            + v.of(ALNUM, 70)
            + "\n-----END OPENSSH PRIVATE "
            + "KEY-----"
        ),
        lambda v: "sq0" + "csp-" + v.of(ALNUM, 43),
        lambda v: v.of(ALNUM, 130) + "/1O/w1" + "cDnyilFU=",
        lambda v: "acme" + "_live_" + v.of(ALNUM, 32),
    ],
}

# ---- templates; a line starts with its language where it is not English

HELD_OUT = {
    "token_in_text": """
pls rotate this one asap: <<T>>
it was leaked in the log, <<T>>, please note it
curl -s -H "X-Auth: <<T>>" https://api.acme.io/v2/me
- prod: `<<T>>`
os.environ["X"] = '<<T>>'
th|ช่วยเก็บอันนี้ไว้ให้หน่อย <<T>> ขอบคุณค่ะ
th|ของใหม่นะครับ:<<T>>
hans|帮我记一下<<T>>，下周要用
hans|这个是生产环境的：<<T>>
hant|幫我存起來<<T>>，謝謝
hant|正式環境用這個 <<T>> 喔
""",
    "password_in_chat": """
fyi the pw for <<HOST>> is <<P>>
ok so the Netflix password is now <<P>>, don't tell grandma
Remember: laptop password <<P>>
new passcode for the tablet: <<P>>
I always use <<P>> as my password for forums
the admin password should be <<P>> (temporary)
you can sign in with username <<USER>> and password <<P>>
Please save my Gmail password, it's <<P>>
my old password was <<P>> but I changed it to <<P>>
root pw on <<HOST>> = <<P>>
Zoom passcode: <<P>>
my email password: "<<P>>"
the password you asked for: <<P>>
here is the sudo password -> <<P>>
our guest wifi password is <<W>>
my bank password is <<W>>.
password - <<P>>
PASSWORD: <<P>>
th|พาสเวิร์ดอีเมลคือ <<P>> นะคะ
th|รหัสเข้าเครื่อง <<HOST>> คือ <<P>>
th|จำไว้นะ รหัสผ่าน facebook ของแม่คือ<<P>>
th|ตั้งรหัสผ่านใหม่เป็น <<P>> แล้ว
th|พาสไวไฟบ้าน <<P>>
th|รหัสผ่านเดิม <<P>> เปลี่ยนแล้วนะ
th|password ของเซิร์ฟเวอร์ <<HOST>> คือ <<P>> ครับ
th|ใช้รหัสผ่าน <<P>> เข้าระบบได้เลย
th|รหัสปลดล็อกมือถือคือ <<PIN>>
hans|登录密码是<<P>>，别告诉别人
hans|数据库密码改成<<P>>了
hans|我家wifi密码：<<P>>
hans|密码还是老的那个：<<P>>
hans|服务器<<HOST>>的root密码为<<P>>。
hans|新口令是 <<P>>
hans|我的支付密码是<<PIN>>
hans|记住我的邮箱密码 <<P>>
hant|我的登入密碼是<<P>>，請記住
hant|資料庫密碼改成 <<P>> 了
hant|公司Wi-Fi密碼：<<P>>
hant|伺服器<<HOST>>的管理員密碼為「<<P>>」
hant|解鎖密碼是 <<PIN>>
hant|請幫我記 Gmail 的密碼：<<P>>
""",
    "key_in_chat": """
our weather api key is <<K>>
the deploy key I generated: <<K>>
client secret (staging): <<K>>
here's the access token you need: <<K>>
Datadog app key <<H>>
the webhook signing secret is <<H>>
Use <<K>> as the API token
Heroku api key = <<UU>>
I stored the encryption key as <<H>>
th|คีย์ API ของเราคือ <<K>>
th|access token ใหม่: <<K>>
th|โทเค็นสำหรับบอทคือ <<K>> ครับ
th|secret key ของ payment gateway = <<K>>
hans|我们的API密钥是<<K>>
hans|访问令牌：<<K>>
hans|小程序的AppSecret是<<H>>
hans|签名密钥 <<K>> 请保密
hant|我們的API金鑰是<<K>>
hant|存取權杖：<<K>>
hant|加密金鑰改成 <<H>>
""",
    "code_and_pin": """
my debit card pin is <<PIN>>
the alarm code at the office is <<PIN>>
garage door code: <<PIN>>
Your one-time code is <<PIN>>
gate code <<PIN>> then press the green button
phone unlock PIN = <<PIN>>
th|พินบัตรเดบิต <<PIN>>
th|รหัส ATM ของผมคือ <<PIN>>
th|รหัสประตูคอนโด <<PIN>>
hans|银行卡取款密码<<PIN>>
hans|门锁密码是<<PIN>>
hans|短信验证码：<<PIN>>
hant|提款卡密碼是<<PIN>>
hant|大門密碼 <<PIN>>
hant|簡訊驗證碼是 <<PIN>>
""",
    "phrase": """
my wallet recovery phrase is: <<SEED>>
Seed words (keep safe)
<<SEED>>
mnemonic = "<<SEED>>"
gpg passphrase: "<<FEW>>"
the disk encryption passphrase is <<FEW>>
password: '<<FEW>>'
th|ซีดเฟรสของกระเป๋าคือ <<SEED>>
hans|钱包助记词：<<SEED>>
hant|錢包的助記詞是 <<SEED>>
""",
    "pair": """
creds for <<HOST>>: <<USER>> / <<P>>
login is <<USER>>/<<P>>
user <<USER>> pass <<P>>
username: <<USER>>, password: <<P>>
credentials: <<USER>>:<<P>>
Login: <<USER>>@acme.co | Password: <<P>>
u: <<USER>> p: <<P>>
th|ยูสเซอร์ <<USER>> พาส <<P>>
th|ไอดี <<USER>> รหัส <<P>>
th|user: <<USER>> / pass: <<P>>
hans|账号<<USER>>密码<<P>>
hans|用户名：<<USER>> 密码：<<P>>
hans|账密是 <<USER>>/<<P>>
hant|帳號 <<USER>> 密碼 <<P>>
hant|使用者名稱：<<USER>>，密碼：<<P>>
hant|帳密：<<USER>> / <<P>>
""",
    "own_letters": """
my password is <<OWN>>
password: "<<OWN>>"
th|รหัสผ่านคือ <<OWN>>
th|รหัสผ่าน: <<OWN>>
hans|密码：<<OWN>>
hans|我的密码是“<<OWN>>”
hant|密碼是「<<OWN>>」
hant|登入密碼：<<OWN>>
""",
    "config": """
MYSQL_ROOT_PASSWORD=<<P>>
export STRIPE_WEBHOOK_SECRET="<<K>>"
  db_pass: <<P>>
SECRET_KEY_BASE=<<H>>
spring.datasource.password=<<P>>
{"user": "<<USER>>", "passwd": "<<P>>", "ssl": true}
"clientSecret": "<<K>>",
Data Source=<<HOST>>;Initial Catalog=app;User ID=sa;Password=<<P>>;Encrypt=true
curl --user <<USER>>:<<P>> https://<<HOST>>/api
sshpass -p '<<P>>' ssh <<USER>>@<<HOST>>
CREATE USER <<USER>> WITH PASSWORD '<<P>>';
conn = connect(host="<<HOST>>", user="<<USER>>", password="<<P>>")
machine <<HOST>> login <<USER>> password <<P>>
- name: API_TOKEN\\n  value: <<K>>
<add key="ApiKey" value="<<K>>" />
https://<<HOST>>/v1/export?format=csv&access_token=<<K>>
postgresql://<<USER>>:<<P2>>@<<HOST>>:5432/app
Authorization: Bearer <<K>>
X-Api-Key: <<K>>
docker login -u <<USER>> -p <<P>> registry.acme.io
requirepass <<P>>
    api_key = "<<K>>"
const jwtSecret = '<<K>>';
[wifi]\\nssid=Home\\npsk=<<P>>
aws_secret_access_key = <<K40>>
""",
    "card": """
charge it to <<CARD>> please
my new visa: <<CARD>>, exp 09/29
{"pan": "<<CARD>>"}
th|ตัดบัตร <<CARD>> ได้เลย
th|เลขบัตรเครดิตใหม่คือ <<CARD>>
hans|信用卡号<<CARD>>，有效期29年9月
hant|我的信用卡是 <<CARD>>
""",
    "national_id": """
my Thai ID number is <<THID>>
Chinese resident ID: <<CNID>>
th|เลขประจำตัวประชาชน <<THID>>
th|บัตร ปชช ของผม <<THID>>
hans|她的身份证是<<CNID>>
hans|证件号码：<<CNID>>
hant|大陸身分證號 <<CNID>>
""",
    "bank_and_ssn": """
wire it to <<IBAN>> by Friday
IBAN: <<IBAN>>
my social is <<SSN>>
Social Security Number: <<SSN>>
th|โอนเข้าบัญชี <<IBAN>>
hans|汇款账户 <<IBAN>>
hant|匯款帳戶：<<IBAN>>
""",
}

TUNING = {
    "token_in_text": """
please keep <<T>> for me.
the new one is <<T>>
config: token=<<T>>
{"k": "<<T>>"}
I pasted <<T>> by mistake
th|โทเค็นคือ<<T>>ครับ
th|เก็บไว้ด้วย <<T>>
hans|密钥<<T>>，请记住
hans|请保存 <<T>>
hant|金鑰是「<<T>>」
hant|請記住<<T>>
""",
    "password_in_chat": """
my password is <<P>>
My password's <<P>>
the password for the staging server is <<P>>.
changed my password to <<P>>
<<P>> is my password
log in with password <<P>>
wifi password: <<P>>
my wifi password is <<W>>
Password: <<W>>
the password is '<<W>>'
pw: <<P>>
reset the root password to <<P>> yesterday
Remember that the VPN password is <<P>>
th|รหัสผ่านคือ <<P>>
th|รหัสผ่านของฉันคือ<<P>>ครับ
th|พาสเวิร์ด: <<P>>
th|รหัสไวไฟบ้านเป็น <<P>>
th|เปลี่ยนรหัสผ่านเป็น <<P>>
th|password คือ <<P>>
hans|我的密码是<<P>>
hans|密码改为<<P>>
hans|口令为 <<P>>
hans|wifi密码是<<P>>，别忘了
hant|我的密碼是<<P>>。
hant|wifi密碼：<<P>>，別忘了
hant|密碼改成「<<P>>」
""",
    "key_in_chat": """
the client secret is <<K>>
API key: <<K>>
refresh token = <<K>>
our openai key is <<K>>
my secret access key: <<K40>>
th|คีย์ลับ = <<K>>
th|โทเค็น <<K>>
hans|密钥是<<K>>
hans|令牌：<<K>>
hant|金鑰：<<K>>
hant|權杖是 <<K>>
""",
    "code_and_pin": """
my PIN is <<PIN>>
the OTP is <<PIN>>
door code is <<PIN>>
CVV 123 and pin <<PIN>>
th|รหัสพินของผมคือ <<PIN>>
th|รหัส OTP <<PIN>>
hans|验证码是 <<PIN>>
hans|PIN码：<<PIN>>
hant|驗證碼：<<PIN>>
""",
    "phrase": """
seed phrase: <<SEED>>
my recovery phrase is <<SEED>>
passphrase = '<<FEW>>'
password = '<<FEW>>'
hans|助记词是 <<SEED>>
hant|助記詞：<<SEED>>
th|วลีกู้คืนคือ <<SEED>>
""",
    "pair": """
login: <<USER>> / <<P>>
user: <<USER>> pass: <<P>>
username <<USER>> password <<P>>
creds are <<USER>>:<<P>>
th|ยูส <<USER>> พาส <<P>>
th|ล็อกอิน: <<USER>> / <<P>>
hans|帐号：<<USER>> 密码：<<P>>
hant|帳號：<<USER>> 密碼：<<P>>
""",
    "own_letters": """
the password is "<<OWN>>"
th|รหัสผ่านของผมคือ <<OWN>>
hans|密码是<<OWN>>
hant|密碼：<<OWN>>
""",
    "config": """
DB_PASSWORD=<<P>>
export AWS_SECRET_ACCESS_KEY=<<K40>>
password: "<<P>>"
{"password": "<<P>>"}
"client_secret": "<<K>>"
Server=<<HOST>>;Database=app;Uid=app;Pwd=<<P>>;
curl -u <<USER>>:<<P>> https://<<HOST>>/
mysql -u root -p<<P>>
mysql --password <<P>>
password = "<<P>>"
redis://:<<P2>>@<<HOST>>:6379/0
https://<<USER>>:<<P2>>@<<HOST>>/x
Authorization: Basic <<K>>
api_token: <<K>>
<password><<P>></password>
PGPASSWORD=<<P>> psql -h <<HOST>>
ALTER USER <<USER>> IDENTIFIED BY '<<P>>';
""",
    "card": """
my card number is <<CARD>>
<<CARD>>
pay with <<CARD>> exp 12/27
th|บัตรเครดิต <<CARD>>
hans|卡号 <<CARD>>
hant|卡號：<<CARD>>
""",
    "national_id": """
national id <<THID>>
my ID card: <<CNID>>
th|เลขบัตรประชาชน <<THID>>
hans|身份证号 <<CNID>>
hant|身份證號碼：<<CNID>>
""",
    "bank_and_ssn": """
my IBAN is <<IBAN>>
my SSN is <<SSN>>
hans|社会安全号 <<SSN>>
th|เลข IBAN <<IBAN>>
""",
}

HARMLESS_HELD_OUT = {
    "talk_about_secrets": """
can you remind me to change my password every <<NUM>> days?
I can never remember my passwords
Passwords must be at least <<NUM>> characters and contain a digit.
The password field is too narrow on mobile.
she prefers a password manager over sticky notes
use a passphrase of <<NUM>> words instead of a password
what's a good password for a router?
the token expired after <<NUM>> minutes and I had to log in again
Access tokens are valid for one hour; refresh tokens for <<NUM>> days.
the secret to good ramen is patience
our secret santa is on the 12th
the key to success is sleep
API keys belong in the vault, never in the repo
the model has a context of <<BIG>> tokens
token usage was <<BIG>> yesterday
the password reset email never arrived
Two-factor codes are sent by SMS.
the pin on the map is wrong
pin the version to <<VERSION>>
he forgot his PIN again
my password is too long to type on the TV
the password is the same as last year
the password is stored in Bitwarden under "home"
Password protection is enabled for PDF exports
password: required, string, <<NUM>> to 64 characters
credentials are rotated on Mondays
ask <<USER>> for the credentials
the login page is slow
login: works again since <<VERSION>>
the passport office closes at 4
bypass the cache with ?v=<<NUM>>
compass bearing <<NUM>> degrees
the recovery phrase should be written on paper
keep your seed phrase offline
cardholder data must never be logged
we tokenise card numbers before storing them
th|ฉันต้องเปลี่ยนรหัสผ่านทุก <<NUM>> วัน
th|ลืมรหัสผ่านอีกแล้ว ทำยังไงดี
th|รหัสผ่านต้องยาวอย่างน้อย <<NUM>> ตัวอักษร
th|อย่าบอกรหัสผ่านกับใคร
th|รหัสผ่านไม่ถูกต้อง กรุณาลองใหม่
th|รหัสสินค้า A<<BIG>> หมดแล้ว
th|รหัสพนักงานของผมคือ <<BIG>>
th|รหัสวิชา 204<<NUM>> เรียนวันจันทร์
th|โทเค็นหมดอายุใน <<NUM>> นาที
th|เขาไม่ชอบตั้งรหัสผ่านยาก ๆ
th|ขอรหัสส่วนลดหน่อย
th|ระบบให้ใส่รหัส OTP ทุกครั้ง
hans|密码至少要<<NUM>>位，包含数字
hans|我又忘了密码，怎么办
hans|密码是多少？
hans|请检查密码是否正确
hans|两次输入的密码不一致
hans|密码已经通过邮件发送
hans|令牌<<NUM>>分钟后过期
hans|这个模型的上下文是<<BIG>>个token
hans|验证码每<<NUM>>秒刷新一次
hans|密码学是数学的一个分支
hans|他建议用密码管理器
hans|密钥长度为256位
hant|密碼至少要<<NUM>>個字元
hant|我又忘記密碼了
hant|請問Wi-Fi密碼是什麼？
hant|兩次輸入的密碼不一致
hant|請確認帳號密碼是否正確
hant|權杖會在<<NUM>>分鐘後過期
hant|密碼已寄到您的信箱
hant|密碼管理員很好用
""",
    "placeholder": """
DB_PASSWORD=<your-password>
export OPENAI_API_KEY=sk-...
api_key: "YOUR_API_KEY"
password: ********
token: xxxxxxxxxxxxxxxx
PASSWORD=changeme
client_secret = "${CLIENT_SECRET}"
password = "{{ db_password }}"
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
postgres://user:password@localhost/db
mysql://root:${MYSQL_PWD}@db/app
AKIA"""
    + """IOSFODNN7EXAMPLE is Amazon's sample id
API_KEY=your_api_key_here
secret: [REDACTED]
"password": "<redacted>"
curl -u username:password https://api.example.com
--password=$(cat /run/secrets/db)
pass: process.env.SMTP_PASS
token: ${{ secrets.GITHUB_TOKEN }}
th|รหัสผ่าน: <ใส่รหัสผ่านที่นี่>
th|รหัสผ่าน: ********
hans|密码：<你的密码>
hans|密码：******
hans|密码：请输入密码
hant|密碼：<你的密碼>
hant|密碼：●●●●●●
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
sk_live_XXXXXXXXXXXXXXXXXXXXXXXX
your card: 4111 **** **** 1111
""",
    "hash_or_id": """
fixed in commit <<SHA1>>
merge <<SHA7>> into main
sha256:<<SHA256>>
sha256sum: <<SHA256>>  lamina-<<VERSION>>.tar.gz
md5 of the file is <<MD5>>
trace id <<MD5>> took 3 s
request <<UUID>> failed
user id: <<UUID>>
integrity sha512-<<B64>>
ETag: "<<MD5>>"
image: registry.acme.io/app@sha256:<<SHA256>>
the run is at https://ci.acme.io/builds/<<UUID>>
uuid = "<<UUID>>"
revision <<SHA1>> passed
th|คอมมิต <<SHA1>> แก้บั๊กแล้ว
hans|提交 <<SHA1>> 修复了这个问题
hant|請看 commit <<SHA7>>
public key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<<B64>> ana@laptop
primary key: <<UUID>>
cache key <<MD5>> missed
""",
    "number": """
order <<ORDER>> has shipped
tracking number <<ORDER>>
IMEI <<IMEI>>
ISBN <<ISBN>>
call me at <<PHONE>>
timestamp <<MS>> in the log
ts=<<US>>
invoice <<D12>>
the card ending 4242 was declined
meeting on 2026-11-03 at 14:30, room 1204
the flat costs 12,500,000 baht
population 66,171,439
zip code 10110
version <<VERSION>> build <<BIG>>
that number is not a card: <<BADCARD>>
serial no. <<D14>>
lat 13.7563309, lon 100.5017651
192.168.100.200 answers on port 54321
th|เลขพัสดุ <<ORDER>>
th|โทร <<PHONE>> ได้เลย
th|รหัสไปรษณีย์ 10<<NUM>>0
th|เลขมั่ว <<BADTHID>>
hans|订单号<<ORDER>>已发货
hans|快递单号：<<ORDER>>
hans|手机号是138<<NUM>>561234
hans|随便写的号码<<BADCNID>>
hant|訂單編號 <<ORDER>>
hant|統一編號 <<BIG>>
error code 0x80070005
area code 212, extension 4821
""",
    "code": """
password = request.form["password"]
self.token = token
if not check_password(user, password):
    password: str | None = None
token = next(tokens)
const { password, email } = req.body;
<input type="password" name="password" placeholder="Enter your password">
hashed = bcrypt.hashpw(password.encode(), bcrypt.gensalt(<<NUM>>))
secret = os.environ.get("APP_SECRET")
def reset_password(user_id: int, token: str) -> bool:
passwordField.setText("");
key = (user_id, session_id)
key=lambda item: item[<<NUM>>]
for key, value in tokens.items():
token_type: "bearer"
max_tokens=<<BIG>>
const key = `user:${id}:profile`;
SELECT password_hash FROM users WHERE id = <<NUM>>;
"password": {"type": "string", "minLength": 8}
assert response.json()["token"]
PASSWORD_MIN_LENGTH = <<NUM>>
String apiKey = System.getenv("API_KEY");
auth=(USERNAME, PASSWORD)
api_key=settings.api_key,
password: Annotated[str, Field(min_length=8)]
git clone git@github.com:acme/app.git
ssh -p 2222 <<USER>>@<<HOST>>
docker run -p 8080:80 -u 1000:1000 app
""",
    "ordinary": """
<<USER>> likes <<THING>> and dislikes meetings before 10
Remember that my sister's birthday is on 14 March <<YEAR>>
The deploy runs every Tuesday at 17:<<NUM>>
I moved from Berlin to Bangkok in <<YEAR>>
use tabs, not spaces, in the <<THING>> project
we decided to keep <<THING>> for the next release
see https://docs.acme.io/guide/setup?lang=en#step-<<NUM>>
mail <<USER>>@acme.co about the invoice
my flight is TG<<NUM>>3 at gate C<<NUM>>
The standup is at 9:<<NUM>> and lasts 15 minutes
th|<<USER>> ชอบ <<THING>> มาก
th|ประชุมทีมทุกวันจันทร์ 9:<<NUM>> น.
th|ร้านกาแฟเปิดตั้งแต่ปี <<YEAR>>
th|โปรเจกต์นี้ใช้ <<THING>>
hans|<<USER>>喜欢<<THING>>
hans|我们每周二下午<<NUM>>点开会
hans|我<<YEAR>>年搬到了上海
hans|项目使用<<THING>>
hant|<<USER>>喜歡<<THING>>
hant|我們每週三早上開會<<NUM>>分鐘
hant|我<<YEAR>>年搬到台北
hant|專案使用<<THING>>
data:text/plain;base64,<<TEXT64>>
the header was <<TEXT64>>
""",
}

HARMLESS_TUNING = {
    "talk_about_secrets": """
I forgot my password
the password policy is strict
my password is strong
reset your password at the portal
The password is in 1Password
Set a password to protect the file
the password is <<NUM>>8 characters long
passwords are hashed with bcrypt
the token limit is <<BIG>>
the token is valid for <<NUM>>h
the secret is out
Bearer of bad news arrived
I need the password to <<HOST>>.
keyboard token ring
we need a better password policy by <<YEAR>>
Login: use the same account as for e-mail
the login / password form is broken
your key takeaways: 1) ship 2) rest
th|ฉันลืมรหัสผ่าน
th|รหัสผ่านต้องมี <<NUM>> ตัว
th|รหัสผ่านหมดอายุทุก 90 วัน
th|รหัสไปรษณีย์ 10110
th|รหัสผ่านคืออะไร
hans|密码策略很严格
hans|密码长度为128位
hans|令牌环网络
hans|请在门户重置密码
hans|密码不能为空
hant|密碼有效期是180天
hant|我忘記密碼了
hant|密碼學教材是<<YEAR>>版
""",
    "placeholder": """
password: <your password>
API key: OPENAI_API_KEY
token: ${TOKEN}
password = os.environ['DB_PASSWORD']
password: changeme
"api_key": "xxxx"
PASSWORD=****
postgres://user:password@localhost/db
https://user:pass@example.com/
secret: your-secret-here
Get your API key: https://example.com/api-keys
hans|密码：你的密码
th|รหัสผ่าน: xxxx
hant|密碼：xxxx
""",
    "hash_or_id": """
commit <<SHA1>>
the checksum is <<SHA256>>
md5 <<MD5>>
job <<UUID>> is done
sha1: <<SHA1>>
blob <<SHA7>> is missing
hans|任务 <<UUID>> 完成了
th|งาน <<UUID>> เสร็จแล้ว
hant|雜湊值 <<SHA256>>
""",
    "number": """
order number <<ORDER>>
IMEI: <<IMEI>>
isbn <<ISBN>>
phone <<PHONE>>
at <<MS>> ms
<<BADCARD>>
id <<BADCNID>>
tracking <<ORDER>> arrived
th|หมายเลขคำสั่งซื้อ <<ORDER>>
hans|运单号 <<ORDER>>
hant|手機 0912-<<NUM>>5-678
123-45-6789 is a part number
""",
    "code": """
password = getpass.getpass()
token = response.json()["token"]
max_tokens: 4096
def login(username: str, password: str) -> None:
user.password = new_password
if token is None:
api_key = config.get("api_key")
password=password
tokens = text.split()
<label for="password">Password</label>
""",
    "ordinary": """
Ana likes <<THING>>
the meeting is on <<YEAR>>-05-<<NUM>>
our server <<HOST>> has <<NUM>> GB of memory
remember to buy <<NUM>> eggs
th|ฉันชอบ <<THING>>
hans|我喜欢<<THING>>
hant|我喜歡<<THING>>
visit https://example.com/a/b?c=<<NUM>>
""",
}

# ---- evasions: how a person hides a secret from a filter, by meaning it or not


def _wide(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def _every(mark: str) -> Callable[[str], str]:
    return lambda text: mark.join(text[at : at + 4] for at in range(0, len(text), 4))


def _look_alike(pairs: str) -> Callable[[str], str]:
    return lambda text: text.translate(str.maketrans(pairs[::2], pairs[1::2]))


def _digits(zero: str) -> Callable[[str], str]:
    return lambda text: "".join(chr(ord(zero) + int(char)) if char in DIGITS else char for char in text)


def _bold(text: str) -> str:
    return "".join(
        chr(0x1D400 + UPPER.index(char))
        if char in UPPER
        else chr(0x1D41A + LOWER.index(char))
        if char in LOWER
        else char
        for char in text
    )


def _broken(by: str) -> Callable[[str], str]:
    return lambda text: text[: len(text) // 2] + by + text[len(text) // 2 :]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _web_base64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


Twist = Callable[[str], str]
#: What is twisted: a token, a number, or a whole sentence with a password.
EVASIONS: dict[Split, dict[str, list[Twist]]] = {
    "held_out": {
        "T": [
            _wide,
            _every("\u00ad"),
            _every("\u2063"),
            _look_alike("oоeеaаcс"),
            _bold,
            _broken("\r\n"),
            _web_base64,
        ],
        "CARD": [_digits("٠"), _wide, _every("\u200d"), _digits("๐"), _broken("\n")],
        "my password is <<P>>": [_look_alike("sѕpр"), _every("\u200c"), _web_base64, _bold],
        "รหัสผ่านคือ <<P>>": [_every("\u2060"), _base64],
        "我的密码是<<P>>": [_every("\u200b"), _base64, _wide],
    },
    "tuning": {
        "T": [_every("\u200b"), _wide, _look_alike("pрaаeе"), _broken("\n"), _base64, _every("\u2060")],
        "CARD": [_digits("๐"), _wide, _every("\u200b")],
        "the password is <<P>>": [_wide, _look_alike("aаoо"), _base64, _every("\u00ad")],
        "密碼是<<P>>": [_every("\u200b"), _base64],
    },
}

TEMPLATES: dict[Split, tuple[dict[str, str], dict[str, str]]] = {
    "held_out": (HELD_OUT, HARMLESS_HELD_OUT),
    "tuning": (TUNING, HARMLESS_TUNING),
}
LANGUAGES = {"th": "th", "hans": "zh-Hans", "hant": "zh-Hant"}
_SLOT = re.compile("<<([A-Z0-9]+)>>")


def corpus(split: Split, seed: int = SEED) -> list[Sample]:
    """At least 520 texts with a secret and 1,000 without, every template in turn; no text twice."""
    makers = _Makers(split, seed + (split == "held_out"))
    with_secrets, harmless = TEMPLATES[split]
    return [
        *_drawn(makers, list(_lines(with_secrets)), POSITIVES),
        *makers.evasions(),
        *_drawn(makers, list(_lines(harmless)), NEGATIVES),
    ]


def _lines(templates: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for kind, block in templates.items():
        for line in _unfolded(block):
            language, _, rest = line.partition("|")
            known = language in LANGUAGES
            yield kind, LANGUAGES[language] if known else "en", rest if known else line


def _unfolded(block: str) -> Iterator[str]:
    """One template a line; a line that is only a phrase belongs to the line before it."""
    for line in block.strip("\n").replace("\n<<SEED>>", "\\n<<SEED>>").split("\n"):
        yield line.replace("\\n", "\n")


def _drawn(makers: _Makers, lines: list[tuple[str, str, str]], wanted: int) -> Iterator[Sample]:
    seen: set[str] = set()
    lap = 0
    while len(seen) < wanted:
        lap += 1
        before = len(seen)
        for kind, language, template in lines:
            # A template with nothing to fill in says the same each time: once is enough.
            sample = makers.sample(kind, language, template)
            if sample.text not in seen:
                seen.add(sample.text)
                yield sample
        assert len(seen) > before, "the templates have no more to say"


class _Makers:
    def __init__(self, split: Split, seed: int) -> None:
        self.values = Values(seed)
        self.split = split
        self.tokens = 0

    def sample(self, kind: str, language: str, template: str) -> Sample:
        secrets: list[str] = []

        def fill(slot: re.Match[str]) -> str:
            if slot[1] in MATTER:
                return MATTER[slot[1]](self.values)
            secrets.append(self.secret(slot[1]))
            return secrets[-1]

        return Sample(_SLOT.sub(fill, template), kind, language, tuple(secrets))

    def secret(self, slot: str) -> str:
        if slot == "T":
            self.tokens += 1
            providers = PROVIDERS[self.split]
            return providers[self.tokens % len(providers)](self.values)
        if slot == "P2":  # in an address, where a few signs cannot stand
            return re.sub(r"[^A-Za-z0-9!$*-]", "x", self.values.password())
        if slot == "K40":
            return self.values.of(ALNUM + "+/", 40)
        return SECRET[slot](self.values)

    def evasions(self) -> Iterator[Sample]:
        for what, twists in EVASIONS[self.split].items():
            for number, twist in enumerate(twists * 4):
                if what == "T":
                    hidden = twist(self.plain_token())
                    text = ["note {}", "ดู {} นะ", "请看 {} 。", "請看 {} 。"][number % 4].format(hidden)
                elif what == "CARD":
                    hidden = twist(re.sub("[ -]", "", self.values.card()))
                    text = ["card {}", "บัตร {}", "卡号 {}", "卡號 {}"][number % 4].format(hidden)
                else:
                    text = hidden = twist(_SLOT.sub(lambda _: self.values.password(), what))
                language = "en" if what.isascii() else "th" if "ร" in what else "zh-Hans"
                # What was twisted is a whole sentence here: that something is found in it is all that counts.
                yield Sample(text, "evasion", language, (hidden,) if what in ("T", "CARD") else ("",))

    def plain_token(self) -> str:
        while True:
            token = self.secret("T")
            if "://" not in token and "\n" not in token:
                return token
