"""The program, also as `python -m automl_admm`.

An interrupt ends it well also while it imports; and while it exits, when nothing is left to save,
it no longer takes away the exit code.
"""

from __future__ import annotations

import signal
import sys
import time
from typing import NoReturn

# The budget pays for the imports, too. The age of the process says nothing: a shell that was busy
# before may have become it, by exec.
BEGUN = time.monotonic()
INTERRUPTED = 130


def run() -> NoReturn:
    """Import the command line and run it."""
    try:
        from automl_admm.cli.main import main

        main(begun=BEGUN)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    run()
