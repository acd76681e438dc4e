"""Plugins that hang, are too new, or declare what cannot be: each is named with what is wrong."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from program import run_program

from automl_admm.grammar.compile import load_grammar
from automl_admm.plugins import fingerprints
from automl_admm.plugins.loading import Plugins, PluginSource, load_plugins
from automl_admm.runs.prepare import untrusted_types

pytestmark = pytest.mark.timeout(400)

HEAD = """
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal, Optional, Union
from automl_admm import ComponentPlugin, ConstraintPlugin, GrammarPlugin, Parameter
from automl_admm import ThetaSolverPlugin, hookimpl
from automl_admm.core.space import Choice, Condition

def build(values, context):
    raise RuntimeError("nobody builds it")

def component(**more):
    given = {"name": "mine", "summary": "one", "role": "estimator", "factory": build}
    return ComponentPlugin(**(given | more))
"""
COMPONENT = "\n@hookimpl\ndef components():\n    yield component({})\n"
OPTIONS = (
    HEAD
    + """
class Kernel(Enum):
    RBF = 1
    MATERN = 2

@dataclass(frozen=True)
class Options:
    o: int | None = None
    old: Optional[float] = None
    either: Union[int, str] = 3
    kind: Literal["a", "b", 7] = "a"
    kernel: Kernel = Kernel.RBF
    layers: tuple[int, ...] = (1, 2)
    pair: tuple[int, str] = (1, "x")
    names: list[str] = field(default_factory=list)
    place: Path = Path("here")
    loud: bool = False

class Solver:
    def begin(self, subproblem): ...
    def ask(self, count, pending): return []
    def tell(self, observations): ...

def build_solver(options):
    raise RuntimeError(f"made with {options}")

@hookimpl
def theta_solvers():
    yield ThetaSolverPlugin(name="optional", summary="one", factory=build_solver, options=Options)
"""
)
CONSTRAINT = "\n@hookimpl\ndef constraints():\n    yield ConstraintPlugin({})\n"
GOOD = 'name="steps", summary="one", function=lambda evaluated: 1.0'
NEWER = (
    HEAD
    + CONSTRAINT.format(GOOD)
    + """
