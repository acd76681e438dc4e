"""The metric that does not see the decisions which a limit on groups compares."""

from __future__ import annotations

from automl_admm.core.errors import Remedy
from automl_admm.pipelines.metric_facts import sees_scores_alone
from automl_admm.pipelines.row_weighing import compares_groups
from automl_admm.runs.prepare.preparation import Preparation

CURE = Remedy("{scoring='balanced_accuracy'} looks for the best ones within it.")


def note_blind_metric(prepared: Preparation) -> str | None:
    """Say that the metric does not see the decisions that a limit is about; None if it does.

    A certificate chooses by the utility of the decisions, whatever the metric is. What the metric
    is worth stands in docs/benchmarks/weighed_rows.md.
    """
    groups = [str(one.limit) for one in prepared.constraints if compares_groups(one)]
    is_blind = sees_scores_alone(prepared.metric.scorer) and prepared.config.cost is None
    if not groups or not is_blind or prepared.aside is not None:
        return None
    return f"{prepared.metric.name} does not see the decisions that {groups[0]} is about."
