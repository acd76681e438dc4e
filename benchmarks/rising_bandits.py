"""Choosing an algorithm and its parameters at once: bandits over algorithms against one solver.

16 classifiers, no preprocessing, accuracy, 64 % of the rows to learn from, 16 % to choose by and
20 % to test on: the setting of Li et al. (2020). Of the bandits each arm is an algorithm that is
searched by a θ-solver of its own, and a pull is one evaluation of that search; what the bandit is
told is its loss. A joint method has one solver for the whole conditional space.

Prints how many evaluations each method needs to reach the value that the joint reference has after
all of its own, the values and the test accuracies at the end, and the share of the evaluations
that went to each algorithm; draws the last two. With --long it also prints the paper's measure.

    python benchmarks/rising_bandits.py --data ../shared/data --cache /tmp/rising --seeds 3
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from rising_runs import ALGORITHMS, EQUAL, Trace, make_setting, run
from threadpoolctl import threadpool_limits

METHODS = ("rising-bandits", "cmab", "ucb", "softmax", EQUAL)
PLOT = Path(__file__).parent / "plots" / "rising_bandits.png"
WIDEST = 16
AT_LENGTH = "the reference at length"


def runs_of(arguments: argparse.Namespace, name: str, seed: int) -> dict[str, Trace]:
    """All methods on one data set and seed, and the reference at length if that is asked for."""
    traces = {
        method: trace_of(arguments, name, seed, method, arguments.budget)
        for method in methods_of(arguments)
    }
    if arguments.long:
        reference, *others = traces
        goal = min(float(traces[method].best()[-1]) for method in others)
        traces[AT_LENGTH] = trace_of(arguments, name, seed, reference, arguments.long, goal)
    return traces


def trace_of(
    arguments: argparse.Namespace,
    name: str,
    seed: int,
    method: str,
    budget: int,
    goal: float = -np.inf,
) -> Trace:
    """One run, which ends when it has a loss as small as the goal; what is on file is not run."""
    until = f"-{goal:.6f}" if np.isfinite(goal) else ""
    slug = f"run-{name}-{seed}-{budget}-{method}-{arguments.arm}{until}"
    file = arguments.cache / (slug.replace(" ", "_").replace(":", "_") + ".json")
    if not file.exists():
        with threadpool_limits(1):
            data = arguments.data / f"{name}.csv"
            setting = make_setting(data, arguments.cache, seed, budget, arguments.limit)
            trace = run(setting, method, arguments.arm, goal)
        file.write_text(json.dumps(asdict(trace)))
    return Trace(**json.loads(file.read_text()))


def methods_of(arguments: argparse.Namespace) -> list[str]:
    """All methods, the reference first."""
    return [*(f"joint {solver}" for solver in arguments.joint), *arguments.methods]


Found = dict[tuple[str, str], list[Trace]]


def table_of_speed(found: Found, names: Sequence[str], methods: Sequence[str], budget: int) -> None:
    """Evaluations to the reference's value, validation and test accuracy at the end."""
    reference = methods[0]
    for name in names:
        targets = [trace.best()[-1] for trace in found[name, reference]]
        print(
            f"\n{name}: evaluations until the value of '{reference}' after {budget} "
            f"({len(targets)} seeds)"
        )
        print(f"{'':<30}{'median':>8}{'ratio':>8}{'valid %':>9}{'test %':>8}   by seed")
        for method in methods:
            traces = found[name, method]
            reached = [t.reached(goal) for t, goal in zip(traces, targets, strict=True)]
            middle = float(np.median(reached))
            accuracy = 100.0 * (1.0 - np.mean([trace.best()[-1] for trace in traces]))
            test = 100.0 * float(np.mean([trace.test for trace in traces]))
            print(
                f"{method:<30}{middle:>8.0f}{budget / middle:>7.1f}x{accuracy:>9.2f}{test:>8.2f}"
                f"   {' '.join(f'{count:.0f}' for count in reached)}"
            )


def table_at_length(found: Found, names: Sequence[str], methods: Sequence[str], long: int) -> None:
    """The paper's measure (its table 3): evaluations until an accuracy that both runs reach.

    That is the worse one of the reference's after so many and the method's at the end. The
    reference is stopped as soon as it is level with the best of the methods.
    """
    for name in names:
        references = found[name, AT_LENGTH]
        print(f"\n{name}: evaluations until what '{methods[0]}' ({long}) and a method reach")
        print(f"{'':<30}{'reference':>10}{'method':>8}{'ratio':>8}   by seed")
        for method in methods[1:]:
            pairs = list(zip(references, found[name, method], strict=True))
            goals = [max(long_run.best()[-1], trace.best()[-1]) for long_run, trace in pairs]
            counts = [
                (long_run.reached(goal), trace.reached(goal))
                for (long_run, trace), goal in zip(pairs, goals, strict=True)
            ]
            slow, quick = np.median(counts, axis=0)
            ratio = float(np.median([one / other for one, other in counts]))
            each = "  ".join(f"{one:.0f}/{other:.0f}" for one, other in counts)
            print(f"{method:<30}{slow:>10.0f}{quick:>8.0f}{ratio:>7.1f}x   {each}")
        ends = " ".join(
            f"{100.0 * (1.0 - trace.best()[-1]):.2f} ({len(trace.losses)})" for trace in references
        )
        print(f"the reference's validation accuracy at its end (evaluations): {ends}")