@hookimpl(optionalhook=True)
def of_a_later_version(info): ...
"""
)
BAD = {
    "role": ('role="estimater"', "its role must be one of ('transformer', 'estimator', 'weigher')"),
    "tasks": ('tasks=("clustering",)', "its tasks must be some of"),
    "doubled": (
        'parameters=(Parameter("a", 0, 1), Parameter("a", 0, 2))',
        "it has two parameters named 'a'",
    ),
    "alike": (
        'parameters=(Choice("a", ("x", "y"), values=(1, "1")),)',
        "parameter 'a' has two values that a grammar writes as 1",
    ),
    "nothing": (
        'parameters=(Parameter("a", 0, 1, when=Condition("b", ("x",))),)',
        "parameter 'a' hangs on 'b', which is none of its choices",
    ),
    "label": (
        'parameters=(Choice("b", ("x", "y")), Parameter("a", 0, 1, when=Condition("b", ("z",))))',
        "parameter 'a' hangs on 'b' being 'z', which it never is",
    ),
    "capped": ('capped={"n": "columns"}', "capped names 'n', which is none of its parameters"),
    "needs": ('needs=("text",)', "its needs must be a frozenset of some of"),
    "trusted": ('trusted_types="mine.Scaler"', "its trusted_types must be full names"),
}
OTHERS = {
    "kind": (
        HEAD + CONSTRAINT.format(GOOD + ', kind="statistic"'),
        "constraint 'steps': its kind must be one of 'checked', 'measured', 'statistical'",
    ),
    "calls": (
        HEAD + CONSTRAINT.format(GOOD + ', timed_calls="nine"'),
        "constraint 'steps': its timed_calls must be a whole number from 0 on, not 'nine'",
    ),
    "standby": (
        OPTIONS.replace("options=Options)", 'options=Options, is_stand_in="no")'),
        "plugin 'optional': is_stand_in must be True or False, not 'no'",
    ),
    "grammar": (
        HEAD + '\n@hookimpl\ndef grammars():\n    yield GrammarPlugin(name="g", summary="one", '
        'path=Path("nowhere.lark"))\n',
        "grammar 'g': there is no file 'nowhere.lark'",
    ),
    "unreadable": (
        OPTIONS.replace("    loud: bool = False", "    weights: dict[str, int] | None = None"),
        "option 'weights' of 'optional' is of the type dict[str, int] | None, which cannot be read",
    ),
}


def program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = os.environ | {"PYTHONPATH": path, "XDG_CACHE_HOME": str(folder / "cache")}
    return run_program(*arguments, cwd=folder, env=env, timeout=350)


@pytest.fixture(scope="module")
def folder(install_plugin: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name, (wrong, _) in BAD.items():
        install_plugin(folder, f"bad_{name}", HEAD + COMPONENT.format(wrong))
    for name, (source, _) in OTHERS.items():
        install_plugin(folder, f"bad_{name}", source)
    install_plugin(folder, "optional", OPTIONS)
    install_plugin(folder, "newer", NEWER)
    return folder


@pytest.fixture(scope="module")
def listed(folder: Path) -> dict[str, Any]:
    done = program(folder, "plugins", "--json")
    assert done.returncode == 0, done.stderr
    return {info["name"]: info for info in json.loads(done.stdout)} | {"said": done.stderr}


@pytest.mark.fault(
    "F80",
    injected="records of a plugin that cannot be: a role, parameters, conditions, types, options",
    expected="the plugin is disabled, with its name and what is wrong",
)
def test_a_bad_record_is_named_with_its_plugin(listed: Any, seen: Any) -> None:
    expected = {name: says for name, (_, says) in (BAD | OTHERS).items()}
    for name, says in expected.items():
        state = listed[f"bad_{name}"]["state"]
        assert state.startswith("failed: "), (name, state)
        assert "PluginError" not in state, (name, state)
        assert says in state, (name, state)
        assert f"plugin 'bad_{name}' (bad_{name} 1.0) was skipped" in listed["said"]
    seen(listed["bad_role"]["state"])


@pytest.mark.fault(
    "F79",
    injected="a plugin with a hook of a later version, marked as optional",
    expected="only that hook is skipped, in one line",
)
def test_an_unknown_optional_hook_is_skipped_alone(listed: Any, seen: Any) -> None:
    assert listed["newer"]["state"] == "active"
    assert listed["newer"]["provides"] == {"constraints": ["steps"]}
    assert listed["newer"]["unknown_hooks"] == ["of_a_later_version"]
    line = "hook 'of_a_later_version' of plugin 'newer' (newer 1.0) was skipped"
    assert listed["said"].count(line) == 1
    seen(line)


@pytest.mark.fault(
    "F79",
    injected="options of the types int | None, Literal, Enum, tuple, list and Path",
    expected="`plugins show` lists them, and texts are read as these types",
)
def test_options_of_many_types_are_shown_and_read(folder: Path, listed: Any, seen: Any) -> None:
    assert listed["optional"]["state"] == "active"
    shown = program(folder, "plugins", "show", "optional")
    assert shown.returncode == 0, shown.stderr
    for words in ("int | None", "Literal['a', 'b', 7]", "RBF or MATERN", "Path"):
        assert words in shown.stdout
    (folder / "people.csv").write_text("a,buys\n" + "1,yes\n2,no\n" * 30)
    given = "o=4,old=none,either=x,kind=7,kernel=MATERN,layers=64:32,pair=2:y,names=p:q"
    fit = ("fit", "people.csv", "--target", "buys", "--out", "out", "--theta-solver")
    done = program(folder, *fit, f"optional:{given},place=/tmp/x,loud=yes")
    assert done.returncode == 2
    assert "made with Options(o=4, old=None, either='x', kind=7," in done.stderr
    assert "layers=(64, 32), pair=(2, 'y'), names=['p', 'q']," in done.stderr
    assert "loud=True" in done.stderr
    done = program(folder, *fit, "optional:kind=c")
    assert done.returncode == 2
    assert "option 'kind' of 'optional' must be a or b or 7, not 'c'" in done.stderr
    seen("shown and read; kind=c: must be a or b or 7")


@pytest.mark.fault(
    "F78",
    injected="a module below the one that is the plugin begins to hang after it was probed",
    expected="it is probed anew, --help is there in seconds and names it",
)
def test_a_plugin_that_begins_to_hang_does_not_block_help(tmp_path: Path, seen: Any) -> None:
    package = tmp_path / "deep_plugin"
    (package / "below").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "below" / "__init__.py").write_text("")
    (package / "below" / "work.py").write_text("ONE = 1.0\n")
    good = 'name="steps", summary="one", function=lambda evaluated: ONE'
    source = "from deep_plugin.below.work import ONE\n" + HEAD + CONSTRAINT.format(good)
    (package / "entry.py").write_text(source)
    about = tmp_path / "automl_admm_deep-1.0.dist-info"
    about.mkdir()
    # Its name begins like those of our own, and nobody trusts it for that.
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: automl-admm-deep\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[automl_admm]\ndeep = deep_plugin.entry\n")
    assert "steps" in program(tmp_path, "constraints").stdout
    (package / "below" / "work.py").write_text("import time; time.sleep(3600); ONE = 1.0\n")
    begun = time.monotonic()
    done = program(tmp_path, "--help")
    took = time.monotonic() - begun
    assert done.returncode == 0
    assert "fit" in done.stdout
    assert "plugin 'deep' (automl-admm-deep 1.0) was skipped" in done.stderr
    assert "its import hangs" in done.stderr
    assert took < 120, "ten seconds, on a machine that may be busy"
    seen(f"--help after {took:.0f} s, and in one line that the import hangs")


@pytest.mark.fault(
    "F77",
    injected="a distribution of somebody else whose name begins like those of our own",
    expected="it is probed like any other",
)
def test_only_what_is_listed_counts_as_ours(seen: Any) -> None:
    ours = {f"automl-admm-{name}" for name in ("smac", "optuna", "hyperopt", "dask", "ray")}
    for provider, expected in [*((name, True) for name in ours), ("automl-admm-evil", False)]:
        assert PluginSource("x", f"{provider} 1.0", object).is_ours is expected
    assert not PluginSource("x", "automl-admm 1.0", object).is_ours
    assert PluginSource("x", "automl-admm 1.0", object, builtin=True).is_ours
    seen("automl-admm-evil is probed")


def test_every_file_of_a_plugin_is_in_its_fingerprint(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    project, package = tmp_path / "project", tmp_path / "wide_plugin"
    for place in (project / "src", package / "data", project / ".git"):
        place.mkdir(parents=True)
    about = tmp_path / "wide_plugin-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: wide_plugin\nVersion: 1.0\n")
    (about / "RECORD").write_text("wide_helper.py,,\nwide_plugin/__init__.py,,\n")
    said = {"url": project.as_uri(), "dir_info": {"editable": True}}
    (about / "direct_url.json").write_text(json.dumps(said))
    covered = [
        package / "__init__.py",
        package / "data" / "table.json",
        tmp_path / "wide_helper.py",
        project / "src" / "more.py",
    ]
    for file in covered:
        file.write_text("")
    (distribution,) = fingerprints.metadata.distributions(name="wide_plugin", path=[str(tmp_path)])
    origin = fingerprints.Origin("wide 1.0", "wide_plugin.entry", distribution)
    known = {fingerprints.fingerprint("wide", *origin)}
    (project / ".git" / "index").write_text("changed")
    assert {fingerprints.fingerprint("wide", *origin)} == known
    for number, file in enumerate(covered, start=2):
        file.write_text("changed = 1\n")
        known.add(fingerprints.fingerprint("wide", *origin))
        assert len(known) == number, file


@pytest.mark.fault(
    "F80",
    injected="a component that names no trusted_types",
    expected="told before the search and when the model is saved, and not first by `predict`",
)
def test_missing_trusted_types_are_told_by_fit(
    install_plugin: Any, tmp_path: Path, seen: Any
) -> None:
    source = (
        HEAD.replace('raise RuntimeError("nobody builds it")', "return Sure()")
        + """
