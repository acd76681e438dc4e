"""The pipelines that a search tries first: those that were good on other tables.

`portfolio.json` tells the loss of many pipelines on tables that stand in no benchmark, and their
seconds; `benchmarks/portfolio` makes it. A run takes those that its grammar derives, and orders
them by what they gain on the tables most like its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.priors import Priors
from automl_admm.core.space import Array, Candidate
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar.text.matcher import find_derived
from automl_admm.pipelines.work import PipelineWork
from automl_admm.runs.prepare.priors import learn_priors

PATH = Path(__file__).with_name("portfolio.json")
MOST = 12
# A grammar that derives fewer is about another field: it begins where its author said.
LEAST_DERIVED = 10
# What an evaluation takes beside its fits, in seconds.
OVERHEAD = 0.2
# The best pipeline of another table leaves this much less regret on the table at hand.
TRUST = 0.8
# By the gain a second, an exponent of 1, weak pipelines that take no time come first: on tables
# left out that was worse than a random order.
THRIFT = 0.25
# Tables are alike if their facts are within these, all but the last in powers of ten.
SCALES = np.array([0.7, 0.5, 0.4, 0.4])


@dataclass(frozen=True, slots=True)
class Facts:
    """The size of a table, known before anything is fitted; a quantity has no classes."""

    rows: int
    columns: int
    classes: int
    categories: int

    @classmethod
    def of(cls, work: PipelineWork) -> Facts:
        """Return the facts of the rows of a search."""
        rows, columns = work.table.shape
        return cls(rows, columns, work.context.classes, len(work.context.categorical))

    @property
    def task(self) -> str:
        """The task as the portfolio tells them apart."""
        if self.classes == 0:
            return "regression"
        return "binary" if self.classes == 2 else "multiclass"

    @property
    def place(self) -> Array:
        """The place of the table among others."""
        logs = [math.log10(max(n, 1)) for n in (self.rows, self.columns, self.classes)]
        place: Array = np.array([*logs, self.categories / max(self.columns, 1)]) / SCALES
        return place


@dataclass(frozen=True)
class Experience:
    """The regrets and seconds of pipelines on tables of one task; a row each, a column a table.

    A regret is 0 for the best pipeline of a table and 1 for a median one or worse. Both are NaN
    where a table does not have a pipeline.
    """

    texts: tuple[str, ...]
    tables: tuple[Facts, ...]
    regrets: Array
    seconds: Array
    learned: str | None = None

    @classmethod
    def from_json(cls, said: Mapping[str, Any], learned: str | None = None) -> Experience:
        """Read the part of a task; the whole was `learned` on a day."""
        keys = ("rows", "columns", "classes", "categories")
        tables = tuple(Facts(*(one[key] for key in keys)) for one in said["tables"].values())
        lines = said["pipelines"]
        regrets, seconds = (
            np.array([line[what] for line in lines.values()], dtype=float)
            for what in ("regret", "seconds")
        )
        return cls(tuple(lines), tables, regrets, seconds, learned)

    def weights(self, facts: Facts) -> Array:
        """Return the weight of each table, larger for one more like the table at hand."""
        away = np.array([np.sum((one.place - facts.place) ** 2) for one in self.tables])
        likeness = 1.0 / (1.0 + away)
        weights: Array = likeness / likeness.sum()
        return weights

    def order(
        self, weights: Array, allowed: Sequence[int], begun: Sequence[int], most: int = MOST
    ) -> list[int]:
        """Return the rows to try, one after another that which gains most for its time.

        Those `begun` are tried anyway. Each pipeline leaves a part of the regret before it, less
        where it was better.
        """
        left_by = TRUST * np.nan_to_num(self.regrets, nan=1.0) + (1.0 - TRUST)
        costs = np.exp(np.nanmean(np.log(self.seconds + OVERHEAD), axis=1))
        reached = weights * np.prod(left_by[list(begun)], axis=0)
        waiting, found = [row for row in allowed if row not in begun], list[int]()
        while waiting and len(found) < most:
            gains = (1.0 - left_by[waiting]) @ reached
            best = waiting.pop(int(np.argmax(gains / costs[waiting] ** THRIFT)))
            reached = reached * left_by[best]
            found.append(best)
        return found


@dataclass(frozen=True)
class Portfolio:
    """The pipelines to try first, how many the grammar does not derive, and priors of solvers.

    It was `learned` on a day.
    """

    starts: tuple[Candidate, ...] = ()
    not_derived: int = 0
    tables: int = 0
    priors: Priors = field(default_factory=Priors)
    learned: str | None = None


def choose_portfolio(
    facts: Facts, pipelines: PipelineSpace, begun: Sequence[Candidate], last: Candidate
) -> Portfolio:
    """Choose the pipelines to try after those that the search begins with anyway.

    The `last` one is among them, too, behind all others if they gain more.
    """
    known = _experience().get(facts.task)
    if known is None:
        return Portfolio()
    derived = find_derived(known.texts, pipelines)
    tables, missed = len(known.tables), len(known.texts) - len(derived)
    if len(derived) < LEAST_DERIVED:
        return Portfolio((), missed, tables)
    keys = {pipelines.key(candidate) for candidate in begun}
    there = [row for row, found in derived.items() if pipelines.key(found) in keys]
    weights = known.weights(facts)
    rows = known.order(weights, list(derived), there)
    chosen = {pipelines.key(derived[row]): derived[row] for row in rows}
    if pipelines.key(last) not in keys:
        chosen.setdefault(pipelines.key(last), last)
    priors = learn_priors(known.regrets, weights, derived, pipelines.space)
    return Portfolio(tuple(chosen.values()), missed, tables, priors, known.learned)


@cache
def _experience() -> Mapping[str, Experience]:
    said = json.loads(PATH.read_text(encoding="utf-8"))
    day = said["learned"]
    return {task: Experience.from_json(part, day) for task, part in said["tasks"].items()}
