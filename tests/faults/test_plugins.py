"""Broken plugins: each is disabled and explained, and all others work."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from program import run_program

from automl_admm.plugins import import_probe as probes

pytestmark = pytest.mark.timeout(400)

GOOD = """
from automl_admm import ConstraintPlugin, hookimpl

@hookimpl
def constraints():
    yield ConstraintPlugin(name="{name}_steps", summary="one", function=lambda evaluated: 1.0)
"""
BROKEN = {
    "crashes": "import ctypes; ctypes.string_at(0)",
    "hangs": "import time; time.sleep(3600)",
    "leaves": "import sys; sys.exit('no licence')",
    "ends": "import os; os._exit(0)",
    "raises": "raise RuntimeError('no licence')",
    "misses": "import a_module_that_is_not_there",
    "is_old": "from automl_admm import hookimpl\n@hookimpl\ndef constraints(manager): return []",
    "misspells": "from automl_admm import hookimpl\n@hookimpl\ndef constraint(): return []",
}
PRINTS = "print('welcome')\n" + GOOD.format(name="prints")


def program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = os.environ | {"PYTHONPATH": path, "XDG_CACHE_HOME": str(folder / "cache")}
    return run_program(*arguments, env=env, timeout=350)


@pytest.fixture(scope="module")
def folder(install_plugin, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    for name, source in BROKEN.items():
        install_plugin(folder, name, source)
    install_plugin(folder, "prints", PRINTS)
    install_plugin(folder, "good", GOOD.format(name="good"))
    return folder


@pytest.fixture(scope="module")
def listed(folder):
    done = program(folder, "plugins", "--json")
    assert done.returncode == 0, done.stderr
    return {info["name"]: info for info in json.loads(done.stdout)}


def broken(name: str, injected: str, says: str):
    mark = pytest.mark.fault(
        "F53", injected=f"the import of a plugin {injected}", expected=f"disabled: {says}"
    )
    return pytest.param(name, says, id=name, marks=mark)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        broken("crashes", "segfaults", "signal SIGSEGV"),
        broken("hangs", "sleeps for ever", "did nothing for 10 s"),
        broken("leaves", "calls sys.exit", "no licence"),
        broken("ends", "calls os._exit(0)", "its import ended the process: exit 0"),
        broken("raises", "raises", "RuntimeError: no licence"),
        broken("misses", "misses a dependency", "No module named 'a_module_that_is_not_there'"),
        broken("is_old", "has a hook of an old signature", "Argument(s) {'manager'}"),
        broken("misspells", "has a hook that there is not", "Did you mean 'constraints'"),
    ],
)
def test_a_broken_plugin_is_disabled_with_a_reason(listed, name, says, seen):
    state = listed[name]["state"]
    assert state.startswith("failed: ")
    assert says in state
    assert listed[name]["provides"] == {}
    seen(state[:110])


@pytest.mark.fault(
    "F53", injected="all of these at once, one that prints", expected="the others work"
)
def test_the_others_work(listed, folder, seen):
    for name in ("good", "prints"):
        assert listed[name]["state"] == "active"
        assert listed[name]["provides"] == {"constraints": [f"{name}_steps"]}
    ours = [info for name, info in listed.items() if name.startswith("builtin-")]
    assert len(ours) >= 7
    assert all(info["state"] == "active" for info in ours)
    assert "good_steps" in program(folder, "constraints").stdout
    seen(f"{len(ours) + 2} active; nothing printed into the JSON")


@pytest.mark.usefixtures("listed")
def test_what_was_found_is_remembered(folder):
    """An import that hangs takes ten seconds; once."""
    remembered = folder / "cache" / "automl-admm" / "probed-plugins.json"
    before = remembered.stat().st_mtime_ns
    assert len(json.loads(remembered.read_text())) == len(BROKEN) + 2
    assert "signal SIGSEGV" in program(folder, "plugins", "--json").stdout
    assert remembered.stat().st_mtime_ns == before


@pytest.mark.fault(
    "F53",
    injected="two plugins provide one name",
    expected="the second is disabled, who uses the name is told of both (exit 2)",
)
def test_two_of_one_name(install_plugin, tmp_path, seen):
    for name in ("first", "second"):
        install_plugin(tmp_path, name, GOOD.format(name="same"))
    done = program(tmp_path, "plugins", "--json")
    assert done.returncode == 0
    states = {info["name"]: info["state"] for info in json.loads(done.stdout)}
    assert states["first"].startswith("withheld: ")
    assert states["second"].startswith("failed: ")
    assert "first 1.0, second 1.0" in states["second"]
    for words in (("--help",), ("constraints",)):
        done = program(tmp_path, *words)
        assert done.returncode == 0
        assert done.stderr.count("plugin 'second' (second 1.0) was skipped") == 1
    (tmp_path / "people.csv").write_text("a,buys\n" + "1,yes\n2,no\n" * 30)
    fit = ("fit", str(tmp_path / "people.csv"), "--target", "buys", "--out", str(tmp_path / "out"))
    done = program(tmp_path, *fit, "--constraint", "same_steps <= 2")
    assert done.returncode == 2
    assert "error: constraint 'same_steps' is provided twice: first 1.0, second 1.0." in done.stderr
    seen(f"exit 2: {done.stderr.strip().splitlines()[-1][7:]}")


AS_SCIKIT_LEARN = """
from automl_admm import ConstraintPlugin, MetricPlugin, hookimpl

