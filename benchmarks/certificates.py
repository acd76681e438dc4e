"""How often a certificate is false, how often there is one, and how often each bound misses.

Simulated, because the truth has to be known: 100 candidates with true false positive rates drawn
from U(0.03, 0.10), a score that rises with the rate, a limit of 0.05, a risk of 0.05, and as many
rows of certification as of search. Candidates' mistakes are drawn independently of each other, or
alike: pipelines that are tested on the same rows err on the same ones. A last table has nearly all
candidates just outside of the limit, where a rule that does not keep the risk is seen.

    python benchmarks/certificates.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from automl_admm.certify.bounds.bounds import approximate_bounds, exact_bounds
from automl_admm.certify.bounds.differences import upper_difference_exact
from automl_admm.certify.bounds.rates import Count, lower_rate, upper_difference, upper_rate
from automl_admm.certify.walk.sequence import Contender, order
from automl_admm.core.evidence import Gap, Ranking, Rate
from automl_admm.core.space import Array

LIMIT, RISK, CANDIDATES, RUNS = 0.05, 0.05, 100, 1500
SIZES = (300, 1000, 5000)
SCORE_NOISE = 0.01
DIFFERENCES = (
    ((50, 500), (0.10, 0.05)),
    ((50, 500), (0.02, 0.01)),
    ((30, 2000), (0.05, 0.05)),
    ((200, 200), (0.30, 0.25)),
    ((500, 5000), (0.10, 0.05)),
)
RANKINGS = (((50, 500), 0.8), ((50, 500), 0.95), ((200, 1000), 0.8), ((1000, 4000), 0.8))


@dataclass(frozen=True)
class World:
    """Where the candidates' true rates come from, and how alike their mistakes are."""

    name: str
    share_inside: float
    inside: tuple[float, float]
    outside: tuple[float, float]
    alike: float

    def truth(self, rng: np.random.Generator) -> Array:
        """The true rates of all candidates."""
        lies_inside = rng.random(CANDIDATES) < self.share_inside
        ranges = (rng.uniform(*self.inside, CANDIDATES), rng.uniform(*self.outside, CANDIDATES))
        return np.where(lies_inside, *ranges)


WORLDS = (
    World("Rates U(0.03, 0.10), mistakes independent", 2 / 7, (0.03, 0.05), (0.05, 0.10), 0.0),
    World("Rates U(0.03, 0.10), mistakes correlated 0.7", 2 / 7, (0.03, 0.05), (0.05, 0.10), 0.7),
    World("95 % just outside, mistakes independent", 0.05, (0.03, 0.05), (0.0501, 0.055), 0.0),
)


@dataclass(frozen=True)
class Search:
    """What one search knows, and what the certification rows would say of every candidate.

    `bounds` has the upper bound of every candidate at the risk; `bound_at` at any other.
    """

    truth: Array
    score: Array
    slack: Array
    bounds: Array
    bound_at: Callable[[int, float], float]


Rule = Callable[[Search], int | None]


def draw(rng: np.random.Generator, rows: int, world: World) -> Search:
    """One search: two samples of every candidate's mistakes, correlated between candidates."""
    truth = world.truth(rng)
    seen, unseen = (_mistakes(rng, rows, truth, world.alike) for _ in range(2))
    upper = np.array([upper_rate(int(events), rows, RISK) for events in seen])
    return Search(
        truth=truth,
        score=truth + SCORE_NOISE * rng.normal(size=CANDIDATES),
        slack=(LIMIT - seen / rows) / (upper - seen / rows),
        bounds=np.array([upper_rate(int(events), rows, RISK) for events in unseen]),
        bound_at=lambda place, risk: upper_rate(int(unseen[place]), rows, risk),
    )


def _mistakes(rng: np.random.Generator, rows: int, truth: Array, alike: float) -> Array:
    """Binomial counts, whose normal scores have this correlation."""
    shared, own = rng.normal(), rng.normal(size=len(truth))
    chance = special.ndtr(math.sqrt(alike) * shared + math.sqrt(1 - alike) * own)
    return np.asarray(stats.binom.ppf(chance, rows, truth))


def best(search: Search, places: Sequence[int]) -> int | None:
    """The place with the best score."""
    return max(places, key=lambda place: search.score[place], default=None)


def uncertified(search: Search) -> int | None:
    """Best on validation: what other systems return, with no test at all."""
    return best(search, np.flatnonzero(search.slack >= 0).tolist())


def one_test(margin: float) -> Rule:
    """Test the best that is so many half-widths inside on the search's rows, and no other."""

    def rule(search: Search) -> int | None:
        chosen = best(search, np.flatnonzero(search.slack >= margin).tolist())
        return chosen if chosen is not None and search.bounds[chosen] <= LIMIT else None

    return rule


