"""How well generated memories are written is counted by kind, and shown."""

from __future__ import annotations

from lamina.layers.insights import keep
from lamina.layers.writing import rates, written
from lamina.model import Kind
from tests.backends import Place


def test_every_generated_memory_is_counted_by_kind_and_by_what_became_of_it(place: Place) -> None:
    ana = place.open().scope(user="ana")
    said = ["The user prefers tea.", "ผู้ใช้ชอบชาครับ", "他喜歡茶", "Does the user like tea?"]
    made = keep(ana, [{"summary": text} for text in said[:3]], "test")
    assert (len(made.ids), made.refused) == (2, ("pronoun",))
    written(ana, said[3], Kind.FACT)
    written(ana, "The user met Bob.", Kind.EPISODE)
    ana.remember("Ana likes tea")  # a write takes the counts along

    place.close()
    stats = place.open().scope(user="ana").stats()
    found = {(one.op, one.status): one.count for one in stats.counts if one.node == "writing"}
    assert found == {
        ("insight", "pass"): 1,
        ("insight", "repaired"): 1,
        ("insight", "held"): 1,
        ("fact", "rejected"): 1,
        ("episode", "pass"): 1,
    }
    shares = {one.kind: round(one.share, 2) for one in rates(stats.counts)}
    assert shares == {"episode": 1.0, "fact": 0.0, "insight": 0.33}
