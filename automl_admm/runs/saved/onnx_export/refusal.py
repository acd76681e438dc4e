"""Messages on models without a form in ONNX: the part in the way, and the way round it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sklearn.metrics import get_scorer, get_scorer_names

from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.messages import say_error
from automl_admm.pipelines.as_code import THRESHOLDS
from automl_admm.pipelines.ensembles.all_classes import AllClasses
from automl_admm.pipelines.thresholds.single import aimed_decisions
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import resolve_constraints

SCRIPT = "or use pipeline.py of the run."
# As the converter tells that it does not know a class.
UNKNOWN = re.compile(r"for type '<class '(?P<module>[\w.]+)\.(?P<kind>\w+)'>'")
END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s")
OF_TEXT = "sklearn.feature_extraction."


def refusal_of(
    name: str, step: Any, problem: Exception, manifest: Mapping[str, Any]
) -> ConfigurationError:
    """Return an error on the first step in the way; `name` is "" for a model without steps."""
    kind = type(step).__name__
    if kind in THRESHOLDS:
        return _of_threshold(kind, manifest)
    if isinstance(step, AllClasses):
        return ConfigurationError(
            "a model whose training rows lacked a class cannot be written as ONNX.",
            hint="Use pipeline.py of the run, or leave out classes of a few rows.",
        )
    unknown = UNKNOWN.search(" ".join(str(problem).split()))
    if unknown is None:
        reason = END_OF_SENTENCE.split(say_error(problem))[0].rstrip(".")
        return _of_component(name or kind, f"{reason}.")
    columns = list(_columns_of(step, unknown["kind"]))
    if unknown["module"].startswith(OF_TEXT) and columns:
        return _of_columns(columns, unknown["kind"])
    own = f" its {unknown['kind']}" if unknown["kind"] != kind else " it"
    return _of_component(name or kind, f"skl2onnx has no converter for{own}.")


def refusal_of_gaps(columns: Sequence[str]) -> ConfigurationError:
    """Return an error on columns of text with gaps: ONNX has no missing texts."""
    named = ", ".join(f"'{name}'" for name in columns)
    dropped = " ".join(f'--column "{name}=drop"' for name in columns)
    return ConfigurationError(
        f"the gaps in the text of {named} cannot be written as ONNX.",
        hint=f"Fill them with a word such as 'absent' and fit again, fit with {dropped}, {SCRIPT}",
    )


def refusal_of_trees(name: str, reason: str) -> ConfigurationError:
    """Return an error on a step with trees of a kind unknown to ONNX."""
    return _of_component(name, f"{reason}.")


def refusal_of_difference(
    difference: float, member: str, *, is_of_classes: bool
) -> ConfigurationError:
    """Return an error on other predictions, most of all those of a `member` if it has a name."""
    apart = f"its values differ by up to {difference:.2g}"
    beyond = "some rows get another class" if is_of_classes else "some values are no numbers"
    told = apart if difference < float("inf") else beyond
    most = f", most of all in '{member}' of the ensemble" if member else ""
    return ConfigurationError(
        f"the model predicts otherwise in ONNX: {told}{most}.",
        hint="Gaps in text columns and rounding to single precision are the usual causes.",
    )


def of_member(name: str, problem: ConfigurationError) -> ConfigurationError:
    """Return an error on a member of an ensemble."""
    return ConfigurationError(f"in '{name}' of the ensemble: {problem.message}", hint=problem.hint)


def _of_threshold(kind: str, manifest: Mapping[str, Any]) -> ConfigurationError:
    """Return an error on a threshold, with its cause: cost, limits, metric, or the default one."""
    metric, is_weighed = manifest["metric"], kind == "WeightedClassifier"
    what = "weights of classes" if is_weighed else "threshold"
    if manifest.get("cost") is not None:
        cause, hint = "for the cost of decisions", "Fit without {cost},"
    elif _has_limits_on_decisions(manifest):
        cause, hint = "for a limit", "Fit without limits that set a threshold,"
    elif _asks_for_decisions(metric):
        cause = f"for the metric {metric}"
        hint = "Fit with {scoring='roc_auc'}, which looks at no decisions,"
    else:
        cause, hint = "because the default one decides one class for all rows", ""
    return ConfigurationError(
        f"the {what} set {cause} ({kind}) cannot be written as ONNX.",
        hint=Remedy(f"{hint} {SCRIPT}" if hint else "Use pipeline.py of the run."),
    )


def _has_limits_on_decisions(manifest: Mapping[str, Any]) -> bool:
    """Return True if a limit sets thresholds; one that is not installed here may."""
    try:
        config = RunConfig(
            constraints=tuple(manifest["constraints"]),
            cost=manifest.get("cost"),
            column_cost=manifest.get("column_cost"),
        )
        limits = resolve_constraints(config, load_plugins(quietly=True))
    except ConfigurationError:
        return True
    return bool(aimed_decisions(limits, [one.limit for one in limits]))


def _asks_for_decisions(metric: str) -> bool:
    """Return True unless a metric of scikit-learn looks at scores or probabilities alone."""
    if metric not in get_scorer_names():
        return True
    return bool(get_scorer(metric)._response_method == "predict")  # noqa: SLF001


def _of_component(name: str, reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"'{name}' cannot be written as ONNX: {reason}",
        hint=f"Leave it out of the grammar, {SCRIPT}",
    )


def _of_columns(columns: list[str], kind: str) -> ConfigurationError:
    """Return an error on texts: no component of a grammar reads them, but their columns may go."""
    named = ", ".join(f"'{one}'" for one in columns)
    dropped = " ".join(f'--column "{one}=drop"' for one in columns)
    return ConfigurationError(
        f"the text of {named} cannot be written as ONNX: skl2onnx has no converter for {kind}.",
        hint=f"Fit with {dropped}, {SCRIPT}",
    )


def _columns_of(step: Any, kind: str) -> Iterator[str]:
    """Yield the columns of a step's parts of this class."""
    for _, part, columns in getattr(step, "transformers_", ()):
        inner = part.get_params().values() if hasattr(part, "get_params") else ()
        if kind in {type(one).__name__ for one in (part, *inner)}:
            yield from [columns] if isinstance(columns, str) else map(str, columns)
