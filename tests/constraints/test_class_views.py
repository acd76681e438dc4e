"""Limits on classes agree with scikit-learn's one-vs-rest numbers, whatever the labels are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from installed import PLUGINS
from sklearn import metrics
from sklearn.dummy import DummyClassifier

from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import constraint_of, with_classes, with_groups
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evidence import F1, Average, Evidence, Rate
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.core.unknown_values import explain_unknown
from automl_admm.execution.evidence_files import decode_evidence, encode_evidence
from automl_admm.pipelines.thresholds.single import Fold
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

ROWS = 300
LABELS = ("bus", "car", "van")


def three(weights: Any = None) -> EvaluatedPipeline:
    rng = np.random.default_rng(0)
    y = rng.choice(3, ROWS, p=[0.5, 0.3, 0.2])
    predictions = rng.dirichlet([1, 1, 1], ROWS) + np.eye(3)[y] * 0.6
    predictions /= predictions.sum(axis=1, keepdims=True)
    model = DummyClassifier().fit(np.zeros((3, 1)), [0, 1, 2])
    sensitive = pd.DataFrame({"sex": rng.choice(["f", "m"], ROWS)})
    decided = predictions.argmax(axis=1)
    X = np.zeros((ROWS, 1))
    return EvaluatedPipeline(
        model, X, y, predictions, 0.1, 0.1, decided, sensitive, weights=weights
    )


def function_of(text: str, labels: Any = LABELS) -> Any:
    constraint = constraint_of(read_text(f"{text} <= 1"), PLUGINS.constraints)
    constraint = with_classes(constraint, labels)
    return with_groups(constraint, ("f", "m")).function


def measure(text: str, evaluated: EvaluatedPipeline, labels: Any = LABELS) -> Evidence:
    return as_evidence(function_of(text, labels)(evaluated))


ORACLES = {
    "recall": metrics.recall_score,
    "precision": metrics.precision_score,
    "f1": metrics.f1_score,
}


@pytest.mark.parametrize("name", sorted(ORACLES))
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_class_and_the_mean_are_those_of_scikit_learn(name: str, is_weighted: bool) -> None:
    weights = np.random.default_rng(1).random(ROWS) if is_weighted else None
    rows = three(weights)
    each = ORACLES[name](rows.y, rows.decisions, average=None, sample_weight=weights)
    for label, value in zip(LABELS, each, strict=True):
        assert measure(f'{name}{{class="{label}"}}', rows).value == pytest.approx(value)
    assert measure(f"macro_{name}", rows).value == pytest.approx(each.mean())
    assert measure(f"min_{name}{{class}}", rows).value == pytest.approx(each.min())
    assert measure(f"max_{name}{{class}}", rows).value == pytest.approx(each.max())


def test_cells_and_areas_are_those_of_scikit_learn() -> None:
    rows = three()
    table = metrics.confusion_matrix(rows.y, rows.decisions, normalize="true")
    found = measure("confusion{true=bus,predicted=van}", rows)
    assert found.value == pytest.approx(table[0, 2])
    assert isinstance(found, Rate)
    assert found.of == "rows of class 'bus'"
    area = metrics.roc_auc_score(rows.y == 1, rows.predictions[:, 1])
    assert measure("auc{class=car}", rows).value == pytest.approx(area)
    mean = metrics.roc_auc_score(rows.y, rows.predictions, multi_class="ovr")
    assert measure("macro_auc", rows).value == pytest.approx(mean)


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("recall_gap{class=car}[sex]", "recall{class=car}"),
        ("macro_recall_gap[sex]", "macro_recall"),
        (
            "confusion_gap{true=bus,predicted=car}[sex]",
            "confusion{true=bus,predicted=car}",
        ),
        ("demographic_parity_difference{class=car}[sex]", "selection_rate{class=car}"),
    ],
)
def test_a_gap_is_the_difference_of_the_groups(text: str, inner: str) -> None:
    rows = three()
    women = (rows.sensitive["sex"] == "f").to_numpy()
    values = [measure(inner, rows.part(part)).value for part in (women, ~women)]
    assert measure(text, rows).value == pytest.approx(abs(values[0] - values[1]))


def test_the_largest_gap_is_that_of_the_worst_class() -> None:
    rows = three()
    gaps = [measure(f"recall_gap{{class={one}}}[sex]", rows).value for one in LABELS]
    assert measure("max_recall_gap{class}[sex]", rows).value == pytest.approx(max(gaps))
    ratios = [measure(f"recall_ratio{{class={one}}}[sex]", rows).value for one in LABELS]
    assert measure("min_recall_ratio{class}[sex]", rows).value == pytest.approx(min(ratios))


@pytest.mark.parametrize(
    ("labels", "written"),
    [
        ((0, 1, 2), "1"),
        ((0.0, 1.0, 2.0), "1"),
        (("0", "1", "2"), "1"),
        ((False, True), "true"),
        (("a", 'say "b", {c}', "d"), '"say ""b"", {c}"'),
        (("a", "it's", "z"), "'it''s'"),
        (("class", "true", "predicted"), "true"),
        (("", " ", "c"), '" "'),
        (("bus", "größer ≥ 3", "z"), '"größer ≥ 3"'),
        ((-2, -1, 0), "-1"),
    ],
)
def test_any_label_can_be_named_and_read_again(labels: Any, written: str) -> None:
    rows = three()
    if len(labels) == 2:
        rows = rows.part(rows.y < 2)
    limit = read_text(f"recall{{class={written}}} >= 0.5")
    again = read_text(f"{limit.name} >= 0.5")
    assert again.name == limit.name
    expected = np.mean(rows.decisions[rows.y == 1] == 1)
    assert measure(again.name, rows, labels).value == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["probabilities", "scores", "decisions"])
def test_of_two_classes_either_may_be_named(kind: str) -> None:
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, ROWS), rng.random(ROWS)
    predictions: Any = np.column_stack([1 - scores, scores])
    model: Any = DummyClassifier().fit(np.zeros((2, 1)), [0, 1])
    if kind != "probabilities":
        predictions = scores if kind == "scores" else (scores > 0.5).astype(int)
        responses = {"decision_function": len} if kind == "scores" else {}
        model = type("Model", (), responses)()
    rows = EvaluatedPipeline(
        model, y[:, None], y, predictions, 0.0, 0.0, (scores > 0.5).astype(int)
    )
    labels = ("no", "yes")
    recall = metrics.recall_score(y, rows.decisions, pos_label=0)
    assert measure("recall{class=no}", rows, labels).value == pytest.approx(recall)
    area = measure("auc{class=yes}", rows, labels).value
    assert measure("auc{class=no}", rows, labels).value == pytest.approx(area)
    seen = predictions if predictions.ndim == 1 else predictions[:, 1]
    assert area == pytest.approx(metrics.roc_auc_score(y, seen))


def test_a_class_without_rows_has_no_value_and_does_not_pass_silently() -> None:
    rows = three()
    fewer = rows.part(rows.y != 2)
    for text in (
        "recall{class=van}",
        "macro_recall",
        "min_recall{class}",
        "recall_gap{class=van}[sex]",
    ):
        assert np.isnan(measure(text, fewer).value)
    told = explain_unknown(measure("recall{class=van}", fewer))
    assert told == "it has no rows of class 'van'"
    assert explain_unknown(measure("macro_recall", fewer)) == "it has no rows of class 'van'"


def test_rows_that_are_decided_anew_keep_their_groups_and_classes() -> None:
    rows, function = three(), function_of("recall_gap{class=car}[sex]")
    fold = Fold.of_functions(rows.part(rows.y < 2), [function, function])
    pair = rows.part(rows.y < 2)
    decided = (pair.scores >= 0.3).astype(int)
    expected = as_evidence(
        function(
            EvaluatedPipeline(
                pair.pipeline, pair.X, pair.y, pair.predictions, 0, 0, decided, pair.sensitive
            )
        )
    ).value
    assert fold.values(0.3) == pytest.approx([expected, expected])


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ('recall{class="vann"} >= 0.9', "1:14", "Did you mean 'van'? Its classes are 'bus'"),
        ("recall_gap{class=lorry}[sex] <= 0.1", "1:18", "Its classes are 'bus', 'car', 'van'."),
        ("confusion{predicted=cat,true=bus} <= 0.1", "1:21", "Did you mean 'car'?"),
    ],
)
def test_an_unknown_class_is_shown_where_it_stands(text: str, place: str, hint: str) -> None:
    constraint = constraint_of(read_text(text), PLUGINS.constraints)
    with pytest.raises(ConfigurationError) as caught:
        with_classes(constraint, LABELS)
    assert f"limit:{place}: error[L007]: the target has no class" in str(caught.value)
    assert f"    {text}\n" in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("recall{class} >= 0.1", "Write 'recall{class=\"a\"}' for one class"),
        ("min_recall >= 0.1", "Write 'min_recall{class}'"),
        ('min_recall{class="bus"} >= 0.1', "Write 'min_recall{class}'"),
        ("confusion <= 0.1", 'Write \'confusion{true="a",predicted="b"}\''),
        ("accuracy{class=bus} >= 0.1", "'accuracy' is not measured by {class=\"bus\"}"),
        ("balanced_accuracy{class=bus} >= 0.1", "'balanced_accuracy' is not measured by"),
        ("macro_recall{class} >= 0.1", "Write 'macro_recall' alone"),
        ("latency_us{class=bus} <= 1", "'latency_us' is not measured by"),
        ("min_accuracy{class} >= 0.1", "no constraint named 'min_accuracy'"),
    ],
)
def test_classes_where_there_are_none_are_refused(text: str, says: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        constraint_of(read_text(text), PLUGINS.constraints)
    assert says in str(caught.value)


def test_evidence_of_classes_is_written_and_read() -> None:
    seen = [measure(text, three()) for text in ("macro_recall", "macro_f1", "f1{class=bus}")]
    again = decode_evidence(encode_evidence(seen))
    assert [one.value for one in again] == [one.value for one in seen]
    assert isinstance(again[0], Average)
    assert again[0].are_apart is True
    assert isinstance(again[1], Average)
    assert again[1].are_apart is False
    assert isinstance(again[2], F1)
