"""The positive class is the one that was named, whatever the labels are and wherever they go."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_program
from sklearn.base import BaseEstimator, ClassifierMixin

from automl_admm import AutoMLClassifier
from automl_admm.cli.main import main
from automl_admm.constraints.group_classifier import GroupThresholdClassifier
from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.pipelines.labels import check_scored, list_labels, number_classes, text_of
from automl_admm.runs.finish.model_file import load_model
from automl_admm.store.run_folder import RunFolder

ROWS = 600


def people(labels: tuple[Any, Any]) -> pd.DataFrame:
    """The first of the sorted labels is rare, and it is the one that is looked for."""
    rng = np.random.default_rng(0)
    is_first = rng.random(ROWS) < 0.35
    frame = pd.DataFrame({"a": rng.normal(size=ROWS) + 2.0 * is_first, "b": rng.normal(size=ROWS)})
    frame["sex"] = np.where(rng.random(ROWS) < 0.5, "m", "f")
    first, last = sorted(labels)
    return frame.assign(out=np.where(is_first, first, last))


@pytest.mark.parametrize(
    ("labels", "given"),
    [
        (("bad", "good"), "bad"),
        ((1, 2), "1"),
        ((1, 2), 1),
        ((0, 1), False),
        ((False, True), "false"),
        ((1.0, 2.0), "1"),
        ((-1, 1), np.int64(-1)),
    ],
)
def test_the_named_label_is_last_and_one(labels: Any, given: Any) -> None:
    y = np.resize(labels, 7)
    classes, numbers = number_classes(y, given)
    assert list(classes) == [labels[1], labels[0]]
    assert (classes[numbers] == y).all()
    assert (number_classes(y, labels[1])[0] == np.unique(y)).all()


TEXTS = ("2021-06-01", "2021-06-01 00:00:00", "2021-06-01T00:00:00", "2021-06-01T00:00:00.000000")


@pytest.mark.parametrize("given", [*TEXTS, pd.Timestamp(TEXTS[0]), np.datetime64(TEXTS[0])])
@pytest.mark.parametrize("unit", ["D", "us", "ns", "object"])
def test_a_date_is_named_in_any_of_its_forms(given: Any, unit: str) -> None:
    moments = pd.to_datetime(["2020-01-01", "2021-06-01"])
    is_array = unit != "object"
    y = moments.to_numpy().astype(f"M8[{unit}]") if is_array else np.array(moments, dtype=object)
    assert number_classes(y, given)[1].tolist() == [0, 1]
    with pytest.raises(ConfigurationError, match="there is no class '2020-01-02'"):
        number_classes(y, "2020-01-02")


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["2020-01-01", "2021-06-01"], "M8[ns]"),
        np.array([1, 2], "m8[h]"),
        np.array([date(2020, 1, 1), date(2021, 6, 1)], dtype=object),
    ],
    ids=["dates", "times", "objects"],
)
def test_a_first_label_that_no_threshold_names_is_refused_in_a_line(labels: Any) -> None:
    first, last = map(text_of, labels)
    with pytest.raises(ConfigurationError, match=f"'{first}' is neither.* class: '{last}'") as told:
        number_classes(labels, labels[0])
    assert "\n" not in str(told.value)
    assert number_classes(labels, labels[1])[1].tolist() == [0, 1]


@pytest.mark.parametrize("given", ["worse", 3, True])
def test_a_label_that_is_not_there_is_one_line_that_names_those_that_are(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="Its classes are 'bad', 'good'") as problem:
        number_classes(["bad", "good", "bad"], given)
    assert "\n" not in str(problem.value)
    with pytest.raises(ConfigurationError, match=r"has 3: 'x', 'y', 'z'\."):
        number_classes(["x", "y", "z"], "x")


def program(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_program(*words, cwd=folder)


@pytest.mark.fault(
    "F69",
    injected="the first label named positive; trained, resumed, predicted and verified elsewhere",
    expected="every process means the same class, by group and in the certificate, too",
)
def test_the_positive_class_is_the_same_in_every_process(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    seen: Callable[[str], None],
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    frame = people((1, 2))
    frame.to_csv(tmp_path / "people.csv", index=False)
    limits = ["--constraint", "fpr <= 0.3", "--constraint", "fpr_gap[sex] <= 0.5"]
    more = [
        *("--grammar", "tiny", "--cv=2", "--max-evaluations", "2"),
        *("--executor", "inline", "--json"),
    ]
    words = ["--target", "out", "--positive", "1", "--certify", "0.8", "--group-thresholds"]
    ran = program(tmp_path, "fit", "people.csv", *words, *limits, *more, "--out", "run")
    assert ran.returncode == 0, ran.stderr
    manifest = json.loads((tmp_path / "run" / "model.json").read_text())
    assert manifest["positive"] == "1"
    assert manifest["classes"] == ["1", "2"]
    frame.drop(columns="out").to_parquet(tmp_path / "new.parquet")
    monkeypatch.chdir(tmp_path)
    assert run("predict", "run", "new.parquet", "-o", "told.csv") == 0
    called = pd.read_csv(tmp_path / "told.csv")
    fpr = np.mean(called["prediction"][frame["out"] == 2] == 1)
    recall = np.mean(called["prediction"][frame["out"] == 1] == 1)
    assert fpr <= 0.3
    assert recall > 0.6
    sure = called["probability_1"]
    assert sure[called["prediction"] == 1].min() > sure[called["prediction"] == 2].min()
    assert run("verify", "run", "people.csv") == 0
    capsys.readouterr()
    assert run("fit", "people.csv", "--target", "out", "--positive", "3") == 2
    assert "Its classes are '1', '2'" in capsys.readouterr().err
    seen(f"fpr {fpr:.2f}, recall {recall:.2f} of class 1 in another process; verify agrees")


@pytest.mark.parametrize("labels", [("bad", "good"), (0, 1), (False, True), (1.0, 2.0)])
@pytest.mark.parametrize("by_group", [False, True])
def test_rates_thresholds_and_metrics_mean_the_label_that_was_named(
    labels: Any, by_group: bool, tmp_path: Path
) -> None:
    frame = people(labels)
    X, y = frame.drop(columns="out"), frame["out"].to_numpy()
    first = min(labels)
    limits = ["fpr <= 0.1", *(["fpr_gap[sex] <= 0.04"] if by_group else [])]
    search = AutoMLClassifier(
        "tiny",
        cv=2,
        max_evaluations=1,
        constraints=limits,
        positive=first,
        scoring="recall",
        executor="inline",
        group_thresholds=by_group,
        on_infeasible="closest",
        random_state=0,
        work_dir=tmp_path / "run",
    ).fit(X, y)
    called = search.predict(X) == first
    assert np.mean(called[y != first]) <= 0.16
    assert np.mean(called[y == first]) == pytest.approx(search.best_score_, abs=0.1)
    assert np.mean(called[y == first]) > 0.4
    shipped = load_model(RunFolder(tmp_path / "run"))
    assert (shipped.predict(X) == search.predict(X)).all()
    assert list(shipped.classes_) == sorted(labels)
    sure = shipped.predict_proba(X)[:, 0]
    if not by_group:
        assert (called == (sure >= shipped.threshold)).all()


def test_scores_without_probabilities_are_turned_for_groups_too() -> None:
    frame = people(("bad", "good"))
    X, y = frame[["a", "b", "sex"]], frame["out"].to_numpy()

    class Margin(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        classes_ = np.array(["bad", "good"])

        def decision_function(self, rows: Any) -> Any:
            return -rows["a"].to_numpy()

    known = {"columns": {"sex": ()}, "threshold": 1.5, "response_method": "decision_function"}
    model = GroupThresholdClassifier(Margin(), thresholds={"m": 0.5}, pos_label="bad", **known)
    model.estimator_, model.classes_ = Margin(), Margin.classes_
    bar = np.where(X["sex"] == "m", 0.5, 1.5)
    assert (model.predict(X) == np.where(X["a"] >= bar, "bad", "good")).all()
    assert set(y) == {"bad", "good"}


def test_a_resume_means_the_same_class_and_refuses_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    people((True, False)).to_csv("people.csv", index=False)
    words = ["--grammar", "tiny", "--executor", "inline", "--out", "run", "-q"]
    more = [
        *("--positive", "false", "--cv=2"),
        *("--max-evaluations", "1", "--constraint", "recall >= 0.2"),
    ]
    assert run("fit", "people.csv", "--target", "out", *words, *more) == 0
    before = json.loads(Path("run/run.json").read_text())
    assert before["settings"]["positive"] == "False"
    assert run("resume", "run", "--max-evaluations", "+1", "-q") == 0
    assert json.loads(Path("run/model.json").read_text())["positive"] == "False"
    other = dict(before, request=before["request"] | {"positive": None})
    Path("run/run.json").write_text(json.dumps(other))
    capsys.readouterr()
    assert run("resume", "run", "--max-evaluations", "+1", "-q") == 7
    assert "positive: 'False' → None" in capsys.readouterr().err


def test_a_date_goes_on_as_the_positive_class_in_any_of_its_forms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    days = pd.to_datetime(["2020-01-01", "2021-06-01"])
    people((days[0], days[1])).to_parquet("people.parquet")
    words = ["--target", "out", "--grammar", "tiny", "--executor", "inline", "--out", "run", "-q"]
    more = ["--cv=2", "--max-evaluations", "1", "--constraint", "recall >= 0.2"]
    for first in ("2020-01-01", "2020-01-01T00:00:00"):
        assert run("fit", "people.parquet", *words, *more, "--positive", first) == 2
        assert "is neither a text nor a number of Python or numpy" in capsys.readouterr().err
    assert run("fit", "people.parquet", *words, *more, "--positive", "2021-06-01 00:00:00") == 0
    assert run("resume", "run", "--max-evaluations", "+1", "-q") == 0
    assert json.loads(Path("run/model.json").read_text())["positive"] == "2021-06-01T00:00:00"
    assert run("evaluate", "run", "people.parquet") == 0


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)


@pytest.mark.parametrize("dtype", ["string", "category", "str"])
def test_labels_are_the_same_from_any_column_of_texts(dtype: str) -> None:
    texts = np.array(["b", "a", "c", "a", "b"], dtype=object)
    plain, numbers = number_classes(texts)
    labels, found = number_classes(pd.Series(texts).astype(dtype))
    assert list(labels) == list(plain) == ["a", "b", "c"]
    assert labels.dtype == plain.dtype == object
    assert list(found) == list(numbers) == [1, 0, 2, 0, 1]


def test_a_message_lists_twelve_labels_at_most_and_in_one_line() -> None:
    assert list_labels(np.array([1, 2])) == "'1', '2'"
    assert list_labels(["a\nb", "c"]) == r"'a\nb', 'c'"
    assert list_labels([str(number) for number in range(12)]).endswith(", '11'")
    assert list_labels([str(number) for number in range(13)]).endswith(", '11', …")


DAYS = pd.to_datetime(["2020-01-31", "2020-02-01"])


@pytest.mark.parametrize(
    ("given", "classes"),
    [
        (["b", "c"], ["a", "b"]),
        ([1.0, 5.0], [0, 1]),
        ([True], [0, 1]),
        (pd.Series([0, 1], dtype="category"), [0.0, 1.0]),
        (np.array([[1], [0]]), [0, 1]),
        (DAYS.to_numpy().astype("datetime64[ns]"), DAYS.to_numpy().astype("datetime64[s]")),
        (pd.Series(DAYS.tz_localize("UTC")), np.array(DAYS.tz_localize("UTC"), dtype=object)),
        ([], [0, 1]),
    ],
)
def test_labels_with_a_class_of_the_model_can_be_scored(given: Any, classes: Any) -> None:
    check_scored(given, np.asarray(classes))


@pytest.mark.parametrize(
    ("given", "classes", "said"),
    [
        (["0", "1"], [0, 1], r"they are '0', '1', and its classes are 0, 1\. Give them"),
        ([1, 0, 1], ["0", "1"], "they are 1, 0, and its classes are '0', '1'"),
        (["True", "False"], [False, True], "they are 'True', 'False', .* are False, True"),
        (["Yes"], np.array(["no", "yes"], dtype=object), "they are 'Yes', .* 'no', 'yes'"),
        (range(20), ["a"], "9, 10, 11, …, and its classes are 'a'"),
    ],
)
def test_labels_without_one_class_of_the_model_are_no_accuracy_of_zero(
    given: Any, classes: Any, said: str
) -> None:
    with pytest.raises(DataError, match=said) as raised:
        check_scored(given, np.asarray(classes))
    assert "\n" not in str(raised.value)
