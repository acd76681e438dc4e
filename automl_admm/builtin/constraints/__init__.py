"""Built-in constraints: costs, rates, and comparisons of groups."""

from __future__ import annotations

from collections.abc import Iterable

from automl_admm.builtin.constraints import groups, rates, resources
from automl_admm.hookspecs import hookimpl
from automl_admm.plugin_types import ConstraintPlugin


@hookimpl
def constraints() -> Iterable[ConstraintPlugin]:
    """What can be limited without a plugin, beside the scorers of scikit-learn."""
    yield from resources.constraints()
    yield from rates.constraints()
    yield from groups.constraints()
