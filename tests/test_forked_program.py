"""A fork of the imported program is to the tests what a new interpreter with the program is."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program import ForkedProgram, may_fork, run_program, run_python, start_program

import automl_admm

pytestmark = pytest.mark.timeout(400)

PLUGIN = """
import atexit, gc, json, os, random, resource, signal, sys, tempfile, threading, time, warnings
import click
import numpy as np
from automl_admm import CommandPlugin, hookimpl

@hookimpl
def commands():
    yield CommandPlugin(name="tell", summary="tells", factory=lambda: tell)
    yield CommandPlugin(name="leave", summary="leaves", factory=lambda: leave)
    yield CommandPlugin(name="wait", summary="waits", factory=lambda: wait)

def name_of(handler):
    return getattr(handler, "__qualname__", str(handler))

@click.command("tell")
@click.argument("words", nargs=-1)
def tell(words):
    streams = (sys.stdin, sys.stdout, sys.stderr)
    print(json.dumps({
        "words": words,
        "line": sys.argv[1:],
        "folder": os.getcwd(),
        "path": sys.path,
        "environment": dict(os.environ),
        "session": os.getsid(0),
        "group": os.getpgid(0),
        "umask": os.umask(0),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "open": sorted(set(map(int, os.listdir("/proc/self/fd"))))[:-1],
        "handlers": {n: name_of(signal.getsignal(n)) for n in signal.valid_signals()},
        "held": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "streams": [(s.fileno(), s.encoding, s.errors, s.mode) for s in streams],
        "buffering": [(s.line_buffering, s.write_through) for s in streams],
        "own": [s in (sys.__stdin__, sys.__stdout__, sys.__stderr__) for s in streams],
        "warnings": [str(one) for one in warnings.filters[-5:]],  # those of the interpreter
        "gc": gc.isenabled(),
        "threads": threading.active_count(),
        "temporary": tempfile.gettempdir(),
        "said": sys.stdin.read(),
        "main": sys.modules["__main__"].__spec__.name,
        "flags": str(sys.flags),
    }))

@click.command("leave")
@click.argument("way")
def leave(way):
    atexit.register(lambda: print("at exit"))
    threading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()
    if way == "raises":
        raise RuntimeError("so it is")
    if way == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "full":
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
        print("much")
    sys.exit({"text": "a text", "none": None, "full": 0}.get(way, 260))

@click.command("wait")
@click.argument("draws", default=0)
def wait(draws):
    print(random.random(), np.random.random(), flush=True)
    if not draws:
        time.sleep(1000)
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which the plugin above is installed."""
    (tmp_path / "teller.py").write_text(PLUGIN)
    about = tmp_path / "teller-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: teller\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[automl_admm]\nteller = teller\n")
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    return os.environ | {"PYTHONPATH": path, "AUTOML_ADMM_PLUGINS": "teller"}


def both(*words: str, **options: Any) -> list[subprocess.CompletedProcess[str]]:
    """Run the program both ways."""
    return [run_program(*words, new_interpreter=new, **options) for new in (True, False)]


def test_its_surroundings_are_those_of_a_new_interpreter(
    environment: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "work"
    place.mkdir()
    given = {"cwd": place, "env": environment, "umask": 0o027, "input": "ünd\n"}
    given["limits"] = {resource.RLIMIT_NOFILE: 300}
    new, forked = both("tell", "--", "one", "-two", **given)
    assert (new.returncode, new.stderr) == (forked.returncode, forked.stderr) == (0, "")
    expected, found = (json.loads(done.stdout) for done in (new, forked))
    assert found == expected
    assert found["files"] == [300, 300]
    assert found["words"] == ["one", "-two"]
    assert found["path"][0] == found["folder"] == str(place)


@pytest.mark.parametrize("way", ["text", "none", "260", "raises", "killed", "full"])
def test_it_ends_as_a_new_interpreter_does(environment: dict[str, str], way: str) -> None:
    new, forked = both("leave", way, env=environment)
    assert (forked.returncode, forked.stdout) == (new.returncode, new.stdout)
    assert forked.stderr.splitlines()[-1:] == new.stderr.splitlines()[-1:]


def test_it_is_waited_for_and_killed_like_any_other(environment: dict[str, str]) -> None:
    pipes = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    with start_program("wait", env=environment, **pipes) as run:
        assert isinstance(run, ForkedProgram)
        run.stdout.readline()
        assert run.poll() is None
        assert os.getsid(run.pid) == run.pid
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(0.01)
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130
        assert run.poll() == 130
        run.kill()  # nothing happens to whoever has its number now
    with pytest.raises(FileNotFoundError):
        start_program("wait", cwd="/nowhere")


def test_it_knows_what_a_test_has_installed(environment: dict[str, str]) -> None:
    code = "from automl_admm.plugins.distributions import distribution_of, version_of; "
    code += "print(distribution_of('teller'), version_of('teller'))"
    assert run_python("-c", code, env=environment).stdout == "teller 1.0\n"
    assert run_python("-c", code).stdout == "None \n"


def test_no_two_forks_draw_the_same(environment: dict[str, str]) -> None:
    draws = [run_program("wait", "1", env=environment).stdout.split() for _ in range(2)]
    assert draws[0][0] != draws[1][0]
    assert draws[0][1] != draws[1][1]


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "OMP_NUM_THREADS", "LC_ALL", "TMPDIR", "HOME"])
def test_what_is_read_while_an_interpreter_starts_takes_a_new_one(name: str) -> None:
    assert may_fork(os.environ | {"COLUMNS": "70", "XDG_CACHE_HOME": "/elsewhere"})
    assert not may_fork(os.environ | {name: "1"})
    assert not isinstance(start_and_end(preexec_fn=lambda: None), ForkedProgram)


STARTS = """
import json, subprocess, sys
for line in json.loads(sys.argv[1]):
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with subprocess.Popen([sys.executable, *line], start_new_session=True, **pipes) as child:
        out, err = child.communicate("")
    print(json.dumps([child.returncode, out, err.splitlines()[-1:]]))
