"""Made-up sentences with the statistics of real ones: a Zipf vocabulary, three languages, one seed."""

from __future__ import annotations

import random
from itertools import accumulate

_SYLLABLES = ["ka", "ro", "mi", "ten", "sol", "va", "ne", "lu", "dor", "pi", "sha", "gor", "el", "tum", "bri"]
_THAI = [
    "กาแฟ",
    "ประชุม",
    "โครงการ",
    "รายงาน",
    "ทีมงาน",
    "เซิร์ฟเวอร์",
    "ลูกค้า",
    "ชอบ",
    "ไม่",
    "ทุกวัน",
    "บ้าน",
]
_CHINESE = ["咖啡", "會議", "项目", "报告", "团队", "服务器", "客户", "喜欢", "不", "每天", "早上", "数据库"]
VOCABULARY = 6000


class Corpus:
    """An endless, repeatable stream of sentences and of questions about them."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        maker = random.Random(1)
        words: dict[str, None] = {}
        while len(words) < VOCABULARY:
            words["".join(maker.choice(_SYLLABLES) for _ in range(maker.randint(2, 4)))] = None
        self._words = list(words)
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))

    def sentence(self) -> str:
        pick = self._random.random()
        if pick < 0.1:
            return "".join(self._random.choices(_THAI, k=6)) + str(self._random.randrange(10**6))
        if pick < 0.2:
            return "".join(self._random.choices(_CHINESE, k=8)) + str(self._random.randrange(10**6))
        words = self._random.choices(self._words, cum_weights=self._weights, k=self._random.randint(8, 16))
        return " ".join(words) + f" {self._random.randrange(10**6)}"

    def question(self) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=4))