@hookimpl
def {hook}():
    yield {record}
"""
METRIC = 'MetricPlugin(name="roc_auc", summary="s", factory=lambda: lambda m, X, y: 1 / 0)'
LIMIT = (
    'ConstraintPlugin(name="balanced_accuracy", summary="s", function=lambda evaluated: -1.0, '
    'kind="statistical")'
)


@pytest.mark.fault(
    "F53",
    injected="plugins whose metric and whose limit are named like scikit-learn's",
    expected="they are skipped, and what is scikit-learn's is used",
)
def test_names_of_scikit_learn(install_plugin, table, tmp_path, seen):
    for name, hook, record in (("met", "metrics", METRIC), ("lim", "constraints", LIMIT)):
        install_plugin(tmp_path, name, AS_SCIKIT_LEARN.format(hook=hook, record=record))
    states = {
        info["name"]: info["state"]
        for info in json.loads(program(tmp_path, "plugins", "--json").stdout)
    }
    assert states["met"].startswith("failed: metric 'roc_auc' is provided twice: scikit-learn ")
    assert states["lim"].startswith("failed: constraint 'balanced_accuracy' is provided twice: ")
    (tmp_path / "nb.lark").write_text("%import components (gaussian_nb)\nstart: gaussian_nb\n")
    out = tmp_path / "out"
    fit = ("fit", str(table), "--target", "buys", "--grammar", str(tmp_path / "nb.lark"))
    bound = ("--max-evaluations", "1", "--constraint", "balanced_accuracy >= 0.4")
    done = program(tmp_path, *fit, *bound, "--executor", "inline", "-q", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "plugin 'met' (met 1.0) was skipped" in done.stderr
    settings = json.loads((out / "run.json").read_text())["settings"]
    assert (settings["metric"], settings["metric_best"]) == ("roc_auc", 1.0)
    model = json.loads((out / "model.json").read_text())
    assert 0.5 < model["validation_score"] <= 1
    (value,) = model["constraints"].values()
    assert 0.4 <= value <= 1
    done = program(tmp_path, "evaluate", str(out), str(table))
    assert done.returncode == 0, done.stderr
    seen(f"{states['met'][8:]}; roc_auc {model['validation_score']:.3f}")


LEAVING = """
import sys
from automl_admm import ConstraintPlugin, MetricPlugin, hookimpl

def leave(*_):
    sys.exit(0)

def leave_later(model, X, y):
    # Here are the rows of the final evaluation, and before it those of the search.
    return sys.exit(0) if len(y) == 120 else float((model.predict(X) == y).mean())

@hookimpl
def metrics():
    yield MetricPlugin(name="gone", summary="s", factory=lambda: leave)
    yield MetricPlugin(name="gone_later", summary="s", factory=lambda: leave_later)

@hookimpl
def constraints():
    yield ConstraintPlugin(name="left", summary="s", function=leave, kind="statistical")
"""
NAIVE = "%import components (gaussian_nb)\nstart: gaussian_nb\n"


@pytest.mark.fault(
    "F53",
    injected="a metric and a limit that call sys.exit(0)",
    expected="exit 2 before the search, or the error of evaluate",
)
def test_a_metric_or_a_limit_does_not_end_the_program(install_plugin, table, tmp_path, seen):
    install_plugin(tmp_path, "leaving", LEAVING)
    (tmp_path / "nb.lark").write_text(NAIVE)
    fit = ("fit", str(table), "--target", "buys", "--grammar", str(tmp_path / "nb.lark"), "-q")
    fit += ("--max-evaluations", "1", "--executor", "inline", "--out", str(tmp_path / "out"))
    left = "it called sys.exit(0)."
    for more in (("--metric", "gone"), ("--constraint", "left <= 1")):
        done = program(tmp_path, *fit, *more)
        assert done.returncode == 2
        assert left in done.stderr
        assert done.stderr.strip().count("\n") == 0
        seen(done.stderr.strip())
    done = program(tmp_path, *fit, "--metric", "gone_later")
    assert done.returncode == 0, done.stderr
    done = program(tmp_path, "evaluate", str(tmp_path / "out"), str(table))
    assert done.returncode == 3
    assert left in done.stderr


LOCKED = """
import threading
from sklearn.naive_bayes import GaussianNB
from automl_admm import ComponentPlugin, hookimpl

