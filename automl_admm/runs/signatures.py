"""Signatures made of records: functions and constructors whose parameters are a record's fields.

Type checkers see the parameters through `ParamSpec`, programs through `__signature__`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
Record = TypeVar("Record")
Result = TypeVar("Result")
NAMES = ("__module__", "__name__", "__qualname__", "__doc__")
SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)


def takes(
    record: Callable[P, Record],
) -> Callable[[Callable[[Record], Result]], Callable[P, Result]]:
    """Let a function of one record be called with the record's fields as arguments."""
    shown = signature(record)

    def give(function: Callable[[Record], Result]) -> Callable[P, Result]:
        @wraps(function, assigned=NAMES)
        def called(*given: P.args, **named: P.kwargs) -> Result:
            _check(shown, function.__name__, given, named)
            return function(record(*given, **named))

        returned = signature(function).return_annotation
        called.__signature__ = shown.replace(return_annotation=returned)  # type: ignore[attr-defined]
        return called

    return give


def constructs(
    record: Callable[P, Record],
) -> Callable[[Callable[[Any, Record], None]], Callable[Concatenate[Any, P], None]]:
    """Let an `__init__` of one record be called with the record's fields as arguments."""
    shown = signature(record)

    def give(
        initialise: Callable[[Any, Record], None],
    ) -> Callable[Concatenate[Any, P], None]:
        @wraps(initialise, assigned=NAMES)
        def called(self: Any, /, *given: P.args, **named: P.kwargs) -> None:
            _check(shown, type(self).__name__, given, named)
            initialise(self, record(*given, **named))

        parameters = (SELF, *shown.parameters.values())
        called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return called

    return give


def _check(shown: Signature, name: str, given: Any, named: Any) -> None:
    """Raise Python's TypeError for wrong arguments, but under the name that the user called."""
    try:
        shown.bind(*given, **named)
    except TypeError as problem:
        raise TypeError(f"{name}() {problem}") from None
