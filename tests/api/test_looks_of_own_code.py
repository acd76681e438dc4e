"""Looks of runs with code of one's own: its name says nothing of what it does the next time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import KFold

from automl_admm import AutoMLRegressor, ComponentPlugin
from automl_admm.core.errors import ConfigurationError
from automl_admm.plugins.loading import PluginInfo, load_plugins
from automl_admm.runs.prepare import basis, preparation

GRAMMAR = "%import components (mine)\nstart: mine\n"
RNG = np.random.default_rng(5)
X = RNG.normal(size=(800, 4))
Y = X[:, 0] + RNG.normal(size=800)


def mine(penalty: float) -> ComponentPlugin:
    return ComponentPlugin(
        name="mine",
        summary="mine",
        role="estimator",
        tasks=("regression",),
        factory=lambda _values, _context: Ridge(alpha=penalty),
    )


def look_of(grammar: str = "tiny", **settings) -> int:
    fixed = {"executor": "inline", "ensemble": False, "on_infeasible": "closest", "certify": 0.95}
    limits = settings.pop("constraints", ["errors_above_2 <= 0.2"])
    search = AutoMLRegressor(
        grammar, max_evaluations=1, random_state=0, constraints=limits, **fixed, **settings
    )
    return search.fit(X, Y).certificate_.look


def test_a_run_made_again_as_it_was_has_its_look_again():
    assert [look_of(), look_of()] == [1, 1]


def test_an_edited_component_is_tested_in_a_new_look():
    looks = [look_of(GRAMMAR, components=[mine(penalty)]) for penalty in (1.0, 500.0, 2000.0)]
    assert looks == [1, 2, 3]


@pytest.mark.parametrize(
    "settings",
    [{"scoring": make_scorer(r2_score)}, {"cv": KFold(3)}],
    ids=["a scorer", "a splitter"],
)
def test_with_objects_of_ones_own_each_run_is_a_new_look(settings):
    assert [look_of(**settings), look_of(**settings)] == [1, 2]


def test_after_a_last_look_an_edited_component_is_refused():
    assert look_of(GRAMMAR, components=[mine(1.0)], last_look=True) == 1
    with pytest.raises(ConfigurationError, match="had their last look"):
        look_of(GRAMMAR, components=[mine(500.0)], last_look=True)


def test_other_versions_of_the_software_are_a_new_look(monkeypatch):
    first = look_of()
    newer = {**basis.versions(), "scikit-learn": "99.0"}
    monkeypatch.setattr(basis, "versions", lambda: newer)
    assert (first, look_of()) == (1, 2)


@pytest.mark.parametrize(("state", "looks"), [("active", [1, 2]), ("failed: it is broken", [1, 1])])
def test_with_a_plugin_of_others_each_run_is_a_new_look(state, looks, monkeypatch):
    """An editable one may be another under the same version; one that failed brings nothing."""

    def load(*given, **more):
        found = load_plugins(*given, **more)
        return replace(found, infos=[*found.infos, PluginInfo("theirs", "theirs 1.0", state)])

    monkeypatch.setattr(preparation, "load_plugins", load)
    monkeypatch.setattr(basis, "required", lambda _name: ())
    assert [look_of(), look_of()] == looks
