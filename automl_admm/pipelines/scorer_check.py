"""Refuse functions that are no scorers, and say what to write instead.

A metric such as `f1_score(y_true, y_pred)` is no scorer: it does not say which predictions it
wants, which label is positive, or if less is better. A wrong guess would rank pipelines wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from types import MappingProxyType
from typing import Any

from automl_admm.core.errors import ConfigurationError

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
# Settings of `make_scorer` that scikit-learn no longer has, and what stands for them.
FORMER: Mapping[str, str] = MappingProxyType(
    {
        "needs_proba": "response_method='predict_proba'",
        "needs_threshold": "response_method=('decision_function', 'predict_proba')",
    }
)
LESS_IS_BETTER = ("_error", "_loss")


def check_scorer(scoring: Callable[..., Any]) -> None:
    """Raise for a metric of targets and predictions, and for a scorer with former settings."""
    _check_settings(scoring)
    try:
        shown = signature(scoring)
    except (TypeError, ValueError):  # Python knows nothing of it
        return
    names = [one.name for one in shown.parameters.values() if one.kind in POSITIONAL]
    is_metric = names[:1] == ["y_true"] or (not _takes(3, shown) and _takes(2, shown))
    if is_metric and not isinstance(scoring, type):
        name = getattr(scoring, "__name__", type(scoring).__name__)
        raise ConfigurationError(
            f"{name} is a metric of targets and predictions, not a scorer.",
            hint=_cure(scoring, name),
        )


def _takes(number: int, shown: Signature) -> bool:
    known = {"classes": None} if "classes" in shown.parameters else {}
    try:
        shown.bind(*[None] * number, **known)
    except TypeError:
        return False
    return True


def _check_settings(scoring: Any) -> None:
    function = getattr(scoring, "_score_func", None)
    if function is None:
        return
    name = getattr(function, "__name__", "…")
    for setting in set(getattr(scoring, "_kwargs", {})) & set(FORMER):
        raise ConfigurationError(
            f"make_scorer has no {setting} any more.",
            hint=f"Write make_scorer({name}, {FORMER[setting]}).",
        )


def _cure(function: Any, name: str) -> str:
    names = _names_of(function)
    if names:
        return f"Write scoring='{names[0]}', or make_scorer({name}, …) with settings of your own."
    less = ", greater_is_better=False" if name.endswith(LESS_IS_BETTER) else ""
    return f"Write scoring=make_scorer({name}{less}), from sklearn.metrics."


def _names_of(function: Any) -> list[str]:
    """Return the names of scikit-learn's scorers of a metric, the plainest first."""
    from sklearn.metrics import get_scorer, get_scorer_names

    scorers = {name: get_scorer(name) for name in get_scorer_names()}
    found = [name for name, one in scorers.items() if getattr(one, "_score_func", 0) is function]
    return sorted(found, key=lambda name: (len(getattr(scorers[name], "_kwargs", {})), name))
