"""What holds for every pipeline of every grammar that ships: it reads back, builds and fits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.grammar import load_grammar
from automl_admm.grammar.locate import packaged_grammars
from automl_admm.grammar.text.matcher import parse
from automl_admm.pipelines.build import build_pipeline, fit_pipeline, predict_scores
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import TASKS, BuildContext, ComponentPlugin, LearningTask
from automl_admm.plugins.registry import Registry

SHIPPED = sorted(path.stem for path in packaged_grammars())
# A few of each grammar, or all grammars together as many as the profile says.
EXAMPLES = max(10, -(-settings().max_examples // len(SHIPPED)))
ROWS = 48
Served = tuple[PipelineSpace, Registry[ComponentPlugin]]


def small_table(task: LearningTask) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, categories, gaps in both, and a column that is always the same."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS), "same": 1.0})
    frame["few"] = rng.integers(0, 4, ROWS).astype(float)
    frame["letter"] = rng.choice(list("xyz"), ROWS)
    frame["flag"] = rng.choice(["yes", "no"], ROWS)
    signal = frame["a"] + frame["b"] + (frame["letter"] == "x")
    for column, share in (("a", 0.1), ("few", 0.2), ("letter", 0.1)):
        frame.loc[rng.random(ROWS) < share, column] = np.nan
    target = np.where(signal > 0.3, "good", "bad")
    return frame, target if task == "classification" else signal.to_numpy()


TABLES = {task: small_table(task) for task in TASKS}


class Shelf:
    """Every shipped grammar as each task has it, with the task's components; loaded when asked for.

    It is printed in short: hypothesis writes a test's arguments beside what it finds.
    """

    def __init__(self) -> None:
        self._plugins = load_plugins()
        self._served: dict[tuple[str, LearningTask], Served] = {}

    def get(self, name: str, task: LearningTask) -> Served:
        if (name, task) not in self._served:
            known = self._plugins.components
            everywhere = frozenset(plugin.name for each in known.values() for plugin in each)
            loaded = load_grammar(name, known[task], self._plugins.grammars, everywhere)
            self._served[name, task] = (loaded.pipelines, known[task])
        return self._served[name, task]


@pytest.fixture(scope="module")
def shelf() -> Shelf:
    return Shelf()


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", SHIPPED)
# A smaller seed is no simpler pipeline, so that there is nothing to shrink.
@settings(max_examples=EXAMPLES, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(task=st.sampled_from(TASKS), seed=st.integers(0, 2**32 - 1))
def test_every_pipeline_of_a_shipped_grammar_reads_back_builds_and_fits(shelf, name, task, seed):
    pipelines, components = shelf.get(name, task)
    space, rng = pipelines.space, np.random.default_rng(seed)
    drawn = space.candidate(space.sample(rng), rng.uniform(size=len(space.parameters)))
    text = pipelines.text(drawn)
    read = parse(text, pipelines)
    assert pipelines.key(read) == pipelines.key(drawn)
    assert pipelines.text(read) == text
    steps, (X, y) = pipelines.steps(read), TABLES[task]
    context = BuildContext(task, ("a", "b", "same", "few"), ("letter", "flag"))
    with unheard_warnings():
        built = build_pipeline(steps, components, context, seed)
        scores = predict_scores(fit_pipeline(built, steps, components, X, y), X)
    # They may be NaN: a sparse projection may leave nothing but zeros, of which naive Bayes knows
    # nothing. An evaluation says so and is invalid.
    assert len(scores) == ROWS
