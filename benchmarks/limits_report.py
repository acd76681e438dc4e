"""What limits_experiment.py prints and plots: methods by settings, who is first, who is tied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
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

    def is_tied(self, first: Cell) -> bool:
        """Whether it is not worse than the first, by the rule of limits_experiment.py."""
        if np.isinf(self.median):
            return False
        if self.median <= first.median + SAME:
            return True
        mine, other = (np.minimum(cell.best, WORST) for cell in (self, first))
        return bool(wilcoxon(mine, other).pvalue > LEVEL)


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
    tied = {name: sum(cells[name].is_tied(first_of(cells)) for cells in every) for name in names}
    print(f"{'first, or tied first (*)':<38}" + "".join(f"{tied[name]:>19}" for name in names))
    seconds = {n: float(np.mean([s for cells in every for s in cells[n].seconds])) for n in names}
    print(f"{'seconds of the solvers a run':<38}" + "".join(f"{seconds[n]:>19.2f}" for n in names))


def _column(cell: Cell, first: Cell, won: float) -> str:
    mark = "*" if cell.is_tied(first) else " "
    value = "none" if np.isinf(cell.median) else f"{cell.median:.4f}"
    return f"{value:>8}{mark}{won:>5.1f}{cell.share:>5.0%}"


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
