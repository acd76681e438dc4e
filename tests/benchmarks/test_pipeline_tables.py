"""Tables of measured pipelines: made once, resumed, read without the data, and searched."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from grid_space import GridSpace, axis_of
from measured_sets import OTHERS, Deal, Measured, kept_groups, prepare_set
from pipeline_tables import LARGEST_MB, TABLES, measure_all, read_lines, write_table
from table_objective import PipelineTable, TableError
from table_runs import Method, evaluations_of, tight_limits

from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate, Parameter

GRAMMAR = """
%import components (impute, pca, standard_scaler, qda, gaussian_nb)
%override impute: "impute" "(" "strategy" "=" "median" ")"
%override pca: "pca" "(" "n_components" "=" float{"0.5", "0.99"} "," "whiten" "=" "false" ")"
%override qda: "qda" "(" "shrinkage" "=" log_float{"0.001", "1", "0.1"} ")"
start: impute any_order{scaler, reducer} estimator
scaler: none | standard_scaler
reducer: none | pca
estimator: gaussian_nb | qda
"""


@pytest.fixture(scope="module")
def grid() -> GridSpace:
    return GridSpace.of(GRAMMAR, "small")


def found(grid: GridSpace) -> dict[str, Measured]:
    """A measurement of every pipeline; the last one failed."""
    texts = [grid.text(candidate) for candidate in grid.every()]
    rows = {
        text: Measured([0.5 - place / 100, 0.7 - place / 100], [0.1, 0.1], place, 10.0, 0.0)
        for place, text in enumerate(texts)
    }
    nothing = [math.nan, math.nan]
    return rows | {texts[-1]: Measured(nothing, nothing, math.nan, math.nan, math.nan, "E: no")}


def facts(**changed: Any) -> dict[str, Any]:
    return {"set": "small", "space": "default", "grammar": GRAMMAR, "scoring": "roc_auc", **changed}


@pytest.fixture(scope="module")
def table(grid: GridSpace, tmp_path_factory: pytest.TempPathFactory) -> PipelineTable:
    folder = tmp_path_factory.mktemp("tables")
    write_table(folder / "small.npz", found(grid), facts())
    return PipelineTable.read("small", folder)


def test_a_grid_has_every_pipeline_once_and_its_text_is_that_of_the_same_place(
    grid: GridSpace,
) -> None:
    every = list(grid.every())
    texts = [grid.text(candidate) for candidate in every]
    # 2 orders count only with both modules: 1 + 1 + 2 + 2 · 2 ways to prepare, 1 + 6 estimators.
    assert len(texts) == len(set(texts)) == 8 * 7
    first = next(text for text in texts if "qda" in text)
    assert "shrinkage=0.001" in first
    assert grid.text(Candidate(every[0].selection, every[0].theta, fidelity=0.5)) == texts[0]


def test_a_number_becomes_a_whole_number_and_a_default_its_nearest_place() -> None:
    axis = axis_of(Parameter("pca.n_components", 0.5, 0.99, default=0.9))
    assert (axis.low, axis.high, axis.default, axis.kind) == (0, 1, 1, "int")
    kept = Parameter("a.p", 0, 1, kind="int", values=(2, 1))
    assert axis_of(kept) is kept


def test_groups_that_are_rare_even_together_take_the_next_one_in() -> None:
    assert kept_groups(pd.Series([*"a" * 50, *"b" * 40, *"c" * 6, *"d" * 4])) == ["a", "b"]
    assert kept_groups(pd.Series([*"a" * 50, *"b" * 45, *"c" * 5])) == ["a"]


def test_a_table_is_read_without_the_data_and_says_what_was_measured(table: PipelineTable) -> None:
    known = table.known(table.every[3])
    assert known.loss == pytest.approx(0.57)
    assert known.seconds == pytest.approx(0.2)
    assert known.measures == {"latency_us": 3.0, "size_kb": 10.0, "auc_gap": 0.0}
    limit = Limit("latency_us", 3.0)
    assert table.within((limit,)).sum() == 4
    assert table.least((limit,)) == pytest.approx(0.57)
    failed = table.evaluate(1, table.every[-1], ())
    assert not failed.ok


def test_a_table_of_other_components_or_of_another_format_is_refused(
    grid: GridSpace, tmp_path: Path
) -> None:
    rows = found(grid)
    gone = next(iter(rows))
    write_table(tmp_path / "other.npz", {t: m for t, m in rows.items() if t != gone}, facts())
    other = PipelineTable.read("other", tmp_path)
    with pytest.raises(TableError, match="other pipelines than were measured"):
        len(other.every)
    with pytest.raises(TableError, match="was it made with other components"):
        other.known(next(grid.every()))
    write_table(tmp_path / "old.npz", rows, facts(format=0))
    with pytest.raises(TableError, match="format 0, this script reads 1; make the table again"):
        PipelineTable.read("old", tmp_path)
    (tmp_path / "text.npz").write_text("no table")
    with pytest.raises(TableError, match=r"text\.npz: no table of pipelines"):
        PipelineTable.read("text", tmp_path)


@dataclass
class Measuring:
    """A set whose pipelines cost nothing; after so many the machine fails."""

    grid: GridSpace
    left: float = math.inf
    seed: int = 0
    asked: list[str] = field(default_factory=list)

    def measure(self, candidate: Candidate, folder: Path) -> Measured:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        self.asked.append(self.grid.text(candidate))
        return Measured([0.5], [0.1], 1.0, 1.0, 0.0)


def test_what_was_measured_before_a_stop_is_not_measured_again(
    grid: GridSpace, tmp_path: Path
) -> None:
    path, first, second = tmp_path / "kept.jsonl", Measuring(grid, left=5), Measuring(grid)
    with pytest.raises(KeyboardInterrupt):
        measure_all(first, path, math.inf)  # type: ignore[arg-type]
    with path.open("a") as file:
        file.write('["torn')
    assert set(read_lines(path)) == set(first.asked)
    rows = measure_all(second, path, math.inf)  # type: ignore[arg-type]
    assert rows is not None
    assert set(second.asked) == set(rows) - set(first.asked)
    assert len(rows) == 56
    assert measure_all(Measuring(grid), tmp_path / "late.jsonl", -1.0) is None  # type: ignore[arg-type]


def test_a_set_is_measured_fold_by_fold_with_its_groups(tmp_path: Path, grid: GridSpace) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    group = np.array(["a", "b", "few", "b", "a", "b", "a", "b", "a", "a"] * 14 + ["rare"] * 10)
    frame = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "group": group})
    frame["target"] = np.where(X[:, 0] + 0.3 * rng.normal(size=150) > 0, "yes", "no")
    frame.to_csv(tmp_path / "small.csv", index=False)
    told = {"target": "target", "task": "binary", "positive": "yes", "protected": "group"}
    (tmp_path / "small.json").write_text(json.dumps(told | {"categorical": ["group"]}))
    (tmp_path / "small.lark").write_text(GRAMMAR)
    ready = prepare_set(tmp_path / "small.csv", tmp_path / "small.lark", Deal(rows=120, folds=2))
    assert len(ready.work.table.y) == 120
    assert set(ready.work.table.sensitive["group"]) == {"a", "b", OTHERS}
    one = ready.measure(next(grid.every()), tmp_path)
    assert one.message == ""
    assert 0.0 <= one.gap < 1.0
    assert len(one.losses) == len(one.seconds) == 2
    assert max(one.losses) < 0.2
    assert one.latency > 0.0
    assert one.size > 0.0


@pytest.mark.parametrize("strategy", ["admm", "joint"])
def test_a_search_of_a_table_ends_with_its_best_pipeline_within_the_limits(
    table: PipelineTable, strategy: str
) -> None:
    limits = tight_limits(table, 0.5)
    method = Method(strategy, "random", "random")
    done = evaluations_of(method, table, limits, seed=1, most=56)
    assert len({evaluation.key for evaluation in done}) == len(done) == 56
    inside = [one.loss for one in done if one.ok and limits[0].holds(one.constraints[0])]
    assert min(inside) == table.least(limits)
    assert table.within(limits).mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.npz")), ids=lambda path: path.stem)
def test_a_table_of_the_repository_is_whole_and_small(path: Path) -> None:
    assert path.stat().st_size < LARGEST_MB * 1e6
    kept = PipelineTable.read(path.stem)
    assert len(kept.every) == len(kept.texts)
    assert np.isfinite(kept.columns["loss"]).mean() > 0.9
    assert set(kept.facts["versions"]) == {"automl-admm", "scikit-learn", "numpy", "scipy"}
