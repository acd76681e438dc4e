"""Runs side by side."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from report_runs import an_evaluation, of_limit, write_run

from automl_admm.core.errors import StoreError
from automl_admm.report.comparing.comparison import Comparison, compare
from automl_admm.report.comparing.run_facts import read_facts
from automl_admm.store.json_content import with_digest
from automl_admm.store.run_folder import write_json
from automl_admm.store.sqlite.lock import this_process

STORED = Path(__file__).parents[2] / "runs" / "stored_run"


def a_run(path: Path, settings: dict[str, Any] | None = None, **changes: Any) -> Path:
    """Write a run that was stopped, with other settings in `run.json`."""
    one = an_evaluation(1, text="impute() ridge(alpha=1.0)", constraints=(10.0,))
    folder = write_run(path, [one, an_evaluation(7)], state="stopped")
    content = json.loads((folder / "run.json").read_text())
    content["settings"] |= settings or {}
    content["data"] |= changes.pop("data", {})
    (folder / "run.json").write_text(json.dumps(content | changes))
    return folder


def compared(tmp_path: Path, settings: dict[str, Any] | None = None, **changes: Any) -> Comparison:
    first, second = a_run(tmp_path / "a"), a_run(tmp_path / "b", settings, **changes)
    return compare([read_facts(first), read_facts(second)])


def test_equal_runs_have_no_differences(tmp_path: Path) -> None:
    found = compared(tmp_path)
    assert found.is_comparable
    assert found.warnings == ()
    assert (*found.settings, *found.data, *found.versions) == ()
    assert found.winners is not None
    assert found.winners.differences == ()
    assert found.equal["settings"] > 5


def test_results_are_those_of_the_run(tmp_path: Path) -> None:
    result = read_facts(a_run(tmp_path / "a")).result
    assert result.validation_score == pytest.approx(1 - an_evaluation(1).loss)
    assert [(one.limit, one.value, one.holds) for one in result.limits] == [
        ("size_mb <= 50", 10.0, True)
    ]
    assert result.evaluations == {"success": 1, "error": 1}
    assert result.is_certified is None


def test_a_setting_that_differs_is_told_and_scores_stay_comparable(tmp_path: Path) -> None:
    found = compared(tmp_path, {"seed": 3})
    assert [(one.name, one.values) for one in found.settings] == [("seed", (0, 3))]
    assert found.is_comparable


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"metric": "accuracy"}, "metric: roc_auc, accuracy"),
        ({"target": "z"}, "other targets: y, z"),
        ({"positive": "no"}, "positive: none, no"),
        ({"weight": "w"}, "weight: none, w"),
    ],
)
def test_scores_of_other_quantities_are_not_comparable(
    tmp_path: Path, settings: dict[str, Any], told: str
) -> None:
    found = compared(tmp_path, settings)
    assert not found.is_comparable
    assert any(told in line for line in found.warnings)


OWN = {"source": None, "looks": None, "extra_plugins": [], "only_python": ["scoring"]}


@pytest.mark.parametrize(
    ("codes", "is_comparable"),
    [(("a", "a"), True), (("a", "b"), False), (("unknown",) * 2, False), ((None, None), False)],
)
def test_metrics_of_ones_own_are_the_same_by_their_code(
    tmp_path: Path, codes: tuple[str | None, str | None], is_comparable: bool
) -> None:
    runs = [
        read_facts(a_run(tmp_path / str(place), request=OWN, metric_code=code))
        for place, code in enumerate(codes)
    ]
    found = compare(runs)
    assert found.is_comparable is is_comparable
    assert any("object of Python" in line for line in found.warnings) is not is_comparable


@pytest.mark.parametrize(("metric", "is_comparable"), [("accuracy", False), ("roc_auc", True)])
def test_scores_of_decided_rows_are_not_those_of_all(
    tmp_path: Path, metric: str, is_comparable: bool
) -> None:
    abstain = of_limit("abstain", 0.1)
    first = a_run(tmp_path / "a", {"metric": metric})
    second = a_run(tmp_path / "b", {"metric": metric, "limits": [abstain]})
    found = compare([read_facts(first), read_facts(second)])
    assert found.is_comparable is is_comparable
    assert any("none, abstain <= 0.1" in line for line in found.warnings) is not is_comparable


def test_scores_on_other_rows_are_not_comparable(tmp_path: Path) -> None:
    other = {"rows": 10, "columns": 2, "sha256": "2" * 64, "held_out_sha256": None}
    found = compared(tmp_path, data=other)
    assert not found.is_comparable
    assert found.warnings == ("the runs searched on other rows",)
    assert [one.name for one in found.data] == ["fingerprint"]


def test_other_held_out_rows_of_one_file_are_told_as_such(tmp_path: Path) -> None:
    request = {"source": "a.csv", "looks": None, "extra_plugins": [], "only_python": []}
    data = {"rows": 10, "columns": 2, "sha256": "1" * 64}
    runs = [
        read_facts(a_run(tmp_path / name, request=request, data=data | {"held_out_sha256": digest}))
        for name, digest in (("a", "3" * 64), ("b", "4" * 64))
    ]
    assert compare(runs).warnings == ("other rows were held out",)
    again = a_run(
        tmp_path / "c", request=request, data=data | {"sha256": "5" * 64, "held_out_sha256": None}
    )
    (line,) = compare([runs[0], read_facts(again)]).warnings
    assert "a file of one name" in line


def test_other_limits_are_a_remark_and_no_bar(tmp_path: Path) -> None:
    wider = {"limits": [of_limit("size_mb", 90.0)]}
    found = compared(tmp_path, wider)
    assert found.is_comparable
    assert found.warnings == ("the limits differ: a higher score may be that of wider limits",)


def test_finished_runs_with_models_are_compared() -> None:
    found = compare([read_facts(STORED / "stacked"), read_facts(STORED / "group_thresholds")])
    assert not found.is_comparable
    assert all(one.result.pipelines for one in found.runs)
    assert all(one.result.is_certified is not None for one in found.runs)
    assert found.winners is not None
    assert found.winners.shapes[0] != found.winners.shapes[1]


def test_winners_that_decide_elsewhere_are_not_the_same(tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(STORED / "group_thresholds", again)
    content = json.loads((again / "model.json").read_text())
    close = content["threshold"] + 1e-9
    content["threshold"] = close
    write_json(again / "model.json", with_digest(content))
    found = compare([read_facts(STORED / "group_thresholds"), read_facts(again)])
    assert found.winners is not None
    (row,) = found.winners.differences
    assert (row.name, row.values[1]) == ("threshold", str(close))


def test_a_run_that_goes_on_is_refused(tmp_path: Path) -> None:
    running = write_run(tmp_path / "run", [an_evaluation(1)])
    with pytest.raises(StoreError, match=r"has not ended.* If it was killed, .*resume") as told:
        read_facts(running)
    (running / "store.lock").write_text(json.dumps(asdict(this_process())))
    with pytest.raises(StoreError, match="is still running") as told:
        read_facts(running)
    assert "end it with Ctrl-C where it runs" in str(told.value)
    assert "resume" not in str(told.value)
    assert told.value.exit_code == 7
