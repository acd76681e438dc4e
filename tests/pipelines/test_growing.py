"""A fit that goes on from a smaller one is the fit from the start, and never of other data."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from short_texts import few_places
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from automl_admm.api.estimators import AutoMLClassifier
from automl_admm.core.errors import PluginError
from automl_admm.core.space import Candidate
from automl_admm.execution.task_folders import SHARED, TaskFolders
from automl_admm.pipelines import growing as subject
from automl_admm.pipelines.growing import GrowingFit
from automl_admm.pipelines.kept_fits import KeptFit, KeptFits
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.growth import Growth
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.runs.config import RunConfig
from automl_admm.runs.given_objects import take_objects
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.protocol import WAIT, Proposal
from automl_admm.testing.contracts import ComponentContract

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = (X[:, 0] + RNG.normal(size=120) > 0).astype(int)
SHIPPED = {task: load_plugins().components[task] for task in ("classification", "regression")}
GROWERS = [
    pytest.param(record, id=f"{record.name}-{task}")
    for task, records in SHIPPED.items()
    for record in records
    if record.growth is not None and records.provider(record.name).startswith("automl-admm ")
]


@pytest.fixture
def fits(tmp_path: Path) -> Callable[..., GrowingFit]:
    place = tmp_path / "place"
    place.mkdir()

    def make(growth: Growth | None = None, *, keeps: bool, most: int = 10**9) -> GrowingFit:
        kept = KeptFits(place, most)
        return GrowingFit(growth or Growth(), "n_estimators", kept, tmp_path, keeps)

    return make


def forest(trees: int = 9, **more: Any) -> Any:
    return RandomForestClassifier(trees, random_state=3, **more)


def proba(model: Any) -> Any:
    return model.predict_proba(X)


@pytest.mark.parametrize("weights", [None, RNG.random(120)])
def test_a_fit_goes_on_and_is_that_from_the_start(fits: Any, weights: Any) -> None:
    fits(keeps=True).fit(forest(3), X, Y, weights)
    fit = fits(keeps=False)
    grown = fit.fit(forest(), X, Y, weights)
    assert fit.grown
    assert fit.earlier_seconds > 0
    assert np.array_equal(proba(grown), proba(forest().fit(X, Y, sample_weight=weights)))
    assert grown.get_params() == forest().get_params()
    assert fit.kept.is_empty(), "nothing goes on from a whole fit"


def test_a_fit_climbs_several_rungs_and_its_seconds_add_up(fits: Any) -> None:
    fits(keeps=True).fit(forest(2), X, Y, None)
    middle = fits(keeps=True)
    middle.fit(forest(5), X, Y, None)
    assert middle.grown
    (file,) = middle.kept.folder.iterdir()
    kept = pickle.loads(file.read_bytes())
    assert (kept.size, len(kept.model.estimators_)) == (5, 5)
    assert kept.seconds > middle.earlier_seconds
    whole = fits(keeps=False)
    assert np.array_equal(proba(whole.fit(forest(), X, Y, None)), proba(forest().fit(X, Y)))
    assert whole.earlier_seconds == kept.seconds


CHANGED = np.where(np.arange(120) == 7, 9.0, X[:, 0])


@pytest.mark.parametrize(
    ("model", "table", "target", "weights"),
    [
        (forest(), np.column_stack([CHANGED, X[:, 1:]]), Y, None),
        (forest(), X, np.where(np.arange(120) == 7, 1 - Y, Y), None),
        (forest(), X[:100], Y[:100], None),
        (forest(), X, Y, np.ones(120)),
        (forest(min_samples_leaf=4), X, Y, None),
        (clone(forest()).set_params(random_state=4), X, Y, None),
        (forest(2), X, Y, None),
        (forest(3), X, Y, None),
    ],
    ids=["table", "target", "fold", "weights", "parameter", "seed", "smaller", "equal"],
)
def test_other_data_or_settings_are_fitted_anew(
    fits: Any, model: Any, table: Any, target: Any, weights: Any
) -> None:
    fits(keeps=True).fit(forest(3), X, Y, None)
    fit = fits(keeps=True)
    found = fit.fit(clone(model), table, target, weights)
    assert not fit.grown
    again = clone(model).fit(table, target, sample_weight=weights)
    assert np.array_equal(proba(found), proba(again))


def test_a_smaller_fit_leaves_a_larger_one_kept(fits: Any) -> None:
    for trees in (6, 3):
        fits(keeps=True).fit(forest(trees), X, Y, None)
    fit = fits(keeps=False)
    fit.fit(forest(), X, Y, None)
    assert fit.grown


def test_a_class_that_a_fold_lacks_is_lacking_in_both(fits: Any) -> None:
    y = np.where(np.arange(120) == 0, "rare", np.where(Y, "a", "b"))
    for rows in (np.arange(120), np.arange(1, 120)):
        fits(keeps=True).fit(forest(3), X[rows], y[rows], None)
    for rows, classes in ((np.arange(1, 120), 2), (np.arange(120), 3)):
        fit = fits(keeps=False)
        grown = fit.fit(forest(), X[rows], y[rows], None)
        assert fit.grown
        assert len(grown.classes_) == classes
        assert np.array_equal(proba(grown), proba(forest().fit(X[rows], y[rows])))


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps("a text")])
def test_a_damaged_file_is_fitted_anew(fits: Any, content: bytes) -> None:
    fits(keeps=True).fit(forest(3), X, Y, None)
    fit = fits(keeps=False)
    (file,) = fit.kept.folder.iterdir()
    file.write_bytes(content)
    assert np.array_equal(proba(fit.fit(forest(), X, Y, None)), proba(forest().fit(X, Y)))
    assert not fit.grown


def refuse(model: Any) -> bool:
    raise RuntimeError("no")


def test_a_growth_that_raises_is_fitted_anew(fits: Any) -> None:
    fits(keeps=True).fit(forest(3), X, Y, None)
    fit = fits(Growth(has_stopped=refuse), keeps=False)
    assert np.array_equal(proba(fit.fit(forest(), X, Y, None)), proba(forest().fit(X, Y)))
    assert not fit.grown


def test_a_fit_that_may_not_grow_is_not_kept(fits: Any) -> None:
    fit = fits(Growth(may_grow=lambda model: False), keeps=True)
    fit.fit(forest(3), X, Y, None)
    assert fit.kept.is_empty()


def test_a_fit_that_stopped_is_the_larger_one(fits: Any) -> None:
    model = GradientBoostingClassifier(
        n_estimators=60, n_iter_no_change=2, learning_rate=1.0, random_state=0
    )
    growth = SHIPPED["classification"].get("gradient_boosting").growth
    fits(growth, keeps=True).fit(clone(model), X, Y, None)
    larger, fit = clone(model).set_params(n_estimators=200), fits(growth, keeps=False)
    grown = fit.fit(clone(larger), X, Y, None)
    assert fit.grown
    assert grown.n_estimators_ < 60
    assert grown.get_params() == larger.get_params()
    assert np.array_equal(proba(grown), proba(larger.fit(X, Y)))


def test_boosting_that_has_not_stopped_begins_anew(fits: Any) -> None:
    for name, size, model in (
        ("gradient_boosting", "n_estimators", GradientBoostingClassifier(n_iter_no_change=5)),
        (
            "hist_gradient_boosting",
            "max_iter",
            HistGradientBoostingClassifier(early_stopping=True),
        ),
    ):
        fit = fits(SHIPPED["classification"].get(name).growth, keeps=True)
        fit.name = size
        fit.fit(model.set_params(**{size: 3}), X, Y, None)
        assert fit.kept.is_empty(), "it may have stopped with its very last tree"


def test_the_model_within_a_component_grows(fits: Any) -> None:
    def chain(trees: int) -> Any:
        return make_pipeline(StandardScaler(), forest(trees))

    fits(keeps=True).fit(chain(3), X, Y, None)
    fit = fits(keeps=False)
    grown = fit.fit(chain(9), X, Y, None)
    assert fit.grown
    assert np.array_equal(proba(grown), proba(chain(9).fit(X, Y)))
    heavy = fits(keeps=True)
    heavy.fit(chain(3), X, Y, np.where(Y, 2.0, 1.0))
    assert heavy.kept.is_empty(), "rows are drawn before its first step"


def test_the_oldest_fits_make_room(fits: Any) -> None:
    one = fits(keeps=True)
    size = len(pickle.dumps(KeptFit(3, 0.0, clone(forest(3)).fit(X, Y))))
    for most, kept in ((size // 2, 0), (int(2.5 * size), 2)):
        for leaf in (1, 2, 3):
            fit = fits(keeps=True, most=most)
            fit.fit(forest(3, min_samples_leaf=leaf), X, Y, None)
        assert len(list(one.kept.folder.iterdir())) == kept
    assert not list(one.scratch.glob("*.kept"))


def test_a_place_that_is_gone_keeps_nothing(fits: Any) -> None:
    fit = fits(keeps=True)
    fit.kept.folder.rmdir()
    assert np.array_equal(proba(fit.fit(forest(), X, Y, None)), proba(forest().fit(X, Y)))
    assert fit.kept.is_empty()


def test_the_folders_of_tasks_have_a_place_beside_them(tmp_path: Path) -> None:
    folders = TaskFolders(tmp_path)
    (tmp_path / SHARED / "left").write_bytes(b"by a task")
    folders.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [{"growth": True}, {"growth": Growth()}])
def test_a_growth_without_a_size_is_refused(wrong: Any) -> None:
    with pytest.raises(PluginError, match="growth must be a Growth, and fidelity must name"):
        ComponentPlugin(name="a", summary="b", role="estimator", factory=dict, **wrong)
    with pytest.raises(PluginError, match="may_grow must be a function of a model, not 3"):
        Growth(may_grow=3)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def prepared() -> Any:
    text = "%import components (random_forest)\nstart: random_forest\n"
    settings = {"grammar": text, "cv": 2, "max_evaluations": 1, "min_fidelity": 0.1}
    return prepare(RunConfig(**take_objects(settings)), X, Y)


def test_an_evaluation_grows_every_fold_of_its_own(prepared: Any, tmp_path: Path) -> None:
    work, space = prepared.work, prepared.grammar.pipelines.space
    whole = space.candidate(space.complete({}), space.default_theta())
    folder, grown = tmp_path / "task-1", []
    for one in (folder, tmp_path / SHARED):
        one.mkdir()
    plain = work.evaluate(whole, 7, folder)
    assert not list((tmp_path / SHARED).iterdir()), "a run of whole evaluations keeps nothing"
    work.evaluate(Candidate(whole.selection, whole.theta, 0.25), 7, folder)
    assert len(list((tmp_path / SHARED).iterdir())) == 2
    original = subject.GrowingFit.fit

    def noted(fit: GrowingFit, *given: Any) -> Any:
        model = original(fit, *given)
        grown.append(fit.grown)
        return model

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject.GrowingFit, "fit", noted)
        found = work.evaluate(whole, 7, folder)
    assert grown == [True, True]
    assert (found.loss, found.details["scores"]) == (plain.loss, plain.details["scores"])


def climb(problem: Any, solvers: Any) -> Any:
    """Ask for the start at three fidelities."""
    del solvers
    for fidelity in (0.1, 0.3, 1.0):
        found = yield Proposal(replace(problem.starts[0], fidelity=fidelity), "climb")
        while not found:
            found = yield WAIT


def test_a_search_grows_what_it_asks_for_again() -> None:
    seeds, grown, original = set(), [], PipelineWork.evaluate
    fit = subject.GrowingFit.fit

    def noted(work: Any, candidate: Any, seed: int, *given: Any, **more: Any) -> Any:
        seeds.add(seed)
        return original(work, candidate, seed, *given, **more)

    def told(one: GrowingFit, *given: Any) -> Any:
        model = fit(one, *given)
        grown.append(one.grown)
        return model

    text = "%import components (extra_trees)\nstart: extra_trees\n"
    settings = {"strategy": climb, "executor": "inline", "cv": 2, "min_fidelity": 0.1}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PipelineWork, "evaluate", noted)
        patch.setattr(subject.GrowingFit, "fit", told)
        AutoMLClassifier(text, max_evaluations=2, random_state=0, **settings).fit(X, Y)
    assert len(seeds) == 1, "a pipeline has one seed at every fidelity"
    assert grown == [False, False, True, True, True, True]


@pytest.mark.filterwarnings("ignore")  # libraries say that a small table is small
@pytest.mark.parametrize("record", GROWERS)
def test_every_builtin_grows_as_it_declares(record: ComponentPlugin) -> None:
    class Contract(ComponentContract):
        draws = 1

        def make(self) -> ComponentPlugin:
            return record

    with few_places():
        Contract().test_it_grows_to_the_model_of_a_fit_from_the_start()
