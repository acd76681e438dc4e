"""A page that follows a run: written anew while the run goes on, and read anew by its browser.

The page asks its browser to load it again after some seconds, without any script. The last page
does not: it stands still.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from automl_admm.core.errors import StoreError
from automl_admm.report.page import measure_all
from automl_admm.report.view import RunView, read_view
from automl_admm.report.writing import draw_report, places_of, put_report
from automl_admm.store.files import StoreFiles, beside
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.lock import read_holder

SECONDS = 5.0
# The search needs the processor more than its picture does.
SHARE_OF_A_CORE = 0.1
Stamp = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """The run as last written to the page, and the seconds until the next look."""

    view: RunView
    stamp: Stamp
    wait: float


def watch_run(
    run: Path,
    page: Path | None,
    begun: Callable[[Path], None],
    pause: Callable[[float], None] = time.sleep,
) -> RunView:
    """Write the report again and again until the run ends; return the run as it is then.

    `begun` is told the page once it is there, unless the run was killed: there is nothing to
    follow. A KeyboardInterrupt leaves a page that stands still.
    """
    places = places_of(run, page)
    look = _write(run, places)
    if look.view.is_over or look.view.is_alive:
        begun(places[0])
    try:
        return _follow(run, places, look, pause)
    except KeyboardInterrupt:
        put_report(draw_report(look.view, measure_all(look.view)), places)
        raise


def _follow(
    run: Path, places: tuple[Path, Path], look: Look, pause: Callable[[float], None]
) -> RunView:
    failed = False
    while goes_on(look.view):
        pause(look.wait)
        if _stamp(run) == look.stamp and not failed:
            continue
        try:
            look, failed = _write(run, places), False
        except StoreError:
            # The run may have been replacing its files at that very moment.
            if failed:
                raise
            failed = True
    return look.view


def goes_on(view: RunView) -> bool:
    """Return True while the process of the run lives and has not come to its end."""
    return not view.is_over and view.is_alive


def _write(run: Path, places: tuple[Path, Path]) -> Look:
    stamp, view = _stamp(run), read_view(run)
    if not view.is_over and not view.is_alive:
        # It may have ended well after its files were read; a dead process changes them no more.
        view = read_view(run)
    begun = time.process_time()
    measured = measure_all(view)
    wait = max(SECONDS, (time.process_time() - begun) / SHARE_OF_A_CORE)
    refresh = math.ceil(wait) if goes_on(view) else None
    put_report(draw_report(view, measured, refresh), places)
    return Look(view, stamp, wait)


def _stamp(run: Path) -> Stamp:
    """Return the sizes and times of all files behind a report, and the life of their writer."""
    folder = RunFolder(run)
    paths = (
        *(folder.settings, folder.store, beside(folder.store, "-wal"), folder.iterations),
        *(folder.model, folder.model_manifest, folder.certificate, folder.script),
    )
    holder = read_holder(StoreFiles(folder.store).lock)
    return (holder is not None and holder.is_alive, *map(_stamp_of_file, paths))


def _stamp_of_file(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