from sklearn.naive_bayes import GaussianNB

class Sure(GaussianNB): ...

class Alike:
    def weigh(self, y, groups, weights): return weights

@hookimpl
def components():
    yield component(tasks=("classification",))
    # Not in the file that is saved, so it needs no trusted types.
    yield component(name="alike", role="weigher", factory=lambda values, context: Alike())
"""
    )
    install_plugin(tmp_path, "untold", source)
    (tmp_path / "people.csv").write_text("a,buys\n" + "1,yes\n2,no\n" * 40)
    (tmp_path / "mine.lark").write_text("%import components (mine, alike)\nstart: alike mine\n")
    words = ("--grammar", "mine.lark", "--cv=2", "--max-evaluations", "1", "--out", "out", "-q")
    done = program(tmp_path, "fit", "people.csv", "--target", "buys", *words)
    assert done.returncode == 0, done.stderr
    told = "component 'mine' (untold 1.0): its trusted_types lack untold.Sure"
    assert told in done.stderr
    # Before the search, for which a busy machine may take too long, and when the model is saved.
    assert done.stderr.count(told) in (1, 2)
    assert "name untold.Sure in the trusted_types of their component" in done.stdout
    assert "automl-admm predict" not in done.stdout
    done = program(tmp_path, "predict", "out", "people.csv")
    assert done.returncode == 7
    seen(told)


BUILDS = {
    "wrong name": (
        "return GaussianNB()",
        '("wrong_name.Surely",)',
        "name wrong_name.Surely, which",
    ),
    "no package": ("return GaussianNB()", '("nowhere.Sure",)', "name nowhere.Sure, which"),
    "named": ("return Sure()", '("named.Sure",)', ""),
    "not named": ("return Sure()", "()", "lack not_named.Sure"),
    "cannot be built": ("raise RuntimeError('no')", "()", ""),
    "crashes": ("os.kill(os.getpid(), 9)", "()", ""),
    "hangs": ("time.sleep(1000)", "()", ""),
}
SURE = """
import os, time
from sklearn.naive_bayes import GaussianNB

