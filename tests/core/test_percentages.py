"""No share but the whole is told as 100 %, and no claim as surer than it is."""

from __future__ import annotations

import pytest

from automl_admm.core.percentages import percent, percent_of_confidence, percent_of_risk


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (0.0, "0 %"),
        (1e-6, "0.0001 %"),
        (0.12345, "12.3 %"),
        (0.98765, "98.8 %"),
        (1999 / 2000, "99.95 %"),
        (0.999, "99.9 %"),
        (0.9900001, "99 %"),
        (199 / 201, "99 %"),
        (0.999996, "99.9996 %"),
        (1.0 - 1e-16, "100 %"),
        (1.0, "100 %"),
    ],
)
def test_only_the_whole_is_100_percent(part: float, said: str) -> None:
    assert percent(part) == said


@pytest.mark.parametrize(
    ("confidence", "said"),
    [
        (0.5, "50 %"),
        (0.95, "95 %"),
        (0.98765, "98.765 %"),
        (0.9985, "99.85 %"),
        (0.9999, "99.99 %"),
        (0.9999999, "99.99999 %"),
        (0.99999999, "99.999999 %"),
        (0.999876549, "99.98765 %"),
    ],
)
def test_a_confidence_is_never_rounded_up(confidence: float, said: str) -> None:
    assert percent_of_confidence(confidence) == said


@pytest.mark.parametrize(
    ("risk", "said"),
    [(1.0 - 0.95, "5 %"), (0.05 / 16, "0.3125 %"), (0.05 / 32, "0.1563 %"), (1 - 0.9999, "0.01 %")],
)
def test_a_risk_is_never_rounded_down(risk: float, said: str) -> None:
    assert percent_of_risk(risk) == said
