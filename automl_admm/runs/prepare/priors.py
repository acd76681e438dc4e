"""Priors of the solvers, learned from the pipelines of `portfolio.json` on other tables.

An alternative was good on a table as far as its pipelines there were, in the mean: by the best one
it would be the better, the more of its pipelines were tried. A setting of a component counts on the
tables where it was the best of that component.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from automl_admm.core.priors import ArmPrior, Arms, GoodSetting, Priors
from automl_admm.core.space import Array, Candidate, Parameter, SearchSpace

# The identity of a parameter in any place of a grammar: its component, its own name, its range.
Key = tuple[str, str, float, float, bool, tuple[object, ...]]


def learn_priors(
    regrets: Array, weights: Array, derived: Mapping[int, Candidate], space: SearchSpace
) -> Priors:
    """Learn from regrets, a row each pipeline and a column each table; `derived` are by row.

    `weights` are those of the tables. A regret is 0 for the best pipeline of a table, 1 for a
    median one or a worse, and NaN where a table does not have the pipeline.
    """
    arms = _arms(regrets, weights, derived)
    return Priors(arms, _settings(regrets, weights, derived, space), regrets.shape[1])


def _arms(regrets: Array, weights: Array, derived: Mapping[int, Candidate]) -> Arms:
    rows: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for row, candidate in derived.items():
        for decision, pick in candidate.selection:
            if isinstance(pick, str):
                rows[decision, pick].append(row)
    found = ((arm, _counted(regrets[played], weights)) for arm, played in rows.items())
    return {arm: counts for arm, counts in found if counts.good + counts.bad > 0.0}


def _counted(regrets: Array, weights: Array) -> ArmPrior:
    """Count an arm by the mean regret of its pipelines on each table that has any."""
    there = np.isfinite(regrets).any(axis=0)
    bad = float(np.nanmean(regrets[:, there], axis=0) @ weights[there])
    return ArmPrior(float(weights[there].sum()) - bad, bad)


def _settings(
    regrets: Array, weights: Array, derived: Mapping[int, Candidate], space: SearchSpace
) -> dict[str, tuple[GoodSetting, ...]]:
    """Return the settings of each component in the space, under the names of its parameters."""
    owners: defaultdict[str, dict[Key, str]] = defaultdict(dict)
    for parameter in space.parameters:
        owner = parameter.name.rpartition(".")[0]
        owners[owner][_key(parameter)] = parameter.name
    known = _by_component(derived, space)
    found: dict[str, tuple[GoodSetting, ...]] = {}
    for owner, names in owners.items():
        shared = _at_component(known, names)
        settings = _weighted(regrets, weights, shared)
        if settings:
            found[owner] = settings
    return found


def _by_component(
    derived: Mapping[int, Candidate], space: SearchSpace
) -> dict[int, dict[Key, float]]:
    """Return the places of each pipeline's parameters, wherever its components stand."""
    return {
        row: {
            _key(space.parameters[i]): place
            for i, place in zip(space.active(found.selection), found.theta, strict=True)
        }
        for row, found in derived.items()
    }


def _at_component(
    known: Mapping[int, Mapping[Key, float]], names: Mapping[Key, str]
) -> dict[int, dict[str, float]]:
    """Return the places of one component in each pipeline that has all of its parameters.

    A parameter that never differs was never tried: it says nothing.
    """
    rows = [row for row, places in known.items() if names.keys() <= places.keys()]
    differ = [key for key in names if len({round(known[row][key], 9) for row in rows}) > 1]
    return {row: {names[key]: known[row][key] for key in differ} for row in rows}


def _weighted(
    regrets: Array, weights: Array, shared: Mapping[int, Mapping[str, float]]
) -> tuple[GoodSetting, ...]:
    """Weigh settings by the tables where each is the best of its component, and not a bad one."""
    rows = [row for row, places in shared.items() if places]
    if not rows:
        return ()
    filled = np.nan_to_num(regrets[rows], nan=1.0)
    best = filled.min(axis=0)
    is_best = (filled == best) & (best < 1.0)
    # Settings that are equally good share the table.
    votes = (is_best / np.maximum(is_best.sum(axis=0), 1)) @ weights
    return _merged([shared[row] for row in rows], votes)


def _merged(places: Sequence[Mapping[str, float]], votes: Array) -> tuple[GoodSetting, ...]:
    """Add up the votes of equal settings behind different steps; the best ones come first."""
    sums: defaultdict[tuple[tuple[str, float], ...], float] = defaultdict(float)
    for one, vote in zip(places, votes, strict=True):
        sums[tuple(one.items())] += float(vote)
    ordered = sorted(sums.items(), key=lambda item: -item[1])
    return tuple(GoodSetting(dict(one), vote) for one, vote in ordered if vote > 0.0)


def _key(parameter: Parameter) -> Key:
    *_, component, name = ("", *parameter.name.split("."))
    return component, name, parameter.low, parameter.high, parameter.log, parameter.values
