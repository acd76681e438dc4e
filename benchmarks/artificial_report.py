"""The tables of `artificial_objective.py`: by processor time, by evaluations, and in pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from artificial_floor import least_value
from paired import compare
from scipy.stats import t as student

from automl_admm.testing.objectives import ArtificialObjective

Curve = Sequence[tuple[float, int, float]]  # processor seconds, evaluations, best value so far
Found = Mapping[str, Sequence[Curve]]

NEAR, NEAR_ZERO = 0.1, 0.01
COUNTS = (32, 64, 128, 256, 512)
SECONDS, EVALUATIONS = 0, 1  # the axes of a curve


def at(curve: Curve, moment: float, axis: int = SECONDS) -> float:
    """The best value at a time or count; before the first evaluation that of the first."""
    values = [point[2] for point in curve if point[axis] <= moment]
    return values[-1] if values else curve[0][2]


def reached(
    curves: Sequence[Curve],
    target: float,
    middle: Callable[[list[float]], Any] = np.median,
    axis: int = SECONDS,
) -> float:
    """When the middle over seeds falls to a target; infinite if it never does."""
    for moment in sorted({point[axis] for curve in curves for point in curve}):
        if middle([at(curve, moment, axis) for curve in curves]) <= target:
            return moment
    return np.inf


def did(curves: Sequence[Curve], count: int) -> bool:
    """Whether all runs made so many evaluations."""
    return all(curve[-1][EVALUATIONS] >= count for curve in curves)


def paired_ratio(curves: Sequence[Curve], others: Sequence[Curve], seconds: float) -> str:
    """The geometric mean over seeds of the ratio of two ends, and its 95 % interval (Student's t).

    Ends differ by orders of magnitude between seeds, so two medians can be far apart by accident.
    """
    pairs = zip(curves, others, strict=True)
    logs = np.log([at(one, seconds) / at(other, seconds) for one, other in pairs])
    error = float(logs.std(ddof=1) / np.sqrt(len(logs))) if len(logs) > 1 else np.nan
    half = float(student.ppf(0.975, len(logs) - 1)) * error if len(logs) > 1 else np.nan
    low, middle, high = np.exp([logs.mean() - half, logs.mean(), logs.mean() + half])
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def show(study: str, found: Found, seconds: float) -> None:
    """Print one study's table: medians over seeds, and ratios to the first row."""
    first = next(iter(found))
    moments = [seconds * share for share in (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)]
    target = float(np.median([at(curve, seconds) for curve in found[first]]))
    heads = "".join(f"{f'{moment:.3g} s':>10}" for moment in moments)
    print(f"\n{study}: median best value after so much processor time ({len(found[first])} seeds)")
    print(
        f"{'':<28}{heads}   better by  reaches the first row's end  seeds below it"
        "   ratio to it, paired (95 %)"
    )
    for name, curves in found.items():
        row = [float(np.median([at(curve, moment) for curve in curves])) for moment in moments]
        pairs = zip(curves, found[first], strict=True)
        below = sum(at(one, seconds) < at(other, seconds) for one, other in pairs)
        moment = reached(curves, target)
        print(
            f"{name:<28}"
            + "".join(f"{value:>10.4f}" for value in row)
            + f"{100 * (target - row[-1]) / target:>10.1f} %"
            + f"{f'after {moment:.2f} s, {seconds / moment:.0f}x':>28}"
            + f"{below:>12} of {len(curves)}"
            + f"{paired_ratio(curves, found[first], seconds):>29}",
            flush=True,
        )


def show_means(found: Found, seconds: float) -> None:
    """Print the same of means over seeds, as the papers have it in their tables of data sets.

    The speed-up is S = T / T_A, T_A the time at which the mean has fallen to f_J, where the mean of
    the first row ends after T; the improvement is I = (f_J - f_A) / f_J.
    """
    means = {n: float(np.mean([at(c, seconds) for c in curves])) for n, curves in found.items()}
    target = next(iter(means.values()))
    print("\nthe same of means over the seeds")
    for name, curves in found.items():
        moment = reached(curves, target, np.mean)
        print(
            f"{name:<28}{means[name]:.4f} at the end, {100 * (1 - means[name] / target):>4.1f} %"
            f" better; reaches the first row's end after {moment:.2f} s, {seconds / moment:.0f}x"
        )


def show_evaluations(found: Found) -> None:
    """Print medians by evaluations; `-` where a run was ended before it had made so many.

    The last columns: evaluations until the median has fallen to where the first row's ends, and
    the processor time of the first 128, the median over the seeds.
    """
    first = next(iter(found.values()))
    target = float(np.median([curve[-1][2] for curve in first]))
    print("\nmedian best value after so many evaluations")
    heads = "".join(f"{count:>10}" for count in COUNTS)
    print(f"{'':<28}{heads}   reaches the first row's end  made (least, median)")
    for name, curves in found.items():
        values = [
            f"{np.median([at(curve, count, EVALUATIONS) for curve in curves]):.4f}"
            if did(curves, count)
            else "-"
            for count in COUNTS
        ]
        moment = reached(curves, target, axis=EVALUATIONS)
        made = [curve[-1][EVALUATIONS] for curve in curves]
        print(
            f"{name:<28}"
            + "".join(f"{value:>10}" for value in values)
            + f"{f'after {moment:.0f}':>30}"
            + f"{min(made):>12} {np.median(made):>9.0f}"
        )


def show_pairs(found: Found, base: str, moments: Sequence[float]) -> None:
    """Print in how many seeds a row is below (better than) each other one, with the exact p."""
    print(f"\n{base} against each row, paired over seeds: better/worse/level (p, sign test)")
    heads = [f"{moment:g} s" for moment in moments] + [f"{count} evals" for count in COUNTS]
    print(f"{'':<28}" + "".join(f"{head:>20}" for head in heads))
    for name, curves in found.items():
        if name == base:
            continue
        cells = [_pair(found[base], curves, moment, SECONDS) for moment in moments]
        cells += [
            _pair(found[base], curves, count, EVALUATIONS)
            if did(curves, count) and did(found[base], count)
            else "-"
            for count in COUNTS
        ]
        print(f"{name:<28}" + "".join(f"{cell:>20}" for cell in cells))


def _pair(curves: Sequence[Curve], others: Sequence[Curve], moment: float, axis: int) -> str:
    mine, theirs = ([at(c, moment, axis) for c in row] for row in (curves, others))
    return str(compare(mine, theirs))


def show_floor(found: Found, seeds: Sequence[int], seconds: float) -> None:
    """Print the least value there is, and how far above it each row ends."""
    least = np.array([least_value(ArtificialObjective(seed)) for seed in seeds])
    ends = {
        name: np.array([at(curve, seconds) for curve in curves]) for name, curves in found.items()
    }
    target = float(np.median(next(iter(ends.values()))))
    share = 100 * (1 - np.median(least) / target)
    print(f"\nleast value there is: {np.median(least):.4f} in the median, {share:.1f} % better")
    for name, values in ends.items():
        above = values - least
        near = int((above <= np.maximum(NEAR * least, NEAR_ZERO)).sum())
        print(f"{name:<28}{np.median(above):.4f} above it; near it in {near} of {len(seeds)} seeds")


def draw(study: str, found: Found, seconds: float, folder: Path) -> None:
    """Median and quartiles over processor time, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    times = np.geomspace(seconds / 1000, seconds, 120)
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for name, curves in found.items():
        values = np.array([[at(curve, moment) for moment in times] for curve in curves])
        low, middle, high = np.percentile(values, [25, 50, 75], axis=0)
        (line,) = axes.loglog(times, middle, label=name)
        axes.fill_between(times, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
    axes.set_xlabel("processor time, seconds")
    axes.set_ylabel("best value so far (median, quartiles)")
    axes.set_title(f"artificial objective: {study}")
    axes.legend(fontsize=8)
    figure.tight_layout()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"artificial_{study}.png", dpi=120)
    plt.close(figure)
