"""Simulated worlds for every_bound.py: one for each kind of limit, in which the truth is known.

A world has a path of settings t from 0, the safest, to 1, the boldest, as a path of thresholds
has. The true value rises (or falls, if the limit is from below) along it, and is exactly at the
limit in the middle. All settings are measured on the same rows. The utility is balanced accuracy,
recall or specificity where a threshold moves, and else t itself: a bolder model is cheaper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from automl_admm.core.evidence import (
    F1,
    Average,
    Calibration,
    Evidence,
    Explained,
    Gap,
    Largest,
    Mean,
    Quantile,
    RankCorrelation,
    Ranking,
    Rate,
    Ratio,
    RootMeanSquare,
    Smallest,
    Timing,
)
from automl_admm.core.space import Array

LARGEST, POSITIVE, GROUP, APART, SHIFT = 5.0, 0.3, 0.4, 1.5, 0.4
FN, FP = 3.0, 1.0
RECALLS = np.array([0.97, 0.9, 0.9, 0.97])
MODELS, MEMBERS = 5, 3
Noise = Mapping[str, Any]
Draw = Callable[[np.random.Generator, int], Noise]


@dataclass(frozen=True)
class World:
    """A kind of limit: how rows are drawn, and what they tell of the setting t.

    `choose` picks something on the rows of the search alone, such as members of an average.
    """

    limit: str
    draw: Draw
    evidence: Callable[[Noise, float], Evidence]
    rows: int = 500
    at_least: bool = False
    is_approximate: bool = False
    utility: Callable[[Noise, float], float] = field(default=lambda _, t: t)
    choose: Callable[[Noise], Any] | None = None


def scored(rng: np.random.Generator, rows: int) -> Noise:
    """Draw scores of two classes in two groups, of which the second has higher ones."""
    positive, second = rng.random(rows) < POSITIVE, rng.random(rows) < GROUP
    scores = rng.normal(size=rows) + APART * positive + SHIFT * second
    return {"positive": positive, "second": second, "scores": scores}


def down(highest: float) -> Callable[[float], float]:
    """Return thresholds that fall by 2 along the path."""
    return lambda t: highest - 2.0 * t


def up(lowest: float) -> Callable[[float], float]:
    """Return thresholds that rise by 2 along the path."""
    return lambda t: lowest + 2.0 * t


Threshold = Callable[[float], float]


def balanced(threshold: Threshold) -> Callable[[Noise, float], float]:
    """Return the balanced accuracy at the threshold of a setting."""

    def of(noise: Noise, t: float) -> float:
        called, positive = noise["scores"] > threshold(t), noise["positive"]
        return float(np.mean(called[positive]) + np.mean(~called[~positive])) / 2

    return of


def _share(which: Any, of: Any) -> Rate:
    return Rate(int(np.sum(which & of)), int(np.sum(of)))


def _by_group(noise: Noise, of: Array, threshold: float) -> dict[str, Rate]:
    called, second = noise["scores"] > threshold, noise["second"]
    return {"a": _share(called, of & ~second), "b": _share(called, of & second)}


def _fpr(threshold: Threshold) -> Callable[[Noise, float], Evidence]:
    return lambda noise, t: _share(noise["scores"] > threshold(t), ~noise["positive"])


def _precision(noise: Noise, t: float) -> Evidence:
    return _share(noise["positive"], noise["scores"] > FALLING(t))


def _recall(noise: Noise, t: float) -> float:
    return _share(noise["scores"] > FALLING(t), noise["positive"]).value


def _f1(noise: Noise, t: float) -> Evidence:
    called = noise["scores"] > LOW(t)
    return F1(int(np.sum(called & noise["positive"])), int(np.sum(called | noise["positive"])))


def _costs(noise: Noise, t: float) -> Evidence:
    called, positive = noise["scores"] > DEAR(t), noise["positive"]
    return Mean(FN * (positive & ~called) + FP * (~positive & called), 0.0, FN)


def probable(rng: np.random.Generator, rows: int) -> Noise:
    """Draw probabilities, and what tells their truth."""
    return {"p": rng.beta(1.2, 2.0, rows), "u": rng.random(rows)}


def _truth(noise: Noise, t: float) -> Array:
    return np.asarray(noise["u"] < noise["p"] - 0.3 * t, dtype=float)


def _brier(noise: Noise, t: float) -> Evidence:
    """Return the squared distances where the truth is less sure than the model."""
    truth = noise["u"] < 0.5 + (1.0 - t) * (noise["p"] - 0.5)
    return Mean((noise["p"] - truth) ** 2, 0.0, 1.0)


def ranked(rng: np.random.Generator, rows: int) -> Noise:
    """Draw rows whose positive ones are yet to be moved apart."""
    return {
        "positive": rng.random(rows) < POSITIVE,
        "second": rng.random(rows) < GROUP,
        "z": rng.normal(size=rows),
    }


def _ranking(noise: Noise, apart: float, of: Any) -> Ranking:
    z, positive = noise["z"], noise["positive"]
    return Ranking(z[positive & of] + apart, z[~positive & of])


def _rankings(noise: Noise, t: float) -> Evidence:
    second = noise["second"]
    parts = {"a": _ranking(noise, 1.4, ~second), "b": _ranking(noise, 1.2 * (1.0 - t), second)}
    return Gap(parts)


def erring(rng: np.random.Generator, rows: int) -> Noise:
    """Draw errors with light tails, the truth beside them, and two groups."""
    second = rng.random(rows) < GROUP
    return {"e": rng.laplace(size=rows), "y": 3 * rng.normal(size=rows), "second": second}


def _errors(noise: Noise, t: float) -> Array:
    return np.asarray(noise["e"] * (0.6 + 0.8 * t))


def _means(noise: Noise, t: float) -> dict[str, Mean]:
    """Return the mean errors of two groups; those of the second grow along the path."""
    second = noise["second"]
    parts = {"a": noise["e"][~second], "b": noise["e"][second] * (1.0 + 0.8 * t)}
    clipped = {name: np.minimum(np.abs(one), LARGEST) for name, one in parts.items()}
    return {name: Mean(one, 0.0, LARGEST) for name, one in clipped.items()}


def _clipped(errors: Array) -> Mean:
    return Mean(np.minimum(np.abs(errors), LARGEST), 0.0, LARGEST)


def _bias(noise: Noise, t: float) -> Evidence:
    return Mean(np.clip(noise["e"] + 0.5 * t, -LARGEST, LARGEST), -LARGEST, LARGEST)


def uniform(rng: np.random.Generator, rows: int) -> Noise:
    """Draw what tells an event of each row."""
    return {"u": rng.random(rows)}


def classed(rng: np.random.Generator, rows: int) -> Noise:
    """Draw as many rows of each of four classes, as a stratified split has."""
    return {"u": rng.random((len(RECALLS), rows // len(RECALLS)))}


def _recalls(noise: Noise, t: float) -> dict[str, Rate]:
    chances = RECALLS - np.array([0.02, 0.3, 0.1, 0.02]) * t
    hits = np.sum(noise["u"] < chances[:, None], axis=1)
    return {str(k): Rate(int(hit), noise["u"].shape[1]) for k, hit in enumerate(hits)}


def paired(rng: np.random.Generator, rows: int) -> Noise:
    """Draw a column of numbers, and what the scores have besides it."""
    return {"x": rng.normal(size=rows), "z": rng.normal(size=rows)}


def _tau(noise: Noise, t: float) -> Evidence:
    along = 0.5 * t
    scores = along * noise["x"] + math.sqrt(1.0 - along**2) * noise["z"]
    return RankCorrelation(float(kendalltau(scores, noise["x"]).statistic), len(scores))


def modelled(rng: np.random.Generator, rows: int) -> Noise:
    """Draw the scores of five models that are equally good, and err alike in part."""
    positive, shared = rng.random(rows) < POSITIVE, rng.normal(size=rows)
    own = rng.normal(size=(MODELS, rows))
    scores = APART * positive + 0.8 * shared + 0.6 * own
    return {"positive": positive, "models": scores, "members": range(MEMBERS)}


def _luckiest(noise: Noise) -> Any:
    """Return the models with the best AUROC on the rows of the search: luck alone."""
    positive = noise["positive"]
    areas = [Ranking(one[positive], one[~positive]).value for one in noise["models"]]
    return np.argsort(areas)[-MEMBERS:]


def _averaged(noise: Noise) -> Noise:
    scores = noise["models"][list(noise["members"])].mean(axis=0)
    return {"scores": scores, "positive": noise["positive"]}


ALL = np.True_
FALLING, LOW, DEAR, EVEN = down(2.28), down(0.9), up(0.8), up(-0.7)
QUANTILE = 0.9
WORLDS: tuple[World, ...] = (
    World("fpr", scored, _fpr(FALLING), utility=balanced(FALLING)),
    World("precision", scored, _precision, at_least=True, utility=_recall),
    World(
        "f1",
        scored,
        _f1,
        at_least=True,
        utility=lambda noise, t: _share(noise["scores"] > LOW(t), noise["positive"]).value,
    ),
    World(
        "fpr_gap[group]",
        scored,
        lambda noise, t: Gap(_by_group(noise, ~noise["positive"], FALLING(t))),
        utility=balanced(FALLING),
    ),
    World(
        "selection_rate_ratio[group]",
        scored,
        lambda noise, t: Ratio(_by_group(noise, np.ones_like(noise["positive"]), EVEN(t))),
        at_least=True,
        utility=balanced(EVEN),
    ),
    World(
        "max_fpr[group]",
        scored,
        lambda noise, t: Largest(_by_group(noise, ~noise["positive"], FALLING(t))),
        utility=balanced(FALLING),
    ),
    World(
        "cost",
        scored,
        _costs,
        utility=lambda noise, t: 1.0 - _share(noise["scores"] > DEAR(t), ~noise["positive"]).value,
    ),
    World(
        "fpr of an average of three",
        modelled,
        lambda noise, t: _fpr(FALLING)(_averaged(noise), t),
        utility=lambda noise, t: balanced(FALLING)(_averaged(noise), t),
        choose=_luckiest,
    ),
    World("auc", ranked, lambda noise, t: _ranking(noise, 1.8 - 1.2 * t, ALL), at_least=True),
    World(
        "auc, approximate",
        ranked,
        lambda noise, t: _ranking(noise, 1.8 - 1.2 * t, ALL),
        at_least=True,
        is_approximate=True,
    ),
    World("auc_gap[group]", ranked, _rankings, rows=2000),
    World("auc_gap[group], approximate", ranked, _rankings, rows=2000, is_approximate=True),
    World("brier", probable, _brier),
    World(
        "calibration_error",
        probable,
        lambda noise, t: Calibration(noise["p"], _truth(noise, t)),
        rows=2000,
    ),
    World(
        "min_recall{class}", classed, lambda noise, t: Smallest(_recalls(noise, t)), at_least=True
    ),
    World(
        "macro_recall",
        classed,
        lambda noise, t: Average(_recalls(noise, t), are_apart=True),
        at_least=True,
    ),
    World(
        "errors_within_N, the coverage of an interval",
        erring,
        lambda noise, t: Rate(int(np.sum(np.abs(_errors(noise, t)) <= 2.3)), len(noise["e"])),
        at_least=True,
    ),
    World(
        "abs_error_quantile_90",
        erring,
        lambda noise, t: Quantile(np.abs(_errors(noise, t)), QUANTILE, 0.0),
    ),
    World("mae_to_N", erring, lambda noise, t: _clipped(_errors(noise, t))),
    World("rmse_to_N", erring, lambda noise, t: RootMeanSquare(_errors(noise, t), LARGEST)),
    World("bias_to_N", erring, _bias, rows=2000),
    World("mae_to_N_gap[group]", erring, lambda noise, t: Gap(_means(noise, t))),
    World("mae_to_N_ratio[group]", erring, lambda noise, t: Ratio(_means(noise, t)), at_least=True),
    World(
        "r2_to_N",
        erring,
        lambda noise, t: Explained(_errors(noise, t), noise["y"], LARGEST),
        rows=3000,
        at_least=True,
    ),
    World(
        "mae, approximate",
        erring,
        lambda noise, t: Mean(np.abs(_errors(noise, t)), 0.0, math.inf),
        is_approximate=True,
    ),
    World(
        "rmse, approximate",
        erring,
        lambda noise, t: RootMeanSquare(_errors(noise, t)),
        is_approximate=True,
    ),
    World(
        "r2, approximate",
        erring,
        lambda noise, t: Explained(_errors(noise, t), noise["y"]),
        at_least=True,
        is_approximate=True,
    ),
    World(
        "rising_breaks_N[column]",
        uniform,
        lambda noise, t: Rate(int(np.sum(noise["u"] < 0.002 + 0.016 * t)), len(noise["u"])),
        rows=1500,
    ),
    World("score_correlation[column]", paired, _tau, rows=1500),
    World(
        "latency_ms",
        uniform,
        lambda noise, t: Timing(np.exp(noise["u"]) * (0.6 + 0.8 * t), QUANTILE),
        rows=70,
    ),
)
