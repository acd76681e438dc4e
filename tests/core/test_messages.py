from __future__ import annotations

from typing import NoReturn

import numpy as np
import pytest

from automl_admm.core import messages
from automl_admm.core.messages import LONGEST, say_count, say_value


class _Mute:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.int64(1), "1"),
        (np.str_("a"), "'a'"),
        (np.bool_(True), "True"),
        (np.float64("nan"), "nan"),
        ([np.int64(1), (np.float64(0.5),)], "[1, (0.5,)]"),
        (np.datetime64("2020-01-02"), "2020-01-02"),
        (np.longdouble(2), "2.0"),
        ("two\nlines", "'two\\nlines'"),
        (_Mute(), "a _Mute"),
    ],
)
def test_a_value_is_said_as_users_write_it(value, said):
    assert say_value(value) == said


@pytest.mark.parametrize("value", ["x" * 10_000, list(range(10_000)), 10**4000, np.zeros(9999)])
def test_a_long_value_stays_a_short_line(value):
    said = say_value(value)
    assert "\n" not in said
    assert len(said) <= LONGEST + 1


class UnspeakableError(Exception):
    def __str__(self) -> NoReturn:
        raise RuntimeError("not even this")


def test_an_error_is_said_on_one_line_with_its_kind() -> None:
    assert messages.say_error(ValueError("boom\n  and more.")) == "ValueError: boom and more"
    assert messages.say_error(KeyError()) == "KeyError"
    told = messages.say_error(UnspeakableError())
    assert told == "UnspeakableError: (its text cannot be had)"


def test_a_long_error_keeps_its_head_and_its_tail() -> None:
    told = messages.say_error(ValueError("first" + "x" * 10_000 + "last"))
    assert len(told) == messages.LONGEST_ERROR
    assert told.startswith("ValueError: first")
    assert told.endswith("last")


def test_a_reason_is_one_line_whatever_the_error_does() -> None:
    assert messages.reason_of(UnspeakableError()) == "(its text cannot be had)."


def test_an_exit_is_said_as_a_code_or_a_signal() -> None:
    assert messages.say_exit(3) == "exit 3"
    assert messages.say_exit(-9) == "signal SIGKILL"
    assert messages.say_exit(-1000) == "signal 1000"


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 rows"), (1, "1 row"), (np.int64(1), "1 row"), (2, "2 rows")]
)
def test_one_thing_is_no_plural(number, said):
    assert say_count(number, "row") == said
