"""The comparison with other systems: its splits, its ranks, its file of results, its limits."""

from __future__ import annotations

import ast
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest
from peers import __main__ as driver
from peers import environments, processes, systems
from peers.processes import ours
from peers.processes.exchange import Fitted, Task, best_so_far, read_task, serve
from peers.ranking import Block, Tally, compare_all, count_places, rank_all, tally
from peers.report import delay_of, report
from peers.results import KEY, Results
from peers.running import score
from peers.systems import UNFINISHED, Environment, python_of
from peers.tasks import DataSet, find_sets, learned_tables, read_set, split_set, write_task
from peers.watching import watch

HOSTILE = pd.DataFrame(
    {
        "number": [0.1 + 0.2, 1e-17, np.nan, -0.0, 1 / 3, 2.0, 5e-324, 1e308],
        "whole": [2**53 + 1, -1, 0, 7, 8, 9, 10, 11],
        "text": ["NA", "a,b", 'say "no"', None, "01", "1.0", "é\nü", " x "],
        "target": ["01", "1", "01", "1", "01", "1", "01", "1"],
    }
)


def write_set(folder: Path, frame: pd.DataFrame, **facts: Any) -> Path:
    described = {"target": "target", "task": "binary", "positive": "1", "categorical": ["text"]}
    path = folder / "hostile.csv"
    frame.to_csv(path, index=False)
    path.with_suffix(".json").write_text(json.dumps(described | facts), encoding="utf-8")
    return path


@pytest.fixture
def hostile(tmp_path: Path) -> DataSet:
    return read_set(write_set(tmp_path, HOSTILE))


# --- splits and tasks ----------------------------------------------------------------------------


def test_a_system_reads_the_very_rows_that_the_driver_chose(
    hostile: DataSet, tmp_path: Path
) -> None:
    split = split_set(hostile, seed=0)
    write_task(hostile, split, 0, 10.0, tmp_path)
    task = read_task(tmp_path)
    pd.testing.assert_frame_equal(
        task.X, hostile.X.iloc[split.train].reset_index(drop=True), check_exact=True
    )
    pd.testing.assert_frame_equal(
        task.X_test, hostile.X.iloc[split.test].reset_index(drop=True), check_exact=True
    )
    assert list(task.y) == list(hostile.y.iloc[split.train])
    assert task.classes == ["01", "1"]
    assert "NA" in task.X["text"].cat.categories


def test_no_file_of_a_task_tells_the_answers(hostile: DataSet, tmp_path: Path) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    split = split_set(hostile, seed=0)
    write_task(hostile, split, 0, 10.0, folder)
    assert "target" not in (folder / "test.csv").read_text().splitlines()[0]
    assert len((folder / "target.csv").read_text().split()) == 1 + len(split.train)


def labelled(labels: list[Any], kind: str) -> DataSet:
    y = pd.Series(labels)
    return DataSet("made", pd.DataFrame({"a": range(len(y))}), y, kind, None, "made")


def test_a_seed_means_the_same_rows_wherever_it_is_drawn() -> None:
    """Results of another machine stand beside these only if the rows are the same."""
    found = split_set(labelled(["a"] * 8 + ["b"] * 4 + ["c"], "multiclass"), seed=1)
    assert found.test.tolist() == [0, 5, 10]
    assert found.digest == "a9e0572d4b2965a9"


def test_each_class_gives_a_quarter_and_a_lonely_row_is_never_tested() -> None:
    found = labelled(["a"] * 80 + ["b"] * 20 + ["c"] * 2 + ["d"], "multiclass")
    for seed in range(5):
        split = split_set(found, seed)
        tested = found.y.iloc[split.test].value_counts().to_dict()
        assert tested == {"a": 20, "b": 5, "c": 1}
        assert sorted([*split.train, *split.test]) == list(range(103))
    quantity = split_set(labelled([float(i) for i in range(40)], "regression"), 0)
    assert len(quantity.test) == 10


