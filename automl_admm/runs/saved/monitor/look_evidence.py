"""The evidence of the limits of a run on the rows of one look, and of the looks before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from automl_admm.certify.pooling import pool
from automl_admm.certify.thinning import thin
from automl_admm.core.errors import DataError
from automl_admm.core.evidence import Evidence
from automl_admm.data.independent_rows import independent_rows, largest_total
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.plugins.records import Constraint
from automl_admm.runs.saved.certified_run import CertifiedRun
from automl_admm.runs.saved.groups_of_rows import limits_of_run, with_groups_of
from automl_admm.runs.saved.monitor.weights_of_looks import NOT_DRAWN, Draw


@dataclass(frozen=True)
class LookEvidence:
    """The evidence of a look by limit, and the reason for each limit without any.

    Its rows were drawn by `largest`, the largest weight of a group in the run and all looks; 0 if
    it has none. `draw` tells how many of its rows were.
    """

    by_limit: Mapping[str, Evidence]
    untold: Mapping[str, str]
    largest: float = 0.0
    draw: Draw = NOT_DRAWN


def evidence_of_look(run: CertifiedRun, table: Table, look: int, known: float) -> LookEvidence:
    """Measure the limits on the labelled rows of a look, but for those on timings.

    The fit and the looks before it know of groups that weigh so much as `known`.
    """
    seed, own = int(run.settings["seed"]), largest_total(table.roles)
    largest = max(known, own)
    tested = independent_rows(table.roles, largest, seed + look)
    found, untold = dict[str, Evidence](), dict[str, str]()
    for limit, groups in limits_of_run(run):
        if not is_of_rows(limit):
            continue
        name = str(limit.limit)
        try:
            measured = with_groups_of(table, limit, groups)
            (found[name],) = run.evidence(table, (measured,), tested)
        except DataError as problem:  # such as a column without numbers
            untold[name] = problem.message
    drawn = None if tested is None or not (found or untold) else len(tested)
    draw = Draw(len(table.y), drawn, own, is_weighted="weight" in run.roles)
    return LookEvidence(found, untold, largest, draw)


def is_of_rows(limit: Constraint) -> bool:
    """Return True for a limit that labelled rows may tell, unlike one on timings."""
    return limit.kind != "measured"


def draw_again(
    evidence: Mapping[str, Evidence], share: float, seed: int, look: int
) -> dict[str, Evidence]:
    """Thin the evidence of a look, by limit, to a share of its rows.

    Its rows were drawn by a largest weight, and a later look may have had a larger one. The random
    numbers of each limit are the same at each look. So while the largest weight stays the same rows
    count, and bounds for all looks at once hold; with a larger one some of them go, and no row that
    was out comes back. The bounds told before supposed that no group weighs more.
    """
    rngs = np.random.default_rng([seed, look]).spawn(len(evidence))
    return {
        name: thin(one, share, rng) for (name, one), rng in zip(evidence.items(), rngs, strict=True)
    }


@dataclass(frozen=True)
class PooledEvidence:
    """The evidence of all looks by limit; of the last one `alone` where they do not add up."""

    by_limit: Mapping[str, Evidence]
    alone: frozenset[str]


def pool_looks(
    earlier: Sequence[Mapping[str, Evidence]], last: Mapping[str, Evidence]
) -> PooledEvidence:
    """Put together the evidence of looks, each by limit, for the limits that the last one told."""
    pooled, alone = dict[str, Evidence](), set[str]()
    for name, lot in last.items():
        try:
            pooled[name] = reduce(pool, [*(one[name] for one in earlier if name in one), lot])
        except ValueError:  # a number alone, or another range
            pooled[name] = lot
            alone.add(name)
    return PooledEvidence(pooled, frozenset(alone))
