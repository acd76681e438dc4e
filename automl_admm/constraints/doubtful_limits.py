"""Limits that nobody seems to mean: kept by every model, without room, from the good side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from automl_admm.plugins.records import Constraint


def doubts_of_limits(constraints: Iterable[Constraint]) -> Iterator[str]:
    """Yield a sentence for each limit that nobody seems to mean.

    Who limits a name from both sides means the range between.
    """
    known = tuple(constraints)
    names = Counter(one.limit.name for one in known)
    for one in known:
        is_range = names[one.limit.name] > 1
        doubt = (
            _kept_by_all(one)
            or _without_room(one)
            or (None if is_range else _from_the_good_side(one))
        )
        if doubt is not None:
            yield doubt


def _kept_by_all(one: Constraint) -> str | None:
    limit, declared = one.limit, one.declared
    if declared is None or one.of_baseline is not None:
        return None
    if one.allows_undecided:  # it lets a model leave rows undecided: more than a report
        return None
    end = declared.lowest if limit.at_least else declared.highest
    if end is None or limit.turned(end) > limit.turned(limit.bound):
        return None
    side = "below" if limit.at_least else "above"
    reports = f"'{limit.name}' is never {side} {end:g}, and is only reported"
    return f"the limit '{limit}' is kept by every model: {reports}."


def _without_room(one: Constraint) -> str | None:
    """Tell of a cost that is limited to its lowest possible value, such as a time of 0."""
    limit, declared = one.limit, one.declared
    if one.kind == "statistical" or limit.at_least:
        return None
    if declared is None or declared.highest is not None:
        return None
    if one.of_baseline is not None or limit.bound != declared.lowest:
        return None
    return f"the limit '{limit}' leaves no room: '{limit.name}' is never below {limit.bound:g}."


def _from_the_good_side(one: Constraint) -> str | None:
    limit = one.limit
    if one.better != ("smaller" if limit.at_least else "larger"):
        return None
    sign, other = (">=", "<=") if limit.at_least else ("<=", ">=")
    number = f"{limit.bound:g}" if one.of_baseline is None else f"{one.of_baseline:g} * baseline"
    return (
        f"the limit '{limit.name} {sign} {number}' keeps out the models with a {one.better} "
        f"'{limit.name}', and {one.better} is better. Did you mean '{limit.name} {other} {number}'?"
    )
