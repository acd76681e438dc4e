"""The order of limits in a continued run: another one asks for nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.store.run_folder import RunFolder


def in_known_order(
    config: RunConfig, constraints: tuple[Constraint, ...]
) -> tuple[RunConfig, tuple[Constraint, ...]]:
    """Return the settings and their limits in the order of the continued run.

    The log has the values of limits by place. Other limits than before keep the order given.
    """
    if not config.resumed or config.place is None:
        return config, constraints
    folder = RunFolder(config.place)
    known = [
        (one["name"], one["at_least"]) for one in folder.read(folder.settings)["settings"]["limits"]
    ]
    given = [(one.limit.name, one.limit.at_least) for one in constraints]
    if given == known or sorted(given) != sorted(known):
        return config, constraints
    places = [given.index(one) for one in known]
    texts: Sequence[str | Constraint] = [config.constraints[place] for place in places]
    return replace(config, constraints=tuple(texts)), tuple(constraints[place] for place in places)
