"""Every hook does what it says, for a plugin that is nobody's special case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score, make_scorer

from automl_admm import (
    BuildContext,
    CommandPlugin,
    ComponentPlugin,
    ConstraintPlugin,
    ExecutorPlugin,
    ExecutorSetting,
    GrammarPlugin,
    MetricPlugin,
    NoOptions,
    Parameter,
    StrategyPlugin,
    ThetaSolverPlugin,
    ZSolverPlugin,
    hookimpl,
)
from automl_admm.cli.main import program
from automl_admm.core.space import Selection
from automl_admm.core.subproblems import SelectionSubproblem, ThetaSubproblem
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import Solvers
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.protocol import Proposal, Search, SearchProblem
from automl_admm.search.starts import draw_candidate

GRAMMAR = """
%import components (clipper, decision_tree)
start: clipper decision_tree
"""


class Halton:
    """A θ-solver that always proposes the middle, and then the corner."""

    def begin(self, subproblem: ThetaSubproblem) -> None:
        self.dimension = len(subproblem.parameters)
        self.asked = 0

    def ask(self, count: int, pending: Sequence[np.ndarray]) -> list[np.ndarray]:
        self.asked += 1
        return [np.full(self.dimension, 0.5 / self.asked)]

    def tell(self, observations: object) -> None: ...


class Greedy:
    def begin(self, subproblem: SelectionSubproblem) -> None:
        self.start = subproblem.start

    def ask(self, count: int, pending: object) -> list[Selection]:
        return [self.start]

    def tell(self, observations: object) -> None: ...


class Everything:
    """A plugin with every hook there is; it keeps what observers are told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.heard: list[str] = []

    @hookimpl
    def theta_solvers(self) -> Iterable[ThetaSolverPlugin]:
        yield ThetaSolverPlugin(name="halton", summary="points", factory=lambda options: Halton())

    @hookimpl
    def z_solvers(self) -> Iterable[ZSolverPlugin]:
        yield ZSolverPlugin(name="greedy", summary="stays", factory=lambda options: Greedy())

    @hookimpl
    def strategies(self) -> Iterable[StrategyPlugin]:
        yield StrategyPlugin(name="walk", summary="draws", search=self.walk)

    def walk(self, problem: SearchProblem, solvers: Solvers, options: NoOptions) -> Search:
        self.heard.append(f"walk with {type(solvers.theta).__name__}")
        rng = np.random.default_rng(problem.seed)
        while True:
            yield Proposal(draw_candidate(problem.space, rng), "walk")

    @hookimpl
    def constraints(self) -> Iterable[ConstraintPlugin]:
        yield ConstraintPlugin(
            name="steps", summary="length", function=lambda done: len(done.pipeline.steps)
        )

    @hookimpl
    def components(self) -> Iterable[ComponentPlugin]:
        yield ComponentPlugin(
            name="clipper",
            summary="cuts large numbers",
            role="transformer",
            factory=build_clipper,
            parameters=(Parameter("upper", 1, 9, default=5),),
        )

    @hookimpl
    def metrics(self) -> Iterable[MetricPlugin]:
        yield MetricPlugin(
            name="fair_share",
            summary="balanced accuracy by another name",
            factory=lambda: make_scorer(balanced_accuracy_score),
        )

    @hookimpl
    def executors(self) -> Iterable[ExecutorPlugin]:
        yield ExecutorPlugin(name="here", summary="this process", factory=build_executor)

    @hookimpl
    def grammars(self) -> Iterable[GrammarPlugin]:
        path = self.folder / "mine.lark"
        path.write_text(GRAMMAR)
        yield GrammarPlugin(name="mine", summary="two steps", path=path)

    @hookimpl
    def commands(self) -> Iterable[CommandPlugin]:
        yield CommandPlugin(name="greet", summary="says hello", factory=lambda: greet)

    @hookimpl
    def run_started(self, info: Any) -> None:
        self.heard.append(f"run_started {info.seed}")

    @hookimpl
    def evaluation_started(self, text: str) -> None:
        self.heard.append(f"evaluation_started {text[:8]}")

    @hookimpl
    def evaluation_finished(self, evaluation: Any) -> None:
        self.heard.append(f"evaluation_finished {evaluation.status}")

    @hookimpl
    def iteration_finished(self, state: Any) -> None:
        self.heard.append(f"iteration_finished {state.iteration}")

    @hookimpl
    def run_finished(self, result: Any) -> None:
        self.heard.append(f"run_finished {result.stopped_by}")

    @hookimpl
    def should_stop(self, evaluations: int) -> bool | None:
        return True if evaluations >= 3 else None


def build_clipper(values: Mapping[str, Any], context: BuildContext) -> Any:
    from sklearn.preprocessing import FunctionTransformer

    return FunctionTransformer(
        np.clip, kw_args={"a_min": -values["upper"], "a_max": values["upper"]}
    )


def build_executor(work: Any, setting: ExecutorSetting, options: NoOptions) -> InlineExecutor:
    return InlineExecutor(work, setting)


@click.command("greet")
def greet() -> None:
    click.echo("hello")


@pytest.fixture
def everything(tmp_path: Path) -> Everything:
    return Everything(tmp_path)


@pytest.fixture
def outcome(everything: Everything) -> PipelineResult:
    X, y = load_iris(return_X_y=True)
    config = RunConfig(
        grammar="mine",
        scoring="fair_share",
        constraints=("steps <= 2",),
        theta_solver="halton",
        z_solver="greedy",
        executor="here",
        max_evaluations=50,
        random_state=7,
        extra_plugins={"everything": everything},
    )
    return run_pipelines(prepare(config, X, y))


def test_what_it_provides_is_used(outcome: PipelineResult) -> None:
    assert outcome.best.text.startswith("clipper(upper=")
    assert outcome.preparation.metric.name == "fair_share"
    assert outcome.best.constraints == (2.0,)
    assert outcome.score > 0.8


def test_its_observers_hear_of_everything_and_it_may_stop_the_run(
    everything: Everything, outcome: PipelineResult
) -> None:
    assert everything.heard == [
        "run_started 7",
        *["evaluation_started clipper(", "evaluation_finished success"] * 3,
        "run_finished a plugin",
    ]
    assert outcome.result.stopped_by == "a plugin"


def test_a_strategy_of_a_plugin_searches(everything: Everything) -> None:
    X, y = load_iris(return_X_y=True)
    config = RunConfig(
        grammar="mine",
        executor="here",
        strategy="walk",
        cv=2,
        max_evaluations=2,
        extra_plugins={"everything": everything},
    )
    outcome = run_pipelines(prepare(config, X, y))
    assert "walk with Guard" in everything.heard
    assert len({one.key for one in outcome.result.evaluations}) == 2


def test_iterations_are_told(everything: Everything) -> None:
    X, y = load_iris(return_X_y=True)
    config = RunConfig(
        grammar="mine",
        executor="here",
        strategy="admm:first=1,step=0",
        theta_solver="random",
        cv=2,
        max_evaluations=3,
        extra_plugins={"everything": everything},
    )
    run_pipelines(prepare(config, X, y))
    assert "iteration_finished 0" in everything.heard


def test_its_command_runs(everything: Everything, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load_plugins({"everything": everything})
    monkeypatch.setattr(program, "plugins", loaded)
    result = CliRunner().invoke(program, ["greet"])
    assert result.output == "hello\n"
    assert "greet" in CliRunner().invoke(program, ["--help"]).output
