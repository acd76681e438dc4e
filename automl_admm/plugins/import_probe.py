"""Import other people's plugins in a child process first, to find those that crash or hang."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from automl_admm.core.messages import say_exit
from automl_admm.plugins.fingerprints import Origin, fingerprint
from automl_admm.plugins.remembered import Remembered

# An import on a busy machine may take long, but it uses the processor all the while.
IDLE_SECONDS = 10.0
MOST_PROCESSOR_SECONDS = 20.0
AT_ONCE = 4
PROGRESS = 0.02
LOOK_SECONDS = 0.5
FINE = ""
REMEMBERED = "probed-plugins.json"
# What a plugin raises is told when it is loaded here; the child only has to come to its end, which
# it says by a code that nobody else would leave with.
DONE = 99
PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); names = json.loads(sys.argv[2]); "
    "from automl_admm.plugins.loading import discover, load_plugins; "
    "load_plugins(sources=[source for source in discover() if source.name in names]); "
    f"import os; os._exit({DONE})"
)


def find_faults(modules: Mapping[str, Origin]) -> dict[str, str]:
    """Return the reason against importing, by plugin name; harmless plugins are left out.

    A plugin is known by its name, and known again by its provider and all files that come with it.
    """
    keys = {name: fingerprint(name, *origin) for name, origin in modules.items()}
    remembered = Remembered.of(REMEMBERED)
    known = remembered.read()
    new = [name for name, key in keys.items() if key not in known]
    if new:
        known |= {keys[name]: reason for name, reason in _probe(new).items()}
        remembered.write(known)
    path = remembered.path
    hint = "" if path is None else f" (to try it again, delete '{path}')"
    return {name: known[key] + hint for name, key in keys.items() if known[key] != FINE}


def _probe(names: Sequence[str]) -> dict[str, str]:
    """Probe all in one child; after a bad end, each in a child of its own, some at a time."""
    reason = _import_apart(names)
    if reason == FINE or len(names) == 1:
        return dict.fromkeys(names, reason)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(names, pool.map(lambda name: _import_apart([name]), names), strict=True))


def _import_apart(names: Sequence[str]) -> str:
    """Load plugins in a child process and say how it ended, if not well."""
    path = [entry or str(Path.cwd()) for entry in map(str, sys.path)]
    with subprocess.Popen(  # noqa: S603 - this interpreter, our own program
        [sys.executable, "-P", "-c", PROGRAM, json.dumps(path), json.dumps(list(names))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as child:
        try:
            code = _wait(child)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)  # with all its descendants
    if code is None:
        return f"its import hangs: it did nothing for {IDLE_SECONDS:g} s, or too much"
    return FINE if code == DONE else f"its import ended the process: {say_exit(code)}"


def _wait(child: subprocess.Popen[bytes]) -> int | None:
    """The exit code; None as soon as the child is idle for long, or has used too much time."""
    used, moved = 0.0, time.monotonic()
    while used < MOST_PROCESSOR_SECONDS and time.monotonic() < moved + IDLE_SECONDS:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(LOOK_SECONDS)
        latest = _processor_seconds(child.pid)
        if latest > used + PROGRESS:
            used, moved = latest, time.monotonic()
    return None


def _processor_seconds(pid: int) -> float:
    import psutil

    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)
