"""The hooks of the entry-point group `automl_admm`, in the order in which a run meets them.

*Providers* take no argument and return records, so that anyone can list a plugin without
building anything. *Observers* are told what happens, each in a thread of its own; one that raises
or does not come back is reported and dropped, and the run goes on. `should_stop` is the only hook
whose answer steers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from automl_admm.core.admm_state import AdmmState
    from automl_admm.core.evaluations import Evaluation
    from automl_admm.core.run import RunInfo, RunResult
    from automl_admm.plugins.observer_plugin import ObserverPlugin
    from automl_admm.plugins.records import (
        CommandPlugin,
        ComponentPlugin,
        ConstraintPlugin,
        ExecutorPlugin,
        ExporterPlugin,
        GrammarPlugin,
        MetricPlugin,
        StrategyPlugin,
        ThetaSolverPlugin,
        ZSolverPlugin,
    )

PROJECT = "automl_admm"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


# --- providers -----------------------------------------------------------------------------------


@hookspec
def theta_solvers() -> Iterable[ThetaSolverPlugin]:
    """Provide solvers for θ-min.

    The factory and all calls of a solver run in a thread; if it hangs, the run leaves it.

    Example::

        @hookimpl
        def theta_solvers():
            yield ThetaSolverPlugin(name="halton", summary="Halton points", factory=build_halton)
    """


@hookspec
def z_solvers() -> Iterable[ZSolverPlugin]:
    """Provide solvers for z-min.

    A factory, and all that a solver does, is called in a thread that can be left if it hangs.

    Example::

        @hookimpl
        def z_solvers():
            yield ZSolverPlugin(name="greedy", summary="one change at a time", factory=build_greedy)
    """


@hookspec
def strategies() -> Iterable[StrategyPlugin]:
    """Provide strategies: searches that let solvers work on the problem.

    A search is a generator: it yields proposals and is sent evaluations. It runs in the thread of
    the run, and its exceptions end the run in one line.

    Example::

        def draw(problem, solvers, options):
            book, rng = Book.of(problem), np.random.default_rng(problem.seed)
            yield from evaluate_starts(problem, book)
            while True:
                results = yield Proposal(draw_candidate(problem.space, rng), "draw")
                book.receive(results)

        @hookimpl
        def strategies():
            yield StrategyPlugin(name="draw", summary="random pipelines", search=draw)
    """


@hookspec
def constraints() -> Iterable[ConstraintPlugin]:
    """Provide measurements that users can set limits on: `NAME <= number`.

    A function returns a number, or a record of `automl_admm.core.evidence`, which a certificate can
    rest on. With `kind="statistical"` limits on `NAME_gap[column]` and `NAME_ratio[column]` come
    by themselves. One that compares groups in a way of its own is given, as `grouped`, a mask of
    the rows of every group; limits on it are written `NAME[column]`.

    Example::

        def refused(evaluated):
            return Rate(int((evaluated.decisions == 0).sum()), len(evaluated.y))

        def most_refused(evaluated, groups):
            return Largest({name: refused(evaluated.part(rows)) for name, rows in groups.items()})

        @hookimpl
        def constraints():
            yield ConstraintPlugin(name="refused", summary="rows refused, a share", highest=1.0,
                                   function=refused, kind="statistical", target="two classes")
            yield ConstraintPlugin(name="most_refused", summary="refused in the worst-off group",
                                   grouped=most_refused, kind="statistical", target="two classes")
    """


@hookspec
def components() -> Iterable[ComponentPlugin]:
    """Provide transformers and estimators that a grammar can `%import components`.

    Example::

        @hookimpl
        def components():
            yield ComponentPlugin(name="spline", summary="B-splines", role="transformer",
                                  factory=build_spline,
                                  parameters=(Parameter("n_knots", 3, 12, kind="int"),))
    """


@hookspec
def metrics() -> Iterable[MetricPlugin]:
    """Provide metrics beside those that scikit-learn knows by name.

    A metric is called with a fitted pipeline, rows, and their labels as they are in the data: they
    may be text, or 1 and 2, and so are the predictions. (Limits see numbers, 1 for the positive
    class.) If it has a parameter `classes`, or what `make_scorer` was given has one, it is given
    all labels, sorted, the positive one last; None where a quantity is predicted. Larger is better.
    One that is no better for right predictions than for wrong ones is refused before the search.

    Example::

        def cost(y_true, y_pred, classes):
            missed = (y_true == classes[-1]) & (y_pred != classes[-1])
            return -5.0 * missed.sum() - (y_true != y_pred).sum()

        @hookimpl
        def metrics():
            yield MetricPlugin(name="gini", summary="2 AUROC - 1", factory=make_gini_scorer)
            yield MetricPlugin(name="cost", summary="a missed one costs six",
                               factory=lambda: make_scorer(cost))
    """


@hookspec
def observers() -> Iterable[ObserverPlugin]:
    """Provide observers for the runs that ask for them: `--observer NAME:key=value`.

    Example::

        class Bell:
            def run_finished(self, result):
                print("done:", result.best)

        @hookimpl
        def observers():
            yield ObserverPlugin(name="bell", summary="rings", factory=lambda options: Bell())
    """


@hookspec
def executors() -> Iterable[ExecutorPlugin]:
    """Provide ways to run evaluations; `close` must be able to kill what runs.

    Example::

        @hookimpl
        def executors():
            yield ExecutorPlugin(name="cluster", summary="our cluster", factory=connect)
    """


@hookspec
def grammars() -> Iterable[GrammarPlugin]:
    """Provide grammars by name.

    Example::

        @hookimpl
        def grammars():
            yield GrammarPlugin(name="text", summary="for texts", path=HERE / "text.lark")
    """


@hookspec
def exporters() -> Iterable[ExporterPlugin]:
    """Provide forms of other tools for `automl-admm export RUN --to NAME:TARGET`.

    `write` is given the run, finished or still going on, and the text behind the colon.

    Example::

        def write_losses(run, target):
            Path(target).write_text(" ".join(str(one.loss) for one in run.log))
            return f"{len(run.log)} losses in {target}"

        @hookimpl
        def exporters():
            yield ExporterPlugin(name="losses", summary="losses alone", target="FILE",
                                 write=write_losses)
    """


@hookspec
def commands() -> Iterable[CommandPlugin]:
    """Provide sub-commands of `automl-admm`.

    Example::

        @hookimpl
        def commands():
            yield CommandPlugin(name="deploy", summary="ship a run", factory=make_deploy_command)
    """


# --- observers -----------------------------------------------------------------------------------


@hookspec
def run_started(info: RunInfo) -> None:
    """The search is about to begin.

    Example::

        @hookimpl
        def run_started(info):
            log.info("%s evaluations at most", info.max_evaluations)
    """


@hookspec
def evaluation_started(info: RunInfo, number: int, text: str) -> None:
    """A candidate was handed to a worker.

    Example::

        @hookimpl
        def evaluation_started(info, number, text):
            log.debug("%d: %s", number, text)
    """


@hookspec
def evaluation_finished(info: RunInfo, evaluation: Evaluation) -> None:
    """An evaluation ended, in whatever way, and is in the store.

    Example::

        @hookimpl
        def evaluation_finished(info, evaluation):
            log.info("%s %s", evaluation.status, evaluation.text)
    """


@hookspec
def iteration_finished(info: RunInfo, state: AdmmState) -> None:
    """One outer iteration ended.

    Example::

        @hookimpl
        def iteration_finished(info, state):
            log.info("primal residual %g", state.primal_residual)
    """


@hookspec
def solver_replaced(info: RunInfo, solver: str, reason: str) -> None:
    """A solver broke its promises, and random proposals take its place until the run ends.

    `solver` says in words which it is and who provides it, `reason` what it did.

    Example::

        @hookimpl
        def solver_replaced(info, solver, reason):
            log.warning("%s %s", solver, reason)
    """


@hookspec
def run_finished(info: RunInfo, result: RunResult) -> None:
    """The run ended and its result is known.

    Example::

        @hookimpl
        def run_finished(info, result):
            log.info("best: %s", result.best)
    """


# --- steering ------------------------------------------------------------------------------------


@hookspec(firstresult=True)
def should_stop(info: RunInfo, evaluations: int, incumbent: Evaluation | None) -> bool | None:
    """Say True to end the search now; asked after every evaluation and four times a second.

    What runs in a child is killed then. In the executor `inline` it is waited for.

    Example::

        @hookimpl
        def should_stop(info, evaluations, incumbent):
            return incumbent is not None and incumbent.loss < 0.01
    """
