"""The classes that options of a run name, in data that a resume brings."""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError
from automl_admm.pipelines.labels import number_classes
from automl_admm.pipelines.thresholds.cost_text import read_costs
from automl_admm.runs.config import RunConfig
from automl_admm.runs.session.run_json import labels_in_text


def check_named_classes(config: RunConfig, target: Any, folder: str) -> None:
    """Raise if options that resume cannot change name other classes than those of a target."""
    option = "--positive"
    try:
        if config.positive is not None:
            number_classes(_as_given(target), config.positive)
        option = "--cost"
        if config.cost is not None:
            read_costs(config.cost).of(_labels(target))
    except ConfigurationError as problem:
        raise ConfigurationError(
            f"{problem} The run in '{folder}' was begun with {option}, which resume can neither "
            "change nor leave out.",
            hint="Give the classes the names that they had, or begin a new run: `automl-admm fit`.",
        ) from problem


def _labels(target: Any) -> Any:
    """Return the different labels: dates as they are, whose texts are many, and others as texts."""
    known = _different(target)
    return np.asarray(known) if known.dtype.kind in "mM" else np.array(labels_in_text(target))


def _as_given(target: Any) -> Any:
    """Return the different labels as a fit has them: True may stand for a number there."""
    known = _different(target)
    return np.asarray(known) if known.dtype.kind in "biufmM" else np.array(labels_in_text(target))


def _different(target: Any) -> Any:
    import pandas as pd

    return pd.Series(target).dropna().infer_objects().unique()
