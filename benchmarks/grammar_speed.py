"""How long a grammar takes: to load and compile it, and to sample 10 000 pipelines of it.

Loading is measured in processes of their own, the plugins loaded before the clock starts; beside it
stands the share of it that goes into importing Lark and making a parser with the plain `lark.Lark`
constructor, which nothing that reads this language can do without. The clock is what a user waits
for; the processor's own time is what other work on the machine does not distort.

    python benchmarks/grammar_speed.py
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np

from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar import load_grammar
from automl_admm.grammar.show.counting import count_shapes
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.plugins.records import TASKS, ComponentPlugin, LearningTask
from automl_admm.plugins.registry import Registry

GRAMMARS: dict[str, LearningTask] = {
    "default": "classification",
    "tiny": "classification",
    "paper-a2": "classification",
    "paper-a3": "classification",
    "regression": "regression",
    "shapes": "classification",
}
SAMPLES = 10_000
MOST_MILLISECONDS = 150
MOST_SECONDS = 2
PLAIN = "plain lark.Lark"


def load(name: str, task: LearningTask, plugins: Plugins) -> PipelineSpace:
    """Load and compile a shipped grammar for a task."""
    components = plugins.components[task]
    known = frozenset().union(*(_names(plugins.components[t]) for t in TASKS))
    elsewhere = known - _names(components)
    return load_grammar(name, components, plugins.grammars, elsewhere).pipelines


def _names(components: Registry[ComponentPlugin]) -> frozenset[str]:
    return frozenset(record.name for record in components)


@dataclass(frozen=True, slots=True)
class Duration:
    """Seconds on the clock, and of the processor."""

    clock: float
    processor: float


def timed(work: Callable[[], object]) -> Duration:
    """How long a piece of work takes."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return Duration(time.perf_counter() - clock, time.process_time() - processor)


def load_once(name: str) -> Duration:
    """In a fresh process: loading and compiling a grammar, or making a plain parser."""
    plugins = load_plugins()
    if name == PLAIN:
        return timed(make_plain_parser)
    return timed(lambda: load(name, GRAMMARS[name], plugins))


def make_plain_parser() -> None:
    """A parser of Lark's own meta grammar, by Lark's own constructor, and one file parsed."""
    import lark

    source = (Path(lark.__file__).parent / "grammars" / "lark.lark").read_text("utf-8")
    lark.Lark(source, parser="lalr", propagate_positions=True).parse(source)


def load_afresh(name: str) -> Duration:
    """Measured in a process of its own on one thread."""
    printed = subprocess.run(
        [sys.executable, __file__, "--load", name],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return Duration(**json.loads(printed.stdout))


def sample_times(pipelines: PipelineSpace) -> tuple[Duration, Duration]:
    """10 000 selections, and 10 000 pipelines as text with parameters drawn."""
    space, rng = pipelines.space, np.random.default_rng(0)

    def select() -> None:
        for _ in range(SAMPLES):
            space.sample(rng)

    def write() -> None:
        for _ in range(SAMPLES):
            theta = rng.random(len(space.parameters))
            pipelines.text(space.candidate(space.sample(rng), theta))

    return timed(select), timed(write)


def print_loading(repeats: int) -> None:
    """A row for each grammar; rounds take turns, so that other work falls on all alike."""
    found: dict[str, list[Duration]] = {name: [] for name in (PLAIN, *GRAMMARS)}
    for _ in range(repeats):
        for name, times in found.items():
            times.append(load_afresh(name))
    print(f"load and compile, ms, {repeats} fresh processes (demanded: under {MOST_MILLISECONDS})")
    print(f"{'':<18}{'clock: best':>14}{'median':>9}{'processor: best':>18}{'median':>9}")
    for name, times in found.items():
        clock = [1000.0 * duration.clock for duration in times]
        own = [1000.0 * duration.processor for duration in times]
        print(
            f"{name:<18}{min(clock):>14.0f}{median(clock):>9.0f}{min(own):>18.0f}{median(own):>9.0f}"
        )


def print_sampling() -> None:
    """A row for each grammar."""
    plugins = load_plugins()
    print(
        f"\n{SAMPLES} samples, s of the clock / of the processor (demanded: under {MOST_SECONDS})"
    )
    print(f"{'':<18}{'selections':>16}{'as text':>16}{'shapes':>14}{'decisions':>11}")
    for name, task in GRAMMARS.items():
        pipelines = load(name, task, plugins)
        cells = "".join(
            f"{f'{found.clock:.2f} / {found.processor:.2f}':>16}"
            for found in sample_times(pipelines)
        )
        shapes, decisions = count_shapes(pipelines.shape), len(pipelines.space.decisions)
        print(f"{name:<18}{cells}{shapes:>14,}{decisions:>11}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--load", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        print(json.dumps(asdict(load_once(arguments.load))))
        return
    print_loading(arguments.repeats)
    print_sampling()


if __name__ == "__main__":
    main()
