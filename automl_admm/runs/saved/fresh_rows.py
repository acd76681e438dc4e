"""Fresh rows, never seen by a run, and its limits on them: a test, and no comparison."""

from __future__ import annotations

from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from automl_admm.certify.walk.findings import Finding, all_certified
from automl_admm.certify.walk.looks import Look
from automl_admm.certify.walk.verdicts import judge_in
from automl_admm.core.errors import DataError
from automl_admm.core.evidence import Timing
from automl_admm.data.independent_rows import independent_rows, largest_total
from automl_admm.data.row_hashes import RowHashes
from automl_admm.execution.threads import threads_each
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.runs.provenance import tell_other_machine
from automl_admm.runs.saved.certified_run import CertifiedRun, read_certified
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.learned_rows import LearnedRows
from automl_admm.runs.saved.natural_twins import tell_copies
from automl_admm.runs.saved.verification import judge_calls
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True)
class OnFreshRows:
    """The findings about limits on fresh rows, each at the whole `risk`, or at all of its own.

    Timings and measurements of a fit say nothing about rows: they are in `timed`, in sentences, and
    decide nothing. `known` of the `rows` are equal to rows of the run, value for value; None if the
    run kept no hashes of its rows. `machine` says how this one differs from that of the run's
    timings. `tested` of them were drawn to be independent; None: all are. `given_twice` is a
    sentence if more rows equal others among them than chance explains.
    """

    findings: tuple[Finding, ...]
    timed: tuple[str, ...]
    risk: float
    rows: int
    known: int | None
    tested: int | None = None
    machine: tuple[str, ...] = ()
    given_twice: str | None = None

    @property
    def is_certified(self) -> bool:
        """True if all limits measurable on rows may be claimed at once."""
        return all_certified(self.findings)


def test_on_fresh_rows(folder: RunFolder, given: GivenTable) -> OnFreshRows:
    """Test the model of a run on rows new to it; raise if these are rows of the run."""
    run = read_certified(folder, given)
    table = run.table(run.counted(given.frame.reset_index(drop=True)))
    if not len(table.y):
        raise DataError(f"{given.title} has no rows.")
    hashes = run.hashes()
    known = None if hashes is None else _count_known(run, hashes, table)
    largest = max(run.largest_total(), largest_total(table.roles))
    tested = independent_rows(table.roles, largest, int(run.settings["seed"]))
    constraints = run.constraints(table)
    with threadpool_limits(threads_each(int(run.settings["workers"]))):
        seen = run.evidence(table, constraints, tested)
    look = Look(0, run.risk)
    findings = tuple(
        judge_in(look, evidence, constraint.limit)
        for constraint, evidence in zip(constraints, seen, strict=True)
        if constraint.kind != "measured"
    )
    apart = (
        f"{one.limit}: only the fit tells it"
        for one, evidence in zip(constraints, seen, strict=True)
        if one.kind == "measured" and not isinstance(evidence, Timing)
    )
    timed = (*judge_calls(constraints, seen, look), *apart)
    drawn = None if tested is None else len(tested)
    other = tell_other_machine(run.aside.machine)
    return OnFreshRows(
        findings=findings,
        timed=timed,
        risk=run.risk,
        rows=len(table.y),
        known=known,
        tested=drawn,
        machine=other,
        given_twice=tell_copies(run.row_hashes(table), run),
    )


def _count_known(run: CertifiedRun, hashes: RowHashes, table: Table) -> int:
    """Count rows equal to some of the run's; raise if chance does not explain so many."""
    rows = run.row_hashes(table)
    found = int(rows.repeat(hashes).sum())
    known = LearnedRows.of(hashes, run.aside.places)
    if found > 1 and not known.explain_of_all(rows):
        raise DataError(
            f"{found} of the {len(table.y)} rows of {run.data} are rows of the run: they are not "
            "fresh.",
            hint="Leave them out, or verify the run on its own data without --fresh. New rows of a "
            "run that has each row equally often, as a balanced design, cannot be told from its "
            "own.",
        )
    return found
