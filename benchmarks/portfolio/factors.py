"""A portfolio that learns from each result, beside its fixed order, on a table left out.

The regrets of the learning tables have a mean m and few factors U, as in probabilistic matrix
factorisation (Fusi et al. 2018; OBOE, Yang et al. 2019): those of a new table are m + U v with
v ~ N(0, 1), plus an own part of each pipeline. After each result the next pipeline is that of the
largest expected improvement for its time. Losses are told in another unit than regrets, as those of
a new table are, and centred by the mean of those seen. No search is run: all is read from
`portfolio.json`. The numbers of factors and the noise were tried on these same tables.

    PYTHONPATH=benchmarks python -m portfolio.factors --commit COMMIT [--write FILE.json]
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from paired import compare, corrected
from scipy.stats import norm

from automl_admm.core.space import Array
from automl_admm.runs.prepare.portfolio import MOST, OVERHEAD, PATH, THRIFT, Experience

from .__main__ import SHUFFLES, without
from .candidates import FIRST

AFTER = (1, 2, 4, 8, 12)
FACTORS = (2, 4, 8)
FIXED, RANDOM = "the portfolio's order", "random order"
# Of the unit of regrets: what a repeat would differ by, and what no other table tells.
NOISE, OWN = 0.01, 0.1


@dataclass(frozen=True)
class Prior:
    """What other tables tell of the regrets of all pipelines: a Gaussian, and costs in seconds."""

    mean: Array
    covariance: Array
    costs: Array

    @classmethod
    def of(cls, known: Experience, weights: Array, factors: int) -> Prior:
        """Learn it from tables by their weights."""
        regrets = np.nan_to_num(known.regrets, nan=1.0)
        mean = regrets @ weights
        spread = (regrets - mean[:, None]) * np.sqrt(weights)
        left, sizes, _ = np.linalg.svd(spread, full_matrices=False)
        loads = left[:, :factors] * sizes[:factors]
        shared = loads @ loads.T
        own = np.sum(spread**2, axis=1) - np.diag(shared)
        total = (1.0 - OWN) * shared + np.diag(own + OWN * np.diag(shared) + 1e-4)
        costs = np.exp(np.nanmean(np.log(known.seconds + OVERHEAD), axis=1))
        return cls(mean, total, costs)

    def choose(self, seen: Sequence[int], losses: Array, left: Sequence[int]) -> int:
        """Return the pipeline of the largest expected improvement for its time."""
        spread = np.sqrt(np.var(self.mean[seen]) + np.mean(np.diag(self.covariance)[seen]))
        unit = np.std(losses) / spread if len(seen) > 1 and np.std(losses) > 0.0 else 1.0
        told = (losses - losses.mean()) / unit + self.mean[seen].mean()
        # The level of the table is unknown: all pipelines share it.
        level = float(np.diag(self.covariance).mean())
        between = self.covariance[np.ix_(left, seen)] + level
        own = self.covariance[np.ix_(seen, seen)] + level + NOISE * np.eye(len(seen))
        weights = np.linalg.solve(own, between.T).T
        expected = self.mean[left] + weights @ (told - self.mean[seen])
        variance = np.diag(self.covariance)[left] + level - np.sum(weights * between, axis=1)
        deviation = np.sqrt(np.maximum(variance, 1e-9))
        better = (told.min() - expected) / deviation
        gain = deviation * (better * norm.cdf(better) + norm.pdf(better))
        return int(left[int(np.argmax(gain / self.costs[left] ** THRIFT))])


def adapt(prior: Prior, regrets: Array, rows: Sequence[int], begun: Sequence[int]) -> list[int]:
    """Return the pipelines in the order in which each result decides on the next."""
    seen = list(begun)
    while len(seen) < min(len(rows), len(begun) + MOST):
        left = [row for row in rows if row not in seen]
        seen.append(prior.choose(seen, 7.0 + 3.0 * regrets[seen], left))
    return seen


def orders_on(known: Experience, place: int) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield the orders on a table by what chose them; several where they are drawn."""
    rest, regrets = without(known, place), known.regrets[:, place]
    seen = ~np.all(np.isnan(rest.seconds), axis=1)
    rows = [int(row) for row in np.flatnonzero(~np.isnan(regrets)) if seen[row]]
    first = [known.texts.index(text) for text in FIRST if text in known.texts]
    weights = rest.weights(known.tables[place])
    yield FIXED, [[*first, *rest.order(weights, rows, first)]]
    left, random = [row for row in rows if row not in first], np.random.default_rng(0)
    yield RANDOM, [[*first, *map(int, random.permutation(left))] for _ in range(SHUFFLES)]
    for factors in (*FACTORS, len(rest.tables)):
        name = f"{factors} factors" if factors in FACTORS else "all factors"
        yield name, [adapt(Prior.of(rest, weights, factors), regrets, rows, first)]


def measure(tasks: Mapping[str, Any]) -> dict[str, Array]:
    """Return the least regrets after each count, a row for each table, by way."""
    found: dict[str, list[Array]] = {}
    for part in tasks.values():
        known = Experience.from_json(part)
        for place in range(len(known.tables)):
            for way, orders in orders_on(known, place):
                read = [_read(known.regrets[order, place]) for order in orders]
                found.setdefault(way, []).append(np.mean(read, axis=0))
    return {way: np.array(rows) for way, rows in found.items()}


def _read(regrets: Array) -> Array:
    reached = np.minimum.accumulate(regrets)
    # The first one is that which a timed search begins with.
    return np.array([reached[min(count, len(reached) - 1)] for count in AFTER])


def table_of(found: Mapping[str, Array], commit: str) -> dict[str, Any]:
    """Return mean regrets, and the tables won and lost beside the fixed order."""
    pairs = {
        (way, place): compare(values[:, place].tolist(), found[FIXED][:, place].tolist())
        for way, values in found.items()
        for place in range(len(AFTER))
        if way != FIXED
    }
    told = corrected({str(key): pair.p for key, pair in pairs.items()})

    def cell(way: str, place: int) -> str:
        mean, pair = f"{found[way][:, place].mean():.3f}", pairs.get((way, place))
        if pair is None:
            return mean
        return f"{mean} ({pair.wins}/{pair.losses}, {told[str((way, place))]:.2g})"

    return {
        "commit": commit,
        "title": f"mean regret on {len(found[FIXED])} tables left out, and tables better and worse "
        "than the portfolio's order (p by signs, Holm)",
        "columns": ["next pipeline by", *(f"+{count}" for count in AFTER)],
        "rows": [[way, *(cell(way, place) for place in range(len(AFTER)))] for way in found],
    }


def _lines(table: Mapping[str, Any]) -> str:
    """Return the table as JSON, each row in a line."""
    rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in table["rows"])
    heads = (
        f'   "{name}": {json.dumps(table[name], ensure_ascii=False)},\n'
        for name in ("commit", "title", "columns")
    )
    whole = f'{{\n "tables": {{\n  "factors": {{\n{"".join(heads)}   "rows": [\n{rows}\n   ]\n'
    return f"{whole}  }}\n }}\n}}\n"


def main() -> None:
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commit", default="unknown", help="of the code, for the table")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # means of pipelines that few tables have
    table = table_of(measure(json.loads(PATH.read_text("utf-8"))["tasks"]), given.commit)
    for row in (table["columns"], *table["rows"]):
        sys.stdout.write("  ".join(f"{cell:24}" for cell in row) + "\n")
    if given.write is not None:
        given.write.write_text(_lines(table), encoding="utf-8")


if __name__ == "__main__":
    main()
