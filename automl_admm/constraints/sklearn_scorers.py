"""Any scikit-learn metric as a measurement; its scorer is answered from known predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from automl_admm.core.evidence import Estimate
from automl_admm.core.explained_variance import is_constant
from automl_admm.pipelines.metrics import takes_weights, with_labels
from automl_admm.pipelines.predictions.constant_truth import has_no_spread, with_weight
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    ConstraintPlugin,
    Target,
)

RESPONSES = ("predict_proba", "decision_function")
# The first is in nats and grows with the number of classes, the second is a quotient of rates.
UNBOUNDED = ("mutual_info_score", "positive_likelihood_ratio")
SAME_TRUTH = "it has no two different true values"
NO_POSITIVES = "it has no positive rows"
NO_ROWS = "it has no rows of a class"
ONE_CLASS = "its rows are of one class"
# Of rows of one class scikit-learn takes 0 for the others' share of a mean, or divides by 0.
OF_CLASSES = (
    *("f1_macro", "jaccard_macro", "precision_macro", "recall_macro", "matthews_corrcoef"),
    *("d2_brier_score", "d2_log_loss_score", "roc_auc_ovo", "roc_auc_ovo_weighted"),
)
# What scikit-learn's modules of metrics are of.
TARGETS: dict[str, Target] = {
    "_regression": "a quantity",
    "_classification": "classes",
    "_ranking": "classes",
}
# Scorers from 0 to 1, by the beginning of their names. The others, such as R², may be negative.
SHARES = (
    *("accuracy", "average_precision", "balanced_accuracy", "completeness", "f1", "fowlkes"),
    *("homogeneity", "jaccard", "normalized_mutual_info", "precision", "rand_score", "recall"),
    *("roc_auc", "top_k_accuracy", "v_measure"),
)


class Replayed:
    """A stand-in for a fitted pipeline: it only repeats known predictions of the rows at hand."""

    def __init__(self, evaluated: EvaluatedPipeline) -> None:
        self._evaluated = evaluated
        pipeline = evaluated.pipeline
        self._response = next((name for name in RESPONSES if hasattr(pipeline, name)), "")

    def predict(self, X: Any) -> Any:
        """Return the known decisions for any rows."""
        del X
        return self._evaluated.decisions

    def __getattr__(self, name: str) -> Any:
        # Copying asks for private names before `_evaluated` exists, which would recurse. The other
        # response was never computed: a scorer that found it would predict anew.
        if name.startswith("_") or (name in RESPONSES and name != self._response):
            raise AttributeError(name)
        found = getattr(self._evaluated.pipeline, name)
        return self._repeating(found) if name == self._response else found

    def _repeating(self, method: Any) -> Any:
        """Return a method with this name: scorers choose by the name."""

        @wraps(method)
        def respond(X: Any) -> Any:
            del X
            return self._evaluated.predictions

        return respond

    def __sklearn_tags__(self) -> Any:
        return self._evaluated.pipeline.__sklearn_tags__()


class _Listening(Replayed):
    """The same, knowing whether it was asked for decisions."""

    was_asked = False

    def predict(self, X: Any) -> Any:
        """Return the decisions, and remember this request."""
        self.was_asked = True
        return super().predict(X)


def _uses_decisions(name: str) -> bool:
    """Return True if a scorer asks for decisions on four rows, or fails on them."""
    from sklearn.dummy import DummyClassifier
    from sklearn.metrics import get_scorer

    y, X = np.array([0, 1, 0, 1]), np.zeros((4, 1))
    model = DummyClassifier().fit(X, y)
    scores = np.full((4, 2), 0.5)
    listening = _Listening(EvaluatedPipeline(model, X, y, scores, 0.0, 0.0, decisions=y))
    try:
        get_scorer(name)(listening, X, y)
    # True is the safe side: decisions are then kept and aimed at, for nothing at worst.
    except Exception:  # noqa: BLE001 - what is no metric of two classes fails in its own way
        return True
    return listening.was_asked


def _takes_weights(name: str) -> bool:
    from sklearn.metrics import get_scorer

    return takes_weights(get_scorer(name))


@dataclass(frozen=True, slots=True)
class Scored:
    """The value of a scikit-learn scorer; `neg_…` keeps scikit-learn's sign.

    A scorer for a positive class takes the last of the sorted labels.
    """

    name: str

    def __call__(self, evaluated: EvaluatedPipeline) -> Estimate:
        """The score on these rows; NaN with the reason if their truth has no such score."""
        from sklearn.metrics import get_scorer

        weights = evaluated.weights
        if missing := self._missing(evaluated):
            return Estimate(math.nan, missing)
        classes = getattr(evaluated.pipeline, "classes_", ())
        scorer = with_labels(self.name, get_scorer(self.name), len(classes))
        more = {} if weights is None else {"sample_weight": weights}
        return Estimate(float(scorer(Replayed(evaluated), evaluated.X, evaluated.y, **more)))

    def _missing(self, evaluated: EvaluatedPipeline) -> str:
        """Return the reason why these rows have no such score, as a clause; "" if they have one.

        scikit-learn answers some number there. The truth alone decides: else a limit would have a
        value for some pipelines only.
        """
        truth = evaluated.y
        if has_no_spread(self.name, truth, evaluated.weights):
            return SAME_TRUTH
        if self.name == "average_precision" and (lacking := _lacking(evaluated)):
            return lacking
        counted = with_weight(truth, evaluated.weights)
        return ONE_CLASS if self.name in OF_CLASSES and is_constant(counted) else ""


def _lacking(evaluated: EvaluatedPipeline) -> str:
    """Return the reason if there are no rows of the positive class, or of one of several."""
    is_of_two = np.ndim(evaluated.predictions) == 1 or evaluated.predictions.shape[1] == 2
    needed = [1] if is_of_two else np.arange(evaluated.predictions.shape[1])
    if np.isin(needed, evaluated.y).all():
        return ""
    return NO_POSITIVES if is_of_two else NO_ROWS


def scorer_names() -> Sequence[str]:
    """Return scikit-learn's scorer names."""
    from sklearn.metrics import get_scorer_names

    names: list[str] = get_scorer_names()
    return names


def score_measure(name: str) -> ConstraintPlugin:
    """Return a scorer as a constraint record, with the range of its values."""
    return ConstraintPlugin(
        name=name,
        summary="scikit-learn's scorer",
        function=Scored(name),
        lowest=0.0 if name.startswith(SHARES) else None,
        highest=_highest(name),
        kind="statistical",
        target=scorer_target(name),
        better="larger",
        uses_decisions=_uses_decisions(name),
        takes_weights=_takes_weights(name),
    )


def scorer_target(name: str) -> Target:
    """Return the kind of prediction that a scorer needs, by the module of its metric."""
    from sklearn.metrics import get_scorer

    module = getattr(getattr(get_scorer(name), "_score_func", None), "__module__", "")
    return TARGETS.get(module.rpartition(".")[2], "any")


def _highest(name: str) -> float | None:
    """Return a scorer's best value: 1, or 0 if negated; scikit-learn states none."""
    if name in UNBOUNDED:
        return None
    return 0.0 if name.startswith("neg_") else 1.0
