"""The program, also as `python -m automl_admm`.

An interrupt while it imports ends it right after. While it exits nothing is left to save, and an
interrupt no longer takes away the exit code.
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
        from automl_admm.execution.quick_imports import importing

        with importing():
            from automl_admm.cli.main import main

        main(begun=BEGUN)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    run()
