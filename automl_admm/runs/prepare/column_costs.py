"""Check the costs of columns against the table, before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from automl_admm.core.errors import ConfigurationError, Remedy, suggest
from automl_admm.core.limits import Limit
from automl_admm.data.ingest.records import Ingest

LIMIT = "column_cost"


def check_column_costs(
    costs: Mapping[str, float] | None,
    limits: Sequence[Limit],
    ingest: Ingest,
    others: Mapping[str, str],
) -> None:
    """Raise if a column with a cost is no feature, or if no limit asks for the costs.

    The `others` are columns that are no features, each with what it is.
    """
    if costs is None:
        return
    if not any(limit.name == LIMIT for limit in limits):
        raise ConfigurationError(
            "costs of columns are given, and no limit on them.",
            hint=Remedy(
                'Add {constraints}, such as "column_cost <= 20", or leave out {column_cost}.'
            ),
        )
    known = list(ingest.by_name())
    for name in costs:
        if name in known:
            continue
        if name in others:
            message = f"column '{name}' is {others[name]}: only features have a cost."
            raise ConfigurationError(
                message, hint=Remedy(f"Leave '{name}' out of {{column_cost}}.")
            )
        message = f"the costs of columns name '{name}', and the data have no such column."
        raise ConfigurationError(message, hint=suggest(name, known))
