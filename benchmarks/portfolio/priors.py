"""The same searches with priors of the solvers and without, on sets that they were not learned on.

Both have the portfolio, the same rows, splits and seeds, and one worker in this process. The best
validation loss is read after so many evaluations; the score on held-out rows is that of the model
that ships. Lines go to a file, and a search that is there is not made again. The seeds are others
than those of `compare`.

    python -m benchmarks.portfolio.priors FOLDER… --results priors.jsonl [--sets NAME…]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon
from threadpoolctl import threadpool_limits

from .compare import search_on

MOST_ROWS = 500
AFTER = (16, 32, 64)
FIRST_SEED = 200
# Solvers that read priors, by name, with those of the search that does without.
WAYS: Mapping[str, Mapping[str, str]] = {
    "without": {"theta_solver": "gp:trust=0", "z_solver": "bo:trust=0"},
    "z": {"theta_solver": "gp:trust=0", "z_solver": "bo:trust=10"},
    "theta": {"theta_solver": "gp:trust=10", "z_solver": "bo:trust=0"},
}


@dataclass(frozen=True)
class Searched:
    """One search: its best losses, evaluation by evaluation, its seconds, the held-out score."""

    data: str
    seed: int
    way: str
    losses: list[float]
    seconds: float
    held_out: float

    def after(self, count: int) -> float:
        """The best loss after so many evaluations."""
        return self.losses[min(count, len(self.losses)) - 1]


def search(path: Path, seed: int, way: str) -> Searched:
    """Search once."""
    watch, held_out = search_on(path, seed, MOST_ROWS, max_evaluations=AFTER[-1], **WAYS[way])
    return Searched(path.stem, seed, way, watch.losses, watch.seconds[-1], held_out)


def pairs_of(found: Sequence[Searched], way: str) -> list[tuple[Searched, Searched]]:
    """Return the searches of the same set and seed, without priors and with those of a solver."""
    named = {(one.data, one.seed, one.way): one for one in found}
    keys = sorted({(one.data, one.seed) for one in found})
    both = [(named.get((*key, "without")), named.get((*key, way))) for key in keys]
    return [(a, b) for a, b in both if a is not None and b is not None]


def differences(both: Sequence[tuple[Searched, Searched]]) -> Iterator[tuple[str, list[float]]]:
    """Yield the logarithms of the losses' ratios, below 0 where priors are better."""
    for count in AFTER:
        ratios = [float(np.log(b.after(count) / a.after(count))) for a, b in both]
        yield f"after {count} evaluations", ratios
    yield "held out", [a.held_out - b.held_out for a, b in both]


def summary(both: Sequence[tuple[Searched, Searched]]) -> list[dict[str, Any]]:
    """Return how often priors were better after each number of evaluations, and by how much."""
    found = []
    for name, changes in differences(both):
        wins, lost = sum(x < 0 for x in changes), sum(x > 0 for x in changes)
        found.append(
            {
                "after": name,
                "told": f"{wins}/{lost}/{len(changes) - wins - lost}",
                "ratio": None if name == "held out" else round(float(np.exp(np.mean(changes))), 3),
                "p": round(float(wilcoxon(changes).pvalue) if any(changes) else 1.0, 3),
            }
        )
    return found


def report(found: Sequence[Searched]) -> None:
    """Print a line for each search, then how often priors were better."""
    out = sys.stdout.write
    out(f"{'set':16} seed     way{''.join(f'{n:>9}' for n in AFTER)}  seconds  held out\n")
    for one in sorted(found, key=lambda one: (one.data, one.seed, one.way)):
        losses = "".join(f"{one.after(count):9.4f}" for count in AFTER)
        ended = f"{one.seconds:9.1f}{one.held_out:10.4f}"
        out(f"{one.data:16} {one.seed:4} {one.way:>7}{losses}{ended}\n")
    for way in list(WAYS)[1:]:
        out(f"\n{way:24}wins/losses/ties  mean of the ratio  Wilcoxon p\n")
        for row in summary(pairs_of(found, way)):
            ratio = "–" if row["ratio"] is None else f"{row['ratio']:.3f}"
            out(f"{row['after']:24}{row['told']:18}{ratio:>17}{row['p']:12.3f}\n")


def main() -> None:
    """Search what is not there yet, and report it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("priors.jsonl"))
    given = parser.parse_args()
    lines = given.results.read_text("utf-8").splitlines() if given.results.exists() else []
    found = [Searched(**json.loads(line)) for line in lines]
    known = {(one.data, one.seed, one.way) for one in found}
    paths = {path.stem: path for folder in given.folders for path in folder.glob("*.csv")}
    names = given.sets or sorted(paths)
    with threadpool_limits(limits=1):
        for seed in range(FIRST_SEED, FIRST_SEED + given.seeds):
            for name in names:
                for way in WAYS:
                    if (name, seed, way) in known:
                        continue
                    found.append(search(paths[name], seed, way))
                    with given.results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(found[-1])) + "\n")
    report(found)


if __name__ == "__main__":
    main()
