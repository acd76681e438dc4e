"""How often each kind of bound is wrong where it is hardest, and what a certificate costs.

Simulated, because the truth has to be known; the worlds are in bound_worlds.py and in
behaviour_worlds.py. First the hostile point: the true value is at the limit, which counts as
outside, so that every certificate is false. Then the walk of a run: the settings of a path in the
order that twice as many rows of a search tell, each tested at the full risk of 5 %, until one
fails. Beside it an oracle, which takes the best setting truly inside, and no certificate: the best
that seems to be inside on the rows of the search. Last the monitor, which looks again and again.

    python benchmarks/every_bound.py --out build/bounds.jsonl
    python benchmarks/every_bound.py --report build/bounds.jsonl
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from artificial_objective import commit_here
from behaviour_worlds import BEHAVIOUR_WORLDS
from bound_worlds import WORLDS, Noise, World
from certified_averages_tables import share_of

from automl_admm.certify.bounds.bounds import approximate_bounds, exact_bounds
from automl_admm.certify.walk.sequence import Route, Spot, order_routes
from automl_admm.certify.watching import State, Watch
from automl_admm.core.evidence import Evidence, Mean, Quantile, Rate
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array

MEASURED = Path(__file__).parent / "measured" / "every_bound.json"
RISK, SEED, STOPS, MANY = 0.05, 0, 17, 2_000_000
PATH = np.linspace(0.0, 1.0, STOPS)
EDGE = STOPS // 2  # the first stop that counts as outside
HOSTILE, WALKS, LOOKS, LOT = 2000, 1000, 20, 60
Record = dict[str, Any]


@dataclass(frozen=True)
class Truth:
    """A world as it is: the utility of each stop, and the limit, a hair before the edge."""

    limit: Limit
    utility: Array


def truth_of(world: World) -> Truth:
    """Measure the edge on two million rows; a world is inside before it, and outside from it."""
    rng = np.random.default_rng(7)
    edge = world.evidence(world.draw(rng, MANY), 0.5).value
    noise = world.draw(rng, MANY // 20)
    values = np.array([world.evidence(noise, t).value for t in PATH])
    steps = np.diff(-values if world.at_least else values)
    if (steps[: EDGE + 1] <= 0).any():
        raise ValueError(f"{world.limit} does not go one way: {values}")
    near = 1e-9 if world.at_least else -1e-9
    limit = Limit(world.limit, edge + near, at_least=world.at_least)
    return Truth(limit, np.array([world.utility(noise, t) for t in PATH]))


def passes(world: World, limit: Limit, seen: Evidence) -> bool:
    """Return True if the bound certifies the limit; no bound is inside where the value is not."""
    if not limit.holds(seen.value):
        return False
    found = (approximate_bounds if world.is_approximate else exact_bounds)(seen, RISK)
    if found is None:
        return False
    return limit.holds(found.lower if world.at_least else found.upper)


def width_of(world: World, rng: np.random.Generator) -> float:
    """Return the median distance from the value to its bound, at the edge."""
    found = []
    for _ in range(20):
        seen = world.evidence(world.draw(rng, world.rows), 0.5)
        bounds = (approximate_bounds if world.is_approximate else exact_bounds)(seen, RISK)
        if bounds is not None:
            found.append(abs((bounds.lower if world.at_least else bounds.upper) - seen.value))
    return float(np.median(found))


def simulate(world: World) -> Record:
    """Return the counts of a world: hostile points, walks and their utilities."""
    truth, rng = truth_of(world), np.random.default_rng(SEED)
    false = sum(
        passes(world, truth.limit, world.evidence(world.draw(rng, world.rows), 0.5))
        for _ in range(HOSTILE)
    )
    width = width_of(world, rng)
    walked = [_walk(world, truth, width, rng) for _ in range(WALKS)]
    shipped = [one for one, _ in walked if one is not None]
    free = [one for _, one in walked if one is not None]
    return {
        "limit": world.limit,
        "rows": world.rows,
        "false": false,
        "hostile": HOSTILE,
        "walks": WALKS,
        "certified": len(shipped),
        "broken": sum(one >= EDGE for one in shipped),
        "free": len(free),
        "free_broken": sum(one >= EDGE for one in free),
        "utility": _median(truth.utility[shipped]),
        "free_utility": _median(truth.utility[free]),
        "oracle": float(truth.utility[:EDGE].max()),
    }


def _median(values: Array) -> float | None:
    return float(np.median(values)) if len(values) else None


def _walk(
    world: World, truth: Truth, width: float, rng: np.random.Generator
) -> tuple[int | None, int | None]:
    """Return the stops that ship with a certificate and without one."""
    search, fresh = world.draw(rng, 2 * world.rows), world.draw(rng, world.rows)
    if world.choose is not None:
        members = world.choose(search)
        search, fresh = {**search, "members": members}, {**fresh, "members": members}
    slacks = np.array([_slack(world, truth.limit, search, t) for t in PATH])
    utilities = truth.utility
    spots = tuple(
        Spot(place, slack / width, float(utilities[place])) for place, slack in enumerate(slacks)
    )
    shipped = None
    for one in order_routes([Route("model", 0.0, math.inf, spots)]):
        place = one.place if one.place is not None else 0
        if not passes(world, truth.limit, world.evidence(fresh, PATH[place])):
            break
        shipped = place
    inside = np.flatnonzero(slacks >= 0)
    free = int(inside[np.argmax(utilities[inside])]) if len(inside) else None
    return shipped, free


def _slack(world: World, limit: Limit, noise: Noise, t: float) -> float:
    room = limit.bound - world.evidence(noise, t).value
    return -room if world.at_least else room


# A measure of some rows, and its true value.
WATCHED: dict[str, tuple[Callable[[Array], Evidence], float]] = {
    "a rate": (lambda u: Rate(int(np.sum(u < 0.1)), len(u)), 0.1),
    "a mean of errors, clipped": (lambda u: Mean(u**3, 0.0, 1.0), 0.25),
    "a quantile of errors": (lambda u: Quantile(u, 0.9, 0.0), 0.9),
}


def watch(name: str) -> Record:
    """Return how often 20 looks at growing data are ever wrong, with the limit at the truth."""
    measure, truth = WATCHED[name]
    rng, alarms, claims, found = np.random.default_rng(SEED), 0, 0, 0
    for _ in range(WALKS):
        rows = rng.random(LOOKS * LOT)
        # What truly holds, to the last digit, and what truly does not.
        alarms += State.BROKEN in _states(measure, rows, truth)
        claims += State.HOLDS in _states(measure, rows, truth - 1e-9)
        found += State.BROKEN in _states(measure, rows, 0.7 * truth)
    return {"watched": name, "runs": WALKS, "alarms": alarms, "claims": claims, "found": found}


def _states(measure: Callable[[Array], Evidence], rows: Array, limit: float) -> set[State]:
    states = set()
    for look in range(1, LOOKS + 1):
        lot, pooled = rows[(look - 1) * LOT : look * LOT], rows[: look * LOT]
        judged = Watch(RISK, look, 1).judge(Limit("it", limit), measure(lot), measure(pooled))
        states.add(judged.state)
    return states


def tables(records: Sequence[Record]) -> dict[str, Any]:
    """Return both tables."""
    bounds = [_row(one) for one in records if "limit" in one]
    watched = [
        [
            one["watched"],
            share_of(one["alarms"], one["runs"]),
            share_of(one["claims"], one["runs"]),
            f"{one['found'] / one['runs']:.0%}",
        ]
        for one in records
        if "watched" in one
    ]
    hostile, walks = records[0]["hostile"], records[0]["walks"]
    return {
        "bounds": {
            "title": f"{hostile} draws at the limit, {walks} walks, risk {RISK:.0%}",
            "columns": [
                "limit",
                "rows",
                "certified at the limit",
                "walks certified",
                "broken",
                "no certificate: broken",
                "utility: oracle",
                "certified",
                "no certificate",
            ],
            "rows": bounds,
        },
        "monitor": {
            "title": f"{LOOKS} looks at {LOT} rows each, {walks} runs, risk {RISK:.0%}",
            "columns": [
                "measure",
                "alarm, though it holds",
                "said to hold, though broken",
                "alarm at a truth 43 % outside",
            ],
            "rows": watched,
        },
    }


def _row(one: Record) -> list[Any]:
    utilities = (one["oracle"], one["utility"], one["free_utility"])
    return [
        f"`{one['limit']}`",
        one["rows"],
        share_of(one["false"], one["hostile"]),
        f"{one['certified'] / one['walks']:.0%}",
        share_of(one["broken"], one["walks"]),
        f"{one['free_broken'] / one['walks']:.0%}",
        *("-" if value is None else f"{value:.3f}" for value in utilities),
    ]


def _known(path: Path) -> list[Record]:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def _with_others(found: dict[str, Any]) -> dict[str, Any]:
    """Return the tables with the measured rows of what the records do not have."""
    before = json.loads(MEASURED.read_text(encoding="utf-8"))["tables"]
    for name, table in found.items():
        mine = {row[0] for row in table["rows"]}
        kept = [row for row in before[name]["rows"] if row[0] not in mine]
        table["rows"] = kept + table["rows"]
    return found


def run(out: Path) -> None:
    """Simulate what the file does not have yet."""
    done = {one.get("limit", one.get("watched")) for one in _known(out)}
    jobs: list[tuple[str, Callable[[], Record]]] = [
        *(
            (world.limit, lambda world=world: simulate(world))
            for world in (*WORLDS, *BEHAVIOUR_WORLDS)
        ),
        *((name, lambda name=name: watch(name)) for name in WATCHED),
    ]
    for name, job in jobs:
        if name not in done:
            record = job()
            with out.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(record) + "\n")
            print(record, flush=True)


def main() -> None:
    """Simulate, or make the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="the file of the records; it is gone on with")
    parser.add_argument("--report", type=Path, help="make the tables of this file")
    given = parser.parse_args()
    if given.report:
        found = _with_others(tables(_known(given.report)))
        whole = {"commit": commit_here(), "tables": found}
        MEASURED.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    elif given.out:
        run(given.out)
    else:
        parser.error("give --out or --report")


if __name__ == "__main__":
    main()
