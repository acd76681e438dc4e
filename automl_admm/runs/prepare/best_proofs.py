"""The best that the rows set aside could prove of each limit, before a search is paid for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from automl_admm.certify.walk.findings import Finding
from automl_admm.certify.walk.looks import Look
from automl_admm.certify.walk.verdicts import judge_in
from automl_admm.constraints.dry_run import TrialRows
from automl_admm.constraints.expected_evidence import (
    imagine_nearly_perfect,
    imagine_one_class,
    imagine_perfect,
)
from automl_admm.core.evidence import Evidence
from automl_admm.plugins.records import Constraint
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.prepare.set_aside import rows_that_count, trial_rows


@dataclass(frozen=True, slots=True)
class BestProof:
    """A limit, and the finding of the certificate on the best model for it.

    That has no error, or one class for all rows, as for a share of rows called positive. `best` is
    its bound: no tighter limit could be proven on these rows in this look.
    It is None where rows do not tell the limit, or no test is known. `aim` is the bound that the
    search would keep to, None while it hangs on the first pipeline.
    """

    limit: str
    aim: float | None
    best: float | None
    is_provable: bool | None
    reason: str
    is_approximate: bool = False


def best_proofs(prepared: Preparation) -> tuple[BestProof, ...]:
    """Judge the best model for each limit on the rows set aside; empty without a certificate."""
    aside, question, held_out = prepared.aside, prepared.question, prepared.work.held_out
    if aside is None or question is None or held_out is None:
        return ()
    look = question.next_look(aside.risk)
    rows = trial_rows(rows_that_count(held_out, prepared.work.tested))
    seen = imagine_perfect(prepared.constraints, rows)
    aims = (limit.bound for limit in prepared.aims)
    return tuple(
        _proof(constraint, None if one is None else _best(constraint, one, rows, look), aim)
        for constraint, one, aim in zip(prepared.constraints, seen, aims, strict=True)
    )


def _best(constraint: Constraint, perfect: Evidence, rows: TrialRows, look: Look) -> Finding:
    """Return the finding with the best bound, of a model without an error or with one class."""
    limit, seen = constraint.limit, [perfect]
    if constraint.uses_decisions:
        seen += [one for one in imagine_one_class(constraint, rows) if one is not None]
    if not rows.classes and (tiny := imagine_nearly_perfect(constraint, rows)) is not None:
        seen.append(tiny)
    found = [judge_in(look, one, limit) for one in seen]
    known = [one for one in found if math.isfinite(one.bound)] or found[:1]
    return min(known, key=lambda one: limit.turned(one.bound))


def _proof(constraint: Constraint, found: Finding | None, aim: float) -> BestProof:
    limit = str(constraint.limit)
    if constraint.of_baseline is not None:
        return BestProof(limit, None, None, None, "its number comes from the first pipeline")
    if found is None:
        return BestProof(limit, aim, None, None, "measured on the model, not on rows")
    best = found.bound if math.isfinite(found.bound) else None
    return BestProof(limit, aim, best, found.is_certified, found.reason, found.is_approximate)
