"""The study of ADMM's parts: each change takes its part out, and the table counts pairs."""

from __future__ import annotations

import admm_parts
import numpy as np
import pytest
from paired import corrected

from automl_admm.builtin.strategies import AdmmOptions
from automl_admm.search.admm import outer_loop
from automl_admm.search.admm.stagnation import Drought


def test_changes_take_a_part_out_and_put_it_back() -> None:
    leave, lasts = outer_loop._leave, Drought.lasts
    with admm_parts.no_multipliers(), admm_parts.no_excursions(), admm_parts.no_drought():
        assert AdmmOptions().settings(None).dual_cap == 0.0
        assert outer_loop._leave is not leave
        assert not Drought(patience=0).lasts([])
    assert AdmmOptions().settings(None).dual_cap > 0.0
    assert outer_loop._leave is leave
    assert Drought.lasts is lasts


def test_table_counts_pairs_and_corrects_p() -> None:
    shipped = np.tile([0.2, 0.3], (8, 1))
    losses = {admm_parts.SHIPPED: shipped, "worse": shipped + 0.1, "level": shipped}
    rows = admm_parts.table_of(losses, dict.fromkeys(losses, np.full((8, 2), 0.5)))
    assert rows[0] == [admm_parts.SHIPPED, 0.25, "50%", "", "", ""]
    assert rows[1][3:] == ["0/16/0", "0.00 (0.00 to 0.00)", "0.016"]
    assert rows[2][3:] == ["0/0/16", "0.50 (0.50 to 0.50)", "1"]


def test_holm_multiplies_by_the_number_that_is_left_and_never_falls() -> None:
    assert corrected({"a": 0.01, "b": 0.02, "c": 0.9}) == pytest.approx(
        {"a": 0.03, "b": 0.04, "c": 0.9}
    )
    assert corrected({"a": 0.3, "b": 0.31}) == pytest.approx({"a": 0.6, "b": 0.6})
