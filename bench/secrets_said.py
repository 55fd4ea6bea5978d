"""What people write to an assistant: secrets, and harmless sentences that look like them, in six languages.

    python -m bench.secrets_said [--wrong]

Each of the lists in `bench/data` was written before its writer had read a rule. A secret counts as found when
anything in its text is found, because the text is then refused; a harmless text when nothing is. Numbers and
tokens are made at run time, the same ones for the same seed, so that no token stands in the repository.
"""

from __future__ import annotations

import argparse
import random
import re
import string
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from lamina.language.secrets.privacy import find_secrets

LISTS = ("secrets-said", "secrets-said-2", "secrets-said-3", "secrets-said-4")
_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_DIGITS = string.digits
_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"
SEED = 20261118


@dataclass(frozen=True)
class Said:
    """One text: whether it holds a secret, in which language, and of what sort."""

    secret: bool
    language: str
    sort: str
    text: str


def said(seed: int = SEED, name: str = LISTS[0]) -> list[Said]:
    """A list, with its numbers filled in."""
    chance = random.Random(seed)
    path = Path(__file__).with_name("data") / f"{name}.tsv"
    rows = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [
        Said(kind == "secret", language, sort, _SLOT.sub(lambda slot: _made(slot, chance), text))
        for kind, language, sort, text in (row.split("\t") for row in rows)
    ]


def wrong(rows: Sequence[Said]) -> list[Said]:
    """Secrets of which nothing is found, and harmless texts in which something is."""
    return [row for row in rows if row.secret != bool(find_secrets(row.text))]


def _made(slot: re.Match[str], chance: random.Random) -> str:
    of, size = slot[1], slot[2] or ""
    letters = {
        "a": string.ascii_letters + _DIGITS,
        "A": string.ascii_uppercase + _DIGITS,
        "h": _DIGITS + "abcdef",
        "d": _DIGITS,
    }
    return _some(chance, letters[of], int(size)) if of in letters else _NUMBERS[of](chance, size)


def _some(chance: random.Random, letters: str, count: int) -> str:
    return "".join(chance.choices(letters, k=count))


def _card(chance: random.Random, _: str) -> str:
    body = "4" + _some(chance, _DIGITS, 14)
    doubled = (int(digit) * (1 + (place % 2 == 0)) for place, digit in enumerate(reversed(body)))
    number = body + str(-sum(value - 9 * (value > 9) for value in doubled) % 10)
    return " ".join(number[at : at + 4] for at in range(0, 16, 4))


def _thai(chance: random.Random, _: str) -> str:
    body = chance.choice("12345678") + _some(chance, _DIGITS, 11)
    check = (11 - sum(int(digit) * (13 - place) for place, digit in enumerate(body)) % 11) % 10
    return f"{body[0]}-{body[1:5]}-{body[5:10]}-{body[10:]}-{check}"


def _china(chance: random.Random, _: str) -> str:
    body = f"110105{chance.randint(1950, 2005)}{chance.randint(1, 12):02}{chance.randint(1, 28):02}"
    body += _some(chance, _DIGITS, 3)
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(body))
    return body + "10X98765432"[total % 11]


def _iban(chance: random.Random, country: str) -> str:
    body = _some(chance, _DIGITS, {"DE": 18, "ES": 20, "FR": 23}[country])
    digits = int(body + "".join(str(int(letter, 36)) for letter in country) + "00")
    number = f"{country}{98 - digits % 97:02}{body}"
    return " ".join(number[at : at + 4] for at in range(0, len(number), 4))


def _dni(chance: random.Random, _: str) -> str:
    body = _some(chance, _DIGITS, 8)
    return body + _DNI[int(body) % 23]


def _nir(chance: random.Random, _: str) -> str:
    body = (
        f"{chance.choice('12')}{chance.randint(50, 99)}{chance.randint(1, 12):02}{chance.randint(1, 95):02}"
    )
    body += _some(chance, _DIGITS, 6)
    whole = f"{body}{97 - int(body) % 97:02}"
    places = (0, 1, 3, 5, 7, 10, 13, 15)
    return " ".join(whole[at:to] for at, to in pairwise(places))


def _tax_de(chance: random.Random, _: str) -> str:
    digits = chance.sample("123456789", 9)
    body = "".join([*digits, chance.choice(digits)])
    product = 10
    for digit in body:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    whole = f"{body}{(11 - product) % 10}"
    return f"{whole[:2]} {whole[2:5]} {whole[5:8]} {whole[8:]}"


_NUMBERS: dict[str, Callable[[random.Random, str], str]] = {
    "card": _card,
    "thai": _thai,
    "china": _china,
    "iban": _iban,
    "ssn": lambda chance, _: (
        f"{chance.randint(100, 665)}-{chance.randint(10, 99)}-{chance.randint(1000, 9999)}"
    ),
    "dni": _dni,
    "nir": _nir,
    "tax_de": _tax_de,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench.secrets_said", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--wrong", action="store_true", help="show what went wrong")
    options = parser.parse_args(arguments)
    for name in LISTS:
        _tell(name, said(name=name), options.wrong)
    return 0


def _tell(name: str, rows: Sequence[Said], show: bool) -> None:
    missed = wrong(rows)
    every = Counter((row.language, row.secret) for row in rows)
    bad = Counter((row.language, row.secret) for row in missed)
    print(f"| {name} | secrets found | harmless ones refused |\n|---|---:|---:|")
    for one in dict.fromkeys(row.language for row in rows):
        found = every[one, True] - bad[one, True]
        print(f"| {one} | {found} of {every[one, True]} | {bad[one, False]} of {every[one, False]} |")
    if show:
        for row in missed:
            print(row.secret, row.language, row.sort, row.text, sep="\t")


if __name__ == "__main__":
    sys.exit(main())
