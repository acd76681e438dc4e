"""Later rows that lack a group count all the same, and no gap is said to hold for want of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier, AutoMLRegressor, load, monitor
from automl_admm.certify.watching import Watch
from automl_admm.core.errors import DataError
from automl_admm.plugins.records import Constraint
from automl_admm.runs.saved.groups_of_rows import with_groups_of
from automl_admm.runs.saved.monitor import look_evidence, monitoring

SEARCH = {"grammar": "tiny", "max_evaluations": 1, "executor": "inline", "random_state": 0}
LIMITS = ["min_accuracy[site] >= 0.7", "max_fpr[site] <= 0.3", "error_gap[site] <= 0.3"]


def rows(count: int, seed: int, sites: str = "ab", *, turned: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=count)
    positive = (x + 0.3 * rng.normal(size=count) > 0) ^ turned
    site = rng.choice(list(sites), count)
    return pd.DataFrame({"x": x, "site": site, "buys": np.where(positive, "yes", "no")})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "RUN"
    table = rows(400, 0)
    search = AutoMLClassifier(constraints=LIMITS, scoring="accuracy", work_dir=folder, **SEARCH)
    search.fit(table[["x", "site"]], table["buys"])
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "RUN"))


def by_hand(folder: Path, table: pd.DataFrame) -> dict[str, float]:
    """Return the values of the limits, by numpy alone."""
    said = load(folder).predict(table[["x", "site"]])
    right, negative = said == table["buys"], table["buys"] == "no"
    accuracy = right.groupby(table["site"]).mean()
    called = pd.Series(said == "yes", index=table.index)[negative]
    rates = called.groupby(table["site"][negative]).mean()
    gap = (1 - accuracy).max() - (1 - accuracy).min()
    return dict(zip(LIMITS, (accuracy.min(), rates.max(), gap), strict=True))


def _without_age(table: Any, limit: Constraint, groups: Any) -> Constraint:
    if "age" in str(limit.limit):
        raise DataError("the column tells nothing")
    return with_groups_of(table, limit, groups)


def test_a_limit_that_a_look_does_not_tell_keeps_its_share_of_the_risk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two looks with one and two limits, the first would spend a half of the risk on one."""
    shares: list[int] = []
    spied = lambda *given: (shares.append(given[-1]), Watch(*given))[1]  # noqa: E731
    monkeypatch.setattr(monitoring, "Watch", spied)
    table, limits = rows(400, 0), ["error <= 0.3", "score_correlation[age] <= 0.9", "size_mb <= 9"]
    age = pd.DataFrame({"age": np.arange(400.0)})
    search = AutoMLClassifier(constraints=limits, work_dir=tmp_path / "RUN", **SEARCH)
    search.fit(table[["x", "site"]], table["buys"], sensitive_features=age)
    with monkeypatch.context() as patch:
        patch.setattr(look_evidence, "with_groups_of", _without_age)
        untold = monitor(tmp_path / "RUN", rows(300, 1).assign(age=np.arange(300.0)))
    told = monitor(tmp_path / "RUN", rows(300, 2).assign(age=np.arange(300.0)))
    assert [len(one.limits) for one in (untold, told)] == [2, 3]
    assert shares == [3, 3]


def test_rows_of_one_group_alone_count_in_all_later_looks(folder: Path) -> None:
    looks = [rows(300, 1), rows(300, 2, "a", turned=True), rows(300, 3)]
    found = [monitor(folder, look) for look in looks]
    alone = {one.limit: one for one in found[1].limits}
    assert list(alone) == LIMITS
    assert [alone[name].state for name in LIMITS[:2]] == ["broken", "broken"]
    assert np.isnan(alone[LIMITS[2]].value)  # a gap of one group
    told = {one.limit: one.pooled for one in found[2].limits}
    assert told == pytest.approx(by_hand(folder, pd.concat(looks, ignore_index=True)))
    assert not any(look.not_counted for look in found)