def safest_first(search: Search) -> int | None:
    """Ours: the fixed sequence of `automl_admm.certify.walk.sequence`, at the full risk."""
    columns = zip(search.score, search.slack, strict=True)
    contenders = [
        Contender(f"{place:03d}", float(score), float(slack))
        for place, (score, slack) in enumerate(columns)
    ]
    passed = []
    for contender in order(contenders):
        if search.bounds[int(contender.key)] > LIMIT:
            break
        passed.append(int(contender.key))
    return best(search, passed)


def best_first(margin: float, share: Callable[[int], float]) -> Rule:
    """Ten candidates, best first, each at its share of the risk; the first that passes."""

    def rule(search: Search) -> int | None:
        inside = np.flatnonzero(search.slack >= margin)
        ordered = inside[np.argsort(-search.score[inside])][:10]
        tested = enumerate(ordered, start=1)
        passing = (p for k, p in tested if search.bound_at(p, RISK * share(k)) <= LIMIT)
        return next(passing, None)

    return rule


RULES: dict[str, Rule] = {
    "best on validation, no test": uncertified,
    "one test, margin 0": one_test(0),
    "one test, margin 1": one_test(1),
    "one test, margin 2": one_test(2),
    "one test, margin 3": one_test(3),
    "(a) safest first, fixed sequence": safest_first,
    "(b) best first, risk / 2^k, margin 1": best_first(1, lambda k: 0.5**k),
    "(b) best first, risk / 10, margin 1": best_first(1, lambda _: 0.1),
    "(b) best first, risk / 2^k, margin 2": best_first(2, lambda k: 0.5**k),
    "(b) best first, risk / 10, margin 2": best_first(2, lambda _: 0.1),
    "wrong: best first, full risk each": best_first(0, lambda _: 1.0),
}


def compare_rules(world: World) -> None:
    """Print, for every rule, certified / false / score given up against the best truly inside."""
    rng = np.random.default_rng(0)
    print(f"\n{world.name}; {RUNS} runs, {CANDIDATES} candidates.")
    print(f"{'returned / false / score given up':38s}" + "".join(f"n={n:<22d}" for n in SIZES))
    columns = [_measure(rng, rows, world) for rows in SIZES]
    for name in RULES:
        cells = "".join(f"{_in_words(column[name]):24s}" for column in columns)
        print(f"{name:38s}{cells}")


def _in_words(cell: tuple[float, float, float]) -> str:
    return f"{cell[0]:.3f} / {cell[1]:.3f} / {cell[2]:.4f}"


def _measure(
    rng: np.random.Generator, rows: int, world: World
) -> dict[str, tuple[float, float, float]]:
    searches = [draw(rng, rows, world) for _ in range(RUNS)]
    found = {}
    for name, rule in RULES.items():
        returned = [(one, place) for one in searches if (place := rule(one)) is not None]
        false = sum(one.truth[place] > LIMIT for one, place in returned)
        given_up = [_best_inside(one) - one.score[place] for one, place in returned]
        mean = float(np.nanmean(given_up)) if given_up else math.nan
        found[name] = (len(returned) / RUNS, false / RUNS, mean)
    return found


def _best_inside(search: Search) -> float:
    """The best score of what truly is inside."""
    inside = search.truth <= LIMIT
    return float(search.score[inside].max()) if inside.any() else math.nan


def compare_differences(runs: int = 600) -> None:
    """Print misses and slack of upper bounds for a difference of two rates, at a risk of 0.05."""
    names = ("Wald", "Miettinen-Nurminen", "Buehler (ours)", "CP-union", "Hoeffding")
    print(f"\nUpper bound for p1 - p0, risk 0.05, {runs} runs: missed (mean slack)")
    print(f"{'n1, n0, p1, p0':28s}" + "".join(f"{name:22s}" for name in names))
    rng = np.random.default_rng(1)
    for sizes, rates in DIFFERENCES:
        truth = rates[0] - rates[1]
        drawn = rng.binomial(sizes, rates, (runs, 2))
        bounds = np.array([_difference_bounds(row.tolist(), sizes) for row in drawn])
        missed, slack = np.mean(bounds < truth, axis=0), np.mean(bounds - truth, axis=0)
        cells = "".join(f"{f'{m:.3f} ({s:.3f})':22s}" for m, s in zip(missed, slack, strict=True))
        print(f"{', '.join(map(str, (*sizes, *rates))):28s}{cells}")


