"""The arguments of a written step against a module: picks and places on [0, 1], or a mistake."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from automl_admm.core.decisions import find_value
from automl_admm.core.errors import suggest
from automl_admm.core.space import Choice, Parameter, Pick, Value, is_active
from automl_admm.core.structure.pipeline_space import Module
from automl_admm.grammar.text.parser import Argument, TextCode, TextError, WrittenStep

NEIGHBOURS = 8  # floats to either side of the computed place
LONGEST_SHOWN = 60  # characters of a value in a message


@dataclass(frozen=True, slots=True)
class Bound:
    """Decisions with their labels, and parameters with their places on [0, 1]."""

    picks: tuple[tuple[str, Pick], ...] = ()
    units: tuple[tuple[str, float], ...] = ()


def bind(
    module: Module, step: WrittenStep, declared: Mapping[str, Choice | Parameter]
) -> Bound | TextError:
    """Read a step's values for a module's parameters; missing ones take their defaults."""
    try:
        _check_names(module, step)
        return _bind(module, step, declared)
    except TextError as problem:
        return problem


def _check_names(module: Module, step: WrittenStep) -> None:
    names, fixed = dict(module.parameters), dict(module.fixed)
    idle = {item.name: item for item in module.idle}
    for argument in step.arguments:
        if argument.name in idle:
            _check_value(argument, idle[argument.name])
        elif argument.name in fixed:
            if _find(argument.value, (fixed[argument.name],)) is None:
                message = f"'{argument.name}' is always {json.dumps(fixed[argument.name])} here"
                raise TextError(argument.value_span, message, code=TextCode.VALUE)
        elif argument.name not in names:
            message = f"'{module.component}' has no parameter '{argument.name}'"
            help_ = suggest(argument.name, {*names, *fixed})
            raise TextError(argument.name_span, message, help_, code=TextCode.UNKNOWN_PARAMETER)


def _bind(module: Module, step: WrittenStep, declared: Mapping[str, Choice | Parameter]) -> Bound:
    given = {argument.name: argument for argument in step.arguments}
    own = frozenset(name for _, name in module.parameters)
    picks: dict[str, Pick] = {}
    units: dict[str, float] = {}
    for short, name in module.parameters:
        item, argument = declared[name], given.get(short)
        if item.when is not None and item.when.decision in own and not is_active(item.when, picks):
            if argument is not None:
                raise _inactive(argument, item, module)
        elif isinstance(item, Parameter):
            units[name] = item.default_unit() if argument is None else _unit(argument, item)
        else:
            picks[name] = item.alternatives[0] if argument is None else _label(argument, item)
    return Bound(tuple(picks.items()), tuple(units.items()))


def _inactive(argument: Argument, item: Choice | Parameter, module: Module) -> TextError:
    if item.when is None:
        raise AssertionError(item.name)
    parent = next(short for short, name in module.parameters if name == item.when.decision)
    message = f"'{argument.name}' has no effect with this '{parent}'"
    help_ = f"It has one where {parent} is {' or '.join(map(json.dumps, item.when.alternatives))}."
    return TextError(argument.name_span, message, help_, code=TextCode.VALUE)


def _check_value(argument: Argument, item: Choice | Parameter) -> None:
    """Raise for a value that was never declared."""
    if isinstance(item, Choice):
        _label(argument, item)
    else:
        _unit(argument, item)


def _label(argument: Argument, item: Choice) -> str:
    """Return the label of a value."""
    values = tuple(map(item.value, item.alternatives))
    place = _find(argument.value, values)
    if place is None:
        raise _no_such_value(argument, values)
    return item.alternatives[place]


def _unit(argument: Argument, parameter: Parameter) -> float:
    """Return the place of a value on [0, 1]."""
    if parameter.values:
        place = _find(argument.value, parameter.values)
        if place is None:
            raise _no_such_value(argument, parameter.values)
        return parameter.to_unit(parameter.low + place)
    number = argument.value
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise _outside(argument, parameter)
    if not parameter.low <= number <= parameter.high:
        raise _outside(argument, parameter)
    if parameter.is_integer:
        if number != round(number):
            raise _outside(argument, parameter)
        return parameter.to_unit(number)
    return _real_unit(number, parameter)


def _find(written: Value, values: Sequence[Value]) -> int | None:
    """Return the place of a written value; 1 may stand for 1.0, and 1.0 never for 1.

    A grammar may have left out the 1.0 of a component, to which 1 means another thing.
    """
    place = find_value(written, values)
    is_other = place is not None and isinstance(written, float) and isinstance(values[place], int)
    return None if is_other else place


def _real_unit(number: float, parameter: Parameter) -> float:
    """Return the place with this number as its value, to the digits of the parameter.

    Near zero within a wide range the way to the unit interval and back loses digits, so the
    neighbouring places are tried as well.
    """
    # A pipeline is rendered with these digits; reading it must give the same candidate.
    wanted = parameter.rounded(number)
    below = above = parameter.to_unit(number)
    near = [below]
    for _ in range(NEIGHBOURS):
        below, above = math.nextafter(below, 0.0), math.nextafter(above, 1.0)
        near += [below, above]
    return next((unit for unit in near if parameter.value(unit) == wanted), near[0])


def _no_such_value(argument: Argument, values: Iterable[Value]) -> TextError:
    message = f"'{argument.name}' cannot be {_shown(argument.value)}"
    help_ = suggest(_plain(argument.value), map(_plain, values))
    return TextError(argument.value_span, message, help_, code=TextCode.VALUE)


def _shown(value: Value) -> str:
    text = json.dumps(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _plain(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _outside(argument: Argument, parameter: Parameter) -> TextError:
    kind = "a whole number" if parameter.is_integer else "a number"
    message = f"'{argument.name}' cannot be {_shown(argument.value)}"
    help_ = f"It is {kind} from {parameter.low:.12g} to {parameter.high:.12g}."
    return TextError(argument.value_span, message, help_, code=TextCode.VALUE)
