"""The groups of limits on later rows; some of the run may be missing there."""

from __future__ import annotations

from collections.abc import Iterator

from automl_admm.constraints.dry_run import meet_data
from automl_admm.constraints.group_comparison import Grouped, WorstOf
from automl_admm.constraints.groups import Grouping, check_columns
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.plugins.records import Constraint
from automl_admm.runs.prepare.set_aside import trial_rows
from automl_admm.runs.saved.certified_run import CertifiedRun


def limits_of_run(run: CertifiedRun) -> Iterator[tuple[Constraint, tuple[str, ...]]]:
    """Yield its limits, each with its groups in the run."""
    for limit, item in zip(run.limits, run.settings["limits"], strict=True):
        yield limit, tuple(map(str, item.get("groups", ())))


def with_groups_of(table: Table, limit: Constraint, of_run: tuple[str, ...]) -> Constraint:
    """Return a limit with the groups of these rows; if that is one alone, with those of the run.

    So a gap of one group is unknown, as it should be. The worst of the groups present has a value.
    """
    rows, names, present = trial_rows(table), dict[str, tuple[str, ...]](), _present(table, limit)
    if present is not None and len(present) < 2:
        compared = present if _is_of_worst(limit) else present | {*of_run}
        if len(compared) > 1 or (compared and _is_of_worst(limit)):
            names[str(limit.limit)] = tuple(sorted(compared))
    (known,) = meet_data((limit,), rows, names)
    return known


def limits_on_rows(run: CertifiedRun, table: Table) -> tuple[Constraint, ...]:
    """Return the limits of a run with their groups on these rows."""
    return tuple(with_groups_of(table, *one) for one in limits_of_run(run))


def _present(table: Table, limit: Constraint) -> set[str] | None:
    """Return the compared groups with a row; None for a limit that compares none."""
    if limit.groups is None or not isinstance(limit.function, Grouped):
        return None
    if isinstance(limit.groups, Grouping):
        check_columns(limit.groups.columns, table.sensitive, limit.limit.name)
    return set(map(str, limit.groups(table.sensitive))) - set(limit.function.left_out)


def _is_of_worst(limit: Constraint) -> bool:
    return isinstance(limit.function, Grouped) and isinstance(limit.function.function, WorstOf)
