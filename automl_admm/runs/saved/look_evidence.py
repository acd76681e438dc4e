"""The evidence of the limits of a run on the rows of one look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from automl_admm.core.errors import DataError
from automl_admm.core.evidence import Evidence
from automl_admm.data.independent_rows import independent_rows, largest_total
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.runs.saved.certified_run import CertifiedRun
from automl_admm.runs.saved.groups_of_rows import limits_of_run, with_groups_of


@dataclass(frozen=True)
class LookEvidence:
    """The evidence of a look by limit, and the reason for each limit without any."""

    by_limit: Mapping[str, Evidence]
    untold: Mapping[str, str]


def evidence_of_look(run: CertifiedRun, table: Table, look: int) -> LookEvidence:
    """Measure the limits on the labelled rows of a look, but for those on timings."""
    seed, largest = int(run.settings["seed"]), largest_total(table.roles)
    tested = independent_rows(table.roles, largest, seed + look)
    found, untold = dict[str, Evidence](), dict[str, str]()
    for limit, groups in limits_of_run(run):
        if limit.kind == "measured":
            continue
        name = str(limit.limit)
        try:
            known = with_groups_of(table, limit, groups)
            (found[name],) = run.evidence(table, (known,), tested)
        except DataError as problem:  # such as a column without numbers
            untold[name] = problem.message
    return LookEvidence(found, untold)
