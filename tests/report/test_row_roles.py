"""A report on labelled rows that have weights, or that belong together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from report_runs import Page

from automl_admm import AutoMLClassifier, AutoMLRegressor, load
from automl_admm.report.rows.given import RowsAsked
from automl_admm.report.writing import make_report

FEW = {"max_evaluations": 2, "cv": 2, "executor": "inline", "random_state": 0, "ensemble": False}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Six rows of each site, alike; the second half of the sites is new to the models here."""
    rng = np.random.default_rng(0)
    site = np.repeat(np.arange(60), 6)
    a = rng.normal(size=60)[site] + 0.1 * rng.normal(size=len(site))
    frame = pd.DataFrame({"a": a, "b": rng.normal(size=len(site)), "site": site})
    frame["w"] = rng.choice([0.2, 1.0, 5.0], len(site))
    frame["size"] = 3 * a + rng.normal(size=len(site))
    return frame.assign(y=np.where(frame["size"] > 0.5, "yes", "no"))


def searched(search: Any, frame: pd.DataFrame, target: str, **roles: Any) -> Path:
    search.fit(frame[["a", "b"]], frame[target], **roles)
    return Path(search.work_dir)


@pytest.fixture(scope="module")
def of_sites(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of classes and one of a quantity, told the sites."""
    half, place = table[:180], tmp_path_factory.mktemp("sites")
    classes = AutoMLClassifier("tiny", work_dir=place / "classes", **FEW)
    quantity = AutoMLRegressor("tiny", work_dir=place / "quantity", **FEW)
    return {
        "y": searched(classes, half, "y", groups=half["site"]),
        "size": searched(quantity, half, "size", groups=half["site"]),
    }


def reported(run: Path, frame: pd.DataFrame, *groups: str) -> tuple[dict[str, Any], str]:
    report = make_report(run, RowsAsked(frame, "rows.csv", None, groups))
    return json.loads(report.content), Page(report.page.decode()).text


def intervals(found: dict[str, Any]) -> list[float]:
    """Return the lower ends of all intervals by group and by bin."""
    grouped = [
        one["lower"]
        for grouping in found["groups"]["groupings"]
        for group in (*grouping["groups"], grouping["all_rows"])
        for one in group["measures"]
    ]
    curves = () if found["curves"] is None else found["curves"]["classes"]
    binned = [one["lower"] for curve in curves for one in curve["calibration"]]
    return [one for one in (*grouped, *binned) if one is not None]


@pytest.mark.parametrize("target", ["y", "size"])
def test_rows_that_belong_together_have_no_interval(
    target: str, of_sites: dict[str, Path], table: pd.DataFrame
) -> None:
    fresh = table[180:]
    found, text = reported(of_sites[target], fresh, "b:0")
    assert found["groups"]["belong_together"]
    assert intervals(found) == []
    assert "Rows belong together, and tell less than as many independent ones" in text
    assert "exact interval of each" not in text
    alone, text = reported(of_sites[target], fresh.drop_duplicates("site"), "b:0")
    assert not alone["groups"]["belong_together"]
    assert intervals(alone)
    assert "belong together" not in text


def test_of_rows_with_weights_no_number_of_the_classes_is_a_count(
    table: pd.DataFrame, tmp_path: Path
) -> None:
    half, fresh = table[:180], table[180:]
    search = AutoMLClassifier("tiny", work_dir=tmp_path / "run", **FEW)
    run = searched(search, half, "y", sample_weight=half["w"])
    found, _ = reported(run, fresh, "b:0")
    called, weights = load(run).predict(fresh), fresh["w"].to_numpy()
    is_right = called == fresh["y"].to_numpy()
    for label, right in zip(found["rows"]["classes"], found["rows"]["right"], strict=True):
        inside = (fresh["y"] == label).to_numpy()
        assert right == pytest.approx(np.average(is_right[inside], weights=weights[inside]))
        assert right != pytest.approx(is_right[inside].mean())
    assert sum(map(sum, found["rows"]["confusion"])) == len(fresh)
    (curve,) = found["curves"]["classes"]
    apart, counted = (
        np.average(
            [abs(one["predicted"] - one["observed"]) for one in curve["calibration"]],
            weights=[one[key] for one in curve["calibration"]],
        )
        for key in ("weight", "rows")
    )
    assert curve["calibration_error"] == pytest.approx(apart)
    assert apart != pytest.approx(counted)
    assert intervals(found) == []


def test_errors_of_rows_with_weights_count_them(table: pd.DataFrame, tmp_path: Path) -> None:
    half, fresh = table[:180], table[180:]
    search = AutoMLRegressor("tiny", work_dir=tmp_path / "run", **FEW)
    run = searched(search, half, "size", sample_weight=half["w"])
    found, _ = reported(run, fresh)
    weights, errors = fresh["w"].to_numpy(), load(run).predict(fresh) - fresh["size"].to_numpy()
    residuals = found["residuals"]
    for quantile, value in residuals["quantiles"].items():
        share = weights[errors <= value + 1e-9].sum() / weights.sum()
        below = weights[errors < value - 1e-9].sum() / weights.sum()
        assert below <= float(quantile) <= share
    bands = residuals["bands"]
    assert sum(one["rows"] for one in bands) == len(fresh)
    mean = np.average([one["error"] for one in bands], weights=[one["weight"] for one in bands])
    assert mean == pytest.approx(residuals["bias"])
