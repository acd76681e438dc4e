"""The groups of limits on later rows; some of the run may be missing there."""

from __future__ import annotations

from collections.abc import Iterator

from automl_admm.constraints.dry_run import meet_data
from automl_admm.constraints.group_comparison import Grouped, WorstOf
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.plugins.records import Constraint
from automl_admm.runs.prepare.set_aside import trial_rows
from automl_admm.runs.saved.certified_run import CertifiedRun


def limits_of_run(run: CertifiedRun) -> Iterator[tuple[Constraint, tuple[str, ...]]]:
    """Yield its limits, each with its groups in the run; older runs did not note them."""
    for limit, item in zip(run.limits(), run.settings["limits"], strict=True):
        yield limit, tuple(map(str, item.get("groups", ())))


def with_groups_of(table: Table, limit: Constraint, of_run: tuple[str, ...]) -> Constraint:
    """Return a limit with the groups of these rows; if that is one alone, with those of the run.

    So a gap of one group is unknown, as it should be. The worst of the groups present has a value.
    """
    rows, function = trial_rows(table), limit.function
    names = dict[str, tuple[str, ...]]()
    if limit.groups is not None and isinstance(function, Grouped):
        present = set(map(str, limit.groups(rows.sensitive))) - set(function.left_out)
        is_worst = isinstance(function.function, WorstOf)
        if len(present) < 2 and of_run and (present or not is_worst):
            names[str(limit.limit)] = tuple(sorted(present if is_worst else present | {*of_run}))
    (known,) = meet_data((limit,), rows, names)
    return known


def limits_on_rows(run: CertifiedRun, table: Table) -> tuple[Constraint, ...]:
    """Return all limits of a run with their groups on these rows."""
    return tuple(with_groups_of(table, limit, groups) for limit, groups in limits_of_run(run))
