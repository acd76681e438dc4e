"""The fitted pipeline as bytes, and loading it into the process of a user who asks for it.

To load it runs code of its components. The final fit has tried it in a child before; here it gets
a limit of time, and whatever it raises is told in one line.
"""

from __future__ import annotations

import pickle
import threading
from typing import Any

from automl_admm.core.errors import AutomlAdmmError

LOAD_SECONDS = 60.0
HINT = "A component of it cannot be unpickled; look at what it does in __setstate__."


def load_fitted(content: bytes, seconds: float = LOAD_SECONDS) -> Any:
    """Load a pickled pipeline; raises AutomlAdmmError if that fails, or takes too long.

    It is loaded in a thread, which is left alone if it hangs.
    """
    found: list[Any] = []
    problems: list[BaseException] = []

    def load() -> None:
        try:
            found.append(pickle.loads(content))  # noqa: S301 - a child of ours wrote it
        except BaseException as problem:  # noqa: BLE001 - a component may raise SystemExit
            problems.append(problem)

    thread = threading.Thread(target=load, name="automl-admm-load", daemon=True)
    thread.start()
    thread.join(seconds)
    if found:
        return found[0]
    reason = f"it takes longer than {seconds:g} s"
    if problems:
        reason = f"{type(problems[0]).__name__}: {problems[0]}".rstrip(".")
    raise AutomlAdmmError(f"the fitted pipeline cannot be loaded: {reason}.", hint=HINT)
