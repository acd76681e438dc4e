"""The progress of a command: a live picture on a terminal, else a line every ten seconds."""

from __future__ import annotations

from automl_admm.cli.shared.screen import plain_console
from automl_admm.progress.displays import Display, LineDisplay, LiveDisplay, NoDisplay
from automl_admm.progress.observer import Progress
from automl_admm.progress.run_so_far import RunSoFar


def command_progress(*, quiet: bool, verbose: bool) -> Progress:
    """Return the progress of this command, shown on stderr."""
    so_far, console = RunSoFar(), plain_console(stderr=True)
    display: Display = LineDisplay(so_far, console)
    if quiet:
        display = NoDisplay()
    elif console.can_redraw:
        display = LiveDisplay(so_far, console, takes_prints=True)
    return Progress(so_far, display, shows_all=verbose)
