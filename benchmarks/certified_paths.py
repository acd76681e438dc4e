"""How near to a limit a certificate comes along a path of thresholds, and how often it is false.

Simulated, because the truth has to be known. A path has 60 thresholds, whose true false positive
rates rise from 0.005 to 0.2, and the limit is 0.10. As in a run, the order of the tests comes from
the rows of the search alone, twice as many as those of the certificate, and each test is the
package's own, at the full risk of 0.05. In the first world all thresholds are of one model, and
their mistakes are nested; in the second all 60 are just outside, and each has mistakes of its own:
the worst case for any rule. In the third the limit is on the gap of two groups, of which one has
twice the rate of the other and half its rows.

    python benchmarks/certified_paths.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from automl_admm.certify.bounds.differences import largest_difference
from automl_admm.certify.bounds.rates import Count, upper_rate
from automl_admm.certify.plan.power import most_events
from automl_admm.certify.walk.sequence import Route, Spot, order_routes
from automl_admm.core.space import Array

LIMIT, RISK, STOPS = 0.1, 0.05, 60
PATH = np.linspace(0.005, 0.2, STOPS)
OUTSIDE = np.linspace(LIMIT + 1e-6, LIMIT + 0.005, STOPS)
RUNS, SIZES = 4000, (300, 1000, 3000)
GAP_RUNS, GAP_SIZES = 2000, (150, 300)

Passed = NDArray[np.bool_]
Draw = Callable[[np.random.Generator, int], tuple[Array, Passed]]
Rule = Callable[[Array, float, Passed], int | None]


def nested(rng: np.random.Generator, rows: int) -> tuple[Array, Passed]:
    """Return the rates on the search's rows, and the stops that pass: thresholds of one model."""
    seen = np.searchsorted(np.sort(rng.random(2 * rows)), PATH) / (2 * rows)
    events = np.searchsorted(np.sort(rng.random(rows)), PATH)
    return seen, events <= most_events(rows, LIMIT, RISK)


def just_outside(rng: np.random.Generator, rows: int) -> tuple[Array, Passed]:
    """Return the same for stops that seem to be inside and are not; mistakes are independent."""
    events = rng.binomial(rows, OUTSIDE)
    return np.linspace(0.01, 0.095, STOPS), events <= most_events(rows, LIMIT, RISK)


def gap_of_groups(rng: np.random.Generator, rows: int) -> tuple[Array, Passed]:
    """Return the gaps on the search's rows, and the stops whose bound on the gap passes."""
    sizes = (rows // 3, rows - rows // 3)

    def counts(factor: int) -> list[NDArray[np.intp]]:
        samples = (np.sort(rng.random(factor * size)) for size in sizes)
        pairs = zip(samples, (2 * PATH, PATH), strict=True)
        return [np.searchsorted(own, rates) for own, rates in pairs]

    first, second = counts(2)
    seen = np.abs(first / (2 * sizes[0]) - second / (2 * sizes[1]))
    pairs = zip(*counts(1), strict=True)
    return seen, np.array([_gap_passes(int(a), int(b), sizes) for a, b in pairs])


@cache
def _gap_passes(first: int, second: int, sizes: tuple[int, int]) -> bool:
    counts = (Count(first, sizes[0]), Count(second, sizes[1]))
    if abs(counts[0].rate - counts[1].rate) > LIMIT:
        return False
    return largest_difference(counts, RISK) <= LIMIT


def along_the_path(seen: Array, width: float, passed: Passed) -> int | None:
    """Ship by the walk: from a sure stop to the best, until one does not pass."""
    spots = (Spot(place, (LIMIT - rate) / width, float(place)) for place, rate in enumerate(seen))
    last = None
    for one in order_routes([Route("model", 0.0, math.inf, tuple(spots))]):
        if one.place is None or not passed[one.place]:
            break
        last = one.place
    return last


def one_test(seen: Array, width: float, passed: Passed) -> int | None:
    """Ship the boldest stop that is two half-widths inside on the search's rows, if it passes."""
    inside = np.flatnonzero((LIMIT - seen) / width >= 2.0)
    return int(inside[-1]) if len(inside) and passed[inside[-1]] else None


def best_that_passes(seen: Array, width: float, passed: Passed) -> int | None:
    """Ship the boldest stop that passes, in any order: this breaks the promise."""
    del seen, width
    found = np.flatnonzero(passed)
    return int(found[-1]) if len(found) else None


RULES: dict[str, Rule] = {
    "two half-widths inside, one test": one_test,
    "along the path (ours)": along_the_path,
    "wrong: the boldest that passes": best_that_passes,
}


def cells(draw: Draw, truth: Array, rows: int, runs: int) -> dict[str, str]:
    """Return for each rule: share returned, share false, median true value of what was returned."""
    rng = np.random.default_rng(rows)
    width = upper_rate(LIMIT * rows, rows, RISK) - LIMIT
    if draw is gap_of_groups:
        width *= 1.5
    drawn = [draw(rng, rows) for _ in range(runs)]
    found = {}
    for name, rule in RULES.items():
        shipped = [rule(seen, width, passed) for seen, passed in drawn]
        values = np.array([truth[one] for one in shipped if one is not None])
        middle = f"{np.median(values):.3f}" if len(values) else "-"
        false = np.sum(values > LIMIT) / runs
        found[name] = f"{len(values) / runs:.3f} / {false:.3f} / {middle}"
    return found


def print_world(title: str, draw: Draw, truth: Array, sizes: tuple[int, ...], runs: int) -> None:
    """Print a world: a line a rule, a column a number of rows."""
    print(f"\n{title}; {runs} runs.")
    print(f"{'returned / false / true value':36s}" + "".join(f"n={size:<24d}" for size in sizes))
    columns = [cells(draw, truth, size, runs) for size in sizes]
    for name in RULES:
        print(f"{name:36s}" + "".join(f"{column[name]:26s}" for column in columns))


if __name__ == "__main__":
    print_world("Thresholds of one model, FPR <= 0.10", nested, PATH, SIZES, RUNS)
    print_world("All just outside, mistakes independent", just_outside, OUTSIDE, SIZES, RUNS)
    print_world("Gap of two groups <= 0.10", gap_of_groups, PATH, GAP_SIZES, GAP_RUNS)
