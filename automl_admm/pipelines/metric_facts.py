"""The facts of each metric that a search may have: its targets, and what it needs of a pipeline."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.pipelines.metrics import takes_weights
from automl_admm.plugins.factories import make
from automl_admm.plugins.records import MetricPlugin
from automl_admm.plugins.registry import Registry

# Scorers of several labels a row, which no target here has.
SEVERAL_LABELS = "_samples"
UNKNOWN = "unknown"
NEEDS = {"predict": "predictions", "predict_proba": "probabilities"}


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """The facts of one metric; larger is always better, and `is_negated` marks minus an error.

    `target` is "classes", "two classes", "a quantity", or "unknown" for a function of a plugin.
    """

    name: str
    summary: str
    provider: str
    target: str
    needs: str
    is_negated: bool = False
    takes_weights: bool = False


def all_metrics(registry: Registry[MetricPlugin]) -> Iterator[MetricFacts]:
    """Yield the metrics of plugins, and then those that scikit-learn knows by name."""
    for record in registry:
        yield _of_plugin(record, registry)
    yield from _of_scikit_learn()


def _of_plugin(record: MetricPlugin, registry: Registry[MetricPlugin]) -> MetricFacts:
    title, provider = registry.title(record.name), registry.provider(record.name)
    try:
        scorer = make(title, record.factory)
    except AutomlAdmmError as problem:
        summary = f"{record.summary}; it cannot be made: {problem}"
        return MetricFacts(record.name, summary, provider, UNKNOWN, UNKNOWN)
    return _facts(record.name, record.summary, provider, scorer)


def _of_scikit_learn() -> Iterator[MetricFacts]:
    import sklearn
    from sklearn.metrics import get_scorer, get_scorer_names

    for name in get_scorer_names():
        if not name.endswith(SEVERAL_LABELS):
            scorer = get_scorer(name)
            summary = (inspect.getdoc(_function(scorer)) or name).splitlines()[0].rstrip(".")
            yield _facts(name, summary, f"scikit-learn {sklearn.__version__}", scorer)


def _function(scorer: Any) -> Any:
    """Return the metric in a scorer made by `make_scorer`, or the scorer itself."""
    return getattr(scorer, "_score_func", scorer)


def _facts(name: str, summary: str, provider: str, scorer: Any) -> MetricFacts:
    response = getattr(scorer, "_response_method", None)
    needs = UNKNOWN if response is None else NEEDS.get(str(response), "scores")
    negated = getattr(scorer, "_sign", 1) < 0
    weights = takes_weights(scorer)
    return MetricFacts(name, summary, provider, target_of(scorer), needs, negated, weights)


def sees_scores_alone(scorer: Any) -> bool:
    """Return True for a scorer known to look at scores or probabilities, and never at decisions."""
    response = getattr(scorer, "_response_method", None)
    return response is not None and response != "predict"


def looks_at_scores(name: str) -> bool:
    """Return True for a metric of scikit-learn's that never looks at decisions."""
    from sklearn.metrics import get_scorer, get_scorer_names

    return name in get_scorer_names() and sees_scores_alone(get_scorer(name))


def target_of(scorer: Any) -> str:
    """Return the kind of target that a scorer is for, as in `MetricFacts`."""
    module = getattr(_function(scorer), "__module__", "") or ""
    if not module.startswith("sklearn.metrics."):
        return UNKNOWN
    if module.endswith("._regression"):
        return "a quantity"
    is_of_two = getattr(scorer, "_kwargs", {}).get("average") == "binary"
    return "two classes" if is_of_two or module.endswith("._scorer") else "classes"
