"""Import other people's plugins in a child process first, to find those that crash or hang.

Findings are remembered in the user's cache folder, so that usually nothing is
started. Without such a folder plugins are probed each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from automl_admm.core.messages import say_exit

# An import on a busy machine may take long, but it uses the processor all the while.
IDLE_SECONDS = 10.0
MOST_PROCESSOR_SECONDS = 20.0
AT_ONCE = 4
PROGRESS = 0.02
LOOK_SECONDS = 0.5
REMEMBERED = 200
MOST_FILES = 20_000
NOT_SOURCES = frozenset({"__pycache__", "node_modules", "build", "dist"})
FINE = ""
# What a plugin raises is told when it is loaded here; the child only has to come to its end, which
# it says by a code that nobody else would leave with.
DONE = 99
PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); names = json.loads(sys.argv[2]); "
    "from automl_admm.plugins.loading import discover, load_plugins; "
    "load_plugins(sources=[source for source in discover() if source.name in names]); "
    f"import os; os._exit({DONE})"
)


class Origin(NamedTuple):
    """The provider of a plugin, its module, and its distribution."""

    provider: str
    module: str
    distribution: metadata.Distribution | None = None


def find_faults(modules: Mapping[str, Origin]) -> dict[str, str]:
    """Return the reason against importing, by plugin name; harmless plugins are left out.

    A plugin is known by its name, and known again by its provider and all files that come with it.
    """
    keys = {name: _fingerprint(name, *origin) for name, origin in modules.items()}
    path = _cache_file()
    known = _read(path)
    new = [name for name, key in keys.items() if key not in known]
    if new:
        known |= {keys[name]: reason for name, reason in _probe(new).items()}
        _write(path, known)
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
            _kill_group(child)
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


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and all its descendants."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _fingerprint(
    name: str, provider: str, module: str, distribution: metadata.Distribution | None = None
) -> str:
    """Return a text that changes with every upgrade of a plugin and every edit of its files."""
    digest = hashlib.sha256(f"{name}\n{provider}\n{module}\n{sys.version}".encode())
    for path in sorted({*_files_of(module), *_files_with(distribution)}):
        with contextlib.suppress(OSError):
            stat = path.stat()
            digest.update(f"{path} {stat.st_mtime_ns} {stat.st_size}\n".encode())
    return digest.hexdigest()[:32]


def _files_of(module: str) -> Iterator[Path]:
    """Yield the files of a module's package, looked up without importing anything."""
    try:
        spec = find_spec(module.partition(".")[0])
    except (ImportError, ValueError, AttributeError):
        return
    if spec is None:
        return
    if spec.submodule_search_locations:
        for folder in spec.submodule_search_locations:
            yield from _files_below(Path(folder))
    elif spec.origin is not None:
        yield Path(spec.origin)


def _files_with(distribution: metadata.Distribution | None) -> Iterator[Path]:
    """Yield all files of a distribution; of an editable one, all files of its project."""
    if distribution is None:
        return
    for file in distribution.files or ():
        if NOT_SOURCES.isdisjoint(file.parts):
            yield Path(str(distribution.locate_file(file)))
    project = _project_of(distribution)
    if project is not None:
        yield from _files_below(project)


def _project_of(distribution: metadata.Distribution) -> Path | None:
    """Return the source folder of an editable distribution."""
    try:
        said = json.loads(distribution.read_text("direct_url.json") or "{}")
        if said.get("dir_info", {}).get("editable"):
            return Path(unquote(urlsplit(said["url"]).path))
    except (ValueError, KeyError, AttributeError):
        pass
    return None


def _files_below(folder: Path) -> Iterator[Path]:
    """The files below a folder, but for hidden and generated ones, and not without end."""
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = [one for one in folders if one[0] != "." and one not in NOT_SOURCES]
        for file in files:
            yield Path(place, file)
        count += len(files)
        if count > MOST_FILES:
            return


def _cache_file() -> Path | None:
    """Return the file of remembered findings; None for a user without a home."""
    with contextlib.suppress(RuntimeError):
        given = os.environ.get("XDG_CACHE_HOME")
        home = Path(given) if given else Path.home() / ".cache"
        return home / "automl-admm" / "probed-plugins.json"
    return None


def _read(path: Path | None) -> dict[str, str]:
    """Return the remembered findings; a missing or damaged file counts as empty."""
    if path is None:
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {str(key): str(reason) for key, reason in content.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _write(path: Path | None, known: Mapping[str, str]) -> None:
    """Remember findings; if the file cannot be written, the next start probes again."""
    if path is None:
        return
    latest = dict(list(known.items())[-REMEMBERED:])
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(latest, indent=1), encoding="utf-8")
        partial.replace(path)
