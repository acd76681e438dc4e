"""Beginning at pipelines that the user wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar import load_grammar
from automl_admm.grammar.compile import compile_text
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.prepare.starts import read_starts

TREE = "impute() decision_tree(max_depth=3)"
BAYES = 'impute(strategy="median") standard_scaler() gaussian_nb()'


@pytest.fixture(scope="module")
def pipelines() -> PipelineSpace:
    plugins = load_plugins()
    everywhere = frozenset(p.name for registry in plugins.components.values() for p in registry)
    components = plugins.components["classification"]
    return load_grammar("tiny", components, plugins.grammars, everywhere).pipelines


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(60, 5, random_state=0)


def test_texts_and_files_are_read_in_their_order_and_once(pipelines, tmp_path):
    path = tmp_path / "starts.txt"
    path.write_text(f"# good ones\n{TREE}\n\n{BAYES}\n", "utf-8")
    found = [pipelines.text(start) for start in read_starts((BAYES, path, TREE), pipelines)]
    assert len(found) == 2
    assert found[0] == BAYES
    assert "max_depth=3" in found[1]


def test_every_mistake_is_told_with_its_place(pipelines, tmp_path):
    path = tmp_path / "starts.txt"
    path.write_text(f"{TREE}\nimpute() pca()\n{BAYES} \nimpute( gaussian_nb()\n", "utf-8")
    with pytest.raises(ConfigurationError) as caught:
        read_starts((path,), pipelines)
    assert f"{path}:2:10: error[P002]" in caught.value.message
    assert f"{path}:4:20: error[P001]" in caught.value.message
    with pytest.raises(ConfigurationError, match="start:1:10: error"):
        read_starts(("impute() pca()",), pipelines)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"# nothing\n", "has no pipeline"),
        (b"\xff", "not UTF-8 text"),
        (b"#" * 1_000_001, "too large"),
    ],
)
def test_a_file_that_has_none_is_refused(pipelines, tmp_path, content, says):
    path = tmp_path / "starts.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=says):
        read_starts((path,), pipelines)


@pytest.mark.parametrize("name", [".", "nowhere.txt", "x" * 5_000])
def test_what_is_no_file_is_refused(pipelines, name):
    with pytest.raises(ConfigurationError, match=r"no file|cannot be read"):
        read_starts((Path(name),), pipelines)


def test_the_search_is_told_where_to_begin(data):
    config = RunConfig(grammar="tiny", max_evaluations=3, starts=(BAYES, TREE))
    problem = prepare(config, *data).problem
    assert [problem.text(start).split("(")[0] for start in problem.starts] == ["impute"] * 2
    assert problem.text(problem.starts[0]) == BAYES


@pytest.mark.parametrize("strategy", ["admm", "joint"])
def test_the_first_evaluations_are_the_starts(data, strategy):
    search = AutoMLClassifier(
        "tiny",
        starts=[BAYES, TREE],
        cv=2,
        max_evaluations=4,
        strategy=strategy,
        theta_solver="random",
        z_solver="random",
        executor="inline",
        random_state=0,
    ).fit(*data)
    first, second = search.cv_results_["pipeline"][:2]
    assert first == BAYES
    assert "max_depth=3" in second
    assert len(search.cv_results_["pipeline"]) == 4


def test_one_text_is_a_list_of_one(data):
    search = AutoMLClassifier("tiny", starts=TREE, cv=2, max_evaluations=1, executor="inline")
    assert "max_depth=3" in search.fit(*data).best_text_


QUICK = "standard_scaler() logistic_regression("


def test_a_timed_search_begins_with_a_quick_pipeline(data):
    problem = prepare(RunConfig(time_budget=60.0), *data).problem
    assert [QUICK in problem.text(one) for one in (*problem.quick, *problem.starts)] == [
        True,
        False,
    ]


def test_of_quick_pipelines_the_first_that_the_task_has_is_taken(data):
    X, y = data
    problem = prepare(RunConfig(time_budget=60.0, task="regression"), X, y + X[:, 0]).problem
    assert ["ridge(" in problem.text(one) for one in problem.quick] == [True]


@pytest.mark.parametrize(
    "settings",
    [
        {"max_evaluations": 3},
        {"time_budget": 60.0, "starts": ("impute() gaussian_nb()",)},
        {"time_budget": 60.0, "grammar": "tiny"},
    ],
)
def test_where_the_user_says_how_it_begins_nothing_comes_before(data, settings):
    assert prepare(RunConfig(**settings), *data).problem.quick == ()


@pytest.mark.parametrize("strategy", ["admm", "joint"])
def test_the_search_begins_at_its_start_though_the_quick_one_was_first(data, strategy):
    plan = prepare(RunConfig(time_budget=60.0, strategy=strategy, executor="inline"), *data)
    search = plan.plan.search(plan.problem, lambda *_, **__: ())
    first = next(search)
    second = search.send([])
    assert [QUICK in plan.problem.text(event.candidate) for event in (first, second)] == [
        True,
        False,
    ]
    search.close()


def test_a_component_of_the_grammar_without_columns_here_is_told_with_the_reason() -> None:
    plugins, text = load_plugins(), "%import components (impute, target, one_hot, gaussian_nb)\n"
    grammar = compile_text(
        text + "start: impute (target | one_hot)? gaussian_nb\n",
        "mine",
        plugins.components["classification"],
        facts=frozenset(),
    )
    with pytest.raises(ConfigurationError, match="it is in the grammar, but needs category"):
        read_starts(("impute() one_hot() gaussian_nb()",), grammar.pipelines, grammar.absent)
    with pytest.raises(ConfigurationError) as caught:
        read_starts(("impute() ordinal() gaussian_nb()",), grammar.pipelines, grammar.absent)
    assert "it is in the grammar" not in str(caught.value)
