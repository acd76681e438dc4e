"""What the benchmark `ctpe_tables.py` prints and draws, in the form of the c-TPE paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, wilcoxon

from automl_admm.core.limits import Limit
from automl_admm.core.space import Array
from automl_admm.testing.lookup_tables import Table

STEP = 10
COUNTS = tuple(range(STEP, 201, STEP))
SHOWN = (50, 100, 150, 200)
QUANTILES = (10, 50, 90)
LIMITED = {"size": ("size",), "runtime": ("runtime",), "both": ("runtime", "size")}
OURS, AUGMENTED = "ctpe", "ctpe augmented"

# Table 1: wins/losses/ties of c-TPE against the method at SHOWN, over 27 settings a quantile. The
# row of the augmented one is Table 2 turned round, over 18 settings.
PAPER = {
    ("naive", 10): "26/0/1 27/0/0 27/0/0 27/0/0",
    ("naive", 50): "25/0/2 25/0/2 25/1/1 25/0/2",
    ("naive", 90): "21/5/1 23/1/3 21/1/5 24/1/2",
    ("tpe", 10): "27/0/0 27/0/0 27/0/0 27/0/0",
    ("tpe", 50): "25/0/2 26/0/1 26/1/0 24/0/3",
    ("tpe", 90): "14/11/2 18/8/1 15/5/7 16/7/4",
    ("random", 10): "25/0/2 26/1/0 27/0/0 27/0/0",
    ("random", 50): "27/0/0 26/0/1 26/0/1 27/0/0",
    ("random", 90): "27/0/0 27/0/0 27/0/0 27/0/0",
    ("optuna NSGA-II", 10): "25/0/2 27/0/0 24/0/3 24/0/3",
    ("optuna NSGA-II", 50): "26/0/1 26/0/1 26/0/1 25/0/2",
    ("optuna NSGA-II", 90): "26/1/0 27/0/0 27/0/0 26/0/1",
    (AUGMENTED, 10): "5/12/1 5/11/2 5/7/6 6/6/6",
    (AUGMENTED, 50): "12/6/0 11/5/2 6/7/5 5/5/8",
    (AUGMENTED, 90): "9/9/0 6/10/2 5/8/5 9/6/3",
}


@dataclass(frozen=True)
class Setting:
    """A table with limits."""

    table: str
    limited: str
    quantile: int

    def limits(self, table: Table) -> tuple[Limit, ...]:
        """The limits of this setting."""
        return table.limits(self.quantile, LIMITED[self.limited])

    def key(self, method: str, seed: int) -> str:
        """What the curve of a run is kept as."""
        return f"{method}/{self.table}/{self.limited}/{self.quantile}/{seed}"


@dataclass(frozen=True)
class Report:
    """The errors of all methods: the medians over the seeds of (f − f_oracle) / f_oracle.

    `errors` is methods × settings × COUNTS, NaN where a method has no runs at a setting.
    """

    methods: tuple[str, ...]
    settings: tuple[Setting, ...]
    errors: Array

    @classmethod
    def of(
        cls,
        runs: Mapping[str, Array],
        methods: Sequence[str],
        oracles: Mapping[Setting, float],
        seeds: int,
    ) -> Report:
        """The report of these curves of best losses."""
        errors = [
            [
                _error(runs, method, setting, seeds) / oracle - 1.0
                for setting, oracle in oracles.items()
            ]
            for method in methods
        ]
        return cls(tuple(methods), tuple(oracles), np.array(errors))

    @property
    def quantiles(self) -> tuple[int, ...]:
        """Those of the limits, in per cent."""
        return tuple(sorted({setting.quantile for setting in self.settings}))

    def at(self, quantile: int | None, limited: str | None = None) -> list[int]:
        """The places of the settings of a quantile and of a kind of limits, None for any."""
        return [
            place
            for place, setting in enumerate(self.settings)
            if quantile in (None, setting.quantile) and limited in (None, setting.limited)
        ]

    def pair(self, rival: str, places: Sequence[int], count: int) -> tuple[Array, Array]:
        """Our errors and those of a rival where both have been run."""
        column = COUNTS.index(count)
        rows = [
            self.errors[self.methods.index(name), list(places), column] for name in (OURS, rival)
        ]
        both = ~np.isnan(rows).any(axis=0)
        return rows[0][both], rows[1][both]

    def rank(self, places: Sequence[int]) -> Array:
        """The mean rank of each method at COUNTS over settings that all of them have."""
        chosen = self.errors[:, list(places)]
        full = ~np.isnan(chosen[:, :, 0]).all(axis=1)
        ranks = np.full((len(self.methods), len(COUNTS)), np.nan)
        if len(places):
            ranks[full] = rankdata(chosen[full], axis=0).mean(axis=1)
        return ranks


def _error(runs: Mapping[str, Array], method: str, setting: Setting, seeds: int) -> Array:
    keys = [setting.key(method, seed) for seed in range(seeds)]
    if any(key not in runs for key in keys):
        return np.full(len(COUNTS), np.nan)
    return np.asarray(np.median([runs[key] for key in keys], axis=0))


def compared(ours: Array, theirs: Array) -> str:
    """Wins/losses/ties; a star where ours is better with p < 0.01, and ! where theirs is.

    Two methods that found nothing within the limits tie.
    """
    wins, losses = int((ours < theirs).sum()), int((ours > theirs).sum())
    finite = np.concatenate([ours, theirs])
    highest = 10.0 * max(finite[np.isfinite(finite)], default=1.0)
    gaps = np.minimum(ours, highest) - np.minimum(theirs, highest)
    mark = " "
    for alternative, sign in (("less", "*"), ("greater", "!")):
        if gaps.any() and wilcoxon(gaps, alternative=alternative).pvalue < 0.01:
            mark = sign
    return f"{wins}/{losses}/{len(ours) - wins - losses}{mark}"


def print_tables(report: Report) -> None:
    """Table 1 with the paper's figures beside ours, and the mean ranks."""
    print(f"wins/losses/ties of {OURS} after {', '.join(map(str, SHOWN))} evaluations")
    print("(p < 0.01, one-sided Wilcoxon over the settings: * it is better, ! it is worse)")
    for rival in (method for method in report.methods if method != OURS):
        for quantile in (*report.quantiles, None):
            print(_row(report, rival, quantile))
    print("\nmean rank over the settings that all methods have been run on (size, both)")
    print(
        f"{'':<15}" + "".join(f"{f'0.{q // 10}: 50  100  150  200':>26}" for q in report.quantiles)
    )
    columns = [COUNTS.index(count) for count in SHOWN]
    ranks = [report.rank(report.at(q, "size") + report.at(q, "both")) for q in report.quantiles]
    for place, method in enumerate(report.methods):
        cells = ["".join(f"{rank[place, c]:5.2f}" for c in columns) for rank in ranks]
        print(f"{method:<15}" + "".join(f"{cell:>26}" for cell in cells))


