"""Turns what an archive holds into texts of one language beside their English."""

from __future__ import annotations

import gzip
import html
import io
import json
import re
import sqlite3
import struct
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from tools.encoder.archives import members

Pair = tuple[str, str, str]  #: language (en, th, zh), text, its English ("" where the text is English itself)
Reader = Callable[[dict[str, Path]], Iterator[Pair]]  #: from the archives of a source, by package name

#: How sources spell our languages.
LANGUAGES = {
    "th": "th",
    "th-TH": "th",
    "th_TH": "th",
    "thai": "th",
    "zh-CN": "zh",
    "zh_CN": "zh",
    "zh-TW": "zh",
    "zh_TW": "zh",
    "zh-cn": "zh",
    "zh-tw": "zh",
    "zh": "zh",
    "zh-hans": "zh",
    "zh-hant": "zh",
    "zh-Hans": "zh",
    "zh-Hant": "zh",
    "zh_Hans": "zh",
    "zh_Hant": "zh",
    "zh-HANS": "zh",
    "zh-HANT": "zh",
}
_CODE = "(" + "|".join(sorted(map(re.escape, LANGUAGES), key=len, reverse=True)) + ")"


def aligned(own: dict[str, str], english: dict[str, str], language: str) -> Iterator[Pair]:
    """Texts that have the same key in both."""
    for key, text in own.items():
        if key in english:
            yield LANGUAGES[language], text, english[key]


def gettext(archives: dict[str, Path]) -> Iterator[Pair]:
    """Compiled catalogues: the key is the English text."""
    for archive in archives.values():
        for path, content in members(archive, archive.name, rf"/{_CODE}/LC_MESSAGES/[^/]*\.mo$"):
            language = LANGUAGES[path.split("/LC_MESSAGES/")[0].rsplit("/", 1)[1]]
            for key, text in _catalogue(content):
                yield language, text, key


def _catalogue(content: bytes) -> Iterator[tuple[str, str]]:
    order = "<" if content[:4] == b"\xde\x12\x04\x95" else ">"
    count, keys, texts = struct.unpack(f"{order}3I", content[8:20])
    for number in range(count):
        sides = []
        for start in (keys, texts):
            length, at = struct.unpack_from(f"{order}2I", content, start + 8 * number)
            side = content[at : at + length].decode("utf-8", "replace")
            sides.append(side.rsplit("\x04", 1)[-1].split("\x00")[0])
        if sides[0]:
            yield sides[0], sides[1]


def chromium(archives: dict[str, Path]) -> Iterator[Pair]:
    """Resource packs: numbered texts, the same numbers in every language of one build."""
    packs: dict[str, dict[str, str]] = {}
    for archive in archives.values():
        for path, content in members(archive, archive.name, r"locales/(en-US|en-GB|th|zh-CN|zh-TW)\.pak$"):
            packs[Path(path).stem] = _pack(content)
    english = packs.get("en-US") or packs["en-GB"]
    for language in ("th", "zh-CN", "zh-TW"):
        yield from aligned(packs[language], english, language)


def _pack(content: bytes) -> dict[str, str]:
    version, encoding = struct.unpack_from("<II", content)
    if version != 5:
        raise ValueError(f"a resource pack of version {version}")
    count, _ = struct.unpack_from("<HH", content, 8)
    entries = [struct.unpack_from("<HI", content, 12 + 6 * number) for number in range(count + 1)]
    charset = "utf-16-le" if encoding & 0xFF == 2 else "utf-8"
    return {
        str(name): content[at:until].decode(charset, "replace")
        for (name, at), (_, until) in pairwise(entries)
    }


