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


def installed_entries() -> tuple[Entry, ...]:
    """Return the entry points of the installed plugins.

    Reading them opens a file of every distribution. An installer adds or removes a folder, and
    that changes the time of the folder around it.
    """
    places = tuple(str(Path(place).absolute()) for place in sys.path)
    return _read(places, tuple(map(_time_of, places)))


@lru_cache(maxsize=4)
def _read(places: tuple[str, ...], times: tuple[int, ...]) -> tuple[Entry, ...]:
    del places, times  # what was read holds as long as these are the same
    identify = cache(_identify)  # metadata hold a whole README, and most distributions many entries
    entries = metadata.entry_points(group=PROJECT)
    return tuple(Entry(point, *identify(point.dist)) for point in entries)


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
