from __future__ import annotations

import pytest

from automl_admm.core.ranking import price_of_failure


@pytest.mark.parametrize(
    ("losses", "price"),
    [((), 1.0), ((2.0, 5.0, 3.0), 8.0), ((-4.0,), -3.995), ((0.0, 0.0), 0.001)],
)
def test_a_failure_costs_more_than_the_worst_by_the_range_of_all(
    losses: tuple[float, ...], price: float
) -> None:
    assert price_of_failure(losses) == pytest.approx(price)