def shares(traces: Sequence[Trace]) -> dict[str, float]:
    """The share of the evaluations that each algorithm had, in per cent."""
    counts = Counter(label for trace in traces for label in trace.algorithms)
    return {label: 100.0 * counts[label] / counts.total() for label in ALGORITHMS}


def table_of_shares(found: Found, names: Sequence[str], methods: Sequence[str]) -> None:
    """Where the evaluations went, and the best value of each algorithm."""
    for name in names:
        print(f"\n{name}: share of the evaluations, per cent; best validation accuracy of any run")
        print(
            f"{'':<24}"
            + "".join(f"{method[-WIDEST + 1 :]:>{WIDEST}}" for method in methods)
            + f"{'best':>9}"
        )
        by_method = {method: shares(found[name, method]) for method in methods}
        best = best_of_each([t for method in methods for t in found[name, method]])
        for label in sorted(ALGORITHMS, key=lambda one: best.get(one, 1.0)):
            row = "".join(f"{by_method[method][label]:>{WIDEST}.1f}" for method in methods)
            print(f"{label:<24}{row}{100.0 * (1.0 - best.get(label, 1.0)):>9.2f}")


def best_of_each(traces: Sequence[Trace]) -> dict[str, float]:
    """The smallest loss that each algorithm ever had."""
    best: dict[str, float] = {}
    for trace in traces:
        for label, loss in zip(trace.algorithms, trace.losses, strict=True):
            best[label] = min(best.get(label, 1.0), np.nan_to_num(loss, nan=1.0))
    return best


def draw(found: Found, names: Sequence[str], methods: Sequence[str], picture: Path) -> None:
    """Mean validation accuracy by evaluation, and the shares as bars."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, len(names), figsize=(6.5 * len(names), 8), squeeze=False)
    colors = plt.get_cmap("tab20")
    for (top, bottom), name in zip(axes.T, names, strict=True):
        for method in methods:
            curves = [1.0 - trace.best() for trace in found[name, method]]
            length = min(map(len, curves))
            middle = 100.0 * np.mean([curve[:length] for curve in curves], axis=0)
            top.plot(range(1, length + 1), middle, label=method)
        # The first evaluations are of algorithms at their defaults: they would set the scale.
        top.set(title=name, xlabel="evaluations", ylabel="mean validation accuracy, %")
        top.set_ylim(bottom=np.percentile(top.lines[-1].get_ydata(), 2))
        left = np.zeros(len(methods))
        for place, label in enumerate(ALGORITHMS):
            width = np.array([shares(found[name, method])[label] for method in methods])
            bottom.barh(methods, width, left=left, label=label, color=colors(place))
            left += width
        bottom.set(xlabel="share of the evaluations, %")
    axes[0, 0].legend(fontsize="small")
    axes[1, -1].legend(fontsize="x-small", bbox_to_anchor=(1.0, 1.0))
    figure.tight_layout()
    picture.parent.mkdir(exist_ok=True)
    figure.savefig(picture, dpi=80)


def main() -> None:
    """Run what is not on file, print the tables, draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="a folder for what was run")
    parser.add_argument("--sets", nargs="+", default=["pc4", "vehicle"])
    parser.add_argument("--joint", nargs="+", default=["smac", "tpe"], help="the reference first")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="beside the reference")
    parser.add_argument("--arm", default="gp", help="the θ-solver of each algorithm")
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--long", type=int, help="the reference gets so many too: the paper's way")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20.0, help="CPU seconds of one evaluation")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--plot", type=Path, default=PLOT, help="the picture")
    arguments = parser.parse_args()
    jobs = [(arguments, name, seed) for seed in range(arguments.seeds) for name in arguments.sets]
    with get_context("spawn").Pool(arguments.processes) as pool:
        traces = pool.starmap(runs_of, jobs, chunksize=1)
    found: Found = {}
    for (_, name, _), by_method in zip(jobs, traces, strict=True):
        for method, trace in by_method.items():
            found.setdefault((name, method), []).append(trace)
    methods = methods_of(arguments)
    table_of_speed(found, arguments.sets, methods, arguments.budget)
    if arguments.long:
        table_at_length(found, arguments.sets, methods, arguments.long)
    table_of_shares(found, arguments.sets, methods)
    draw(found, arguments.sets, methods, arguments.plot)


if __name__ == "__main__":
    main()
