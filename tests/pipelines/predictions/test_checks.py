from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.errors import InvalidOutcome
from automl_admm.pipelines.predictions.checks import (
    check_predictions,
    check_probabilities,
    number_labels,
)


@pytest.mark.parametrize("kind", [float, np.float32, int, bool, np.uint8])
def test_numbers_of_any_kind_are_predictions(kind):
    check_predictions(np.ones(3, dtype=kind), 3)
    check_predictions(np.ones((3, 4), dtype=kind), 3)


@pytest.mark.parametrize(
    ("predictions", "reason"),
    [
        (np.array([1.0, np.nan]), "not all finite"),
        (np.array([1.0, -np.inf]), "not all finite"),
        (np.array([1j, 1.0]), "no real numbers but complex128"),
        (np.array(["a", "b"]), "no real numbers but <U1"),
        (np.array([None, 1.0]), "no real numbers but object"),
        (np.ones(3), "wrong length: 3 for 2 rows"),
        (np.array(1.0), "wrong length: one value for 2 rows"),
    ],
)
def test_what_is_no_prediction_is_invalid(predictions, reason):
    with pytest.raises(InvalidOutcome, match=reason):
        check_predictions(predictions, 2)


def test_probabilities_in_single_precision_pass():
    rows = np.random.default_rng(0).dirichlet(np.ones(1000), 50).astype(np.float32)
    check_probabilities(rows, 1000)
    check_probabilities(rows, 1001)


@pytest.mark.parametrize(
    ("probabilities", "reason"),
    [
        ([[0.5, 0.5], [1.2, -0.2]], "between 0 and 1"),
        ([[0.5, 0.5], [0.5, 0.4]], "add up to 1"),
        ([[0.5, 0.2, 0.3], [0.5, 0.2, 0.3]], r"shape \(2, 3\) for 2 classes"),
        ([0.5, 0.5], r"shape \(2,\) for 2 classes"),
    ],
)
def test_what_are_no_probabilities_is_invalid(probabilities, reason):
    with pytest.raises(InvalidOutcome, match=reason):
        check_probabilities(np.array(probabilities), 2)


@pytest.mark.parametrize(
    ("classes", "labels", "places"),
    [
        (["no", "yes"], ["yes", "no", "yes"], [1, 0, 1]),
        ([3, 7, 9], [9.0, 3.0], [2, 0]),
        ([False, True], [True, False], [1, 0]),
    ],
)
def test_labels_are_numbered(classes, labels, places):
    assert list(number_labels(labels, np.array(classes))) == places
    assert list(number_labels(np.array(labels, dtype=object), np.array(classes))) == places


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (["no", "yes"], ["yes", "purple"]),
        (["no", "yes"], ["zebra"]),
        (["no", "yes"], [1, 2]),
        ([0, 1], ["yes", "no"]),
        ([0, 1], [0, 2]),
        ([0, 1], [0.5]),
        ([0, 1], [None, 1]),
        ([0.0, 1.0], [np.nan]),
    ],
)
def test_a_label_that_the_target_does_not_have_is_invalid(classes, labels):
    with pytest.raises(InvalidOutcome):
        number_labels(np.array(labels), np.array(classes))
