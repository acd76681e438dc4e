"""A portion of the rows: of all classes, from all over the table, and the same again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import StoreError
from automl_admm.data.row_portions import Portion, portion_within, read_portion


def test_classes_keep_their_shares_and_none_is_lost() -> None:
    target = pd.Series(["no"] * 9000 + ["yes"] * 990 + ["seldom"] * 7 + ["never seen"] * 3)
    places = Portion(1000, 10_000).places(target)
    counts = target.iloc[places].value_counts()
    assert dict(counts) == {"no": 900, "yes": 99, "seldom": 7, "never seen": 3}
    assert (np.diff(places) > 0).all()
    assert np.abs(np.histogram(places, 9, (0, 9000))[0] - 100).max() < 40


def test_it_is_the_same_again_whatever_the_target_is_called() -> None:
    target = np.arange(5000) % 3
    again = pd.Series(target).map({0: "a", 1: "b", 2: "c"})
    portion = read_portion(str(Portion(700, 5000)))
    assert portion == Portion(700, 5000)
    assert (portion.places(target) == Portion(700, 5000).places(again)).all()


def test_quantities_are_taken_at_random() -> None:
    places = Portion(500, 5000).places(np.linspace(0.0, 1.0, 5000))
    assert len(places) == 500
    assert len(set(places)) == 500
    assert 2000 < places.mean() < 3000


@pytest.mark.parametrize("text", ["", "7", "9/7", "0/7", "x/7", "1/2/3"])
def test_what_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(StoreError, match="does not say how many rows"):
        read_portion(text)


def test_only_a_large_table_is_parted_and_a_run_without_a_budget_never_is() -> None:
    large = np.zeros((300_000, 10))
    portion = portion_within(large, 1e-6, 0.0)
    assert portion == Portion(5000, 300_000)
    assert portion_within(large, None, 0.0) is None
    assert portion_within(large[:150_000], 1e-6, 0.0) is None
    assert portion_within(large, 1e9, 1e12) is None
