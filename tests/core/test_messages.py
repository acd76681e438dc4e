from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.messages import LONGEST, say_value


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
