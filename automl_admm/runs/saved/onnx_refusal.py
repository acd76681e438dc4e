"""Messages on models that cannot be written as ONNX: the part in the way, and the way round it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_error
from automl_admm.pipelines.as_code import THRESHOLDS

SCRIPT = "or use pipeline.py of the run."
# As the converter tells that it does not know a class.
UNKNOWN = re.compile(r"for type '<class '(?P<module>[\w.]+)\.(?P<kind>\w+)'>'")
END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s")
OF_TEXT = "sklearn.feature_extraction."


def refusal_of(name: str, step: Any, problem: Exception) -> ConfigurationError:
    """Return an error on the first step with which a pipeline fails; `name` is "" for a model."""
    kind = type(step).__name__
    if kind in THRESHOLDS:
        return ConfigurationError(
            f"the threshold set for a limit ({kind}) cannot be written as ONNX.",
            hint=f"Fit without limits that set a threshold, {SCRIPT}",
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
    """Yield the columns that a step gives to a part of this class."""
    for _, part, columns in getattr(step, "transformers_", ()):
        inner = part.get_params().values() if hasattr(part, "get_params") else ()
        if kind in {type(one).__name__ for one in (part, *inner)}:
            yield from [columns] if isinstance(columns, str) else map(str, columns)
