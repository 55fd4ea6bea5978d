"""A month of memories with planted duplicates, consolidated day by day: `python -m bench.consolidation`.

Everything is made from the lists below, so that of every two memories it is known whether they say the same.
Prints how many duplicates there were and are, merges of things that differ, pairs and questions, and the time
a daily run takes, with the encoder and with words alone, without a model and with two made-up ones: one that
knows the answer and one that always says yes.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter

import lamina
from lamina.engine import Engine
from lamina.jobs.run import Asked, run_job
from lamina.jobs.writer import Asking, Cost, Written
from lamina.scoped import ScopedMemory
from lamina.storage.shelf_contents import statements_on
from lamina.testing import ManualClock
from lamina.write.store import callers_of

DAYS = 30
PEOPLE = ("ana", "bo", "chai", "mei", "noor")
#: By language: forms of one statement. The first is said, the next two say it nearly so, then in other words,
#: then with another value, then the opposite, then with a limit or a doubt.
FORMS: dict[str, list[tuple[str, ...]]] = {
    "en": [
        (
            "{n} drinks {a} every morning",
            "Every morning {n} drinks {a}",
            "{n} drinks {a} every morning now",
            "{a} is what starts the day for {n}, and nothing else",
            "{n} drinks {b} every morning",
            "{n} does not drink {a} every morning",
            "{n} used to drink {a} every morning",
        ),
        (
            "{n} keeps {a} on the second shelf",
            "On the second shelf {n} keeps {a}",
            "{n} really keeps {a} on the second shelf",
            "Whoever looks for what {n} has of {a} finds it one shelf up",
            "{n} keeps {b} on the second shelf",
            "{n} never keeps {a} on the second shelf",
            "{n} keeps {a} on the second shelf only in winter",
        ),
        (
            "{n} pays 30 euros a month for {a}",
            "For {a} {n} pays 30 euros a month",
            "{n} now pays 30 euros a month for {a}",
            "The {a} of {n} cost a good deal each month",
            "{n} pays 45 euros a month for {a}",
            "{n} does not pay 30 euros a month for {a}",
            "{n} may pay 30 euros a month for {a}",
        ),
    ],
    "th": [
        (
            "{n}ดื่ม{a}ทุกเช้า",
            "ทุกเช้า {n}ดื่ม{a}",
            "{n}ดื่ม{a}ทุกเช้านะ",
            "สิ่งแรกของวันสำหรับ{n}คือ{a}เสมอมา",
            "{n}ดื่ม{b}ทุกเช้า",
            "{n}ไม่ดื่ม{a}ทุกเช้า",
            "{n}เคยดื่ม{a}ทุกเช้า",
        ),
        (
            "{n}เก็บ{a}ไว้ที่ชั้นสอง",
            "{n}เก็บ{a}ไว้ที่ชั้นสองครับ",
            "{n}เก็บ{a}ไว้ที่ชั้นสองค่ะ",
            "ถ้าจะหา{a}ของ{n}ให้ดูชั้นบน",
            "{n}เก็บ{b}ไว้ที่ชั้นสอง",
            "{n}ไม่เก็บ{a}ไว้ที่ชั้นสอง",
            "{n}เก็บ{a}ไว้ที่ชั้นสองเฉพาะหน้าหนาว",
        ),
        (
            "{n}จ่าย 30 บาทต่อเดือนสำหรับ{a}",
            "{n}จ่าย 30 บาทต่อเดือนสำหรับ{a}นะ",
            "{n}จ่าย 30 บาทต่อเดือนสำหรับ{a}ค่ะ",
            "{a}ของ{n}มีราคาพอสมควร",
            "{n}จ่าย 45 บาทต่อเดือนสำหรับ{a}",
            "{n}ไม่จ่าย 30 บาทต่อเดือนสำหรับ{a}",
            "{n}อาจจ่าย 30 บาทต่อเดือนสำหรับ{a}",
        ),
    ],
    "zh": [
        (
            "{n}每天早上喝{a}",
            "{n}每天早上都喝{a}",
            "{n}现在每天早上喝{a}",
            "{n}的一天总是从{a}开始的",
            "{n}每天早上喝{b}",
            "{n}每天早上不喝{a}",
            "{n}以前每天早上喝{a}",
        ),
        (
            "{n}把{a}放在第二层架子上",
            "{n}现在把{a}放在第二层架子上",
            "{n}把{a}都放在第二层架子上",
            "要找{n}的{a}得往上看",
            "{n}把{b}放在第二层架子上",
            "{n}不把{a}放在第二层架子上",
            "{n}只在冬天把{a}放在第二层架子上",
        ),
        (
            "{n}每月为{a}付30元",
            "{n}现在每月为{a}付30元",
            "{n}每月都为{a}付30元",
            "{n}的{a}可不便宜",
            "{n}每月为{a}付45元",
            "{n}每月不为{a}付30元",
            "{n}可能每月为{a}付30元",
        ),
    ],
}
NAMES = {
    "en": ("Omar", "Kenji", "Lucia", "Priya", "Jonas", "Nadia", "Felix", "Greta"),
    "th": ("สมชาย", "มาลี", "วิชัย", "อรทัย", "ประเสริฐ", "กมล", "ธนา", "พิมพ์"),
    "zh": ("小明", "丽娜", "建国", "雅婷", "志强", "美玲", "文杰", "子涵"),
}
THINGS = {
    "en": (
        "green tea",
        "oat milk",
        "ginger juice",
        "black coffee",
        "cocoa",
        "lemon water",
        "herbal syrup",
        "mint soda",
    ),
    "th": ("ชาเขียว", "นมข้าวโอ๊ต", "น้ำขิง", "กาแฟดำ", "โกโก้", "น้ำมะนาว", "น้ำสมุนไพร", "โซดามินต์"),
    "zh": ("绿茶", "燕麦奶", "姜汁", "黑咖啡", "可可", "柠檬水", "草药糖浆", "薄荷汽水"),
}
_SAID, _CHANGED, _OPPOSITE, _LIMITED = range(4)


@dataclass(frozen=True, slots=True)
class Planted:
    """One memory of the month: when and by whom it is said, and what it means."""

    day: int
    user: str
    text: str
    kind: str
    meaning: tuple[object, ...]  #: equal for those that say the same
    topic: tuple[object, ...]  #: equal for those about one thing


def month() -> Iterator[Planted]:
    """About a thousand memories; the same each time."""
    number = 0
    for language, forms in FORMS.items():
        for person, user in enumerate(PEOPLE):
            for at, name in enumerate(NAMES[language]):
                for form, words in enumerate(forms):
                    number += 1
                    yield from _family(number, user, (language, name, form), words, (at + person) % 8)


def _family(
    number: int, user: str, about: tuple[str, str, int], words: tuple[str, ...], thing: int
) -> Iterator[Planted]:
    language, name, _ = about
    things = THINGS[language]
    fill = {"n": name, "a": things[thing], "b": things[(thing + 3) % 8]}
    topic = (user, *about)
    plan = [(0, "fact", _SAID)]
    plan += [(1, "fact", _SAID)] if number % 2 else []
    plan += [(2, "fact", _SAID)] if number % 3 == 0 else []
    plan += [(0, "preference", _SAID)] if number % 5 == 0 else []  # the same to the letter, as another kind
    plan += [(3, "fact", _SAID)] if number % 4 == 0 else []
    plan += [(4, "fact", _CHANGED)] if number % 3 == 1 else []
    plan += [(5, "fact", _OPPOSITE)] if number % 4 == 1 else []
    plan += [(6, "fact", _LIMITED)] if number % 5 == 2 else []
    for step, (which, kind, meaning) in enumerate(plan):
        text = words[which].format(**fill)
        yield Planted((number * 7 + step * 5) % DAYS, user, text, kind, (*topic, meaning), topic)


class Oracle:
    """A model that knows what was planted, or that says yes to everything."""

    def __init__(self, means: dict[str, tuple[object, ...]], *, always: bool) -> None:
        self._means, self._always = means, always

    def write(self, asking: Asking) -> Written:
        found = [
            {"number": one["number"], "verdict": "same" if self._alike(one) else "different"}
            for one in json.loads(asking.material)
        ]
        return Written({"pairs": found}, Cost(calls=1, input_tokens=len(asking.material) // 4))

    def _alike(self, pair: dict[str, str]) -> bool:
        return self._always or self._means[pair["one"]] == self._means[pair["other"]]


def measured(embedder: str, model: str) -> dict[str, object]:
    """What a month of daily runs comes to."""
    planted = list(month())
    means = {one.text: one.meaning for one in planted}
    writer = None if model == "none" else Oracle(means, always=model == "yes")
    clock = ManualClock(datetime(2026, 3, 1, 20, tzinfo=UTC))
    by_day: dict[int, list[Planted]] = defaultdict(list)
    for one in planted:
        by_day[one.day].append(one)
    figures: Counter[str] = Counter()
    times = []
    with (
        tempfile.TemporaryDirectory() as folder,
        lamina.open(folder, owner="ana", embedder=embedder, clock=clock) as engine,
    ):
        meaning_of: dict[str, Planted] = {}
        for day in range(DAYS):
            for one in by_day[day]:
                said = engine.scope(user=one.user).remember(one.text, kind=one.kind, category="knowledge")
                meaning_of[said.ids[0]] = one
            clock.advance(hours=8)
            begun = perf_counter()
            report = run_job(engine, "consolidate", clock.now(), Asked(writer=writer))
            times.append(perf_counter() - begun)
            figures.update({name: report.figures[name] for name in ("merged", "asked")})
            figures["calls"] += report.cost.calls
            clock.advance(hours=16)
        again = run_job(engine, "consolidate", clock.now(), Asked(writer=writer))
        wrong = _wrong(engine, meaning_of)
    stored = Counter(one.meaning for one in meaning_of.values())
    return {
        "memories": len(meaning_of),
        "duplicates before": sum(stored.values()) - len(stored),
        "duplicates after": wrong.pop("left"),
        **figures,
        **wrong,
        "left to do": report.figures["left"],
        "changed by one more run": again.figures["merged"],
        "day's run p50 s": round(sorted(times)[DAYS // 2], 2),
        "max s": round(max(times), 2),
    }


def _wrong(engine: Engine, planted: dict[str, Planted]) -> dict[str, int]:
    """Memories made of what differs, by how it differs; and the duplicates that are left."""
    wrong = Counter({"wrong: values": 0, "wrong: unrelated": 0})
    alive: Counter[tuple[object, ...]] = Counter()
    for mind in callers_of(engine):
        shelf = f"user:{mind.scope.user}"
        for memory in engine.database.read(lambda tx: statements_on(tx, shelf, engine.now(), 10_000)):  # noqa: B023 read at once
            parts = _parts(mind, memory.id, planted)
            alive[parts[0].meaning] += 1
            if len({one.topic for one in parts}) > 1:
                wrong["wrong: unrelated"] += 1
            elif len({one.meaning for one in parts}) > 1:
                wrong["wrong: values"] += 1
    return {**wrong, "left": sum(alive.values()) - len(alive)}


def _parts(mind: ScopedMemory, memory_id: str, planted: dict[str, Planted]) -> list[Planted]:
    """What a memory was made of, in the end."""
    if memory_id in planted:
        return [planted[memory_id]]
    sources = mind.history(memory_id)[0].decision["sources"]
    return [part for source in sources for part in _parts(mind, source, planted)]


def main() -> None:
    for embedder in ("static", "none"):
        for model in ("none", "knows", "yes"):
            print(f"encoder {embedder}, model {model}: {json.dumps(measured(embedder, model))}", flush=True)


if __name__ == "__main__":
    main()
