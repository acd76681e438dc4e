"""Fingerprints of plugins: what was found of one holds as long as its fingerprint."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

MOST_FILES = 20_000
NOT_SOURCES = frozenset({"__pycache__", "node_modules", "build", "dist"})


class Origin(NamedTuple):
    """The provider of a plugin, its module, and its distribution."""

    provider: str
    module: str
    distribution: metadata.Distribution | None = None


def fingerprint(
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
    for file in _listed(distribution):
        if NOT_SOURCES.isdisjoint(file.parts):
            yield Path(str(distribution.locate_file(file)))
    project = _project_of(distribution)
    if project is not None:
        yield from _files_below(project)


def _listed(distribution: metadata.Distribution) -> list[metadata.PackagePath]:
    """Return the files that a distribution lists; none if its list is damaged."""
    try:
        return list(distribution.files or ())
    except Exception:  # noqa: BLE001 - a line may be anything, and its reader raises many kinds
        return []


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


def fingerprint_installed() -> str:
    """Return a text that changes with every distribution that is installed, removed or upgraded."""
    places = dict.fromkeys(Path(entry).absolute() for entry in sys.path)
    names = [str(found) for place in places for found in sorted(place.glob("*-info"))]
    return hashlib.sha256("\n".join([sys.version, *names]).encode()).hexdigest()[:32]
