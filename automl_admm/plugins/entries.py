"""Entry points of the plugins, read anew only after something was installed or removed."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from automl_admm.plugins.specs import PROJECT


class Entry(NamedTuple):
    """An entry point of our group, with the name and the version of its distribution."""

    point: metadata.EntryPoint
    distribution: str
    version: str


def module_of(point: metadata.EntryPoint) -> str:
    """Return the module of an entry point; empty where its text names none, as with a blank."""
    try:
        return point.module
    except (AttributeError, ValueError):  # by the version of Python
        return ""


def installed_entries() -> tuple[Entry, ...]:
    """Return the entry points of the installed plugins.

    Reading them opens a file of every distribution. An installer adds or removes the description
    of a distribution, and that changes the time of the folder around it.
    """
    places = [str(Path(place).absolute()) for place in sys.path]
    return _read(tuple(one for place in places for one in _described(place, _time_of(place))))


@lru_cache(maxsize=4)
def _read(described: tuple[tuple[str, int], ...]) -> tuple[Entry, ...]:
    del described  # what was read holds as long as these are the same
    identify = cache(_identify)  # metadata hold a whole README, and most distributions many entries
    entries = metadata.entry_points(group=PROJECT)
    return tuple(Entry(point, *identify(point.dist)) for point in entries)


@lru_cache(maxsize=64)
def _described(place: str, time: int) -> tuple[tuple[str, int], ...]:
    """Return the descriptions of distributions in a folder, with their times.

    The working folder may be on the path, and its time changes with each file of a run.
    """
    try:
        paths = [str(path) for path in Path(place).iterdir() if _is_description(path.name)]
    except OSError:  # an archive, or nothing at all
        return ((place, time),) if time else ()
    return tuple((path, _time_of(path)) for path in sorted(paths))


def _is_description(name: str) -> bool:
    return name.lower().endswith((".dist-info", ".egg-info")) or name == "EGG-INFO"


def _time_of(place: str) -> int:
    """Return the time of the last change of a folder or an archive; 0 if there is none."""
    with suppress(OSError):
        return Path(place).stat().st_mtime_ns
    return 0


def _identify(distribution: metadata.Distribution | None) -> tuple[str, str]:
    if distribution is None:
        return "unknown", ""
    about = distribution.metadata
    return about["Name"], about["Version"]