"""
TELLS = """
import os, signal, sys
print(sys.argv[1:], sys.path[:1] == [""], os.getsid(0) == os.getpid(), "sklearn" in sys.modules)
print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, len(os.listdir("/dev/fd")))
"""


def test_a_code_that_it_runs_apart_runs_in_a_fork_as_in_an_interpreter() -> None:
    ends = ("import sys; sys.exit(7)", "1 / 0", "import os; os.kill(os.getpid(), 9)")
    codes = [["-c", TELLS, "word"], *(["-c", code] for code in ends)]
    apart, forked = (
        [
            json.loads(line)
            for line in run_python(
                "-c", STARTS, json.dumps([[*more, *code] for code in codes])
            ).stdout.splitlines()
        ]
        for more in ([], ["-P"])
    )
    # By -P the folder is no place for modules; and what is imported tells that it is a fork.
    assert forked[0][1].replace("False True True", "True True False") == apart[0][1]
    assert forked[1:] == apart[1:]


def test_modules_that_stand_in_the_way_take_a_new_interpreter(tmp_path: Path) -> None:
    assert isinstance(start_and_end(cwd=tmp_path), ForkedProgram)
    (tmp_path / "random.py").write_text("raise SystemExit(9)")
    run = start_and_end(cwd=tmp_path)
    assert not isinstance(run, ForkedProgram)
    assert run.returncode == 9


def start_and_end(**options: Any) -> subprocess.Popen[bytes]:
    """Start the program with these options, and wait for its end."""
    with start_program("--version", stdout=subprocess.DEVNULL, **options) as run:
        return run


CODE = """
from __future__ import annotations
import os, pickle, sys

class Mine:
    number: absent = 3

again = pickle.loads(pickle.dumps(Mine()))
print(sys.argv, sys.path[0], os.getcwd(), __name__, type(again) is Mine, "absent" in globals())
print(getattr(sys.modules["__main__"], "__file__", None), os.environ.get("XDG_STATE_HOME"))
sys.stderr.write("said\\n")
if "-3" in sys.argv:
    sys.exit(3)
if "-9" in sys.argv:
    os.kill(os.getpid(), 9)
if "fails" in sys.argv:
    print(1 / 0)
"""


@pytest.mark.parametrize("last", ["ends", "-3", "-9", "fails"])
@pytest.mark.parametrize("is_script", [True, False])
def test_a_script_or_a_code_runs_as_in_a_new_interpreter(
    tmp_path: Path, is_script: bool, last: str
) -> None:
    script = tmp_path / "folder" / "script.py"
    script.parent.mkdir()
    script.write_text(CODE, encoding="utf-8")
    words = ["folder/script.py"] if is_script else ["-c", CODE]
    forked = run_python(*words, "one", last, cwd=tmp_path)
    line = [sys.executable, *words, "one", last]
    new = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert forked.returncode == new.returncode == {"ends": 0, "-3": 3, "-9": -9, "fails": 1}[last]
    assert forked.stdout == new.stdout
    assert forked.stderr.splitlines()[-1:] == new.stderr.splitlines()[-1:]


def test_a_fork_has_the_package_of_the_tests() -> None:
    ended = run_python("-c", "import automl_admm; print(automl_admm.__file__)")
    assert ended.stdout.strip() == automl_admm.__file__


def test_a_module_that_a_start_wants_is_imported_before_it_and_for_later_ones() -> None:
    line = [sys.executable, "-c", "import sys; print('this' in sys.modules)"]
    for wanted, is_there in (([], "False"), (["this"], "True"), ([], "True")):
        forked = ForkedProgram(line, {}, wanted, stdout=subprocess.PIPE, text=True)
        assert forked.communicate()[0].strip() == is_there