def _difference_bounds(events: Sequence[int], sizes: Sequence[int]) -> list[float]:
    first, second = (Count(x, n) for x, n in zip(events, sizes, strict=True))
    gap = first.rate - second.rate
    variance = sum(one.rate * (1 - one.rate) / one.trials for one in (first, second))
    half = RISK / 2
    united = upper_rate(first.events, first.trials, half)
    united -= lower_rate(second.events, second.trials, half)
    hoeffding = sum(math.sqrt(math.log(1 / half) / (2 * one.trials)) for one in (first, second))
    return [
        gap + float(special.ndtri(1 - RISK)) * math.sqrt(variance),
        upper_difference(first, second, RISK),
        upper_difference_exact(first, second, RISK),
        united,
        gap + hoeffding,
    ]


def compare_rankings(runs: int = 400) -> None:
    """Print misses and slack of lower bounds for an AUROC, and of upper bounds for its gap."""
    names = ("Hoeffding 1963", "ours, exact", "DeLong, plain", "DeLong, logit (ours)")
    print(f"\nLower bound for an AUROC, risk 0.05, {runs} runs: missed (mean slack)")
    print(f"{'positives, negatives, AUROC':30s}" + "".join(f"{name:22s}" for name in names))
    rng = np.random.default_rng(2)
    for sizes, truth in RANKINGS:
        drawn = [_ranking(rng, sizes, truth) for _ in range(runs)]
        bounds = np.array([_ranking_bounds(ranking) for ranking in drawn])
        missed, slack = np.mean(bounds > truth, axis=0), np.mean(truth - bounds, axis=0)
        cells = "".join(f"{f'{m:.3f} ({s:.3f})':22s}" for m, s in zip(missed, slack, strict=True))
        print(f"{', '.join(map(str, (*sizes, truth))):30s}{cells}")


def _ranking(rng: np.random.Generator, sizes: tuple[int, int], truth: float) -> Ranking:
    distance = math.sqrt(2) * float(special.ndtri(truth))
    return Ranking(rng.normal(distance, 1, sizes[0]), rng.normal(0, 1, sizes[1]))


def _ranking_bounds(ranking: Ranking) -> list[float]:
    from automl_admm.certify.bounds.rankings import delong_variance

    rows = min(len(ranking.positives), len(ranking.negatives))
    exact, approximate = exact_bounds(ranking, RISK), approximate_bounds(ranking, RISK)
    spread = float(special.ndtri(1 - RISK)) * math.sqrt(delong_variance(ranking))
    return [
        ranking.value - math.sqrt(math.log(1 / RISK) / (2 * rows)),
        exact.lower if exact else 0.0,
        ranking.value - spread,
        approximate.lower if approximate else 0.0,
    ]


def compare_gaps(runs: int = 150) -> None:
    """Print misses of the upper bounds of gaps over several groups."""
    print(f"\nUpper bound for max - min over groups, risk 0.05, {runs} runs: missed (mean slack)")
    rng = np.random.default_rng(3)
    for truth, sizes in (
        ((0.1, 0.1, 0.1, 0.1), (50, 100, 200, 400)),
        ((0.2, 0.05, 0.12, 0.1), (50, 500, 100, 200)),
    ):
        drawn = rng.binomial(sizes, truth, (runs, len(sizes)))
        columns = [zip(row.tolist(), sizes, strict=True) for row in drawn]
        gaps = [Gap({str(k): Rate(*one) for k, one in enumerate(column)}) for column in columns]
        uppers = np.array([bounds.upper for gap in gaps if (bounds := exact_bounds(gap, RISK))])
        _print_gap(f"rates {truth} in {sizes}", "Buehler", uppers, max(truth) - min(truth))
    for aurocs, positives in (
        ((0.8, 0.8, 0.8), (60, 120, 240)),
        ((0.85, 0.8, 0.75), (60, 120, 240)),
    ):
        gaps = [
            Gap({str(k): _ranking(rng, (m, 4 * m), a) for k, (a, m) in enumerate(pairs)})
            for pairs in [list(zip(aurocs, positives, strict=True))] * runs
        ]
        width = max(aurocs) - min(aurocs)
        for name, bounds_of in (("exact", exact_bounds), ("DeLong, MOVER", approximate_bounds)):
            uppers = np.array([found.upper for gap in gaps if (found := bounds_of(gap, RISK))])
            _print_gap(f"AUROCs {aurocs} in {positives}", name, uppers, width)


def _print_gap(what: str, name: str, uppers: Array, truth: float) -> None:
    missed, slack = np.mean(uppers < truth), np.mean(uppers - truth)
    print(f"{what:58s}{name:16s}{missed:.3f} ({slack:.3f})")


if __name__ == "__main__":
    for one in WORLDS:
        compare_rules(one)
    compare_differences()
    compare_rankings()
    compare_gaps()