_FLUENT = re.compile(r"^([\w-]+) = ?(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_FLUENT_ATTRIBUTE = re.compile(r"\n[ \t]+\.[\w-]+ =")
_PROPERTY = re.compile(r"^([\w.-]+)\s*=\s*(.+)$", re.MULTILINE)


def mozilla(archives: dict[str, Path]) -> Iterator[Pair]:
    """Language packs of one program; its British English is the English side."""
    sides: dict[str, dict[str, str]] = {}
    for package, archive in archives.items():
        language = package.split("-l10n-")[1]
        texts = sides.setdefault(language, {})
        for path, content in members(archive, archive.name, r"\.xpi$"):
            for inner, data in members(io.BytesIO(content), path, r"\.(ftl|properties)$"):
                short = inner.replace(language, "").replace(language[:3] + language[3:].upper(), "")
                pattern = _FLUENT if inner.endswith(".ftl") else _PROPERTY
                for key, text in pattern.findall(data.decode("utf-8", "replace")):
                    texts[f"{short}:{key}"] = _FLUENT_ATTRIBUTE.split(text)[0]
    english = sides.pop("en-gb")
    for language, texts in sides.items():
        yield from aligned(texts, english, language)


_CHINESE = {"simplified-chinese": "zh-CN", "traditional-chinese": "zh-TW", "zhTw": "zh-TW"}
_SCRIPT_TEXT = re.compile(
    r"""(?:["'](?P<k1>[\w. -]+)["']|(?P<k2>[\w.]+))\]?\s*[:=]\s*"""
    r"""(?P<quote>["'])(?P<text>(?:(?!(?P=quote))[^\\\n]|\\.)*)(?P=quote)"""
)


def keyed(archives: dict[str, Path]) -> Iterator[Pair]:
    """JSON or script files that differ only in the language of their name."""
    for archive in archives.values():
        groups: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
        codes = "|".join((_CODE[1:-1], "en", "en-US", "en_US", "english", *_CHINESE))
        code = rf"[/_-]({codes})(-[0-9a-f]{{32}})?\.(json|js|ts)$"
        for path, content in members(archive, archive.name, code):
            if "locale-data" in path or "/fesm/" in path or path.endswith(".d.ts"):
                continue
            found = re.search(code, path)
            language = _CHINESE.get(found[1], found[1])
            groups[path[: found.start()] + found[3]][language] = _texts(path, content)
        for sides in groups.values():
            english = sides.get("en-US") or sides.get("en") or sides.get("en_US") or sides.get("english")
            for language, texts in sides.items():
                if english and language in LANGUAGES:
                    yield from aligned(texts, english, language)


def _texts(path: str, content: bytes) -> dict[str, str]:
    if path.endswith(".json"):
        return dict(_leaves(json.loads(content.decode("utf-8-sig")), ""))
    found = _SCRIPT_TEXT.finditer(content.decode("utf-8"))
    return {match["k1"] or match["k2"]: re.sub(r"\\(.)", r"\1", match["text"]) for match in found}


def _leaves(node: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, f"{path}/{key}")
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from _leaves(value, f"{path}/{number}")


def cldr(archives: dict[str, Path]) -> Iterator[Pair]:
    """The names of things in each language: places, languages, units, signs and what they stand for."""
    for archive in archives.values():
        sides: dict[str, dict[str, str]] = defaultdict(dict)
        for path, content in members(archive, archive.name, r"/(en|th|zh|zh-Hant|zh-Hans)/[^/]*\.json$"):
            *_, language, file = path.split("/")
            for key, text in _leaves(json.loads(content), file):
                sides[language][key.replace(f"/{language}/", "/")] = text
        english = sides.pop("en")
        for language, texts in sides.items():
            yield from aligned(texts, english, language)


_ENTRY = re.compile(r"^(\S+) (\S+) \[[^\]]*\] /(.+)/$")
_NOT_A_MEANING = re.compile(
    r"^(CL:|variant of|old variant|see |surname |also written|abbr\. for|erhua variant|Japanese variant"
    r"|used in )"
)
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|\S*\|\S*")


def cedict(archives: dict[str, Path]) -> Iterator[Pair]:
    """Each Chinese word beside each of its first meanings."""
    for archive in archives.values():
        for _, content in members(archive, archive.name, r"cedict.*\.gz$"):
            for line in gzip.decompress(content).decode("utf-8").splitlines():
                entry = _ENTRY.match(line)
                if not entry:
                    continue
                meanings = [_ASIDE.sub("", meaning).strip() for meaning in re.split("[/;]", entry[3])]
                meanings = [meaning for meaning in meanings if meaning and not _NOT_A_MEANING.match(meaning)]
                for meaning in meanings[:4]:
                    yield "zh", entry[2], meaning


def _synsets(archive: Path) -> Iterator[tuple[str, list[str], str]]:
    """Id, words and explanation of each set of synonyms in WordNet 3.0."""
    for _, content in members(archive, archive.name, r"wordnet-3\.0/data\.(noun|verb|adj|adv)$"):
        for line in content.decode("utf-8").splitlines():
            if line.startswith("  "):
                continue
            data, _, gloss = line.partition(" | ")
            fields = data.split()
            words = [
                re.sub(r"\((a|p|ip)\)$", "", word).replace("_", " ")
                for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]
            ]
            yield f"{fields[0]}-{fields[2].replace('s', 'a')}", words, gloss.strip()


def wordnet(archives: dict[str, Path]) -> Iterator[Pair]:
    """English words, sentences that show their meaning, and explanations of what Thai has a word for."""
    explained = {name for name, _ in _thai_words(archives["pythainlp"])}
    for name, words, gloss in _synsets(archives["wn"]):
        meaning, *examples = re.split(r'; "', gloss)
        for word in words:
            yield "en", word, ""
        if name in explained:
            yield "en", f"{words[0]}: {meaning}", ""
        for example in examples:
            yield "en", example.strip('"; '), ""


