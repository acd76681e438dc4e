"""A plugin in another version than at the fit: fitted in one process, used in others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from program import run_program, run_python

pytestmark = pytest.mark.timeout(400)

PLUGIN = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from automl_admm import ComponentPlugin, ConstraintPlugin, MetricPlugin, hookimpl

class Guess(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.inner_ = GaussianNB().fit(self._seen(X), y)
        self.classes_ = self.inner_.classes_
        return self
    def predict_proba(self, X):
        return self.inner_.predict_proba(self._seen(X))
    def _seen(self, X):
        found = np.array(X, dtype=float)
        found[:, :{first}] = 0
        return found
    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

@hookimpl
def components():
    yield ComponentPlugin(
        name="guess", summary="s", role="estimator", tasks=("classification",),
        factory=lambda values, context: Guess(), trusted_types=("guessing.Guess",),
    )
"""
MEASURES = """
from automl_admm import ConstraintPlugin, MetricPlugin, hookimpl

@hookimpl
def metrics():
    yield MetricPlugin(
        name="right", summary="s", factory=lambda: lambda m, X, y: (m.predict(X) == y).mean()
    )

@hookimpl
def constraints():
    yield ConstraintPlugin(
        name="share", summary="s", kind="statistical", lowest=0.0, highest=1.0,
        function=lambda evaluated: float((evaluated.decisions == evaluated.y).mean()),
    )
"""
LOAD = """
import sys, warnings
from automl_admm import load
from automl_admm.core.errors import VersionWarning
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    load(sys.argv[1])
print(*[one.message for one in caught if one.category is VersionWarning], sep="\\n")
"""


class Site:
    """Folders of installed plugins, and the program with one of them on its path."""

    def __init__(self, place: Path, install) -> None:
        self.place, self.install = place, install

    def put(self, label: str, name: str, source: str, version: str) -> str:
        self.install(self.place / label, name, source, version)
        return label

    def env(self, *labels: str) -> dict[str, str]:
        folders = [str(self.place / label) for label in labels]
        path = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])
        return os.environ | {"PYTHONPATH": path, "XDG_CACHE_HOME": str(self.place / "cache")}

    def run(self, labels, *arguments):
        return run_program(*map(str, arguments), env=self.env(*labels), timeout=350)


@pytest.fixture(scope="module")
def site(install_plugin, tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("site"), install_plugin)
    site.put("old", "guessing", PLUGIN.format(first=0), "0.1.0")
    site.put("new", "guessing", PLUGIN.format(first=1), "0.2.0")
    site.put("measures", "measuring", MEASURES, "1.0")
    site.put("other-measures", "measuring", MEASURES, "1.1")
    (site.place / "guess.lark").write_text("%import components (guess)\nstart: guess\n")
    return site


def fit(site, labels, table, out, *more):
    grammar = ("--grammar", site.place / "guess.lark", "--max-evaluations", "1")
    plain = ("--target", "buys", "--executor", "inline", "--no-ensemble", "-q", "--out", out)
    done = site.run(labels, "fit", table, *grammar, *plain, *more)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def run_folder(site, table):
    return fit(site, ["old"], table, site.place / "run")


OTHER = "the model was fitted with guessing 0.1.0, and this is 0.2.0: it may predict otherwise."


def test_the_version_of_the_fit_is_no_news(site, run_folder, table):
    assert "guessing" in json.loads((run_folder / "model.json").read_text())["versions"]
    for command in ("predict", "evaluate"):
        done = site.run(["old"], command, run_folder, table)
        assert done.returncode == 0, done.stderr
        assert "fitted with" not in done.stdout + done.stderr
    done = run_python("-c", LOAD, str(run_folder), env=site.env("old"))
    assert done.stdout.strip() == "", done.stderr


@pytest.mark.fault(
    "F57",
    injected="another version of the plugin behind the model",
    expected="one line by predict, evaluate and load",
)
def test_another_version_is_told_by_each_use(site, run_folder, table, seen):
    done = site.run(["new"], "predict", run_folder, table)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"warning: {OTHER}") == 1
    assert "warning" not in done.stdout
    done = site.run(["new"], "evaluate", run_folder, table)
    assert done.stderr.count(f"warning: {OTHER}") == 1
    assert "warning" not in done.stdout
    done = site.run(["new"], "evaluate", run_folder, table, "--json")
    assert json.loads(done.stdout)["versions"][0].startswith(OTHER)
    for rest in (("monitor",), ("verify",), ("verify", "--fresh")):
        done = site.run(["new"], rest[0], run_folder, table, *rest[1:])
        assert done.stderr.count(f"warning: {OTHER}") == 1
    done = run_python("-c", LOAD, str(run_folder), env=site.env("new"))
    assert done.stdout.startswith(OTHER), done.stderr
    assert done.stdout.count("\n") == 1
    seen(OTHER)


@pytest.mark.fault(
    "F57", injected="the plugin behind the model is gone", expected="exit 7: install it"
)
def test_a_missing_plugin_is_named_with_its_version(site, run_folder, table, seen):
    for command in ("predict", "evaluate"):
        done = site.run([], command, run_folder, table)
        assert done.returncode == 7
        assert "It needs guessing 0.1.0, and here that is not installed: install it." in done.stderr
        assert "trusted_types" not in done.stderr
        assert done.stderr.strip().count("\n") == 0
    seen(done.stderr.strip()[-90:])


MORE = ("--max-evaluations", "+1", "--executor", "inline", "-q")


@pytest.mark.fault(
    "F57",
    injected="resumed with another version of the plugins of component, metric and limit",
    expected="exit 7; --allow-changed evaluates anew",
)
def test_evaluations_by_another_version_do_not_count(site, table, seen):
    measured = ("--metric", "right", "--constraint", "share >= 0.1")
    out = fit(site, ["old", "measures"], table, site.place / "measured", *measured)
    content = json.loads((out / "run.json").read_text())
    assert content["brought_by"] == {
        "component 'guess'": "guessing 0.1.0",
        "limit on 'share'": "measuring 1.0",
        "metric 'right'": "measuring 1.0",
    }
    done = site.run(["old", "measures"], "resume", out, *MORE)
    assert done.returncode == 0, done.stderr
    done = site.run(["new", "other-measures"], "resume", out, *MORE)
    assert done.returncode == 7
    (line,) = done.stderr.strip().splitlines()
    assert "component 'guess': guessing 0.1.0 → guessing 0.2.0" in line
    assert "limit on 'share', metric 'right': measuring 1.0 → measuring 1.1" in line
    assert "--allow-changed" in line
    seen(line)
    before = json.loads((out / "model.json").read_text())["validation_score"]
    done = site.run(["new", "other-measures"], "resume", out, *MORE, "--allow-changed")
    assert done.returncode == 0, done.stderr
    assert "what was evaluated before does not count any more" in done.stderr
    model = json.loads((out / "model.json").read_text())
    assert model["versions"]["guessing"] == "0.2.0"
    assert model["validation_score"] < before
    done = site.run(["new", "other-measures"], "predict", out, table)
    assert "fitted with" not in done.stderr
