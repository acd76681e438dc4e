"""The promises of a constraint, on the rows of a small fitted pipeline."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest import SkipTest

import cloudpickle
import numpy as np

from automl_admm.core.limits import DeclaredRange
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.plugins.evaluated_pipeline import ARRAYS
from automl_admm.testing.declared_limits import DeclaredPromises
from automl_admm.testing.possible_evidence import demand_possible, named_parts
from automl_admm.testing.silence import silence

# The size of a file differs by a few bytes from time to time.
SAME = 0.01
ORDERS = 4
# What all limits of an evaluation share.
SHOWN = (*ARRAYS, "sensitive")


class ConstraintContract(DeclaredPromises):
    """The promises of a constraint: subclass it, and return your record in `make`.

    The rows have two classes, and a sensitive column of two groups. Override `rows` for a
    constraint that needs others, such as the errors of a quantity. A `numbered` constraint is
    held to its promises with the `number`, one with options with these `options`, and one measured
    by a setting with costs of decisions or of columns. The pipeline has these `steps`.
    """

    def test_its_value_is_a_number_in_its_range(self) -> None:
        """Give a finite number from `lowest` to `highest`, in their unit, for any answers."""
        for rows in self.answers():
            value = self.measured(rows).value
            assert math.isfinite(value), f"its value is {value}"
            self._check_range(value)

    def _check_range(self, value: float) -> None:
        record = self._record()
        declared = DeclaredRange(record.lowest, record.highest)
        assert not declared.misses(value), f"its value {value:g} is outside of {declared}"

    def test_its_evidence_is_consistent(self) -> None:
        """Give evidence whose parts are possible: no more events than trials, values in bounds."""
        for rows in self.answers():
            for _, part in named_parts(self.measured(rows)):
                demand_possible(part, may_time=self._record().kind != "statistical")

    def test_the_same_rows_give_the_same_value(self) -> None:
        """Measure twice the same, in any order of the rows; a cost may differ from call to call."""
        self._skip_costs()
        rows = self.rows()
        value, again = (self.measured(rows).value for _ in range(2))
        assert math.isclose(again, value, rel_tol=SAME), f"{value:g}, and then {again:g}"
        for places in _orders(len(rows.y)):
            turned = self.measured(rows.part(places)).value
            assert math.isclose(turned, value, rel_tol=SAME), f"{turned:g} in another order"

    def test_a_fact_is_equal_on_any_rows(self) -> None:
        """Measure the same on some of the rows, for it is called `checked`."""
        if self._record().kind != "checked":
            raise SkipTest("it is no fact but a measurement")
        rows = self.rows()
        whole, is_large = self.measured(rows).value, rows.y > np.mean(rows.y)
        for mask in (np.arange(len(rows.y)) % 2 == 0, is_large, ~is_large):
            part, some = self.measured(rows.part(mask)).value, int(mask.sum())
            assert math.isclose(part, whole, rel_tol=SAME), (
                f"{whole:g}, and {part:g} on {some} of the {len(mask)} rows"
            )

    def test_rows_stay_as_they_are(self) -> None:
        """Change nothing of what it is shown: other limits see the same rows."""
        rows = self.rows()
        if self._record().takes_weights:
            rows = replace(rows, weights=np.ones(len(rows.y)))
        before = {name: cloudpickle.dumps(getattr(rows, name)) for name in SHOWN}
        self.measured(rows)
        changed = [name for name in SHOWN if cloudpickle.dumps(getattr(rows, name)) != before[name]]
        assert not changed, f"it changed the {', '.join(changed)} that other limits see"

    def test_rows_of_one_class_are_no_obstacle(self) -> None:
        """Give a number, or NaN for unknown, where all rows are of one class, or of one group."""
        self._skip_costs()
        rows = self.rows()
        classes = [rows.y == label for label in np.unique(rows.y)]
        for mask in (*classes, *self.masks(rows).values(), np.arange(len(rows.y)) == 0):
            value = self.measured(rows.part(mask)).value
            if not math.isnan(value):
                self._check_range(value)

    def test_weights_count_as_rows_do(self) -> None:
        """Take weights of 1 for none, and a weight of 3 for a row that stands three times.

        Weights have a mean of 1 over all data alone: that of a fold or a group is any other.
        """
        if not self._record().takes_weights:
            raise SkipTest("it takes no weights")
        rows = self.rows()
        value, ones = self.measured(rows).value, np.ones(len(rows.y))
        assert math.isclose(self.measured(replace(rows, weights=ones)).value, value)
        counts = np.random.default_rng(7).integers(1, 4, len(rows.y))
        repeated = self.measured(rows.part(np.repeat(np.arange(len(rows.y)), counts))).value
        for mean in (1.0, counts.mean()):
            weights = counts / counts.mean() * mean
            weighed = self.measured(replace(rows, weights=weights)).value
            assert math.isclose(weighed, repeated, rel_tol=1e-9), (
                f"{weighed:g} instead of {repeated:g}, with weights whose mean is {mean:g}"
            )

    def test_what_is_known_before_training_is_what_is_measured(self) -> None:
        """Give by `cheap` the value that the fitted pipeline has."""
        cheap = self._record().cheap
        if cheap is None:
            raise SkipTest("it has no cheap function")
        known, value = cheap(self.steps), self.measured(self.rows()).value
        assert math.isclose(known, value), f"{known:g} before training, and {value:g} after it"

    def test_it_measures_in_another_process(self) -> None:
        """Survive the way to a worker: it is pickled by cloudpickle."""
        rows = self.rows()
        sent = cloudpickle.loads(cloudpickle.dumps(self._function()))
        assert math.isfinite(as_evidence(sent(rows, *self.given_with(rows))).value)

    def test_it_is_silent(self) -> None:
        """Print nothing, log nothing and leave no file."""
        rows = self.rows()
        with silence():
            self.measured(rows)

    def _skip_costs(self) -> None:
        if self._record().kind == "measured":
            raise SkipTest("it is a cost, and may differ from call to call")


def _orders(rows: int) -> Iterator[Any]:
    """Yield the places of all rows, the last first and then in any order."""
    yield np.arange(rows)[::-1]
    for seed in range(ORDERS):
        yield np.random.default_rng(seed).permutation(rows)
