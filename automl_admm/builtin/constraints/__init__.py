"""Built-in constraints: costs, rates, and comparisons of groups."""

from __future__ import annotations

from collections.abc import Iterable

from automl_admm.builtin.constraints import decision_rates as rates
from automl_admm.builtin.constraints import fairness as groups
from automl_admm.builtin.constraints import resources
from automl_admm.plugins.records import ConstraintPlugin
from automl_admm.plugins.specs import hookimpl


@hookimpl
def constraints() -> Iterable[ConstraintPlugin]:
    """What can be limited without a plugin, beside the scorers of scikit-learn."""
    yield from resources.constraints()
    yield from rates.constraints()
    yield from groups.constraints()
