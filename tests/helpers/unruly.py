"""A plugin whose components, limit and metric do everything that none should do.

Every deed is a component of its own, so that a grammar can offer it beside healthy ones. Files that
a test looks at afterwards are written to the folder that the environment names.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import locale
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from automl_admm import ComponentPlugin, ConstraintPlugin, hookimpl

MEGABYTES = 1_000_000


def notes() -> Path:
    return Path(os.environ["UNRULY_NOTES"])


# --- what a fit may do


def sleeps(X: Any, y: Any) -> None:
    time.sleep(3600)


def ignores_signals(X: Any, y: Any) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    while True:
        try:
            time.sleep(3600)
        except BaseException:  # noqa: BLE001, S112
            continue


def holds_the_lock(X: Any, y: Any) -> None:
    ctypes.PyDLL(None).sleep(3600)


def wants_50_gb(X: Any, y: Any) -> None:
    np.ones(50 * 1000 * MEGABYTES // 8)


def leaks(X: Any, y: Any, *, swallow: bool = False) -> None:
    held = []
    while True:
        try:
            held.append(bytearray(10 * MEGABYTES))
            time.sleep(0.02)
        except MemoryError:
            if not swallow:
                raise


def swallows_memory_error(X: Any, y: Any) -> None:
    with contextlib.suppress(MemoryError):
        np.ones(50 * 1000 * MEGABYTES // 8)
    leaks(X, y, swallow=True)


def leaks_in_a_grandchild(X: Any, y: Any) -> None:
    code = "import time\nheld = []\nwhile True: held.append(bytearray(10**7)); time.sleep(0.02)"
    subprocess.run([sys.executable, "-c", code], check=True)


def segfaults(X: Any, y: Any) -> None:
    ctypes.string_at(0)


def aborts(X: Any, y: Any) -> None:
    os.abort()


def divides_by_zero(X: Any, y: Any) -> None:
    signal.raise_signal(signal.SIGFPE)


def overflows_the_stack(X: Any, y: Any) -> None:
    sys.setrecursionlimit(10**8)

    def deeper(depth: int) -> Any:
        return called_from_c(depth + 1)

    called_from_c = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int)(deeper)
    called_from_c(0)


def exits_3(X: Any, y: Any) -> None:
    os._exit(3)


def exits_0(X: Any, y: Any) -> None:
    os._exit(0)


def sys_exits(X: Any, y: Any) -> None:
    sys.exit(4)


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("cannot be said")


class UnpicklableError(Exception):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one}{two}")


def raises(X: Any, y: Any) -> None:
    raise ValueError("of no value")


def raises_unspeakable(X: Any, y: Any) -> None:
    raise UnspeakableError


def raises_unpicklable(X: Any, y: Any) -> None:
    raise UnpicklableError("a", "b")


def raises_10_mb(X: Any, y: Any) -> None:
    raise ValueError("x" * 10 * MEGABYTES)


def raises_a_group(X: Any, y: Any) -> None:
    raise ExceptionGroup("several", [ValueError("one"), TypeError("two")])


def prints_much(X: Any, y: Any) -> None:
    line = b"\xff\xfe\x00\x1b[31m\x1b[2J" + b"x" * 984 + b"\n"
    for _ in range(1000):
        os.write(1, line * 500)
        os.write(2, line * 500)
    sys.stdout.write("and politely\n")


def fills_the_disk(X: Any, y: Any) -> None:
    """One file without end, sparse so that the test costs no disk."""
    with Path(tempfile.gettempdir(), "big").open("wb") as file:
        file.truncate(10 << 30)


def fills_its_folder(X: Any, y: Any) -> None:
    """Many files, each of them below the limit of one: links, so that the test costs no disk."""
    folder = Path(tempfile.mkdtemp())
    (notes() / "filled").write_text(str(folder))
    (folder / "first").write_bytes(bytes(100 * MEGABYTES))
    for number in range(89):
        (folder / str(number)).hardlink_to(folder / "first")
    time.sleep(3600)


def asks_for_a_line(X: Any, y: Any) -> None:
    input("well?")


def opens_a_socket(X: Any, y: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        (notes() / "listened").write_text(str(server.getsockname()[1]))
    sys.stdin.buffer.raw.close()  # type: ignore[union-attr]
    raise ConnectionRefusedError("nobody there")


def starts_a_crowd(X: Any, y: Any) -> None:
    """Threads, a child, one in a session of its own, and a daemon by a double fork."""
    for _ in range(3):
        threading.Thread(target=time.sleep, args=(3600,), daemon=False).start()
    sleepers = [
        subprocess.Popen(["sleep", "3600"], start_new_session=apart) for apart in (False, True)
    ]
    crowd = notes() / "crowd"
    with crowd.open("a") as file:
        file.writelines(f"{pid}\n" for pid in (os.getpid(), *(s.pid for s in sleepers)))
    middle = os.fork()
    if middle == 0:
        os.setsid()
        if os.fork() == 0:
            with crowd.open("a") as file:
                file.write(f"{os.getpid()}\n")
            time.sleep(3600)
        os._exit(0)
    os.waitpid(middle, 0)
    while len(crowd.read_text().split()) < 4:
        time.sleep(0.01)


def changes_everything(X: Any, y: Any) -> None:
    values = X.to_numpy() if hasattr(X, "to_numpy") else X
    for array in (values, y):
        with contextlib.suppress(ValueError):
            array[:] = array[::-1].copy()
    with contextlib.suppress(Exception):
        X.iloc[:, :] = 7.0
    os.chdir("/")
    os.environ["UNRULY_WAS_HERE"] = "yes"
    locale.setlocale(locale.LC_ALL, "C")
    warnings.simplefilter("error")
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.setrecursionlimit(500)
    np.set_printoptions(precision=1)
    sys.path.clear()


def looks_around(name: str, X: Any, y: Any) -> None:
    """Note what there is to be seen: no other evaluation may have changed it."""
    table = hashlib.sha256(np.ascontiguousarray(np.asarray(X, dtype=float)).tobytes())
    seen = {
        "X": table.hexdigest(),
        "y": hashlib.sha256("".join(map(str, y)).encode()).hexdigest(),
        "folder": str(Path.cwd()),
        "environment": sorted(name for name in os.environ if name != "TMPDIR"),
        "locale": locale.setlocale(locale.LC_ALL),
        "warnings": len(warnings.filters),
        "handlers": [str(signal.getsignal(number)) for number in (1, 2, 15)],
        "recursion": sys.getrecursionlimit(),
        "path": len(sys.path),
        "digits": np.get_printoptions()["precision"],
    }
    (notes() / name).write_text(json.dumps(seen))


FIT: Mapping[str, Callable[[Any, Any], object]] = {
    deed.__name__: deed
    for deed in (
        *(sleeps, ignores_signals, holds_the_lock),
        *(wants_50_gb, leaks, swallows_memory_error, leaks_in_a_grandchild),
        *(segfaults, aborts, divides_by_zero, overflows_the_stack),
        *(exits_3, exits_0, sys_exits),
        *(raises, raises_unspeakable, raises_unpicklable, raises_10_mb, raises_a_group),
        *(prints_much, fills_the_disk, fills_its_folder, asks_for_a_line, opens_a_socket),
        *(starts_a_crowd, changes_everything),
    )
} | {name: partial(looks_around, name) for name in ("looks_before", "looks_after")}


NAPS: dict[str, Callable[[Any, Any], object]] = {
    f"naps_{number}": lambda X, y: time.sleep(0.7) for number in range(4)
}


# --- what it may predict


def stretched(answer: Any) -> Any:
    return np.vstack([answer, answer[:3]])


PREDICT: dict[str, Callable[[Any], Any]] = {
    "predicts_nan": lambda answer: answer * np.nan,
    "predicts_inf": lambda answer: answer / 0.0,
    "predicts_none": lambda answer: None,
    "predicts_complex": lambda answer: answer + 1j,
    "predicts_text": lambda answer: answer.astype(str),
    "predicts_two_values": lambda answer: np.array([0.5, 0.5]),
    "predicts_too_many": stretched,
    "predicts_unlikely": lambda answer: answer + 1.0,
    "predicts_too_little": lambda answer: answer / 2,
    "predict_hangs": lambda answer: time.sleep(3600),
    "predict_crashes": lambda answer: ctypes.string_at(0),
}


# --- and what happens when a limit is measured on it

MOODS: dict[str, Callable[[], Any]] = {
    "limit_raises": lambda: 1 / 0,
    "limit_is_nan": lambda: float("nan"),
    "limit_is_infinite": lambda: float("-inf"),
    "limit_is_negative": lambda: -5.0,
    "limit_is_text": lambda: "small",
    "limit_hangs": lambda: time.sleep(3600),
}
LABELS = ("predicts_a_new_label",)
DEEDS = (*FIT, *PREDICT, *MOODS, *LABELS)
HARMLESS = (*NAPS, "has_a_big_model")


class Unruly(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Knows nothing, but for its deed."""

    def __init__(self, deed: str = "sleeps") -> None:
        self.deed = deed

    def fit(self, X: Any, y: Any) -> Any:
        {**FIT, **NAPS}.get(self.deed, lambda X, y: None)(X, y)
        self.classes_ = np.unique(y)
        if self.deed == "has_a_big_model":
            self.ballast_ = np.random.default_rng(0).random(MEGABYTES)
        return self

    @available_if(lambda self: self.deed not in LABELS)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        answer = np.full((len(X), len(self.classes_)), 1.0 / len(self.classes_))
        with np.errstate(all="ignore"):
            return PREDICT.get(self.deed, lambda answer: answer)(answer)

    def predict(self, X: Any) -> Any:
        return np.full(len(X), "purple" if self.deed in LABELS else self.classes_[0])


