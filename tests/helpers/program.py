"""The program as a process of its own: a fork of one that has imported it, where this is the same.

A fork knows what a new interpreter would have read from its environment, and it cannot be started
by another program or with other limits. Tests about these get a new interpreter without asking;
tests of the start itself ask for one by `new_interpreter`.
"""

from __future__ import annotations

import array
import json
import os
import resource
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import automl_admm
from automl_admm.execution.threads import thread_environment

SERVER = Path(__file__).with_name("preloaded_program.py")
OPTIONS = {"bufsize", "cwd", "env", "stdin", "stdout", "stderr", "text"}
OPTIONS |= {"start_new_session", "umask"}
# Read by the program while it runs. All others may be read by an interpreter or a library when it
# is loaded: if one of them differs, the fork would be another program.
READ_LATE = {
    *("AUTOML_ADMM_PLUGINS", "COLUMNS", "NO_COLOR", "PYTHONPATH", "TERM"),
    *("XDG_CACHE_HOME", "XDG_STATE_HOME"),
}
PACKAGE = Path(automl_admm.__file__).parent
IMPORTED = sys.stdlib_module_names | {
    *("automl_admm", "click", "lark", "numpy", "pandas", "psutil", "scipy", "sklearn", "skops"),
}
FOR_TESTS = {"PYTEST_CURRENT_TEST", "UNRULY_NOTES"}


def command(*arguments: str | Path) -> list[str]:
    """Return the command line of the program."""
    return [sys.executable, "-m", "automl_admm", *map(str, arguments)]


def start_program(
    *arguments: str | Path,
    new_interpreter: bool = False,
    limits: Mapping[int, int] | None = None,
    **options: Any,
) -> subprocess.Popen[Any]:
    """Start the program with these options of `Popen`, within `limits` of the module resource."""
    return start(command(*arguments), dict(limits or {}), new_interpreter, options)


def start(
    line: list[str], bounds: dict[int, int], new: bool, options: Mapping[str, Any]
) -> subprocess.Popen[Any]:
    """Start a command line of Python in a fork, or in a new interpreter where it differs."""
    environment, folder = options.get("env") or os.environ, Path(options.get("cwd") or ".")
    usual = options.keys() <= OPTIONS and folder.is_dir() and may_fork(environment)
    if new or not usual or has_other_modules(environment, folder):
        if bounds:
            options = {**options, "preexec_fn": partial(set_limits, bounds)}
        return subprocess.Popen(line, **options)
    return ForkedProgram(line, bounds, **options)


def set_limits(limits: Mapping[int, int]) -> None:
    """Bound this process and all that it starts."""
    for kind, most in limits.items():
        resource.setrlimit(kind, (most, most))


def run_program(
    *arguments: str | Path,
    input: str | bytes | None = None,  # noqa: A002 - as `subprocess.run` has it
    timeout: float = 300.0,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run the program to its end, by default as text; its output is captured."""
    return run_to_end(partial(start_program, *arguments), input, timeout, options)


def run_python(
    *arguments: str | Path,
    input: str | bytes | None = None,  # noqa: A002 - as `subprocess.run` has it
    timeout: float = 300.0,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a script, or a code after `-c`, as another process that has imported the program.

    A test of what a new interpreter has imported starts one itself.
    """
    return run_to_end(partial(start_python, *arguments), input, timeout, options)


def start_python(*arguments: str | Path, **options: Any) -> subprocess.Popen[Any]:
    """Start such a process with these options of `Popen`."""
    return start([sys.executable, *map(str, arguments)], {}, False, options)


def run_to_end(
    begin: Callable[..., subprocess.Popen[Any]],
    given: str | bytes | None,
    timeout: float,
    options: dict[str, Any],
) -> subprocess.CompletedProcess[Any]:
    """Begin a process, give it its input, and return its output after its end."""
    usual: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    if given is not None:
        usual["stdin"] = subprocess.PIPE
    with begin(**usual | options) as process:
        try:
            out, err = process.communicate(given, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def may_fork(environment: Mapping[str, str]) -> bool:
    """Return True if a new interpreter with this environment would be like the imported one."""
    if sys.platform != "linux":
        return False
    names = {*environment, *server_environment()} - READ_LATE - FOR_TESTS
    return all(environment.get(name) == server_environment().get(name) for name in names)


def has_other_modules(environment: Mapping[str, str], folder: Path) -> bool:
    """Return True if a new interpreter there would import other modules than were imported."""
    named = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    places = [place for place in (folder, *map(Path, named)) if place.is_dir()]
    return any(is_another(path) for place in places for path in place.iterdir())


def is_another(path: Path) -> bool:
    """Return True for a module of a name that is imported already, from elsewhere."""
    is_plugin = path.name.startswith("automl_admm_")
    if path.suffix == ".py":
        return is_plugin or path.stem in IMPORTED
    is_package = (is_plugin or path.name in IMPORTED) and (path / "__init__.py").is_file()
    return is_package and not path.samefile(PACKAGE)


@cache
def server_environment() -> Mapping[str, str]:
    """Return the environment of the first use: that of the session, whatever a test changes."""
    return dict(os.environ)


@cache
def server_socket() -> socket.socket:
    """Start the process that has imported the program; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # With a hash seed of its own: sets have another order there than here.
    without = {"PYTHONPATH", "PYTHONHASHSEED"}
    own = {name: text for name, text in server_environment().items() if name not in without}
    with theirs:
        subprocess.run(
            [sys.executable, SERVER, str(theirs.fileno()), PACKAGE.parent],
            # Libraries that begin threads as they are loaded could not be forked.
            env=own | thread_environment(1),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            check=True,
        )
    return ours


class ForkedProgram(subprocess.Popen[Any]):
    """The program in a fork of the process that has imported it; else what `Popen` gives."""

    def __init__(
        self,
        line: list[str],
        limits: Mapping[int, int],
        imported: Sequence[str] = (),
        **options: Any,
    ) -> None:
        self._limits, self._imported = limits, imported
        super().__init__(line, **options)

    def _execute_child(self, *given: Any) -> None:
        # The order in which Popen calls it: command line first, then cwd and env, pipes, the rest.
        arguments, cwd, environment = given[0], given[5], given[6]
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite = given[10:16]
        umask, apart = given[20:22]
        order = {
            "arguments": arguments[1:],
            "folder": os.fspath(cwd or Path.cwd()),
            "environment": dict(environment or os.environ),
            "umask": umask,
            "apart": apart,
            "limits": list(self._limits.items()),
            "imported": list(self._imported),
        }
        streams = [n if n >= 0 else own for own, n in enumerate((p2cread, c2pwrite, errwrite))]
        try:
            self._answer, theirs = os.pipe()
            send(order, [*streams, theirs])
            os.close(theirs)
        finally:
            pipes = (p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
        self.pid = self._next_answer()
        self._child_created = True

    def _next_answer(self) -> int:
        answer = os.read(self._answer, 4)
        if not answer:
            raise RuntimeError("the process that has imported the program is gone")
        return int.from_bytes(answer, "little")

    def _internal_poll(self, *given: Any, **more: Any) -> int | None:
        del given, more
        if self.returncode is None:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.returncode

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if flags and not select.select([self._answer], [], [], 0)[0]:
            return 0, 0
        status = self._next_answer()
        os.close(self._answer)
        return self.pid, status


def send(order: Mapping[str, Any], descriptors: list[int]) -> None:
    """Order a start."""
    fds = array.array("i", descriptors)
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)]
    server_socket().sendmsg([json.dumps(order).encode()], ancillary)