class Locked(GaussianNB):
    def fit(self, X, y):
        self.lock_ = threading.Lock()
        return super().fit(X, y)

@hookimpl
def components():
    yield ComponentPlugin(
        name="locked", summary="s", role="estimator", tasks=("classification",),
        factory=lambda values, context: Locked(), trusted_types=("locking.Locked",),
    )
"""


@pytest.mark.fault(
    "F53",
    injected="a component that cannot be pickled once it is fitted",
    expected="exit 4: what to change, and no longer budget",
)
def test_what_cannot_be_pickled_is_told_without_asking_for_time(
    install_plugin, table, tmp_path, seen
):
    install_plugin(tmp_path, "locking", LOCKED)
    (tmp_path / "locked.lark").write_text("%import components (locked)\nstart: locked\n")
    fit = ("fit", str(table), "--target", "buys", "--grammar", str(tmp_path / "locked.lark"))
    bound = ("--max-evaluations", "1", "--executor", "inline", "--no-ensemble", "-q")
    for more in ((), ("--budget", "90s")):
        done = program(tmp_path, *fit, *bound, *more, "--out", str(tmp_path / f"out{len(more)}"))
        assert done.returncode == 4
        assert "cannot pickle '_thread.lock' object." in done.stderr
        assert "a component must be picklable once it is fitted" in done.stderr
        assert "--budget" not in done.stderr
    seen(done.stderr.strip().splitlines()[-1])


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "automl-admm" / "probed-plugins.json"


def counted(monkeypatch, reason: str = "") -> list[list[str]]:
    """Replaces the child process by an answer; the names that it was asked for."""
    asked: list[list[str]] = []

    def answer(names):
        asked.append(list(names))
        return reason

    monkeypatch.setattr(probes, "_import_apart", answer)
    return asked


def test_only_what_is_new_is_probed(cache, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text("")
    asked = counted(monkeypatch)
    given = {"one": ("one 1.0", "one"), "two": ("two 1.0", "two")}
    assert probes.find_faults(given) == {}
    assert probes.find_faults(given) == {}
    assert asked == [["one", "two"]]
    probes.find_faults(given | {"two": ("two 1.1", "two")})
    (tmp_path / "one.py").write_text("changed = True\n")
    probes.find_faults(given)
    assert asked[1:] == [["two"], ["one"]]


def test_one_that_is_bad_is_found_among_several(cache, monkeypatch):
    asked = counted(monkeypatch, "it went wrong")
    found = probes.find_faults(
        {"one": ("one 1.0", "nowhere"), "two": ("two 1.0", "nowhere.at.all")}
    )
    assert asked == [["one", "two"], ["one"], ["two"]]
    assert found["two"].startswith("it went wrong (to try it again, delete ")
    assert str(cache) in found["two"]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', "\0"])
def test_a_broken_memory_is_no_memory(cache, monkeypatch, content):
    cache.parent.mkdir(parents=True)
    cache.write_text(content)
    counted(monkeypatch)
    assert probes.find_faults({"one": ("one 1.0", "one")}) == {}
    assert len(json.loads(cache.read_text())) >= 1


def test_where_nothing_can_be_remembered_it_is_probed_each_time(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    asked = counted(monkeypatch)
    for _ in range(2):
        assert probes.find_faults({"one": ("one 1.0", "one")}) == {}
    assert len(asked) == 2


def test_what_an_import_starts_ends_with_its_probe(tmp_path, monkeypatch):
    pid = tmp_path / "pid"
    started = "subprocess.Popen(['sleep', '99']).pid"
    writing = f"import os, subprocess; open({str(pid)!r}, 'w').write(str({started})); os._exit(99)"
    monkeypatch.setattr(probes, "PROGRAM", writing)
    assert probes._import_apart(["any"]) == ""
    deadline = time.monotonic() + 60
    while _is_alive(int(pid.read_text())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _is_alive(int(pid.read_text()))


def _is_alive(pid: int) -> bool:
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("work", "idle", "most"),
    [("import time; time.sleep(99)", 0.5, 60.0), ("while True: pass", 60.0, 0.5)],
)
def test_what_is_idle_or_without_end_is_given_up(monkeypatch, work, idle, most):
    monkeypatch.setattr(probes, "PROGRAM", work)
    monkeypatch.setattr(probes, "IDLE_SECONDS", idle)
    monkeypatch.setattr(probes, "MOST_PROCESSOR_SECONDS", most)
    assert "its import hangs" in probes._import_apart(["any"])
