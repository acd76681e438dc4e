"""`automl-admm grammar`: look at a grammar before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from automl_admm.cli.shared.installed import installed
from automl_admm.cli.shared.screen import plain_console, say
from automl_admm.core.errors import ConfigurationError, GrammarError
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar import CompiledGrammar, load_grammar
from automl_admm.grammar.check.recursion import DEPTH
from automl_admm.grammar.diagnostics import Code
from automl_admm.grammar.show.counting import Facts, count_shapes, measure
from automl_admm.grammar.show.svg import draw_svg
from automl_admm.grammar.show.terminal_tree import draw_tree
from automl_admm.grammar.text.matcher import parse
from automl_admm.plugins.loading import Plugins
from automl_admm.plugins.records import TASKS, LearningTask
from automl_admm.progress.visible_text import in_a_line
from automl_admm.runs.prepare.suggestions import tell_left_out
from automl_admm.store.own_files import refuse_input, refuse_own_file

FILE = click.argument("source", metavar="FILE")
TASK = click.option(
    "--task",
    type=click.Choice(TASKS),
    help="Task of the components. [default: the first task that the grammar serves]",
)
DEPTHS = click.option(
    "--max-depth",
    type=int,
    default=DEPTH,
    metavar="N",
    help="Number of times that a rule may stand inside itself.",
    show_default=True,
)


@dataclass(frozen=True)
class Served:
    """A grammar with the components of one task."""

    task: LearningTask
    grammar: CompiledGrammar

    @property
    def pipelines(self) -> PipelineSpace:
        """Pipelines of the grammar."""
        return self.grammar.pipelines


@click.group("grammar")
def command() -> None:
    """Check, show, count, sample and parse the pipelines of a grammar.

    FILE is a grammar file, or the name of a shipped one.
    """


@command.command("check")
@FILE
@TASK
@DEPTHS
def check_command(source: str, task: LearningTask | None, max_depth: int) -> None:
    """List all mistakes of FILE (exit code 2), or report that it is in order, and its size.

    The number of shapes counts all choices and orders of the grammar.
    """
    left_out: dict[str, str] = {}
    plugins = installed()
    for served in _load(source, task, max_depth, plugins):
        count = count_shapes(served.pipelines.shape)
        shapes = f"{count:,} shape{'' if count == 1 else 's'}"
        say(f"{source}: ok for {served.task}, {shapes}")
        left_out |= served.grammar.left_out
    told = tell_left_out(left_out, plugins)
    if told is not None:
        say(f"{source}: {in_a_line(told)}")


@command.command("show")
@FILE
@TASK
@DEPTHS
@click.option(
    "--svg",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw it into this SVG file instead.",
)
def show_command(source: str, task: LearningTask | None, max_depth: int, svg: Path | None) -> None:
    """Draw the structure of FILE, in the terminal or as a picture."""
    served = _load(source, task, max_depth)[0]
    title = f"{source} ({served.task})"
    if svg is None:
        plain_console().print(draw_tree(served.pipelines.shape, title))
        return
    refuse_own_file(svg)
    refuse_input(svg, Path(source))
    try:
        svg.write_text(draw_svg(served.pipelines.shape, title), encoding="utf-8")
    except OSError as problem:
        raise ConfigurationError(f"'{svg}' cannot be written: {problem.strerror}.") from None
    say(f"{source} is drawn in {svg}")


@command.command("count")
@FILE
@TASK
@DEPTHS
def count_command(source: str, task: LearningTask | None, max_depth: int) -> None:
    """Count the pipelines of FILE, exactly and without listing them.

    Shapes are the results of its choices and orders; selections also settle components' own
    unordered parameters. A pipeline counts twice if two ways lead to it.
    """
    _print_rows(_facts(measure(_load(source, task, max_depth)[0].pipelines)))


@command.command("sample")
@FILE
@TASK
@DEPTHS
@click.option(
    "-n",
    "count",
    type=click.IntRange(1),
    default=5,
    metavar="N",
    help="Number of pipelines.",
    show_default=True,
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Seed of the draw.",
    show_default=True,
)
def sample_command(
    source: str, task: LearningTask | None, max_depth: int, count: int, seed: int
) -> None:
    """Print pipelines of FILE drawn at random, one a line; `fit --start` reads them."""
    pipelines = _load(source, task, max_depth)[0].pipelines
    space, rng = pipelines.space, np.random.default_rng(seed)
    for _ in range(count):
        theta = rng.uniform(size=len(space.parameters))
        say(pipelines.text(space.candidate(space.sample(rng), theta)))


@command.command("parse")
@FILE
@click.argument("text")
@TASK
@DEPTHS
def parse_command(source: str, text: str, task: LearningTask | None, max_depth: int) -> None:
    """Check that FILE has the pipeline TEXT (exit code 2 if not), and show its choices."""
    pipelines = _load(source, task, max_depth)[0].pipelines
    candidate = parse(text, pipelines, "TEXT")
    rows = [("pipeline", pipelines.text(candidate))]
    for name, pick in candidate.selection:
        rows.append((name, pick if isinstance(pick, str) else ", ".join(pick)))
    _print_rows(rows)


def _load(
    source: str, task: LearningTask | None, max_depth: int, plugins: Plugins | None = None
) -> list[Served]:
    """Return the grammar for every task that it serves; raise if it serves none."""
    plugins = plugins or installed()
    served: list[Served] = []
    problems: list[GrammarError] = []
    for each in TASKS if task is None else (task,):
        try:
            served.append(Served(each, _load_for(source, each, plugins, max_depth)))
        except GrammarError as problem:
            problems.append(problem)
    if not served:
        # "Nothing is left for this task" tells the user less than any other mistake.
        raise min(problems, key=lambda problem: Code.NOTHING_LEFT in problem.message)
    return served


def _load_for(source: str, task: LearningTask, plugins: Plugins, max_depth: int) -> CompiledGrammar:
    everywhere = frozenset(r.name for other in TASKS for r in plugins.components[other])
    return load_grammar(source, plugins.components[task], plugins.grammars, everywhere, max_depth)


def _facts(facts: Facts) -> Iterator[tuple[str, str]]:
    yield "shapes", f"{facts.shapes:,}"
    yield "selections", f"{facts.selections:,}"
    yield "decisions", f"{facts.decisions:,}"
    yield "parameters", f"{facts.parameters:,}"
    yield "components in a pipeline", f"{facts.shortest} to {facts.longest}"
    yield "nested", f"{facts.depth} deep"


def _print_rows(rows: Iterable[tuple[str, str]]) -> None:
    listed = list(rows)
    width = max(len(name) for name, _ in listed)
    for name, value in listed:
        say(f"{name:<{width}}  {in_a_line(value)}")
