"""Functions whose arguments are a record's fields behave as if they were written out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature

import pytest
from mistyped import MISTAKES

from automl_admm.runs.signatures import constructs, takes


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0


@takes(Point)
def measure(point: Point) -> float:
    """Return the sum of both."""
    return point.x + point.y


class Holder:
    @constructs(Point)
    def __init__(self, point: Point) -> None:
        self.point = point


def test_arguments_become_the_record() -> None:
    assert measure(1.0, y=2.0) == 3.0
    assert Holder(1.0).point == Point(1.0, 0.0)


def test_the_signature_is_that_of_the_fields() -> None:
    assert str(signature(measure)) == "(x: 'float', y: 'float' = 0.0) -> 'float'"
    assert list(signature(Holder).parameters) == ["x", "y"]
    assert list(signature(Holder.__init__).parameters) == ["self", "x", "y"]
    assert (measure.__name__, measure.__doc__) == ("measure", "Return the sum of both.")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (measure, r"measure\(\) missing a required argument: 'x'"),
        (lambda: measure(1.0, z=2.0), r"measure\(\) got an unexpected keyword argument 'z'"),
        (lambda: Holder(1.0, 2.0, 3.0), r"Holder\(\) too many positional arguments"),
        (lambda: Holder(1.0, x=2.0), r"Holder\(\) multiple values for argument 'x'"),
    ],
)
def test_wrong_arguments_are_a_type_error_under_the_called_name(
    call: Callable[[], object], told: str
) -> None:
    with pytest.raises(TypeError, match=told):
        call()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_that_a_type_checker_finds_are_found_at_run_time_too(
    mistake: Callable[[], object],
) -> None:
    with pytest.raises(TypeError, match=r"(AutoML\w+|minimize)\(\) "):
        mistake()
