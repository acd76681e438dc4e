"""What changed between the sessions of a run is told in a line each, and decides what is kept."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Choice
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar import load_grammar
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.options import FLAGS
from automl_admm.runs.session.brought_parts import other_versions
from automl_admm.runs.session.changes import (
    best_texts,
    find_changes,
    hash_space,
    read_anew,
    refuse,
)

BEFORE: dict[str, Any] = {
    "data": {
        "rows": 100,
        "columns": 4,
        "sha256": "aa",
        "held_out_sha256": "bb",
        "rows_sum": f"{1:016x}",
        "held_out_rows_sum": f"{2:016x}",
    },
    "schema": [],
    "ordered_columns": [],
    "components_left_out": {},
    "brought_by": {},
    "basis": {"splits": "aa"},
    "settings": {
        "task": "classification",
        "metric": "roc_auc",
        "target": "y",
        "sensitive": [],
        "folds": 1,
        "test_size": 0.2,
        "certify": None,
        "limits": [{"name": "fpr", "bound": 0.05, "at_least": False}],
        "space_sha256": "cc",
        "grammar_text": "start: ridge\n",
        "seed": 0,
    },
}


def changed(part: str, **values: Any) -> dict[str, Any]:
    now = copy.deepcopy(BEFORE)
    now[part].update(values)
    return now


def test_optional_components_that_come_and_go_are_named() -> None:
    other = changed("settings", space_sha256="zz")
    gone = find_changes(BEFORE, other | {"components_left_out": {"lightgbm": ""}})
    assert gone.lines == ("component 'lightgbm': there → left out",)
    back = find_changes(BEFORE | {"components_left_out": {"lightgbm": "", "catboost": ""}}, other)
    assert [line.partition(":")[2] for line in back.lines] == [" left out → there"] * 2
    assert gone.space
    assert not gone.void


def test_nothing_changed() -> None:
    changes = find_changes(BEFORE, copy.deepcopy(BEFORE))
    assert changes.lines == ()
    assert not changes.space
    assert not changes.void


def test_another_version_of_a_plugin_voids_what_it_measured() -> None:
    was = {"component 'a'": "dist 0.1", "component 'b'": "dist 0.1", "metric 'm'": "other 1"}
    now = {"component 'a'": "dist 0.2", "component 'b'": "dist 0.2", "metric 'm'": "other 1"}
    changes = find_changes(BEFORE | {"brought_by": was}, BEFORE | {"brought_by": now})
    assert changes.lines == ("component 'a', component 'b': dist 0.1 → dist 0.2",)
    assert changes.void
    assert not changes.space
    assert find_changes(BEFORE | {"brought_by": now}, BEFORE | {"brought_by": now}).lines == ()


def test_many_parts_of_a_plugin_are_told_in_a_short_line() -> None:
    was, now = ({f"component '{one}'": f"dist {two}" for one in "abcde"} for two in (1, 2))
    assert other_versions(was, now) == [
        "component 'a', component 'b', component 'c' and 2 more: dist 1 → dist 2"
    ]


def test_rows_in_other_folds_void_what_was_measured() -> None:
    before = changed("settings", seed=0) | {"basis": {"splits": "aa"}}
    other = changed("settings", seed=5) | {"basis": {"splits": "bb"}}
    changes = find_changes(before, other)
    assert changes.lines == ("folds: seed 0 → seed 5",)
    assert changes.void
    anew = find_changes(before, before | {"basis": {"splits": "bb"}})
    assert anew.lines == ("folds: other rows in them, as of a splitter without a random_state",)
    now = changed("settings", sensitive=["sex"], seed=0) | {"basis": {"splits": "bb"}}
    (told,) = (line for line in find_changes(before, now).lines if "folds" in line)
    assert "as of other values of sex or a splitter without a random_state" in told
    # A seed alone may change.
    assert find_changes(before, other | {"basis": {"splits": "aa"}}).lines == ()


def test_the_same_rows_parted_otherwise_are_no_other_values() -> None:
    before = changed("data", rows_sum=f"{7:016x}", held_out_rows_sum=f"{5:016x}")
    parted = {"rows": 101, "sha256": "xx", "held_out_sha256": "yy"}
    sums = {"rows_sum": f"{4:016x}", "held_out_rows_sum": f"{8:016x}"}
    changes = find_changes(before, changed("data", **parted, **sums))
    (told,) = changes.lines
    assert told.startswith("data: the same rows, but others of them are kept from the search, as")
    assert changes.void
    other = changed("data", **parted, **sums | {"rows_sum": f"{3:016x}"})
    assert find_changes(before, other).lines == ("data: 100 rows, 4 columns → 101 rows, 4 columns",)
    # Renamed columns have the same hashes of rows.
    now = {**before, "data": {**before["data"], "sha256": "xx"}}
    assert find_changes(before, now).lines[0].endswith("as before, but other values")


def test_columns_in_another_order_are_not_called_other_values() -> None:
    before, other = (
        BEFORE | {"schema": [{"name": name} for name in names]} for names in ("ab", "ba")
    )
    now = other | {"data": BEFORE["data"] | {"sha256": "zz"}}
    assert find_changes(before, now).lines == ("data: the columns stand in another order",)


def test_a_run_that_does_not_say_a_newer_setting_had_its_default() -> None:
    assert find_changes(BEFORE, changed("settings", group_thresholds=False)).lines == ()


@pytest.mark.parametrize(
    ("now", "line", "space", "void"),
    [
        (changed("data", rows=101, sha256="zz"), "100 rows, 4 columns → 101 rows", False, True),
        (changed("data", sha256="zz"), "but other values", False, True),
        (changed("data", held_out_sha256="zz"), "but other values", False, True),
        (changed("settings", metric="f1"), "metric: 'roc_auc' → 'f1'", False, True),
        (changed("settings", group_thresholds=True), "thresholds: False → True", False, True),
        (
            changed("settings", limits=[{"name": "fpr", "bound": 0.1, "at_least": False}]),
            "limits: fpr <= 0.05 → fpr <= 0.1",
            False,
            False,
        ),
        (changed("settings", limits=[]), "limits: fpr <= 0.05 → none", False, True),
        (
            changed("settings", space_sha256="zz", grammar_text="start: lasso\n"),
            "grammar, line 1: 'start: ridge' → 'start: lasso'",
            True,
            False,
        ),
        (changed("settings", space_sha256="zz"), "the same text, but another space", True, False),
    ],
)
def test_each_change_is_told(now: dict[str, Any], line: str, space: bool, void: bool) -> None:
    changes = find_changes(BEFORE, now)
    assert len(changes.lines) == 1
    assert line in changes.lines[0]
    assert (changes.space, changes.void) == (space, void)
    assert changes.bounds == line.startswith("limits")
    assert line in str(refuse(changes, Path("run")))
    told = refuse(changes, Path("run"))
    assert "--allow-changed" in told.on_command_line(FLAGS)
    assert "fit anew with another work_dir" in str(told)


def test_a_limit_changed_in_its_seventh_digit_is_a_change() -> None:
    before, now = (
        changed("settings", limits=[{"name": "mae", "bound": bound, "at_least": False}])
        for bound in (719427.84, 719427.80)
    )
    found = find_changes(before, now)
    assert found.lines == ("limits: mae <= 719427.84 → mae <= 719427.8",)
    assert found.bounds
    assert not find_changes(before, copy.deepcopy(before)).lines


def space_of(tmp_path: Path, text: str) -> PipelineSpace:
    path = tmp_path / "mine.lark"
    path.write_text(text, encoding="utf-8")
    plugins = load_plugins()
    return load_grammar(path, plugins.components["classification"], plugins.grammars).pipelines


TWO = """\
%import components (impute, gaussian_nb, logistic_regression)
start: impute estimator
estimator: gaussian_nb | logistic_regression
"""
TURNED = TWO.replace("gaussian_nb | logistic_regression", "logistic_regression | gaussian_nb")
ONE = TWO.replace(", logistic_regression", "").replace(" | logistic_regression", "")


def test_evaluations_are_read_anew_where_their_pipelines_still_exist(tmp_path: Path) -> None:
    old, turned, one = (space_of(tmp_path, text) for text in (TWO, TURNED, ONE))
    assert len({hash_space(pipelines.space) for pipelines in (old, turned, one)}) == 3
    evaluations = [evaluation(old, pick, loss) for pick, loss in ((0, 0.2), (1, 0.1))]
    again = read_anew(evaluations, turned)
    assert [turned.text(e.candidate) for e in again.kept] == [e.text for e in evaluations]
    (left,) = read_anew(evaluations, one).kept
    assert left.text == evaluations[0].text
    assert not again.rewritten
    assert turned.text(best_texts(evaluations, turned)[0]) == evaluations[1].text


def evaluation(pipelines: PipelineSpace, pick: int, loss: float) -> Evaluation:
    space = pipelines.space
    (decision,) = [d for d in space.decisions if d.name == "estimator"]
    assert isinstance(decision, Choice)
    selection = space.complete({"estimator": decision.alternatives[pick]})
    candidate = space.candidate(selection, space.default_theta())
    text = pipelines.text(candidate)
    return Evaluation(1, pipelines.key(candidate), candidate, Status.SUCCESS, loss, text=text)


def test_other_labels_of_the_same_rows_are_other_data() -> None:
    """Rows know the numbers of their classes alone."""
    before = changed("data", classes=["no", "yes"])
    found = find_changes(before, changed("data", classes=["0", "1"]))
    assert found.lines == ("classes: 'no, yes' → '0, 1'",)
    assert found.void
    assert not find_changes(before, before).lines


def test_other_values_in_a_column_for_limits_alone_are_other_data() -> None:
    before = changed("data", for_limits={"sex": "aa", "age": "bb"})
    found = find_changes(before, changed("data", for_limits={"sex": "cc", "age": "bb"}))
    assert found.lines == ("data: other values of sex, which limits name",)
    assert found.void
    assert not find_changes(before, changed("data", for_limits={"age": "bb"})).lines