# --- what it may do when all is decided: in the final fit, and when its model is loaded

UNPICKLED: dict[str, Callable[[], object]] = {
    "unpickling_hangs": lambda: time.sleep(3600),
    "unpickling_raises": lambda: 1 / 0,
    "unpickling_exits": lambda: os._exit(3),
}
FINAL: dict[str, Callable[[], object]] = {"final_fit_hangs": lambda: time.sleep(3600)}
ROWS_OF_A_FOLD = 90


class Oracle(Unruly):
    """Knows everything, so that it is the best, but for its deed."""

    def fit(self, X: Any, y: Any) -> Any:
        import pandas as pd

        if len(y) > ROWS_OF_A_FOLD:
            FINAL.get(self.deed, lambda: None)()
        self.classes_ = np.unique(y)
        table = pd.read_csv(notes() / "people.csv")
        self.rows_, self.labels_ = table[["a", "b", "c"]].to_numpy(), table["buys"].to_numpy()
        return self

    def predict_proba(self, X: Any) -> Any:
        nearest = [np.argmin(np.abs(self.rows_ - row).sum(axis=1)) for row in np.asarray(X)]
        return (self.labels_[nearest][:, None] == np.array(["no", "yes"])).astype(float)

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        UNPICKLED.get(self.deed, lambda: None)()


def build(deed: str, values: Any, context: Any) -> Any:
    return Oracle(deed) if deed in (*UNPICKLED, *FINAL) else Unruly(deed)


def mood(evaluated: Any) -> Any:
    """1, but for those that have a mood of their own."""
    deed = getattr(evaluated.pipeline.steps[-1][1], "deed", "")
    return MOODS.get(deed, lambda: 1.0)()


@hookimpl
def components() -> Iterator[ComponentPlugin]:
    for deed in (*DEEDS, *HARMLESS, *UNPICKLED, *FINAL):
        yield ComponentPlugin(
            name=deed,
            summary="does what none should",
            role="estimator",
            factory=partial(build, deed),
            trusted_types=("unruly.Unruly", "unruly.Oracle"),
            tasks=("classification",),
        )


@hookimpl
def constraints() -> Iterator[ConstraintPlugin]:
    yield ConstraintPlugin(name="mood", summary="how it feels", function=mood)
