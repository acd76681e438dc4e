"""Metrics: a scikit-learn scorer, and its loss for the search to minimise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError, Remedy, UnknownNameError
from automl_admm.core.messages import say_value
from automl_admm.pipelines.scorer_check import check_scorer
from automl_admm.plugins.factories import expect, make
from automl_admm.plugins.plugin_options import build_options, split_request
from automl_admm.plugins.records import LearningTask, MetricPlugin
from automl_admm.plugins.registry import Registry

Scorer = Callable[[Any, Any, Any], float]
# scikit-learn's scorers that fail on rows that lack a class, unless they know all of them.
OF_ALL_CLASSES = (
    *("d2_brier_score", "d2_log_loss_score", "neg_brier_score", "neg_log_loss", "top_k_accuracy"),
    *("roc_auc_ovo", "roc_auc_ovo_weighted", "roc_auc_ovr", "roc_auc_ovr_weighted"),
)


@dataclass(frozen=True, slots=True)
class Metric:
    """A scorer and how its score becomes a loss.

    The loss is `best − score`. scikit-learn's scores are best at 1, its `neg_…` errors at 0, as is
    a scorer of unknown range here.
    """

    name: str
    scorer: Scorer
    best: float = 1.0
    sees_labels: bool = False

    def loss(self, score: float) -> float:
        """The loss of a score."""
        return self.best - score

    def score(self, loss: float) -> float:
        """The score of a loss."""
        return self.best - loss

    def knowing(self, classes: Any) -> Metric:
        """Return the metric with its parameter `classes`, if any, set to the labels, positive last.

        They are None in a regression.
        """
        if self.sees_labels:
            return replace(self, scorer=_bound(self.scorer, classes))
        if classes is None:
            return self
        return replace(self, scorer=with_labels(self.name, self.scorer, len(classes)))


def with_labels(name: str, scorer: Any, classes: int) -> Any:
    """Return a scorer of scikit-learn that knows the classes without a row, if it asks for them.

    A class of one row is never among those validated.
    """
    return _given(scorer, labels=np.arange(classes)) if name in OF_ALL_CLASSES else scorer


def _bound(scorer: Scorer, classes: Any) -> Scorer:
    """Return a scorer from a function, or from a scorer made by `make_scorer`."""
    function: Any = scorer
    if _takes_classes(function):
        return partial(function, classes=classes)
    is_given = "classes" in getattr(scorer, "_kwargs", {})
    if not is_given and _takes_classes(getattr(scorer, "_score_func", None)):
        return _given(scorer, classes=classes)
    return scorer


def _given(scorer: Scorer, **more: Any) -> Scorer:
    """Return a scorer whose function is given more; the one that was given stays as it is."""
    bound = copy(scorer)
    vars(bound)["_kwargs"] = {**getattr(scorer, "_kwargs", {}), **more}
    return bound


def demand_weights(metric: Metric) -> None:
    """Raise if a metric takes no weights of rows."""
    if not takes_weights(metric.scorer):
        raise ConfigurationError(
            f"metric '{metric.name}' takes no weights of rows.",
            hint=Remedy(
                "Choose another {scoring}, or leave out {sample_weight}. Your own function needs a "
                "parameter sample_weight."
            ),
        )


def takes_weights(scorer: Any) -> bool:
    """Return True if a scorer, or the function in it, has a parameter `sample_weight`."""
    return _has_parameter(getattr(scorer, "_score_func", scorer), "sample_weight")


def _takes_classes(function: Any) -> bool:
    return _has_parameter(function, "classes")


def _has_parameter(function: Any, name: str) -> bool:
    try:
        return name in signature(function).parameters
    except (TypeError, ValueError):  # nothing to call, or one that Python knows nothing of
        return False


def default_metric(task: LearningTask, classes: int) -> str:
    """Return AUROC for two classes as in the papers, else the metric of scikit-learn's `score`."""
    if task == "regression":
        return "r2"
    return "roc_auc" if classes == 2 else "accuracy"


def resolve_metric(
    scoring: str | Scorer | None, task: LearningTask, classes: int, registry: Registry[MetricPlugin]
) -> Metric:
    """Turn the user's `scoring` into a metric."""
    if callable(scoring):
        check_scorer(scoring)
        name = getattr(scoring, "__name__", type(scoring).__name__).strip("_").lower()
        return Metric(name, scoring, best=0.0, sees_labels=True)
    name = scoring or default_metric(task, classes)
    if not isinstance(name, str):
        raise ConfigurationError(_no_scorer(name))
    if split_request(name)[0] in registry:
        return Metric(name, _scorer_of(name, registry), best=0.0, sees_labels=True)
    return _of_scikit_learn(name, registry)


def _no_scorer(scoring: object) -> str:
    if isinstance(scoring, list | tuple | set | dict):
        return (
            f"scoring takes one metric, not a {type(scoring).__name__} of them. Name one; others "
            "may be limits: constraints=['recall >= 0.8']."
        )
    return f"scoring must be a name or a scorer, not {say_value(scoring)}."


def _scorer_of(request: str, registry: Registry[MetricPlugin]) -> Scorer:
    name, given = split_request(request)
    return build_scorer(registry.get(name), given, registry.title(name))


def build_scorer(record: MetricPlugin, given: Mapping[str, Any], title: str) -> Scorer:
    """Return the scorer that a metric makes with these options."""
    options = build_options(record.name, record.options, given)
    scorer: Scorer = make(title, record.factory, *([options] if fields(options) else []))
    expect(title, "scorer", scorer, is_one=callable(scorer))
    return scorer


def _of_scikit_learn(name: str, registry: Registry[MetricPlugin]) -> Metric:
    from sklearn.metrics import get_scorer, get_scorer_names

    known = [*get_scorer_names(), *(record.name for record in registry)]
    if name not in known:
        raise UnknownNameError("metric", name, known)
    negated = name.startswith("neg_")
    # Only the offset of the loss: a wrong one moves all losses alike and ranks the same.
    return Metric(name, get_scorer(name), best=0.0 if negated else 1.0)
