"""The built-in constraints: costs, rates, and comparisons of groups.

Each function measures one evaluated pipeline and returns evidence (`core.evidence`), so that limits
can also be certified on fresh rows. Begin with `decision_rates`; `fairness` compares the same rates
between groups, `resources` measures costs, `model_size` counts parts. The limits themselves are
read and checked in the package `constraints`, one layer below.
"""

from __future__ import annotations

from collections.abc import Iterable

from automl_admm.builtin.constraints import (
    abstention,
    by_setting,
    energy,
    model_size,
    monotone,
    probabilities,
    resources,
    robustness,
    score_correlation,
    serving_memory,
)
from automl_admm.builtin.constraints import decision_rates as rates
from automl_admm.builtin.constraints import fairness as groups
from automl_admm.builtin.constraints import prediction_errors as errors
from automl_admm.plugins.records import ConstraintPlugin
from automl_admm.plugins.specs import hookimpl


@hookimpl
def constraints() -> Iterable[ConstraintPlugin]:
    """Yield all limits available without a plugin, beside the scorers of scikit-learn."""
    yield from resources.constraints()
    yield serving_memory.constraint()
    yield energy.constraint()
    yield from model_size.constraints()
    yield from by_setting.constraints()
    yield from rates.constraints()
    yield from abstention.constraints()
    yield from groups.constraints()
    yield from probabilities.constraints()
    yield from score_correlation.constraints()
    yield from monotone.constraints()
    yield from robustness.constraints()
    yield from errors.constraints()
