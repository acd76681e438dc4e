"""Make the environments: one for each system, and one with the packages that ship data."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from .systems import DATA, ROOT, Environment, System, obstacle

SETS = "sets"


def install(folder: Path, systems: Iterable[System]) -> list[str]:
    """Make what is missing for these systems; return a line for each that could not be made.

    An environment that exists is left as it is: delete its folder to make it anew.
    """
    wanted = dict.fromkeys([system.environment for system in systems] + [DATA])
    problems = []
    for environment in wanted:
        problem = obstacle(environment) or _make(folder, environment)
        if problem is not None:
            problems.append(f"{environment.folder}: left out, {problem}")
    if (folder / DATA.folder).exists() and not (folder / SETS).exists():
        _export(folder)
    return problems


def _make(folder: Path, environment: Environment) -> str | None:
    place = folder / environment.folder
    if place.exists():
        return None
    sys.stderr.write(f"making {place}\n")
    subprocess.run([environment.python, "-m", "venv", str(place)], check=True)
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    try:
        for packages in _parts(environment):
            subprocess.run([*pip, *packages], check=True)
    except subprocess.CalledProcessError as failed:
        # Half an environment would look like a system that fails everywhere.
        shutil.rmtree(place)
        return f"pip ended with exit code {failed.returncode}"
    return None


def _parts(environment: Environment) -> list[list[str]]:
    """Return the arguments of pip, call by call.

    The packages with data ask for old versions of numpy, which reading their files does not need.
    """
    if environment != DATA:
        return [list(environment.requirements)]
    pinned = [text for text in DATA.requirements if "==" in text]
    return [["--no-deps", *pinned], [text for text in DATA.requirements if text not in pinned]]


def _export(folder: Path) -> None:
    script = ROOT / "benchmarks" / "peers" / "processes" / "package_sets.py"
    unfinished = folder / f"{SETS}.part"
    python = folder / DATA.folder / "bin" / "python"
    subprocess.run([str(python), str(script), str(unfinished)], check=True)
    unfinished.rename(folder / SETS)
