"""Limits as `run.json` has them: with the names that their groups had."""

from __future__ import annotations

import pandas as pd

from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import resolve_constraints
from automl_admm.runs.session.written_limits import with_its_groups, write_limit

ROWS = pd.DataFrame({"site": [48.137154, 48.137158]})


def limit() -> Constraint:
    config = RunConfig(constraints=("fpr_gap[site] <= 0.1",))
    (found,) = resolve_constraints(config, load_plugins(quietly=True))
    return found


def names(constraint: Constraint, rows: pd.DataFrame) -> list[str]:
    assert constraint.groups is not None
    return list(constraint.groups(rows))


def test_groups_have_the_names_that_they_had_in_the_run() -> None:
    """Also where a number went through a narrower float, which gives it more digits."""
    known = ["48.137154", "48.137158"]
    read = with_its_groups(limit(), {**write_limit(limit()), "groups": known})
    assert names(read, ROWS) == known
    widened = ROWS.astype("float32").astype(float)
    assert names(read, widened) == known
    assert names(limit(), widened) != known
