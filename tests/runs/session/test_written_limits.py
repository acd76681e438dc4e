"""Limits as `run.json` has them: with the names that their groups had."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from automl_admm.core.limits import Limit
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import Constraint
from automl_admm.report.view import RunView
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import resolve_constraints
from automl_admm.runs.session.run_log import Log, is_for_limits
from automl_admm.runs.session.written_limits import named_as, with_its_groups, write_limit
from automl_admm.store.file_schemas import RUN_ID
from automl_admm.store.run_folder import RunFolder

ROWS = pd.DataFrame({"site": [48.137154, 48.137158]})


def limit() -> Constraint:
    config = RunConfig(constraints=("fpr_gap[site] <= 0.1",))
    (found,) = resolve_constraints(config, load_plugins(quietly=True))
    return found


def test_limits_have_the_texts_of_the_version_that_wrote_a_model() -> None:
    long, short = Limit("mae", 719427.84, confidence=0.99), Limit("mae", 2.0)
    for earlier in (["mae <= 719428 @ 0.99", "mae <= 2"], ["mae <= 719427.84 @ 0.99", "mae <= 2"]):
        assert [str(named_as(one, earlier)) for one in (long, short)] == earlier
        assert is_for_limits(
            {RUN_ID: "a", "constraints": dict.fromkeys(earlier, 1.0)}, (long, short)
        )
    assert str(named_as(long, [])) == "mae <= 719427.84 @ 0.99"
    assert named_as(long, ["mae <= 719428 @ 0.99"]) == long


def test_the_report_of_an_earlier_version_finds_its_values(tmp_path: Path) -> None:
    log = Log({}, (Limit("mae", 719427.84),), ())
    view = RunView(RunFolder(tmp_path), {}, log, manifest={"constraints": {"mae <= 719428": 1.0}})
    assert list(map(str, view.limits)) == ["mae <= 719428"]
    assert str(replace(view, manifest=None).limits[0]) == "mae <= 719427.84"


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
