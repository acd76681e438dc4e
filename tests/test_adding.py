"""Each addition that CONTRIBUTING.md describes takes as many files as it says, up to a fit."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from program import run_program

pytestmark = pytest.mark.timeout(400)

ROOT = Path(__file__).parents[1]
COMPONENT = """
from sklearn.naive_bayes import GaussianNB
from automl_admm.plugin_api import ComponentPlugin, Parameter, hookimpl

@hookimpl
def components():
    yield ComponentPlugin(
        name="added_nb",
        summary="naive Bayes by another name",
        role="estimator",
        factory=lambda values, context: GaussianNB(var_smoothing=values["smoothing"]),
        parameters=(Parameter("smoothing", 1e-9, 1e-1, log=True),),
        tasks=("classification",),
    )
"""
CONSTRAINT = """
from automl_admm.plugin_api import ConstraintPlugin, hookimpl

@hookimpl
def constraints():
    yield ConstraintPlugin(
        name="steps_used", summary="steps", function=lambda one: float(len(one.pipeline.steps))
    )
"""
CONSTRAINT_WITH_OPTIONS = """
from dataclasses import dataclass
from automl_admm.plugin_api import ConstraintPlugin, Rate, hookimpl

@dataclass(frozen=True)
class Band:
    width: float = 0.1

@dataclass(frozen=True)
class Unsure:
    width: float

    def __call__(self, evaluated):
        near = abs(evaluated.predictions[:, -1] - 0.5) <= self.width
        return Rate(int(near.sum()), len(near))

KIND = dict(name="unsure", summary="rows decided by a hair", highest=1.0, kind="statistical",
            target="two classes", uses_decisions=False)

@hookimpl
def constraints():
    yield ConstraintPlugin(options=Band, **KIND,
        configured=lambda band: ConstraintPlugin(function=Unsure(band.width), **KIND))
"""
SOLVER = """
import numpy as np
from dataclasses import dataclass
from automl_admm.plugin_api import ThetaSolverPlugin, hookimpl

@dataclass(frozen=True)
class Options:
    pass

class Corners:
    def begin(self, subproblem):
        self.size, self.turn = len(subproblem.parameters), 0

    def ask(self, count, pending):
        self.turn += 1
        return [np.full(self.size, 1 / (self.turn + 1))]

    def tell(self, observations):
        pass

@hookimpl
def theta_solvers():
    yield ThetaSolverPlugin(
        name="corners", summary="ever nearer to one", options=Options,
        factory=lambda options: Corners(),
    )
"""
COMMAND = """
import click
from automl_admm.plugin_api import CommandPlugin, hookimpl

@hookimpl
def commands():
    yield CommandPlugin(name="greet", summary="greet", factory=lambda: greet)

@click.command("greet")
@click.argument("name")
def greet(name):
    click.echo(f"good day, {name}")
"""
LISTENER = """
from pathlib import Path
from automl_admm.plugin_api import hookimpl

@hookimpl
def search_prepared(info, parameters):
    Path("heard.txt").write_text(f"{info.seed} {parameters}")
"""
SPECIFICATION = '''

@hookspec
def search_prepared(info: RunInfo, parameters: int) -> None:
    """The search is about to be prepared."""
'''
CALL = '    desk.tell("run_started")\n'


@pytest.fixture
def install(tmp_path: Path) -> None:
    """Lay a table and a grammar of one component into the folder."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    frame["buys"] = np.where(frame["a"] > 0, "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    write_grammar(tmp_path, "gaussian_nb")


def write_grammar(folder: Path, component: str) -> None:
    text = f"%import components ({component})\nstart: {component}\n"
    (folder / "grammar.lark").write_text(text)


def add(folder: Path, source: str) -> None:
    """Install a plugin of one file."""
    (folder / "added.py").write_text(source)
    about = folder / "added-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[automl_admm]\nadded = added\n")


def program(folder: Path, *arguments: str) -> str:
    """Run `automl-admm` where the plugin is installed, and return what it printed."""
    path = os.pathsep.join([str(folder), os.environ["PYTHONPATH"]])
    env = os.environ | {"PYTHONPATH": path, "XDG_CACHE_HOME": str(folder / "cache")}
    done = run_program(*arguments, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fit(folder: Path, *options: str) -> str:
    given = ("people.csv", "--target", "buys", "--cv", "0.25", "--grammar", "grammar.lark")
    few = ("--max-evaluations", "3", "--executor", "inline", "--out", "out")
    return program(folder, "fit", *given, *few, *options)


@pytest.mark.usefixtures("install")
def test_a_component_is_one_file(tmp_path: Path) -> None:
    add(tmp_path, COMPONENT)
    write_grammar(tmp_path, "added_nb")
    assert "added_nb(smoothing=" in fit(tmp_path)


@pytest.mark.usefixtures("install")
def test_a_constraint_is_one_file(tmp_path: Path) -> None:
    add(tmp_path, CONSTRAINT)
    assert "steps_used" in fit(tmp_path, "--constraint", "steps_used <= 3")


@pytest.mark.usefixtures("install")
def test_a_constraint_with_options_keeps_them_from_the_fit_to_a_resumed_run(tmp_path: Path) -> None:
    add(tmp_path, CONSTRAINT_WITH_OPTIONS)
    assert "unsure{width=…}" in program(tmp_path, "constraints")
    kept = program(tmp_path, "plugins", "check", "unsure:width=0.4")
    assert "its value is a number in its range" in kept
    limits = ("--constraint", "unsure <= 1", "--constraint", "unsure{width=0.50} <= 1")
    fit(tmp_path, *limits, "--certify", "0.9")
    program(tmp_path, "resume", "out", "--max-evaluations", "+1")
    program(tmp_path, "verify", "out", "people.csv")
    found = json.loads(program(tmp_path, "leaderboard", "out", "--all", "--json"))
    (row,) = found["evaluations"]
    assert row["unsure"] < row["unsure{width=0.5}"] == 1


@pytest.mark.usefixtures("install")
def test_a_solver_is_one_file(tmp_path: Path) -> None:
    add(tmp_path, SOLVER)
    fit(tmp_path, "--theta-solver", "corners")
    saved = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert "corners" in json.dumps(saved)


def test_a_command_is_one_file(tmp_path: Path) -> None:
    add(tmp_path, COMMAND)
    assert program(tmp_path, "greet", "Ada") == "good day, Ada\n"


@pytest.mark.usefixtures("install")
def test_a_hook_is_two_files(tmp_path: Path) -> None:
    """A copy of the package with both changes tells a plugin of the new hook."""
    package = tmp_path / "automl_admm"
    shutil.copytree(ROOT / "automl_admm", package)
    shutil.copytree(ROOT / "grammars", tmp_path / "grammars")
    specifications = package / "plugins" / "specs.py"
    specifications.write_text(specifications.read_text(encoding="utf-8") + SPECIFICATION)
    caller = package / "runs" / "search_run.py"
    text = caller.read_text(encoding="utf-8")
    assert text.count(CALL) == 1
    told = '    desk.tell("search_prepared", parameters=len(problem.space.parameters))\n'
    caller.write_text(text.replace(CALL, told + CALL))
    add(tmp_path, LISTENER)
    fit(tmp_path, "--seed", "7")
    assert (tmp_path / "heard.txt").read_text(encoding="utf-8") == "7 0"
