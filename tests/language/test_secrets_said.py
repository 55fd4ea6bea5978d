"""Secrets as people write them in six languages are refused, and what only looks like one is not."""

from __future__ import annotations

import pytest

from bench.secrets_said import LISTS, said, wrong
from lamina.language.secrets.privacy import find_secrets

#: How many of a list's secrets may be missed. Before a rule was made for them 42 and 37 of 120 were; of the
#: third list's 60, four, which was run after the rules had been worked on with the second; of the fourth's
#: 214, which was written along with rules for what is entered, 170.
MISSED = {"secrets-said": 3, "secrets-said-2": 1, "secrets-said-3": 0, "secrets-said-4": 25}

HARMLESS = [
    "la clave del problema es que no hay tiempo",
    "en la contra del equipo rival hay dos goles",
    "voy a la playa en agosto con Marta1",
    "he cambiado la contraseña, ya está en el gestor",
    "Das Passwort ist auf dem Zettel am Kühlschrank",
    "das WLAN-Passwort hängt im Flur am Kühlschrank",
    "Das Passwort fürs WLAN ist zu kurz",
    "le mot de passe du wifi est sur la box",
    "le mot de passe du wifi est trop court",
    "le code du travail change en 2027",
    "le code de la route, article 12",
    "la clave es practicar 20 minutos al día",
    "the wifi is slow and the key is to restart the router twice",
    "the wifi key is printed on the router",
    "la clé du wifi est sur le frigo de mamie",
    "mi contraseña de wifi está en un papel",
    "el wifi y la clave de la casa los tiene mi madre",
    "Zugangsdaten kommen per Post am 12. Mai",
    "les identifiants arrivent par courrier le 12 mai",
    "die Sicherheitsfrage ist zu einfach",
    "the security answer is hard to remember",
    "密保问题的答案我忘了",
    "คำถามความปลอดภัยตอบยากมาก",
    "La respuesta de seguridad no la recuerdo",
    "cadenas à vélo acheté 25 euros",
    "le cadenas du vélo est cassé depuis 3 jours",
    "Codes de secours imprimés le 12/05/2026",
    "TAN-Verfahren wird 2027 abgeschaltet",
    "die TAN für die Überweisung kam nicht an",
    "DNI caduca en 2031",
    "mi DNI caduca el 14/03/2031",
    "meine Steuer-ID kommt per Post",
    "num de sécu à demander à la caisse",
    "passport expires 2031-03-14",
    "My passport number is on file and it expires on 2031-03-14",
    "Pass: gültig bis 14.03.2031",
    "passport: expires 14/03/2031",
    "Passport expiry date: 14 March 2031",
    "Passport pass expires 2031",
    "พาสปอร์ต หมดอายุ 2031-03-14",
    "护照到期日：2031-03-14",
    "pasaporte: 14/03/2031",
    "Handy entsperren mit Fingerabdruck",
    "recovery code for the build is in the wiki",
    "frase semilla no la tengo",
    "the twelve words of the year are in the paper",
]


@pytest.mark.parametrize("name", LISTS)
def test_what_people_write_is_found_and_what_looks_like_it_is_left_alone(name: str) -> None:
    rows = wrong(said(name=name))
    assert [row.text for row in rows if not row.secret] == []
    assert len(rows) <= MISSED[name], [row.text for row in rows]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", LISTS)
def test_other_numbers_make_no_difference(name: str, seed: int) -> None:
    assert len(wrong(said(seed, name))) <= MISSED[name] + 2


@pytest.mark.parametrize("text", HARMLESS)
def test_talk_about_secrets_is_none(text: str) -> None:
    assert find_secrets(text) == ()
