"""What limits_experiment.py prints and plots: methods by settings, and in pairs over the seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from paired import Paired, compare
from scipy.stats import wilcoxon

SAME = 0.001
LEVEL = 0.05
WORST = 1.0
TIGHT = 2


@dataclass(frozen=True)
class Setting:
    """Both limits, which of them is varied, and the share of all pipelines within them."""

    varied: str
    share: float
    latency: float
    gap: float

    @property
    def bounds(self) -> tuple[float, float]:
        """As a trial has them."""
        return self.latency, self.gap

    def __str__(self) -> str:
        return f"{self.share:>4.0%}  {self.latency:>7.3f} us  {self.gap:.3f}"


@dataclass(frozen=True)
class Cell:
    """A method at a setting: of each seed the best loss within the limits, and the share within."""

    best: tuple[float, ...]
    shares: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Of the best losses."""
        return float(np.median(self.best))

    @property
    def share(self) -> float:
        """The median share of the evaluations that is within the limits."""
        return float(np.median(self.shares))

    def has_best_median(self, first: Cell) -> bool:
        """Whether its median is the best one, or within SAME of it."""
        return bool(np.isfinite(self.median) and self.median <= first.median + SAME)

    def is_told_from(self, other: Cell) -> bool:
        """Whether a paired test over the seeds tells the two apart; a run without any is worst."""
        mine, theirs = (np.minimum(cell.best, WORST) for cell in (self, other))
        return bool(np.any(mine != theirs) and wilcoxon(mine, theirs).pvalue < LEVEL)


Cells = Mapping[str, Cell]
Table = Mapping[Setting, Cells]


def print_table(table: Table, optima: Mapping[Setting, float]) -> None:
    """Settings by rows, methods by columns: median best loss, seeds won, median share within."""
    names = list(next(iter(table.values())))
    heads = "".join(f"{name:>19}" for name in names)
    print(f"{'within  latency    gap   best of all':<38}{heads}")
    for setting, cells in table.items():
        first = first_of(cells)
        columns = "".join(_column(cell, first, wins(cell, cells)) for cell in cells.values())
        print(f"{setting!s:<26}{optima[setting]:>12.4f}{columns}")
    every = list(table.values())
    firsts = [first_of(cells) for cells in every]
    pairs = list(zip(every, firsts, strict=True))
    best = {n: sum(cells[n].has_best_median(first) for cells, first in pairs) for n in names}
    won = {n: sum(wins(cells[n], cells) for cells in every) for n in names}
    print(f"{'best median, or level with it (*)':<38}" + "".join(f"{best[n]:>19}" for n in names))
    print(f"{'seeds won':<38}" + "".join(f"{won[n]:>19.1f}" for n in names))
    seconds = {n: float(np.mean([s for cells in every for s in cells[n].seconds])) for n in names}
    print(f"{'seconds of the solvers a run':<38}" + "".join(f"{seconds[n]:>19.2f}" for n in names))


def _column(cell: Cell, first: Cell, won: float) -> str:
    mark = "*" if cell.has_best_median(first) else " "
    value = "none" if np.isinf(cell.median) else f"{cell.median:.4f}"
    return f"{value:>8}{mark}{won:>5.1f}{cell.share:>5.0%}"


def print_pairs(table: Table, mine: str) -> None:
    """One method against each other: in how many settings a test tells them apart, and all runs.

    Of so many tests one in twenty tells level methods apart. The runs of a seed at several settings
    are not independent, so the sign test over all runs is too sure of itself.
    """
    heads = ("settings: better", "worse", "not told apart", "runs: better/worse/level")
    print(f"\n{mine} against (Wilcoxon over the seeds, p < {LEVEL:g})")
    print(f"{'':<24}" + "".join(f"{head:>18}" for head in heads[:3]) + f"{heads[3]:>34}")
    for other in next(iter(table.values())):
        if other == mine:
            continue
        better, worse = settled(table, mine, other)
        runs = all_runs(table, mine, other)
        row = f"{better:>18}{worse:>18}{len(table) - better - worse:>18}{runs!s:>34}"
        print(f"{other:<24}{row}")


def settled(table: Table, mine: str, other: str) -> tuple[int, int]:
    """In how many settings a test says that one method is better, and that it is worse."""
    better = worse = 0
    for cells in table.values():
        if cells[mine].is_told_from(cells[other]):
            runs = compare(cells[mine].best, cells[other].best)
            better, worse = better + (runs.wins > runs.losses), worse + (runs.wins < runs.losses)
    return better, worse


def all_runs(table: Table, mine: str, other: str) -> Paired:
    """All runs of two methods, paired by setting and seed."""
    ours, theirs = ([x for cells in table.values() for x in cells[n].best] for n in (mine, other))
    return compare(ours, theirs)


def print_against(table: Table, mine: str, other: str) -> None:
    """Where one method has the better median, where the same, and how often it is within."""
    pairs = [(setting, cells[mine], cells[other]) for setting, cells in table.items()]
    better = sum(one.median < two.median for _, one, two in pairs)
    same = sum(one.median == two.median for _, one, two in pairs)
    print(f"{mine} against {other}: better median at {better} of {len(pairs)}, the same at {same}")
    for varied in ("latency", "gap"):
        tightest = [pair for pair in pairs if pair[0].varied == varied][:TIGHT]
        shares = ", ".join(f"{one.share:.0%} to {two.share:.0%}" for _, one, two in tightest)
        print(f"  within at the tightest limits on the {varied}: {shares}")


def first_of(cells: Cells) -> Cell:
    """The method with the best median."""
    return min(cells.values(), key=lambda cell: cell.median)


def wins(cell: Cell, cells: Cells) -> float:
    """In how many seeds it has the least loss; a seed is parted among those that share it."""
    won = 0.0
    for seed, mine in enumerate(cell.best):
        others = [other.best[seed] for other in cells.values()]
        if mine == min(others) < np.inf:
            won += 1.0 / others.count(mine)
    return won


def draw_plot(table: Table, path: Path) -> None:
    """Figures 2 and 3 of the paper: best loss and share within, by either limit."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(10, 7), sharex=True)
    for column, varied in zip(panels.T, ("latency", "gap"), strict=True):
        rows = [(setting, cells) for setting, cells in table.items() if setting.varied == varied]
        shares = [100 * setting.share for setting, _ in rows]
        for name in rows[0][1]:
            best = [cells[name].median for _, cells in rows]
            column[0].plot(shares, np.where(np.isinf(best), np.nan, best), "o-", label=name)
            column[1].plot(shares, [100 * cells[name].share for _, cells in rows], "o-")
        column[0].set(xscale="log", ylabel="1 − AUROC of the best within", title=f"{varied} limit")
        column[1].set(xlabel="% of the space within", ylabel="% of evaluations within")
        column[1].set_xticks(shares, [f"{share:g}" for share in shares])
        column[1].minorticks_off()
    panels[0, 0].legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
