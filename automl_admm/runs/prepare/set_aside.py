"""Certification before a search: the rows to set aside, and limits tightened for the search."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from automl_admm.certify.bounds.row_counts import smallest, stretch
from automl_admm.certify.plan.margins import MARGIN, MARGIN_IF_MOVED, tighten
from automl_admm.certify.plan.planning import (
    HALFWAY,
    IMPOSSIBLE,
    NEAR,
    Demand,
    RowPlan,
    can_pass,
    is_out_of_reach,
    plan,
)
from automl_admm.certify.walk.carried_looks import CarriedLooks
from automl_admm.certify.walk.looks import Look, expect_look
from automl_admm.constraints.dry_run import TrialRows
from automl_admm.core.evidence import Estimate, Evidence
from automl_admm.core.limits import Limit
from automl_admm.data.independent_rows import independent_rows, largest_total
from automl_admm.data.row_roles import NO_ROLES
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.thresholds.path import moves
from automl_admm.plugins.records import Constraint

LEAST_FRACTION = 0.2
# What a function says it returns, as an object or as text, where no test can rest on it.
NUMBERS = (float, "float", Estimate, "Estimate")
# How much a cost varies from one fit to the next: nobody knows it beforehand.
USUAL_SPREAD = 0.1
# Enough for the 0.9 quantile at a risk of 0.025, with two slow calls among them.
CALLS = 70


@dataclass(frozen=True)
class Aside:
    """The plan of a certifying run before its search.

    `examples` has evidence for each limit measured on rows, as a middling pipeline would give it on
    all rows, and None for the other limits. `fraction` is the share of rows set aside; `shortfalls`
    names the limits it is too small for, and `impossible` those beyond any number of rows. Of two
    classes the certificate chooses the decision threshold: then a run `has_thresholds`.
    """

    confidence: float
    fraction: float
    examples: tuple[Evidence | None, ...]
    shortfalls: tuple[str, ...] = ()
    impossible: tuple[str, ...] = ()
    has_thresholds: bool = False
    is_last_look: bool = False

    @property
    def risk(self) -> float:
        """The total risk of all looks at the rows set aside."""
        return 1.0 - self.confidence

    @property
    def first_look(self) -> Look:
        """The look at rows that had none before."""
        return Look.of(1, self.risk, is_last=self.is_last_look)


@dataclass(frozen=True)
class Question:
    """A question to the rows set aside: its rows, its ledger and its run.

    `rows` is the hash of the `count` rows set aside, and `data` that of all the data: looks at any
    part of these count together. `run` is the hash of the search's ingredients. `way` is the hash
    of the whole course of a run, if a repeated run asks the same; it is empty if it may differ.
    Of the rows `tested` many count, None for all. A look is recorded under the hashes in `also`,
    too: of all rows without their weights, and of their features and labels alone. So looks at the
    same rows under other weights, groups, times or sensitive features count.
    The looks `carried` by the folder of the run count beside those of the ledger. After one that
    `is_last` there is none.
    """

    rows: str
    count: int
    ledger: Path
    run: str
    data: str
    way: str = ""
    tested: int | None = None
    also: tuple[str, ...] = ()
    carried: CarriedLooks | None = None
    is_last: bool = False

    def next_look(self, risk: float) -> Look:
        """Return the coming look, given the risk of all; a repeated run keeps its number."""
        number = expect_look(
            self.ledger,
            self.data,
            self.way,
            earlier=(self.rows,),
            also=self.also,
            carried=self.carried,
        )
        return Look.of(number, risk, is_last=self.is_last)


def default_ledger() -> Path:
    """Return the file that counts looks at certification rows: one for all runs of a user."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "automl-admm" / "looks.json"


def plan_aside(
    constraints: Sequence[Constraint],
    examples: Sequence[Evidence | None],
    confidence: float,
    fraction: float | None = None,
    *,
    has_thresholds: bool = False,
    is_last_look: bool = False,
) -> Aside:
    """Plan the number of rows to set aside, and name the limits they do not suffice for.

    Costs and facts take no rows to test, but they need some to be measured on. Nobody knows yet
    the demand of a limit relative to the baseline.
    """
    aside = Aside(confidence, 0.0, tuple(examples), (), (), has_thresholds, is_last_look)
    planned = _planned(constraints, aside, aside.first_look, fraction)
    said, impossible = planned.shortfalls, planned.impossible
    return replace(aside, fraction=planned.fraction, shortfalls=said, impossible=impossible)


def at_look(
    constraints: Sequence[Constraint],
    aside: Aside,
    look: Look,
    drawn: Sequence[Evidence | None] | None = None,
) -> Aside:
    """Return the plan with the shortfalls of a look; the rows are those planned for the first.

    Examples on the rows `drawn` for it tell how many there are of each kind, where chance decides.
    """
    if drawn is not None:
        planned = _planned(constraints, replace(aside, examples=tuple(drawn)), look, 1.0)
    elif look != aside.first_look:
        planned = _planned(constraints, aside, look, aside.fraction)
    else:
        return aside
    return replace(aside, shortfalls=planned.shortfalls)


