"""A second plugin of the distribution: every other hook there is, each as short as it can be."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automl_admm.plugin_api import (
    CommandPlugin,
    ExecutorPlugin,
    ExporterPlugin,
    GrammarPlugin,
    LocalExecutor,
    MetricPlugin,
    NoOptions,
    ObserverPlugin,
    StrategyPlugin,
    ZSolverPlugin,
    hookimpl,
)

if TYPE_CHECKING:
    import click

requires_api = "1.0"
log = logging.getLogger(__name__)


# --- providers -----------------------------------------------------------------------------------


class Draws:
    """A z-solver that draws every decision."""

    def begin(self, subproblem: Any) -> None:
        """Start on a table of decisions."""
        import numpy as np

        self.space, self.rng = subproblem.space, np.random.default_rng(subproblem.seed)

    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        """Draw selections."""
        del pending
        return [self.space.sample(self.rng) for _ in range(count)]

    def tell(self, observations: Sequence[Any]) -> None:
        """Learn nothing."""


@hookimpl
def z_solvers() -> Iterator[ZSolverPlugin]:
    """`draws`."""
    yield ZSolverPlugin(name="draws", summary="draws", factory=lambda _: Draws())


def drawn(problem: Any, solvers: Any, options: Any) -> Iterator[Any]:
    """Propose pipelines drawn at random, after those that the run begins with."""
    import numpy as np

    from automl_admm.plugin_api import Book, Proposal, draw_candidate, evaluate_starts

    del solvers, options
    book, rng = Book.of(problem), np.random.default_rng(problem.seed)
    yield from evaluate_starts(problem, book)
    while True:
        book.receive((yield Proposal(draw_candidate(problem.space, rng), "drawn")))


@hookimpl
def strategies() -> Iterator[StrategyPlugin]:
    """`drawn`."""
    yield StrategyPlugin(name="drawn", summary="pipelines at random", search=drawn)


def price(y_true: Any, y_pred: Any, classes: Any) -> float:
    """Return minus the price: a positive row that is missed costs six."""
    missed = (y_true == classes[-1]) & (y_pred != classes[-1])
    return -float(5 * missed.sum() + (y_true != y_pred).sum())


def build_price() -> Any:
    """Make the scorer."""
    from sklearn.metrics import make_scorer

    return make_scorer(price)


@hookimpl
def metrics() -> Iterator[MetricPlugin]:
    """`price`."""
    yield MetricPlugin(name="price", summary="a missed one costs six", factory=build_price)


@hookimpl
def executors() -> Iterator[ExecutorPlugin]:
    """`own-children`."""
    yield ExecutorPlugin(
        name="own-children",
        summary="children of this machine",
        factory=lambda work, setting, _: LocalExecutor(work, setting),
    )


@hookimpl
def grammars() -> Iterator[GrammarPlugin]:
    """`few-columns`."""
    path = Path(__file__).with_name("few_columns.lark")
    yield GrammarPlugin(name="few-columns", summary="few columns, a simple model", path=path)


class Counter:
    """An observer for runs that ask for it: `--observer counter`."""

    def __init__(self, options: NoOptions) -> None:
        del options
        self.count = 0

    def evaluation_finished(self) -> None:
        """Count."""
        self.count += 1

    def run_finished(self, info: Any) -> None:
        """Tell the count."""
        log.info("%s had %d evaluations", info.title, self.count)


@hookimpl
def observers() -> Iterator[ObserverPlugin]:
    """`counter`."""
    yield ObserverPlugin(name="counter", summary="counts evaluations", factory=Counter)


def write_losses(run: Any, target: str) -> str:
    """Write the loss of each evaluation."""
    lines = [f"{one.number} {one.loss}\n" for one in run.log]
    Path(target).write_text("".join(lines), encoding="utf-8")
    return f"{len(lines)} losses in {target}"


@hookimpl
def exporters() -> Iterator[ExporterPlugin]:
    """`losses`."""
    yield ExporterPlugin(
        name="losses", summary="losses alone", target="losses.txt", write=write_losses
    )


def build_command() -> click.Command:
    """Make the command."""
    import click

    from automl_admm.plugin_api import read_run

    @click.command("count-evaluations")
    @click.argument("run", type=click.Path(path_type=Path))
    def command(run: Path) -> None:
        """Say how many evaluations the folder RUN has."""
        click.echo(f"{len(read_run(run).log)} evaluations")

    return command


@hookimpl
def commands() -> Iterator[CommandPlugin]:
    """`count-evaluations`."""
    yield CommandPlugin(
        name="count-evaluations", summary="count evaluations", factory=build_command
    )


# --- observers -----------------------------------------------------------------------------------


@hookimpl
def run_started(info: Any) -> None:
    """Hear of the beginning."""
    log.info("%s begins", info.title)


@hookimpl
def evaluation_started(number: int, text: str) -> None:
    """Hear of a candidate at a worker; a hook takes those arguments that it needs."""
    log.debug("%d: %s", number, text)


@hookimpl
def evaluation_finished(evaluation: Any) -> None:
    """Hear of a result, or of a failure."""
    log.info("%d: %s", evaluation.number, evaluation.ending)


@hookimpl
def iteration_finished(state: Any) -> None:
    """Hear of an outer iteration of ADMM."""
    log.info("primal residual %g", state.primal_residual)


@hookimpl
def solver_replaced(solver: str, reason: str) -> None:
    """Hear of a solver that broke a promise."""
    log.warning("%s: %s", solver, reason)


@hookimpl
def run_finished(info: Any, result: Any) -> None:
    """Hear of the end; there may be no best evaluation."""
    log.info("%s ends: %s", info.title, result.best and result.best.text)


@hookimpl
def should_stop(info: Any, incumbent: Any) -> bool | None:
    """End a search that cannot get better: a metric that is best at 1 has reached it."""
    if incumbent is None or info.best_score is None:
        return None
    return bool(incumbent.loss == 0.0 and not info.limits)
