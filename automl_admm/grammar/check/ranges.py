"""Parameters inside of rules: a call narrows a component's own ranges.

    "forest" "(" "n_estimators" "=" log_int{"50", "200", "100"} "," "bootstrap" "=" "true" ")"

`int`, `log_int`, `float` and `log_float` take two bounds, and as a third number the default;
`choice` takes values, the first of them is the default; a value alone is fixed. Other parameters
stay as declared by the component.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from automl_admm.core.errors import suggest
from automl_admm.core.space import Choice, Condition, Parameter, Value
from automl_admm.grammar.check.accepted_numbers import why_refused
from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.tree import Argument, Call, Given, Node
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry

CHOICE = "choice"
RANGES = ("int", "log_int", "float", "log_float")
# Fifteen digits: a float holds all of them.
WHOLE = re.compile(r"[+-]?\d{1,15}")
ANY_WHOLE = re.compile(r"[+-]?\d+")
# What is smaller has lost its digits, and what is larger is infinite as soon as it is multiplied.
SMALLEST, LARGEST = 1e-100, 1e100
SHOWN_DIGITS = 30
Declared = Parameter | Choice


class _MistakeError(Exception):
    """A mistake in one argument."""

    def __init__(self, code: Code, message: str, help_: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.help = code, message, help_


@dataclass(frozen=True, slots=True)
class Constant:
    """A parameter with a fixed value, no longer searched; that of a choice has its label."""

    name: str
    value: Value
    when: Condition | None = None
    label: str = ""


# --- checks --------------------------------------------------------------------------------------


def check_calls(nodes: Iterable[Node], components: Registry[ComponentPlugin]) -> list[Diagnostic]:
    """All mistakes in the arguments of calls; components of other tasks are not known here."""
    calls = (node for node in nodes if isinstance(node, Call) and node.component in components)
    found = (item for call in calls for item in _check_call(call, components.get(call.component)))
    # A rule unfolded twice holds the same call twice.
    return list(dict.fromkeys(found))


def _check_call(call: Call, plugin: ComponentPlugin) -> Iterator[Diagnostic]:
    declared = {item.name: item for item in plugin.parameters}
    seen: Counter[str] = Counter()
    for argument in call.arguments:
        seen[argument.name] += 1
        if seen[argument.name] == 2:
            message = f"'{argument.name}' is given twice"
            yield Diagnostic(Code.DUPLICATE, argument.span, message, "Delete one of them.")
        elif argument.name not in declared:
            message = f"'{plugin.name}' has no parameter '{argument.name}'"
            help_ = suggest(argument.name, declared) if declared else "It has none at all."
            yield Diagnostic(Code.UNKNOWN_PARAMETER, argument.span, message, help_)
        else:
            try:
                new = narrowed(declared[argument.name], argument.given)
                _check_numbers(plugin, declared[argument.name], new)
            except _MistakeError as mistake:
                span = argument.given.span
                yield Diagnostic(mistake.code, span, mistake.message, mistake.help)


def _check_numbers(plugin: ComponentPlugin, item: Declared, new: Declared | Constant) -> None:
    """Raise for a number refused by the estimator; listed values are valid by declaration."""
    if _known(item) is not None:
        return
    for value in _numbers_of(new):
        takes = why_refused(plugin, item.name, value)
        if takes:
            message = f"'{item.name}' cannot be {value}: it takes {takes}"
            raise _MistakeError(Code.BOUNDS, message)


def _numbers_of(new: Declared | Constant) -> tuple[Value, ...]:
    """The value, all values to choose from, or both ends of the range."""
    if isinstance(new, Constant):
        return (new.value,)
    if isinstance(new, Choice) or new.values:
        return tuple(new.values)
    # Both ends are enough: scikit-learn's constraints on numbers are intervals.
    number = int if new.is_integer else float
    return tuple(number(end) for end in (new.low, new.high))


# --- meaning -------------------------------------------------------------------------------------


def arguments_of(
    plugin: ComponentPlugin, arguments: tuple[Argument, ...]
) -> tuple[list[Declared], list[Constant]]:
    """Return the searched and the fixed parameters of a component after a call.

    A parameter conditional on a choice follows its alternatives: it is left out with them, and is
    active wherever the choice is if that is fixed to one of them.
    """
    given = {argument.name: argument.given for argument in arguments}
    searched: list[Declared] = []
    fixed: list[Constant] = []
    met: dict[str, Declared | Constant | None] = {}
    for item in plugin.parameters:
        new = narrowed(item, given[item.name]) if item.name in given else item
        left = met[item.name] = _still_possible(new, met)
        if isinstance(left, Constant) and left.when is None:
            fixed.append(left)
        elif isinstance(left, Constant):
            # It comes and goes with a choice that is searched: a parameter with one value.
            values = (left.value,)
            searched.append(Parameter(left.name, 0, 0, "int", values=values, when=left.when))
        elif left is not None:
            searched.append(left)
    return searched, fixed


def _still_possible(
    item: Declared | Constant, met: Mapping[str, Declared | Constant | None]
) -> Declared | Constant | None:
    """Return a parameter after what was done to the choice it hangs on; None if it is lost."""
    # Declared before what depends on it, so it has been met if it is the component's own.
    if item.when is None or item.when.decision not in met:
        return item
    parent = met[item.when.decision]
    if isinstance(parent, Constant):
        # Active wherever its parent is, which may hang on a choice itself.
        return replace(item, when=parent.when) if parent.label in item.when.alternatives else None
    labels = parent.alternatives if isinstance(parent, Choice) else ()
    kept = tuple(label for label in item.when.alternatives if label in labels)
    return replace(item, when=replace(item.when, alternatives=kept)) if kept else None


def narrowed(item: Declared, given: Given) -> Declared | Constant:
    """The parameter as a call has it."""
    if given.kind is None:
        return _fixed(item, given.texts[0])
    if given.kind == CHOICE:
        return _chosen(item, given.texts)
    if given.kind not in RANGES:
        what = f"'{given.kind}' is no kind of parameter"
        raise _MistakeError(Code.UNSUPPORTED, what, suggest(given.kind, (CHOICE, *RANGES)))
    if _known(item) is not None:
        values = ", ".join(_known(item) or ())
        help_ = f"Write '{CHOICE}{{…}}' with some of {values}."
        raise _MistakeError(Code.BOUNDS, f"'{item.name}' is one of several values, no range", help_)
    assert isinstance(item, Parameter)  # noqa: S101 - every choice is one of several values
    return _ranged(item, given.kind, given.texts)


def _known(item: Declared) -> dict[str, Value] | None:
    """Return the listed values of a parameter by their text."""
    if isinstance(item, Choice):
        return {_written(item.value(label)): item.value(label) for label in item.alternatives}
    return {_written(value): value for value in item.values} or None


def _written(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _labels(item: Choice) -> dict[str, str]:
    """Return the labels of a choice by the texts of their values."""
    return {_written(item.value(label)): label for label in item.alternatives}


def _fixed(item: Declared, text: str) -> Constant:
    (value,) = _values(item, (text,))
    label = _labels(item)[text] if isinstance(item, Choice) else ""
    return Constant(item.name, value, item.when, label)


def _values(item: Declared, texts: tuple[str, ...]) -> list[Value]:
    known = _known(item)
    if known is None:
        whole = isinstance(item, Parameter) and item.is_integer
        return [_number(item.name, text, whole=whole) for text in texts]
    for text in texts:
        if text not in known:
            message = f"'{item.name}' does not take the value '{text}'"
            raise _MistakeError(Code.BOUNDS, message, suggest(text, known))
    return [known[text] for text in texts]


def _refuse_repeats(texts: Sequence[str], values: Sequence[Value]) -> None:
    """Raise if a value stands twice; a number may be written in two ways."""
    first: dict[Value, str] = {}
    for text, value in zip(texts, values, strict=True):
        before = first.get(value)
        if before is not None:
            again = "" if before == text else f", once as '{before}'"
            raise _MistakeError(Code.DUPLICATE, f"'{text}' stands twice in this choice{again}")
        first[value] = text


def _chosen(item: Declared, texts: tuple[str, ...]) -> Declared | Constant:
    values = _values(item, texts)
    _refuse_repeats(texts, texts if _known(item) else values)
    if len(values) == 1:
        return _fixed(item, texts[0])
    if isinstance(item, Choice):
        labels = _labels(item)
        kept = tuple(labels[text] for text in texts)
        return replace(item, alternatives=kept, values=tuple(values) if item.values else ())
    # Ordered levels stay ordered: a model of them learns from their neighbours.
    kind: Literal["category", "int"] = "category" if item.is_category else "int"
    return Parameter(
        item.name, 0, len(values) - 1, kind=kind, default=0, values=tuple(values), when=item.when
    )


def _ranged(item: Parameter, kind: str, texts: tuple[str, ...]) -> Parameter:
    if len(texts) not in {2, 3}:
        message = f"'{kind}' takes two bounds, and a default if you like; this one has {len(texts)}"
        raise _MistakeError(Code.PIECES, message)
    whole = kind.endswith("int")
    if item.is_integer and not whole:
        help_ = f"Write '{kind.replace('float', 'int')}{{…}}'."
        raise _MistakeError(Code.BOUNDS, f"'{item.name}' takes whole numbers", help_)
    low, high, *default = (_number(item.name, text, whole=whole) for text in texts)
    if low > high:
        message = f"the range from {texts[0]} to {texts[1]} is empty"
        raise _MistakeError(Code.EMPTY_RANGE, message, "Write the lower bound first.")
    log = kind.startswith("log")
    if log and low <= 0:
        raise _MistakeError(Code.BOUNDS, "a log scale needs a lower bound above 0")
    # A wider range is the user's choice; a sign that the component never has is a slip.
    if low < 0 <= item.low:
        usual = f"Its own range is {item.low:.12g} to {item.high:.12g}."
        message = f"'{item.name}' takes no numbers below 0; {texts[0]} is one"
        raise _MistakeError(Code.BOUNDS, message, usual)
    if log and (low < SMALLEST or high > LARGEST):
        message = f"no scale reaches from {texts[0]} to {texts[1]}"
        help_ = f"Stay between {SMALLEST:g} and {LARGEST:g}."
        raise _MistakeError(Code.BOUNDS, message, help_)
    if default and not low <= default[0] <= high:
        message = f"the default {texts[2]} is not between {texts[0]} and {texts[1]}"
        raise _MistakeError(Code.BOUNDS, message)
    start = default[0] if default else _own_default(item, low, high, whole=whole)
    number: Literal["int", "float"] = "int" if whole else "float"
    return Parameter(item.name, low, high, number, log=log, default=start, when=item.when)


def _own_default(item: Parameter, low: float, high: float, *, whole: bool) -> float | None:
    """Return the default of the component if it is a number of the narrower range."""
    if item.default is None or (whole and item.default != round(item.default)):
        return None
    return item.default if low <= item.default <= high else None


def _number(name: str, text: str, *, whole: bool) -> float:
    if whole and WHOLE.fullmatch(text):
        return int(text)
    if whole and ANY_WHOLE.fullmatch(text):
        shown = text if len(text) <= SHOWN_DIGITS else f"{text[:SHOWN_DIGITS]}…"
        message = f"'{name}' cannot be {shown}: that number is too large"
        raise _MistakeError(Code.BOUNDS, message, "Numbers have at most 15 digits.")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if whole or not math.isfinite(number):
        message = f"'{name}' takes numbers; '{text}' is no {'whole ' if whole else ''}number"
        raise _MistakeError(Code.BOUNDS, message)
    return number
