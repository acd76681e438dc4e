"""Numbers of the report as people read them."""

from __future__ import annotations

import math

import pytest

from automl_admm.report.document.numbers import NONE, confidence, risk, rough_share, share


@pytest.mark.parametrize("say", [share, confidence, risk])
def test_nothing_known_is_a_dash(say) -> None:
    assert say(None) == say(math.nan) == NONE


def test_a_part_is_not_the_whole() -> None:
    assert share(1999 / 2000) == "99.95 %"
    assert confidence(0.9999) == "99.99 %"
    assert rough_share(0.9999) == "99.99 %"
    assert rough_share(0.0001) == "< 0.1 %"
    assert [rough_share(part) for part in (0.0, 1.0)] == ["0.0 %", "100 %"]
