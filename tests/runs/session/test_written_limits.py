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


def names(constraint: Constraint) -> list[str]:
    assert constraint.groups is not None
    return list(constraint.groups(ROWS))


def test_groups_have_the_names_of_the_version_that_wrote_them() -> None:
    item = write_limit(limit())
    assert names(with_its_groups(limit(), item)) == ["48.137154", "48.137158"]
    del item["exact_names"]  # earlier versions did not write it
    earlier = with_its_groups(limit(), item)
    assert names(earlier) == ["48.1372", "48.1372"]
    assert names(earlier) == list(earlier.function.groups(ROWS))  # type: ignore[union-attr]
