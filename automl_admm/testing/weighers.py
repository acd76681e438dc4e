"""The promises of a weigher of rows: weights of some rows, of their labels and groups alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from automl_admm.core.space import Array, Value
from automl_admm.core.structure.pipeline_space import Step
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.row_weighing import checked_weights, make_weigher
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import BuildContext, ComponentPlugin
from automl_admm.plugins.registry import Registry
from automl_admm.testing.component_forms import drawn_settings
from automl_admm.testing.silence import silence, silent_streams

ROWS = 90


class WeigherContract:
    """The promises of a weigher: subclass it, and return your record in `make`.

    It must be installed, or registered, under its name.
    """

    def make(self) -> ComponentPlugin:
        """Return the record."""
        raise NotImplementedError

    def cases(self) -> Iterator[tuple[Table, Any, Array]]:
        """Yield rows with their groups and weights: even, uneven, and hardly any."""
        rng = np.random.default_rng(0)
        groups = rng.integers(0, 3, ROWS)
        y = (rng.random(ROWS) < 0.2 + 0.2 * groups).astype(int)
        if self.make().tasks[0] == "regression":
            y = rng.normal(size=ROWS) + groups
        uneven = np.where(groups == 1, 3.0, 0.5)
        for rows in (slice(None), slice(0, 3), slice(0, 1)):
            for weights in (np.ones(ROWS), uneven):
                yield Table(np.zeros((ROWS, 1))[rows], y[rows]), groups[rows], weights[rows]
        yield Table(np.zeros((ROWS, 1)), y), np.zeros(ROWS, dtype=np.intp), np.ones(ROWS)

    def weigh(self, values: Mapping[str, Value], y: Any, groups: Any, weights: Array) -> Array:
        """Return the weights of rows by a weigher with these values."""
        record = self.make()
        task = record.tasks[0]
        components: Registry[ComponentPlugin] = load_plugins(quietly=True).components[task]
        known = components.without({record.name})
        known.add(record, "the contract")
        step = Step(record.name, tuple(values.items()))
        weigher = make_weigher(step, known, BuildContext(task))
        return checked_weights(weigher.weigh(y, groups, weights), weights, record.name)

    def settings(self) -> Iterator[Mapping[str, Value]]:
        """Yield the settings that it weighs with."""
        yield from drawn_settings(self.make().parameters, draws=3)

    def test_every_setting_weighs_every_row(self) -> None:
        """Give each row a weight from 0 on, with few rows, one class or one group as well."""
        for values in self.settings():
            for table, groups, weights in self.cases():
                found = self.weigh(values, table.y, groups, weights.copy())
                assert len(found) == len(table.y), values

    def test_the_same_rows_weigh_the_same(self) -> None:
        """Give the same weights again, and in another order of the rows."""
        table, groups, weights = next(self.cases())
        first, again = (self.weigh({}, table.y, groups, weights) for _ in range(2))
        assert np.array_equal(first, again), "two calls weigh differently"
        order = np.random.default_rng(1).permutation(ROWS)
        turned = self.weigh({}, table.y[order], groups[order], weights[order])
        assert np.allclose(turned, first[order]), "the order of rows counts"

    def test_rows_stay_as_they_are(self) -> None:
        """Change nothing of the labels, groups and weights that it is given."""
        table, groups, weights = next(self.cases())
        given = (table.y, groups, weights)
        before = [one.copy() for one in given]
        self.weigh({}, *given)
        assert all(map(np.array_equal, before, given)), "it changed what it was given"

    def test_heavier_rows_stay_heavier(self) -> None:
        """Take the weights so far into account: twice as heavy rows are no lighter."""
        table, groups, weights = next(self.cases())
        doubled = weights.copy()
        doubled[0] = 2.0
        plain = self.weigh({}, table.y, groups, weights)
        found = self.weigh({}, table.y, groups, doubled)
        shares = found[0] / found.sum(), plain[0] / plain.sum()
        assert shares[0] > 1.05 * shares[1], "the weights of rows are lost"

    def test_it_is_silent(self) -> None:
        """Print nothing, and log nothing."""
        table, groups, weights = next(self.cases())
        with silent_streams(), silence():
            self.weigh({}, table.y, groups, weights)
