"""The pipelines that a certificate may be of, and the order in which they are tested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from automl_admm.certify.bounds.row_counts import stretch
from automl_admm.certify.certificate import Price
from automl_admm.certify.plan.power import half_width
from automl_admm.certify.walk.sequence import Contender, Route, Spot, order_routes
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.evidence import Evidence
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import rank
from automl_admm.core.standard_errors import standard_error
from automl_admm.pipelines.row_weighing import compares_groups
from automl_admm.pipelines.thresholds.by_group import NAMES
from automl_admm.pipelines.thresholds.cost import NAME as COST
from automl_admm.pipelines.thresholds.path import PATH, DecisionPath, Stop, moves
from automl_admm.plugins.records import Constraint
from automl_admm.runs.prepare.set_aside import USUAL_SPREAD, Aside, is_beyond_proof


def contend(
    evaluations: Sequence[Evaluation], constraints: Sequence[Constraint], aside: Aside
) -> tuple[Contender, ...]:
    """Order the pipelines and their thresholds to be tested, by the search's rows alone.

    The order is independent of the number of the look, so that a repeated run asks the same
    question. If nothing can pass, the best within the limits is looked at alone: it ships
    uncertified. A pipeline with one class for all rows is no contender: it would be the safest, and
    worth nothing.

    Where a limit compares groups, pipelines are ranked by what is left of the utility of their
    decisions, and not by their loss: one that was trained for the limit keeps more of it.
    """
    evaluations = [one for one in evaluations if one.one_class is None]
    look = aside.first_look
    pairs = zip(constraints, aside.examples, strict=True)
    may_decide_more = any(one.allows_undecided for one in constraints)
    if any(is_beyond_proof(*pair, aside, look, may_decide_more=may_decide_more) for pair in pairs):
        ranked = rank(evaluations, [constraint.limit for constraint in constraints])
        return tuple(Contender(best.key, -best.loss, -math.inf) for best in ranked[:1])
    widths = _widths(constraints, aside)
    scales = _scales(constraints, aside, widths)
    routes = [_route(one, constraints, widths, scales) for one in evaluations if one.is_ranked]
    return order_routes(routes, by_utility=any(map(compares_groups, constraints)))


def _route(
    evaluation: Evaluation,
    constraints: Sequence[Constraint],
    widths: Sequence[float],
    scales: Sequence[float],
) -> Route:
    """Return a pipeline's path with its slacks; it is ranked by its loss at its own thresholds.

    Where no threshold moves a limit, no other threshold is safer: the path is left out. A bound on
    a comparison of groups is as wide as their rates at a stop make it.
    """
    path = DecisionPath.from_details(evaluation.details)
    stops = path.stops if path is not None and any(map(moves, constraints)) else ()
    moved = [bool(stops) and moves(one) for one in constraints]
    slacks = _slacks(evaluation.constraints, constraints, widths)
    still = [slack for slack, is_moved in zip(slacks, moved, strict=True) if not is_moved]
    spots = []
    for place, stop in enumerate(stops):
        wide = _widths_at(stop, moved, widths, scales)
        found = _slacks(_values_at(evaluation, stop, moved), constraints, wide)
        here = [slack for slack, is_moved in zip(found, moved, strict=True) if is_moved]
        utility = -math.inf if math.isnan(stop.utility) else stop.utility
        spots.append(Spot(place, min(here), utility))
    return Route(evaluation.key, -evaluation.loss, min(still, default=math.inf), tuple(spots))


def _widths_at(
    stop: Stop, moved: Sequence[bool], widths: Sequence[float], scales: Sequence[float]
) -> list[float]:
    errors = iter(stop.errors)
    known = [next(errors, math.nan) if is_moved else math.nan for is_moved in moved]
    at_stop = [error * scale for error, scale in zip(known, scales, strict=True)]
    return [
        width if math.isnan(here) else here for here, width in zip(at_stop, widths, strict=True)
    ]


def _scales(
    constraints: Sequence[Constraint], aside: Aside, widths: Sequence[float]
) -> list[float]:
    """Return the half-width of each bound by the standard error on the search's rows.

    It is known of the example alone, whose error on the rows set aside is scaled to the others;
    NaN where the bound of the example stands for all.
    """
    rows = math.sqrt((1.0 - aside.fraction) / aside.fraction) if aside.fraction else math.nan
    return [
        width * rows / standard_error(stretch(example, aside.fraction))
        if example is not None and compares_groups(constraint)
        else math.nan
        for constraint, example, width in zip(constraints, aside.examples, widths, strict=True)
    ]


def _values_at(evaluation: Evaluation, stop: Stop, moved: Sequence[bool]) -> tuple[float, ...]:
    values = iter(stop.measured)
    pairs = zip(evaluation.constraints, moved, strict=True)
    return tuple(next(values) if is_moved else value for value, is_moved in pairs)


def at_stop(
    evaluation: Evaluation, constraints: Sequence[Constraint], place: int | None
) -> Evaluation:
    """Return an evaluation as it is at a stop of its path."""
    path = DecisionPath.from_details(evaluation.details)
    if path is None or place is None:
        return evaluation
    stop = path.stops[place]
    # Rates of the search's own thresholds would be read as those of the model.
    left_out = (PATH, "decisions", *NAMES)
    rest = {name: value for name, value in evaluation.details.items() if name not in left_out}
    return replace(
        evaluation,
        loss=evaluation.loss if stop.loss is None else stop.loss,
        constraints=_values_at(evaluation, stop, [moves(one) for one in constraints]),
        details={**rest, **stop.thresholds.as_details()},
    )


def price_of(
    evaluation: Evaluation, constraints: Sequence[Constraint], place: int | None
) -> Price | None:
    """Return the utility at a stop, and the best one within the limits on the search's rows."""
    path = DecisionPath.from_details(evaluation.details)
    if path is None or place is None:
        return None
    limits = [one.limit for one in constraints if moves(one)]
    inside = [
        stop.utility
        for stop in path.stops
        if all(limit.holds(value) for limit, value in zip(limits, stop.measured, strict=True))
    ]
    certified = path.stops[place].utility
    sign = -1.0 if path.utility == COST else 1.0
    best = max([certified, *inside])
    is_known = math.isfinite(certified) and math.isfinite(best)
    return Price(path.utility, sign * certified, sign * best) if is_known else None


def _slacks(
    values: Sequence[float], constraints: Sequence[Constraint], widths: Sequence[float]
) -> list[float]:
    """Return the distance to each limit, in half-widths of the bound in its test."""
    return [
        _slack_of_one(constraint.limit, value, width)
        for constraint, value, width in zip(constraints, values, widths, strict=True)
    ]


def _slack_of_one(limit: Limit, value: float, width: float) -> float:
    room = limit.turned(limit.bound) - limit.turned(value)
    if math.isnan(room):
        return -math.inf
    return room / width if 0.0 < width < math.inf else math.copysign(math.inf, room)


def _widths(constraints: Sequence[Constraint], aside: Aside) -> list[float]:
    """Return the half-width of the bound of each limit; that of a fact is 0."""
    pairs = zip(constraints, aside.examples, strict=True)
    return [_width_of_one(constraint, example, aside) for constraint, example in pairs]


def _width_of_one(constraint: Constraint, example: Evidence | None, aside: Aside) -> float:
    limit = constraint.limit
    if example is not None:
        seen, risk = stretch(example, aside.fraction), aside.first_look.risk_of(limit)
        return half_width(seen, limit, risk, approximate_allowed=True)
    return USUAL_SPREAD * abs(limit.bound) if constraint.kind == "measured" else 0.0