def thai_wordnet(archives: dict[str, Path]) -> Iterator[Pair]:
    """Each Thai word beside the English words of its set of synonyms, and beside their meaning."""
    synsets = {name: (words, gloss) for name, words, gloss in _synsets(archives["wn"])}
    for name, text in _thai_words(archives["pythainlp"]):
        words, gloss = synsets.get(name, ([], ""))
        meaning = re.split(r'; "', gloss)[0]
        for word in words[:3]:
            yield "th", text, word
        if words:
            yield "th", text, f"{words[0]}: {meaning}"


def _thai_words(archive: Path) -> list[tuple[str, str]]:
    """Id of a set of synonyms, and a Thai word of it."""
    ((_, content),) = members(archive, archive.name, r"corpus/wordnet_th\.db$")
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        file.write(content)
        file.flush()
        database = sqlite3.connect(file.name)
        rows = database.execute("SELECT synsetid, li FROM word_synset ORDER BY 1, 2").fetchall()
        database.close()
    return [(name.replace("-s", "-a"), text.replace("_", " ")) for name, text in rows]


def transliterations(archives: dict[str, Path]) -> Iterator[Pair]:
    """How Thai writes English words."""
    for archive in archives.values():
        for _, content in members(archive, archive.name, r"th_en_transliteration.*\.tsv$"):
            for line in content.decode("utf-8").splitlines()[1:]:
                thai, english, *_ = line.split("\t")
                yield "th", thai, english


_THAI = re.compile(r"[\u0e01-\u0e4e ().-]+")
_HAN = re.compile(r"[\u4e00-\u9fff·]+")


def geonames(archives: dict[str, Path]) -> Iterator[Pair]:
    """Names of towns; the script says the language (kanji-only names of Japan are left out)."""
    for archive in archives.values():
        for _, content in members(archive, archive.name, r"data/cities15000\.json$"):
            for city in json.loads(content).values():
                for name in city["alternatenames"]:
                    if _THAI.fullmatch(name) and name.strip():
                        yield "th", name, city["name"]
                    elif _HAN.fullmatch(name) and city["countrycode"] not in {"JP", "KR"}:
                        yield "zh", name, city["name"]


_TAG = re.compile(r"<[^>]+>")
_PARAGRAPH = re.compile(r"<(p|h[1-6]|td|li)\b[^>]*>(.*?)</\1>", re.DOTALL)


def html_help(archives: dict[str, Path]) -> Iterator[Pair]:
    """Pages that have the same name in each language: paragraphs are paired where their numbers agree."""
    pages: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for archive in archives.values():
        for path, content in members(archive, archive.name, r"/help/(en-US|zh-CN|zh-TW)/text/.*\.html$"):
            language, _, name = path.split("/help/")[1].partition("/")
            body = content.decode("utf-8", "replace").partition('id="DisplayArea"')[2]
            found = [html.unescape(_TAG.sub("", match[1])) for match in _PARAGRAPH.findall(body)]
            pages[name][language] = [" ".join(text.split()) for text in found]
    for sides in pages.values():
        english = sides.pop("en-US", [])
        for texts in sides.values():
            if len(texts) == len(english):
                yield from (
                    ("zh", own, text) for own, text in zip(texts, english, strict=True) if own != text
                )


_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z0-9\"'])")
_GUTENBERG = re.compile(r"\*\*\* ?(?:START|END)[^\n]*|\*END\*[^\n]*|End of (?:the )?Project Gutenberg[^\n]*")


def prose(archives: dict[str, Path]) -> Iterator[Pair]:
    """English sentences, alone and in stretches of up to six, so that long texts are learnt too."""
    pattern = r"(data/\d{4}_[^/]*\.txt|catalog/.*/\d+\.txt|package/[a-z-]+/[a-z]{2}\.json)$"
    for archive in archives.values():
        for path, content in members(archive, archive.name, pattern):
            text = content.decode("utf-8", "replace")
            if path.endswith(".json"):
                blocks = [html.unescape(_TAG.sub(" ", leaf)) for _, leaf in _leaves(json.loads(text), "")]
            else:
                parts = _GUTENBERG.split(text)
                blocks = re.split(r"\n\s*\n", max(parts, key=len))
            for block in blocks:
                yield from _stretches(_SENTENCE_END.split(" ".join(block.split())))


def _stretches(sentences: list[str]) -> Iterator[Pair]:
    at = 0
    while at < len(sentences):
        count = 1 + len(sentences[at]) % 6
        yield "en", sentences[at], ""
        if count > 1:
            yield "en", " ".join(sentences[at : at + count])[:500], ""
        at += count
