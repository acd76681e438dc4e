from __future__ import annotations

import pickle
import sys
import time

import pytest

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.runs.finish.model_file import load_fitted


class Loaded:
    """Does something when it is loaded."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


def test_what_was_fitted_is_loaded():
    assert load_fitted(pickle.dumps({"a": 1})) == {"a": 1}


@pytest.mark.parametrize(
    ("function", "argument", "seconds", "reason"),
    [
        (time.sleep, 5.0, 0.2, "longer than 0.2 s"),
        (int, "x", 60.0, "ValueError: invalid literal"),
        (sys.exit, 3, 60.0, "SystemExit: 3"),
    ],
    ids=["hangs", "raises", "exits"],
)
def test_what_cannot_be_loaded_is_one_line(function, argument, seconds, reason):
    content = pickle.dumps(Loaded(function, argument))
    with pytest.raises(AutomlAdmmError, match=reason):
        load_fitted(content, seconds)