def test_other_data_or_another_seed_have_another_digest(hostile: DataSet, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    changed.mkdir()
    other = read_set(write_set(changed, HOSTILE.assign(whole=range(8))))
    digests = {split_set(one, seed).digest for one in (hostile, other) for seed in (0, 1)}
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("frame", "facts", "said"),
    [
        (HOSTILE, {"categorical": []}, "text has text"),
        (HOSTILE.assign(target=["1", *[None] * 7]), {}, "has gaps"),
        (HOSTILE, {"positive": "2"}, "one of them '2'"),
        (HOSTILE.assign(target=list("01201201")), {}, "two labels"),
    ],
)
def test_a_set_that_its_description_does_not_fit_is_refused(
    frame: pd.DataFrame, facts: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match=said):
        read_set(write_set(tmp_path, frame, **facts))


def test_sets_are_found_by_name_in_the_first_folder_that_has_them(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_set(tmp_path / name, HOSTILE)
    found = find_sets([tmp_path / "one", tmp_path / "two"])
    assert found == {"hostile": tmp_path / "one" / "hostile.csv"}
    with pytest.raises(SystemExit, match="no data set nothing; there are: hostile"):
        find_sets([tmp_path / "one"], ["nothing"])


def test_all_sets_are_those_that_the_portfolio_was_not_learned_from(tmp_path: Path) -> None:
    learned = min(learned_tables())
    hostile = write_set(tmp_path, HOSTILE)
    for suffix in (".csv", ".json"):
        content = hostile.with_suffix(suffix).read_bytes()
        (tmp_path / learned).with_suffix(suffix).write_bytes(content)
    assert list(find_sets([tmp_path])) == ["hostile"]
    assert list(find_sets([tmp_path], [learned])) == [learned]


# --- a system's process --------------------------------------------------------------------------


def served(folder: Path, fit: Callable[[Task, str], Fitted], monkeypatch: Any) -> dict[str, Any]:
    monkeypatch.setattr(sys, "argv", ["process", str(folder)])
    serve(fit, ["numpy", "no such package"])
    answer: dict[str, Any] = json.loads((folder / "answer.json").read_text())
    return answer


def test_probabilities_are_scored_in_the_order_of_the_labels(
    hostile: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The columns of this system are turned round, and its label is a number."""

    def fit(task: Task, _variant: str) -> Fitted:
        sure = {value: task.y[i] == "1" for i, value in enumerate(task.X["whole"])}
        truth = {**sure, **dict(zip(hostile.X["whole"], hostile.y == "1", strict=True))}
        yes = lambda X: np.array([0.9 if truth[value] else 0.2 for value in X["whole"]])  # noqa: E731
        return Fitted(lambda X: np.column_stack([yes(X), 1 - yes(X)]), classes=["1", "01"])

    split = split_set(hostile, seed=0)
    write_task(hostile, split, 0, 10.0, tmp_path)
    answer = served(tmp_path, fit, monkeypatch)
    found = score(np.load(tmp_path / "predictions.npy"), hostile, split)
    assert (found["auc"], found["accuracy"]) == (1.0, 1.0)
    assert found["log_loss"] == pytest.approx(-(math.log(0.9) + math.log(0.8)) / 2)
    assert answer["row_seconds"] > 0
    assert set(answer["versions"]) == {"python", "numpy"}


def test_what_a_system_raises_is_its_answer(
    hostile: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fit(_task: Task, _variant: str) -> Fitted:
        raise KeyError("a column")

    write_task(hostile, split_set(hostile, 0), 0, 10.0, tmp_path)
    assert served(tmp_path, fit, monkeypatch)["error"] == "KeyError: 'a column'"


@pytest.mark.parametrize("predicted", [[[0.5, np.nan]] * 2, [[0.5, 0.5]], [[1.0], [1.0]]])
def test_predictions_that_mean_nothing_get_no_score(hostile: DataSet, predicted: Any) -> None:
    with pytest.raises(ValueError, match=r"finite|instead of"):
        score(np.array(predicted), hostile, split_set(hostile, 0))


def test_the_incumbent_never_gets_worse_and_is_in_order_of_time() -> None:
    told = [(3.0, 0.1), (1.0, 0.5), (2.0, float("nan")), (2.5, 0.7), (4.0, 0.1)]
    assert best_so_far(told) == [(1.0, 0.5), (3.0, 0.1)]


def test_a_process_needs_nothing_of_this_package_but_what_it_measures() -> None:
    folder = Path(processes.__path__[0])
    for path in folder.glob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        near = {n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.level}
        far = {n.module for n in nodes if isinstance(n, ast.ImportFrom) and not n.level}
        assert near <= {one.stem for one in folder.glob("*.py")}, path.name
        assert path.name == "ours.py" or not any(
            str(name).startswith(("automl_admm", "peers", "benchmarks")) for name in far
        ), path.name


def processes_with(argument: str) -> list[psutil.Process]:
    found = psutil.process_iter(["cmdline", "status"])
    alive = [one for one in found if one.info["status"] != psutil.STATUS_ZOMBIE]
    return [one for one in alive if argument in (one.info["cmdline"] or ())]


def test_a_process_that_takes_too_long_is_stopped_with_its_children(tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    found = watch(["sh", "-c", "sleep 98765.1 & sleep 98765.1"], tmp_path, core, patience=1.0)
    assert found.exit_code is None
    assert found.peak_bytes > 0
    assert processes_with("98765.1") == []


def test_a_server_that_a_system_leaves_behind_is_ended(tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    command = "setsid sleep 98765.2 & echo gone; exit 3"
    found = watch(["sh", "-c", command], tmp_path, core, patience=100.0)
    assert found.exit_code == 3
    assert (tmp_path / "process.log").read_text() == "gone\n"
    assert processes_with("98765.2") == []


# --- results -------------------------------------------------------------------------------------


def record(system: str, seed: int = 0, **more: Any) -> dict[str, Any]:
    made = {
        "system": system,
        "set": "made",
        "seed": seed,
        "budget": 10.0,
        "split": f"digest {seed}",
        "kind": "binary",
        "fit_seconds": 9.0,
        "row_seconds": 1e-6,
        "evaluations": 3,
        "anytime": [[1.0, 0.4], [6.0, 0.2]],
        "scores": {"auc": 0.8, "log_loss": 0.5, "accuracy": 0.7},
        "wall_seconds": 12.0,
        "cpu_seconds": 8.0,
        "peak_bytes": 1000,
        "exit_code": 0,
    }
    return made | more


def test_a_run_that_was_interrupted_goes_on_after_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    whole, cut = json.dumps(record("ours")), json.dumps(record("FLAML"))[:40]
    path.write_text(f"{whole}\n{cut}")
    results = Results(path)
    assert results.has(("ours", "made", 0, 10.0, "digest 0", ""))
    assert not results.has(("FLAML", "made", 0, 10.0, "digest 0", ""))
    results.add(record("FLAML"))
    assert [one["system"] for one in Results(path).records] == ["ours", "FLAML"]


def test_results_on_other_rows_do_not_stand_for_these(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.add(record("ours", split="old data"))
    assert not results.has(("ours", "made", 0, 10.0, "digest 0", ""))


def test_only_missing_runs_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_set(tmp_path, HOSTILE)
    arguments = ["--budget", "1", "2", "--seeds", "2", "--folder", str(tmp_path)]
    arguments += ["--systems", "ours,FLAML"]
    asked = driver.parse([*arguments, "--environments", str(tmp_path)])
    done: list[Any] = []

    def run_once(run: Any, _place: Any) -> dict[str, Any]:
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(run.key)
        return dict(zip(KEY, run.key, strict=True)) | {"error": "made", "wall_seconds": 0}

    monkeypatch.setattr(driver, "run_once", run_once)
    systems = driver.systems_of(asked)
    with pytest.raises(KeyboardInterrupt):
        driver.run_all(asked, systems, Results(tmp_path / "results.jsonl"))
    first, done[:] = list(done), []
    driver.run_all(asked, systems, Results(tmp_path / "results.jsonl"))
    assert (len(first), len(done), len({*first, *done})) == (5, 3, 8)


# --- ranks ---------------------------------------------------------------------------------------

SYSTEMS = ["a", "b", "c"]
# The ranks of table 6 in Demšar (2006), C4.5 with and without its two parameters tuned.
DEMSAR = (
    (4, 3, 2, 1),
    (1, 2, 3, 4),
    (4, 1, 2, 3),
    (4, 1, 3, 2),
    (4, 2, 3, 1),
    (1, 2.5, 4, 2.5),
    (3, 2, 4, 1),
    (2.5, 2.5, 4, 1),
    (4, 3, 2, 1),
    (2.5, 2.5, 2.5, 2.5),
    (4, 2.5, 1, 2.5),
    (3, 2, 4, 1),
    (4, 1, 2, 3),
    (3, 1, 4, 2),
)


def blocks(*rows: tuple[str, float | None, float | None, float | None]) -> list[Block]:
    return [Block(name, dict(zip(SYSTEMS, scores, strict=True))) for name, *scores in rows]


def test_equal_scores_share_a_rank_and_failures_share_the_last() -> None:
    found = rank_all(blocks(("x", 0.90001, 0.90004, 0.5), ("y", 0.9, None, None)), SYSTEMS)
    assert [found[one].mean for one in SYSTEMS] == [1.25, 2.0, 2.75]
    assert [found[one].worst for one in SYSTEMS] == [1.5, 2.5, 3.0]


def test_a_set_counts_once_however_many_seeds_it_has() -> None:
    often = [("x", 0.9, 0.8, 0.7)] * 9
    found = rank_all(blocks(*often, ("y", 0.7, 0.8, 0.9)), SYSTEMS)
    assert [found[one].mean for one in SYSTEMS] == [2.0, 2.0, 2.0]
    assert (found["a"].low, found["a"].high) == (1.0, 3.0)


def test_friedman_and_nemenyi_agree_with_the_worked_example() -> None:
    """Demšar (2006): four classifiers on 14 data sets, chi-square 9.28, distance 1.25 at 5 %."""
    systems = ["c4.5", "m", "cf", "m+cf"]
    scores = [dict(zip(systems, (-rank for rank in row), strict=True)) for row in DEMSAR]
    made = [Block(str(i), row) for i, row in enumerate(scores)]
    found = compare_all(made, systems, "c4.5")
    assert found is not None
    assert found.statistic == pytest.approx(9.28 / (1 - 78 / 840), abs=0.02)  # less its ties
    assert found.critical_distance == pytest.approx(1.25, abs=0.005)
    means = [rank_all(made, systems)[one].mean for one in systems]
    assert means == pytest.approx([3.143, 2.0, 2.893, 1.964], abs=0.001)
    assert min(found.pairs, key=lambda one: found.pairs[one]) == "m+cf"


def test_systems_that_are_level_everywhere_do_not_differ() -> None:
    found = compare_all(blocks(("x", 0.5, 0.5, 0.5), ("y", None, None, None)), SYSTEMS, "a")
    assert found is not None
    assert (found.p, found.pairs) == (1.0, {"b": 1.0, "c": 1.0})


def test_too_few_systems_or_sets_are_not_tested() -> None:
    assert compare_all(blocks(("x", 0.1, 0.2, 0.3)), SYSTEMS, "a") is None


def test_wins_losses_ties_and_places() -> None:
    made = blocks(("x", 0.9, 0.8, 0.7), ("y", None, None, 0.1), ("z", 0.5, 0.5, 0.5))
    assert tally(made, "a", "b") == Tally(wins=1, losses=0, ties=2)
    places = count_places(made, SYSTEMS)
    assert {one: (p.first, p.shared, p.last) for one, p in places.items()} == {
        "a": (1, 1, 1),
        "b": (0, 1, 1),
        "c": (1, 1, 1),
    }


# --- report --------------------------------------------------------------------------------------


def test_the_report_ranks_whole_splits_and_names_failures_and_overruns() -> None:
    better = {"auc": 0.9, "log_loss": 0.4, "accuracy": 0.8}
    text = report(
        [
            record("ours", scores=better),
            record("FLAML", fit_seconds=12.5),
            record("ours", seed=1),
            record("FLAML", seed=1, error="ValueError: no\nway"),
            record("ours", seed=2),
        ],
        ["ours", "FLAML", "TPOT"],
    )
    assert "Ranks over 1 sets, 2 splits" in text
    assert "Not ranked: 1 splits" in text
    assert "| ours | 1.00 [1.00, 1.00] | 1 | 2 | 0 | 0 |" in text
    assert "| FLAML | 2 | 1 | 1 | +2.5 |" in text
    assert "| made | **0.8333** | 0.8000 (1 failed) |" in text
    assert "- FLAML on made, seed 1: ValueError: no way" in text
    assert "TPOT" not in text


def test_a_fit_that_never_ended_is_an_overrun_and_one_that_raised_is_none() -> None:
    stopped = {"budget": 10.0, "wall_seconds": 140.0, "exit_code": None, "error": "stopped"}
    assert delay_of(stopped) == 130.0
    assert delay_of(stopped | {"exit_code": 0}) is None


def systems_named(names: str) -> list[systems.System]:
    return driver.systems_of(driver.parse(["--systems", names]))


@pytest.mark.parametrize(("boosted", "left"), [(False, "ours"), (True, "ours-boost")])
def test_a_system_without_an_environment_is_left_out_in_one_line(
    boosted: bool, left: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    """The Python of the driver stands in for one of ours alone: the plugin changes the defaults."""
    monkeypatch.setattr(systems, "is_boosted", lambda: boosted)
    found = driver.runnable(systems_named("ours,ours-boost,TPOT"), tmp_path)
    assert [system.name for system in found] == [left]
    assert capsys.readouterr().err.count("\n") == 2


def test_a_variant_is_not_measured_with_the_plugin_of_the_other(monkeypatch: Any) -> None:
    for found, wrong, right in (({"it": "1"}, "random", "boost"), ({}, "boost", "random")):
        monkeypatch.setattr(ours, "versions", lambda _names, found=found: found)
        ours.check_plugin(right)
        with pytest.raises(RuntimeError, match="not the system that was asked for"):
            ours.check_plugin(wrong)


def test_an_environment_that_was_not_finished_is_none(tmp_path: Path) -> None:
    """Otherwise a system that pip could not install would fail on every table."""
    system = systems_named("TPOT")[0]
    python = tmp_path / "tpot" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert python_of(system, tmp_path) == str(python)
    (tmp_path / "tpot" / UNFINISHED).touch()
    assert python_of(system, tmp_path) is None


def test_an_environment_that_pip_could_not_fill_is_made_anew_and_a_whole_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = [1, 0]
    called: list[list[str]] = []

    def run(command: list[str], *, check: bool) -> None:
        called.append(command)
        if "pip" in command and check and (code := codes.pop(0)):
            raise subprocess.CalledProcessError(code, command)

    monkeypatch.setattr(environments.subprocess, "run", run)
    wanted = Environment("made", ("nothing",))
    problem = environments._make(tmp_path, wanted)
    assert problem == "-m pip install ended with exit code 1"
    assert environments._make(tmp_path, wanted) is None
    assert len(called) == 4
    assert environments._make(tmp_path, wanted) is None
    assert len(called) == 4
