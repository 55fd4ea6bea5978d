"""What scores mean, on one scale for every pair of languages."""

from __future__ import annotations

import numpy as np
import pytest

from lamina.encoders.port import UNCALIBRATED, Calibration, unit

CURVES = Calibration({"en-th": ((0.1, 0.0), (0.5, 0.6), (0.7, 1.0)), "en-en": ((0.2, 0.1), (1.0, 1.0))})


def test_a_score_between_two_points_is_on_the_line_between_them():
    assert CURVES.likeness(0.3, "en", "th") == pytest.approx(0.3)


def test_a_score_beyond_the_ends_stays_at_the_end():
    assert CURVES.likeness(-1.0, "en", "th") == 0.0
    assert CURVES.likeness(0.9, "en", "th") == 1.0


def test_the_order_of_the_languages_and_the_script_of_chinese_do_not_matter():
    zh = Calibration({"th-zh": ((0.0, 0.0), (0.5, 1.0))})
    assert CURVES.likeness(0.4, "th", "en") == CURVES.likeness(0.4, "en", "th")
    assert zh.likeness(0.25, "zh-Hant", "th") == zh.likeness(0.25, "th", "zh-Hans") == 0.5


def test_the_same_score_means_more_where_scores_are_lower():
    assert CURVES.verdict(0.65, "en", "th") == "same"
    assert CURVES.verdict(0.65, "en", "en") == "related"
    assert CURVES.verdict(0.2, "en", "en") == "unrelated"


def test_without_a_curve_a_score_counts_as_it_is():
    assert UNCALIBRATED.likeness(0.83, "en", "zh-Hans") == 0.83
    assert UNCALIBRATED.likeness(-0.2, "en", "zh-Hans") == 0.0


def test_rows_of_zeros_stay_zeros():
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [
        [0.6000000238418579, 0.800000011920929],
        [0.0, 0.0],
    ]