class Sure(GaussianNB): ...

@hookimpl
def components():
"""

# Of the others the process of their own shows nothing more: they are built in this one.
APART = ("wrong name", "crashes", "hangs")


@pytest.fixture(scope="module")
def built(install_plugin: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plugins]:
    """A folder with a plugin for each of them, loaded: all are probed in one process."""
    folder = tmp_path_factory.mktemp("builds")
    for kind, (body, types, _) in BUILDS.items():
        name = kind.replace(" ", "_")
        head = HEAD.replace('raise RuntimeError("nobody builds it")', body)
        record = f'component(name="{name}", tasks=("classification",), trusted_types={types})'
        install_plugin(folder, name, f"{head}{SURE}    yield {record}\n")
        (folder / f"{name}.lark").write_text(f"%import components ({name})\nstart: {name}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        return folder, load_plugins()


def find_here(task: Any, names: list[str], seconds: float) -> Any:
    """Find what the child process would, in this one."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        untrusted_types.print_untrusted(task, names)
    return json.loads(said.getvalue().splitlines()[-1])


@pytest.mark.fault(
    "F80",
    injected="trusted_types that cannot be imported; a component that dies or hangs when built",
    expected="named before the search; what cannot be built harms nothing",
)
@pytest.mark.parametrize("kind", BUILDS)
def test_wrong_trusted_types_are_told_before_the_search(
    kind: str, built: tuple[Path, Plugins], seen: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = BUILDS[kind][-1]
    folder, plugins = built
    monkeypatch.syspath_prepend(str(folder))
    components = plugins.components["classification"]
    place = folder / f"{kind.replace(' ', '_')}.lark"
    grammar = load_grammar(place, components, plugins.grammars)
    budget = 20.0 if kind == "hangs" else None
    with pytest.MonkeyPatch.context() as patch:
        warned: list[str] = []
        patch.setattr(untrusted_types.logger, "warning", lambda text, *a: warned.append(text % a))
        patch.setattr(untrusted_types, "MOST_SECONDS", 200.0)  # the machine may be busy
        if kind not in APART:
            patch.setattr(untrusted_types, "_find_apart", find_here)
        untrusted_types.tell_untrusted(components, grammar, "classification", budget)
    assert [told in line for line in warned] == ([True] if told else [])
    assert all("Write them in its ComponentPlugin as 'package.module" in line for line in warned)
    seen(told or "nothing is said, and nothing hangs")