def _planned(
    constraints: Sequence[Constraint], aside: Aside, look: Look, fraction: float | None
) -> RowPlan:
    """Plan for a look, with a sentence for each limit that no test is known for."""
    demands = [
        Demand(
            constraint.limit,
            example,
            NEAR if aside.has_thresholds and moves(constraint) else HALFWAY,
            look.risk_of(constraint.limit),
        )
        for constraint, example in zip(constraints, aside.examples, strict=True)
        if example is not None and constraint.of_baseline is None
    ]
    found = plan(demands, look.risk, fraction=fraction, least=LEAST_FRACTION)
    untested = tuple(
        f"{IMPOSSIBLE} {constraint.limit}: no test is known for one number of one fit."
        for constraint in constraints
        if _is_one_number(constraint)
    )
    return replace(
        found, shortfalls=found.shortfalls + untested, impossible=found.impossible + untested
    )


def _is_one_number(constraint: Constraint) -> bool:
    """Return True if a cost is declared as a number or an estimate: no test can rest on it."""
    return constraint.kind == "measured" and _declared(constraint.function) in NUMBERS


def _declared(function: Any) -> Any:
    """Return what a function is declared to return, also one with arguments given beforehand."""
    if isinstance(function, partial):
        return _declared(function.func)
    return getattr(function, "__annotations__", {}).get("return")


def trial_rows(table: Table) -> TrialRows:
    """The rows as limits meet them before there is a pipeline."""
    classes = 0 if table.classes is None else len(table.classes)
    labels = () if table.classes is None else tuple(table.classes)
    return TrialRows(table.X, table.y, table.sensitive, classes, table.roles.weights, labels)


def alike_rows(whole: Table, seed: int) -> Table:
    """Return independent rows that count alike; all rows, if they are."""
    rows = independent_rows(whole.roles, largest_total(whole.roles), seed)
    return whole if rows is None else replace(whole.part(rows), roles=NO_ROLES)


def tested_rows(whole: Table, set_aside: Any, seed: int) -> Any:
    """Return the places, among the rows set aside, of those that a certificate counts.

    None if it counts all of them.
    """
    return independent_rows(whole.roles.part(set_aside), largest_total(whole.roles), seed)


def rows_that_count(held_out: Table, tested: Any) -> Table:
    """Return the rows that a certificate counts: one of a group, and each alike."""
    if tested is None:
        return held_out
    part = held_out.part(tested)
    return replace(part, roles=replace(part.roles, weights=None))


def aim(constraints: Sequence[Constraint], aside: Aside, look: Look) -> tuple[Limit, ...]:
    """Return the limits for the search: two half-widths inside those of the user.

    It is one for a limit that a decision threshold moves: the certificate chooses that anew.

    A hopeless limit stays as it is: to aim inside it would cost, and bring no proof.
    """
    pairs = zip(constraints, aside.examples, strict=True)
    return tuple(_aimed(constraint, example, aside, look) for constraint, example in pairs)


def _aimed(constraint: Constraint, example: Evidence | None, aside: Aside, look: Look) -> Limit:
    # The search keeps to a number; the confidence is that of the certificate.
    limit, risk = replace(constraint.limit, confidence=None), look.risk_of(constraint.limit)
    if example is not None:
        if is_hopeless(constraint, example, aside, look):
            return limit
        # All stops of a path leave as many rows undecided: the walk finds no room in that limit.
        is_moved = moves(constraint) and not constraint.allows_undecided
        margin = MARGIN_IF_MOVED if aside.has_thresholds and is_moved else MARGIN
        return tighten(limit, example, aside.fraction, risk, margin=margin)
    if constraint.kind != "measured" or limit.at_least or limit.bound <= 0:
        return limit
    aim = limit.bound * (1.0 - 2.0 * USUAL_SPREAD)
    return replace(limit, bound=aim, has_six_digits=True)


def find_out_of_reach(
    constraints: Sequence[Constraint],
    aside: Aside,
    most: float,
    look: Look,
    imagine_more: Callable[[Constraint], Iterable[Evidence | None]],
) -> str | None:
    """Describe the first limit beyond any pipeline in a look at this share of the rows.

    `imagine_more` has other examples of a limit: its rows may depend on decisions.
    """
    for constraint, example in zip(constraints, aside.examples, strict=True):
        limit, seen = constraint.limit, None if example is None else stretch(example, most)
        risk = look.risk_of(limit)
        if seen is None or constraint.of_baseline is not None:
            continue
        if not is_out_of_reach(limit, seen, risk):
            continue
        others = (stretch(other, most) for other in imagine_more(constraint) if other is not None)
        if all(is_out_of_reach(limit, other, risk) for other in others):
            rows = f"{cell.rows} {cell}" if (cell := smallest(seen)) else "these rows"
            return f"not even a pipeline without an error could prove {limit} on {rows}."
    return None


def is_hopeless(constraint: Constraint, example: Evidence | None, aside: Aside, look: Look) -> bool:
    """Return True if not even the best possible value would pass on the rows set aside."""
    if example is None:
        return False
    seen = stretch(example, aside.fraction)
    risk = look.risk_of(constraint.limit)
    return not can_pass(constraint.limit, seen, risk, approximate_allowed=True)


def is_beyond_proof(
    constraint: Constraint,
    example: Evidence | None,
    aside: Aside,
    look: Look,
    *,
    may_decide_more: bool = False,
) -> bool:
    """Return True if nothing that a run found could pass on the rows set aside.

    A threshold may lead to rates far from the example's, such as next to none in all groups, where
    the bound of a gap is many times narrower. Only its best case rules out a limit that it moves,
    and none if a model `may_decide_more` rows than the example does.
    """
    if example is None or not (aside.has_thresholds and moves(constraint)):
        return is_hopeless(constraint, example, aside, look)
    if may_decide_more:
        return False
    seen = stretch(example, aside.fraction)
    return is_out_of_reach(constraint.limit, seen, look.risk_of(constraint.limit))