def test_one_file_for_each_group_is_tested_as_both_in_one(folder: Path) -> None:
    first = monitor(folder, rows(300, 1, "a"))
    (gap,) = [one for one in first.limits if one.limit == LIMITS[2]]
    assert gap.state == "no bound"
    second = monitor(folder, rows(300, 2, "b"))
    both = pd.concat([rows(300, 1, "a"), rows(300, 2, "b")], ignore_index=True)
    assert {one.limit: one.pooled for one in second.limits} == pytest.approx(by_hand(folder, both))


def test_the_command_says_what_the_rows_do_not_tell(folder: Path, run: Any) -> None:
    rows(300, 1, "a").to_csv("a.csv", index=False)
    done = run("monitor", folder, "a.csv")
    assert "limit error_gap[site] <= 0.3: the rows so far do not tell" in done.out
    assert "no row is of the group 'b'" in done.err
    done = run("evaluate", folder, "a.csv")
    assert done.code == 0
    assert "these rows do not tell" in done.out.splitlines()[-1]
    values = {one["limit"]: one["value"] for one in evaluated(run, folder, "a.csv")}
    expected = by_hand(folder, rows(300, 1, "a"))
    assert values[LIMITS[0]] == pytest.approx(expected[LIMITS[0]])
    assert values[LIMITS[1]] == pytest.approx(expected[LIMITS[1]])
    assert values[LIMITS[2]] is None


def evaluated(run: Any, folder: Path, table: str) -> list[dict[str, Any]]:
    done = run("evaluate", folder, table, "--json")
    found: list[dict[str, Any]] = json.loads(done.out)["constraints"]
    return found


def test_a_look_without_a_measurement_of_a_limit_is_told(folder: Path) -> None:
    """As a look keeps nothing of a limit that its rows do not tell: they are not in all."""
    monitor(folder, rows(300, 1))
    monitor(folder, rows(300, 2, "a"))
    path = folder / "monitoring" / "look-0002.json"
    content = json.loads(path.read_text())
    content["evidence"] = {}
    path.write_text(json.dumps(content))
    told = monitor(folder, rows(300, 3)).not_counted
    assert told[0] == (f"{LIMITS[0]}: 'in all' is without look 2, of which no measurement was kept")


def test_errors_of_one_group_alone_count_too(tmp_path: Path) -> None:
    def people(seed: int, site: str, off: float = 0.0) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        x = rng.normal(size=300)
        y = 3 * x + rng.normal(size=300) + off
        return pd.DataFrame({"x": x, "site": rng.choice(list(site), 300), "y": y})

    table = people(0, "ab")
    search = AutoMLRegressor(
        constraints=["max_mae[site] <= 5", "mae_gap[site] <= 20"],
        work_dir=tmp_path / "RUN",
        **SEARCH,
    )
    search.fit(table[["x", "site"]], table["y"])
    found = monitor(tmp_path / "RUN", people(1, "a", 50.0))
    assert [one.state for one in found.limits] == ["broken", "no bound"]
    both = [people(1, "a", 50.0), people(2, "b", 50.0)]
    later = pd.concat(both, ignore_index=True)
    errors = (search.predict(later[["x", "site"]]) - later["y"]).abs().groupby(later["site"]).mean()
    pooled = [one.pooled for one in monitor(tmp_path / "RUN", both[1]).limits]
    assert pooled == pytest.approx([errors.max(), errors.max() - errors.min()])


def test_values_that_do_not_add_up_are_told_to_be_of_one_look(tmp_path: Path) -> None:
    table = rows(400, 0)
    search = AutoMLClassifier(
        constraints=["precision_at_recall_80 >= 0.1"],
        scoring="accuracy",
        work_dir=tmp_path / "RUN",
        **SEARCH,
    )
    search.fit(table[["x", "site"]], table["buys"])
    assert not monitor(tmp_path / "RUN", rows(300, 1)).not_counted
    found = monitor(tmp_path / "RUN", rows(300, 2, turned=True))
    assert found.limits[0].pooled == found.limits[0].value
    (told,) = found.not_counted
    assert told.startswith("precision_at_recall_80 >= 0.1: 'in all' is of this look alone, as its")
