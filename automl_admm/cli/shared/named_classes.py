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
            # True may stand for a number, as in a fit.
            number_classes(_labels(target, "biufmM"), config.positive)
        option = "--cost"
        if config.cost is not None:
            # The texts of dates are many.
            read_costs(config.cost).of(_labels(target, "mM"))
    except ConfigurationError as problem:
        raise ConfigurationError(
            f"{problem} The run in '{folder}' was begun with {option}, which resume can neither "
            "change nor leave out.",
            hint="Give the classes the names that they had, or begin a new run: `automl-admm fit`.",
        ) from problem


def _labels(target: Any, as_given: str) -> Any:
    """Return the different labels: those of numpy's kinds `as_given`, and others as texts."""
    import pandas as pd

    known = pd.Series(target).dropna().infer_objects().unique()
    is_kept = known.dtype.kind in as_given
    return np.asarray(known) if is_kept else np.array(labels_in_text(target))
