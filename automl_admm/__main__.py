"""The program, also as `python -m automl_admm`.

An interrupt ends it well also while it imports; and while it exits, when nothing is left to save,
it no longer takes away the exit code.
"""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

INTERRUPTED = 130


def run() -> NoReturn:
    """Import the command line and run it."""
    try:
        from automl_admm.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    run()
