"""The limits of a run besides those kept by the members of an ensemble together."""

from __future__ import annotations

import math
from collections.abc import Sequence

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.ranking import keeps_others
from automl_admm.pipelines.ensembles.within import still_limits
from automl_admm.runs.prepare.preparation import Preparation

# What members cost each, the most that an ensemble may, and that a pipeline alone may.
Cost = tuple[Sequence[float], float, float]


def refused_by_others(prepared: Preparation, evaluations: Sequence[Evaluation]) -> set[str]:
    """Return the keys of evaluations outside of another limit; none if members keep no limit."""
    together, aims = [aim for _, aim in still_limits(prepared.work)], prepared.aims
    if not together:
        return set()
    return {one.key for one in evaluations if not keeps_others(one, aims, together)}


def costs_of_refusal(prepared: Preparation, evaluations: Sequence[Evaluation]) -> list[Cost]:
    """Return a cost for refused evaluations: members may have it, and a pipeline alone may not.

    So an ensemble has to beat none of them. Where all are refused it has to beat the best of these.
    """
    refused = refused_by_others(prepared, evaluations)
    found = [float(one.key in refused) for one in evaluations]
    return [(found, math.inf, 0.0)] if refused and not all(found) else []
