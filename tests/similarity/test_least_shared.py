"""How much two texts share at the least where they are similar: nothing that is closer is passed over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from lamina.similarity.compare import least_shared, text_similarity
from lamina.text.terms import query_terms, terms

ENGLISH = ["tea", "coffee", "rent", "landlord", "Brandt", "the", "of", "12", "kg", "oat", "milk"]
words = some.sampled_from([*ENGLISH, "茶館在河邊", "ชอบดื่มชา", "naïve"])
texts = some.lists(words, max_size=14).map(" ".join)


@given(texts, texts, some.floats(0.0, 1.0))
def test_whoever_is_so_similar_shares_at_least_so_many_words(one: str, other: str, least: float) -> None:
    if text_similarity(one, other) >= least:
        shared = set(query_terms(one)) & set(terms(other))
        assert len(shared) >= least_shared(one, least)


def test_of_a_long_text_it_says_nothing() -> None:
    assert least_shared("tea " * 10, 1.0) == 1
    assert least_shared("tea " * 1000, 1.0) == 0
