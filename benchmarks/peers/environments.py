"""Make the environments: one for each system, and one with the packages that ship data."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from .systems import DATA, ROOT, UNFINISHED, Environment, System, obstacle, python_in

SETS = "sets"


def install(folder: Path, systems: Iterable[System]) -> list[str]:
    """Make what is missing for these systems; return a line for each that could not be made.

    A whole environment is left as it is: delete its folder to make it anew.
    """
    wanted = dict.fromkeys([system.environment for system in systems] + [DATA])
    problems = []
    for environment in wanted:
        problem = obstacle(environment) or _make(folder, environment)
        if problem is not None:
            problems.append(f"{environment.folder}: left out, {problem}")
    python = python_in(folder, DATA)
    if python is not None and not (folder / SETS).exists():
        _export(folder, python)
    return problems


def _make(folder: Path, environment: Environment) -> str | None:
    place = folder / environment.folder
    unfinished = place / UNFINISHED
    if place.exists() and not unfinished.exists():
        return None
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    unfinished.touch()
    sys.stderr.write(f"making {place}\n")
    python = str(place / "bin" / "python")
    try:
        subprocess.run([environment.python, "-m", "venv", str(place)], check=True)
        for packages in _parts(environment):
            subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    except subprocess.CalledProcessError as failed:
        return f"{' '.join(failed.cmd[1:4])} ended with exit code {failed.returncode}"
    unfinished.unlink()
    return None


def _parts(environment: Environment) -> list[list[str]]:
    """Return the arguments of pip, call by call.

    The packages with data ask for old versions of numpy, which reading their files does not need.
    """
    if environment != DATA:
        return [list(environment.requirements)]
    pinned = [text for text in DATA.requirements if "==" in text]
    return [["--no-deps", *pinned], [text for text in DATA.requirements if text not in pinned]]


def _export(folder: Path, python: str) -> None:
    script = ROOT / "benchmarks" / "peers" / "processes" / "package_sets.py"
    unfinished = folder / f"{SETS}.part"
    subprocess.run([python, str(script), str(unfinished)], check=True)
    unfinished.rename(folder / SETS)
