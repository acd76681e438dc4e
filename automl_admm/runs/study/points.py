"""Points of the user, given as values by name, at their places in a search space."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from automl_admm.core.decisions import Choice, Decision, Pick, Value, find_value, is_active
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.messages import say_value
from automl_admm.core.space import Candidate, Parameter, SearchSpace
from automl_admm.runs.validation import check_number


def locate(
    space: SearchSpace,
    values: object,
    *,
    fill: bool = False,
    may_be_inactive: Collection[str] = (),
) -> Candidate:
    """Return the candidate with these values of the active decisions and parameters.

    With `fill` missing ones take their defaults; else each of them must be given. Values
    of inactive ones are refused, but for those that `may_be_inactive`.
    """
    if not isinstance(values, Mapping):
        hint = "Write {name: value, …}."
        raise ConfigurationError(f"a point must be a dict, not {say_value(values)}.", hint=hint)
    _check_names(space, values)
    picks: dict[str, Pick] = {}
    for decision in space.decisions:
        if is_active(decision.when, picks) and decision.name in values:
            picks[decision.name] = _pick(decision, values[decision.name])
        elif is_active(decision.when, picks):
            picks[decision.name] = _default(decision, fill=fill)
    selection, theta = space.complete(picks), space.default_theta()
    active = space.active(selection)
    told = {name: one for name, one in values.items() if name not in may_be_inactive}
    _refuse_inactive(space, told, picks, active)
    for place in active:
        parameter = space.parameters[place]
        if parameter.name in values:
            theta[place] = _place(parameter, values[parameter.name])
        elif not fill:
            raise ConfigurationError(f"the point has no '{parameter.name}'.")
    return space.projected(space.candidate(selection, theta))


def is_point(space: SearchSpace, candidate: Candidate) -> bool:
    """Return True if a candidate read from a file is one of this space."""
    picks = dict(candidate.selection.picks)
    if not all(_allows(one, picks[one.name]) for one in space.decisions if one.name in picks):
        return False
    selection = space.complete(picks)
    is_selection = dict(selection.picks) == picks
    return is_selection and len(candidate.theta) == len(space.active(selection))


def _allows(decision: Decision, pick: Pick) -> bool:
    if isinstance(decision, Choice):
        return pick in decision.alternatives
    return isinstance(pick, tuple) and decision.allows(pick)


def _check_names(space: SearchSpace, values: Mapping[Any, Any]) -> None:
    known = [item.name for item in (*space.decisions, *space.parameters)]
    for name in values:
        if name not in known:
            raise UnknownNameError("decision or parameter", str(name), known)


def _default(decision: Decision, *, fill: bool) -> Pick:
    if not fill:
        raise ConfigurationError(f"the point has no '{decision.name}'.")
    if isinstance(decision, Choice):
        return decision.alternatives[0]
    return decision.arranged(decision.items)


def _refuse_inactive(
    space: SearchSpace, values: Mapping[Any, Any], picks: Mapping[str, Pick], active: Sequence[int]
) -> None:
    """Raise for a value that the point does not have: it was meant to do something."""
    there = {*picks, *(space.parameters[place].name for place in active)}
    for name in values:
        if name not in there:
            raise ConfigurationError(
                f"'{name}' is not active at this point.", hint="Leave it out, or change the choice."
            )


def _pick(decision: Decision, value: Any) -> Pick:
    """Return the pick of a value: the label itself, or the value behind a label."""
    if isinstance(decision, Choice):
        known = [decision.value(one) for one in decision.alternatives]
        return decision.alternatives[_find(decision.name, value, known)]
    pick = tuple(value) if isinstance(value, list | tuple) else ()
    if not all(isinstance(item, str) for item in pick) or not decision.allows(pick):
        raise ConfigurationError(
            f"'{decision.name}' must be a permitted order of "
            f"{', '.join(decision.items)}, not {say_value(value)}."
        )
    return pick


def _place(parameter: Parameter, value: Any) -> float:
    """Return the place of a value on [0, 1]."""
    if parameter.values:
        return parameter.to_unit(parameter.low + _find(parameter.name, value, parameter.values))
    check_number(f"'{parameter.name}'", value)
    if not parameter.low <= value <= parameter.high:
        raise ConfigurationError(
            f"'{parameter.name}' must be from {parameter.low:.12g} to {parameter.high:.12g}, "
            f"not {say_value(value)}."
        )
    if parameter.is_integer and value != round(value):
        raise ConfigurationError(
            f"'{parameter.name}' must be a whole number, not {say_value(value)}."
        )
    return parameter.to_unit(float(value))


def _find(name: str, value: object, known: Sequence[Value]) -> int:
    """Return the place of a value among those known; raise if it is none of them."""
    place = find_value(value, known)
    if place is None:
        listed = " or ".join(say_value(one) for one in known)
        raise ConfigurationError(f"'{name}' must be {listed}, not {say_value(value)}.")
    return place