def _row(report: Report, rival: str, quantile: int | None) -> str:
    """One row of Table 1; with no quantile, all of them together."""
    places = report.at(quantile)
    cells = [compared(*report.pair(rival, places, count)) for count in SHOWN]
    paper = PAPER.get((rival, quantile or 0), "").split()
    label = "all" if quantile is None else f"0.{quantile // 10}"
    theirs = "    paper" + "".join(f"{cell:>9}" for cell in paper) if paper else ""
    return f"{rival:<15} {label}" + "".join(f"{cell:>10}" for cell in cells) + theirs


def draw(report: Report, path: Path) -> None:
    """The mean rank over the evaluations, a panel for each kind and quantile of the limits."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8.5), layout="constrained")
    panels = figure.subplots(len(LIMITED), len(report.quantiles), sharex=True, sharey=True)
    for row, limited in zip(panels, LIMITED, strict=True):
        for panel, quantile in zip(row, report.quantiles, strict=True):
            ranks = report.rank(report.at(quantile, limited))
            for method, curve in zip(report.methods, ranks, strict=True):
                panel.plot(COUNTS, curve, label=method, lw=2.2 if method == OURS else 1.2)
            panel.set_title(f"{limited}, quantile 0.{quantile // 10}", fontsize=10)
            panel.grid(alpha=0.3)
    for panel in panels[-1]:
        panel.set_xlabel("evaluations")
    for panel in panels[:, 0]:
        panel.set_ylabel("mean rank")
    panels[0, 0].legend(fontsize=7, ncols=2)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
