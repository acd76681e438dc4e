"""The promises of a grammar: it compiles, all that it offers can be built, and a pipeline fits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar
from unittest import SkipTest

import numpy as np
import pandas as pd

from automl_admm.core.errors import AutomlAdmmError, GrammarError
from automl_admm.core.space import Candidate, Choice, Order, SearchSpace
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar.compile import CompiledGrammar, load_grammar
from automl_admm.grammar.text.matcher import parse
from automl_admm.pipelines.build import build_pipeline, fit_pipeline, predict_scores
from automl_admm.plugins.records import TASKS, BuildContext, GrammarPlugin, LearningTask
from automl_admm.search.starts import default_start, draw_candidate
from automl_admm.testing.subjects import installed

ROWS = 60


class GrammarContract:
    """The promises of a grammar: subclass it, and return your record in `make`.

    `draws` is the number of pipelines drawn at random that are built, beside one for each
    alternative of each choice.
    """

    draws: ClassVar[int] = 20

    def make(self) -> GrammarPlugin:
        """Return the record."""
        raise NotImplementedError

    def compiled(self, task: LearningTask) -> CompiledGrammar:
        """Return the grammar for a task."""
        plugins, record = installed(), self.make()
        everywhere = frozenset(one.name for each in TASKS for one in plugins.components[each])
        return load_grammar(record.path, plugins.components[task], plugins.grammars, everywhere)

    def served(self) -> list[tuple[LearningTask, PipelineSpace]]:
        """Return the pipelines for each task that it serves; raise its mistakes if it has none."""
        found: list[tuple[LearningTask, PipelineSpace]] = []
        problems: list[GrammarError] = []
        for task in TASKS:
            try:
                found.append((task, self.compiled(task).pipelines))
            except GrammarError as problem:
                problems.append(problem)
        if not found:
            raise problems[0]
        return found

    def test_it_compiles_without_a_diagnostic(self) -> None:
        """Compile for one task at least."""
        assert self.served()

    def test_every_alternative_can_be_built(self) -> None:
        """Build a pipeline with each alternative of each choice, and some drawn at random."""
        for task, pipelines in self.served():
            for candidate in self._candidates(pipelines.space):
                text = pipelines.text(candidate)
                try:
                    _built(task, pipelines, candidate)
                except AutomlAdmmError as problem:
                    raise AssertionError(f"{text}: {problem}") from problem

    def _candidates(self, space: SearchSpace) -> Iterator[Candidate]:
        for decision in space.decisions:
            if isinstance(decision, Choice):
                for alternative in decision.alternatives:
                    picks = _active(space, decision) | {decision.name: alternative}
                    yield space.candidate(space.complete(picks), space.default_theta())
        rng = np.random.default_rng(0)
        yield from (draw_candidate(space, rng) for _ in range(self.draws))

    def test_a_pipeline_fits(self) -> None:
        """Fit the first pipeline of each task; its predictions are finite."""
        for task, pipelines in self.served():
            X, y, context = _table(task)
            candidate = default_start(pipelines.space)
            steps = pipelines.steps(candidate)
            pipeline = _built(task, pipelines, candidate, context)
            model = fit_pipeline(pipeline, steps, installed().components[task], X, y)
            assert np.isfinite(predict_scores(model, X)).all(), pipelines.text(candidate)

    def test_the_text_of_a_pipeline_is_read_as_the_same(self) -> None:
        """Read back what it writes of pipelines drawn at random, as `fit --start` does."""
        for _, pipelines in self.served():
            rng = np.random.default_rng(2)
            for _ in range(3):
                text = pipelines.text(draw_candidate(pipelines.space, rng))
                assert pipelines.text(parse(text, pipelines, "the text")) == text

    def test_a_quick_pipeline_is_its_own(self) -> None:
        """Find one of the `quick` pipelines among its own."""
        quick = self.make().quick
        if not quick:
            raise SkipTest("it names no quick pipelines")
        served = [pipelines for _, pipelines in self.served()]
        found = any(_has(pipelines, text) for text in quick for pipelines in served)
        assert found, f"it has none of {', '.join(quick)}"


def _active(space: SearchSpace, decision: Choice | Order) -> dict[str, Any]:
    """Return the picks that make a decision count."""
    by_name = {each.name: each for each in space.decisions}
    picks: dict[str, Any] = {}
    while decision.when is not None:
        picks[decision.when.decision] = decision.when.alternatives[0]
        decision = by_name[decision.when.decision]
    return picks


def _has(pipelines: PipelineSpace, text: str) -> bool:
    try:
        parse(text, pipelines, "quick")
    except AutomlAdmmError:
        return False
    return True


def _built(
    task: LearningTask,
    pipelines: PipelineSpace,
    candidate: Candidate,
    context: BuildContext | None = None,
) -> Any:
    known = installed().components[task]
    return build_pipeline(pipelines.steps(candidate), known, context or _table(task)[2], 0)


@cache
def _table(task: LearningTask) -> tuple[Any, Any, BuildContext]:
    """Return a table with columns of numbers and of categories, and one with text."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
    X["d"] = rng.choice(["x", "y"], ROWS)
    X["e"] = rng.choice(["one word", "another word", "no more"], ROWS)
    signal = X["a"] + (X["d"] == "x")
    y = signal.to_numpy()
    classes = 2 if task == "classification" else 0
    if classes:
        y = np.where(y > 0.5, "yes", "no")
    context = BuildContext(task, ("a", "b", "c"), ("d",), ("e",), levels=(2,), classes=classes)
    return X, y, context
