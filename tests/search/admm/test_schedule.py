from __future__ import annotations

import pytest

from automl_admm.core.errors import ConfigurationError
from automl_admm.search.admm.settings import Precision


@pytest.mark.parametrize(
    ("budget", "first", "step"),
    [(None, 16, 16), (1000, 16, 16), (256, 16, 16), (128, 16, 8), (60, 8, 4), (10, 4, 1)],
)
def test_few_evaluations_make_rough_sub_problems(budget: int | None, first: int, step: int) -> None:
    precision = Precision.within(budget, None, None)
    assert (precision.first, precision.step) == (first, step)
    assert [precision.evaluations(t) for t in (0, 1, 1000)] == [first, first + step, 128]


def test_what_is_asked_for_is_taken() -> None:
    assert Precision.within(60, 20, 0, 40) == Precision(20, 0, 40)
    assert Precision.within(1000, None, None, 8) == Precision(8, 16, 8)
    with pytest.raises(ConfigurationError, match="first <= last"):
        Precision.within(60, 20, None, 8)
