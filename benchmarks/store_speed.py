"""How long the store of a long run takes: to open, to read, and to write one more evaluation.

The store has 100 000 evaluations of 12 active parameters each (a pipeline of the default grammar
has less than ten on average), as a run of several days leaves them. A write waits for the disk
(synchronous=FULL), so beside it stands what one commit of the plain SQLite of this machine takes on
the same disk. Writes are also timed while a backup of all of it is made. The clock is what a user
waits for; the processor's own time is what other work on the machine does not distort.

    python benchmarks/store_speed.py [--rows 100000] [--folder DIR]
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import TypeVar

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.store.files import Manifest, StoreFiles, write_manifest
from automl_admm.store.rescue.backup import back_up
from automl_admm.store.sqlite.connection import connect_writing, transaction
from automl_admm.store.sqlite.keeper import Rhythm
from automl_admm.store.sqlite.log import SqliteStore
from automl_admm.store.sqlite.opening import build, new_name, publish
from automl_admm.store.sqlite.rows import digest, to_row
from automl_admm.store.sqlite.schema import INSERT, VERSION

ResultT = TypeVar("ResultT")
PARAMETERS = 12
WRITES = 200
MOST_SECONDS = 5.0
MOST_MILLISECONDS = 10.0


def an_evaluation(number: int) -> Evaluation:
    """One with a selection of six decisions, two limits and the scores of three folds."""
    picks = tuple((f"step_{i}", f"component_{number * (i + 3) % 7}") for i in range(6))
    theta = tuple((number * 37 + i * 11) % 997 / 997 for i in range(PARAMETERS))
    return Evaluation(
        number=number,
        key=f"{number:064x}",
        candidate=Candidate(Selection(picks), theta),
        status=Status.SUCCESS,
        loss=1 / (number + 2),
        constraints=(number / 7, number / 9),
        seconds=1.25,
        text="impute(strategy='median') pca(n_components=0.93) random_forest(n_estimators=120)",
        details={"scores": [number / 11, number / 13, number / 17]},
    )


def fill(path: Path, rows: int) -> None:
    """Make a store of many evaluations in one go."""
    run = new_name()
    build(path, run)
    publish(path)
    made = (to_row(an_evaluation(number)) for number in range(1, rows + 1))
    with closing(connect_writing(path)) as database, transaction(database):
        database.executemany(INSERT, ((*row, digest(row)) for row in made))
    write_manifest(StoreFiles(path).manifest, Manifest(run, VERSION, rows))


@dataclass(frozen=True, slots=True)
class Line:
    """What was timed, how long it took, and how long it may take at most."""

    what: str
    figure: str
    bound: str = ""
    is_kept: bool = True

    def __str__(self) -> str:
        verdict = "" if not self.bound else "  ok" if self.is_kept else "  TOO LONG"
        return f"{self.what:<44}{self.figure:>26}  {self.bound}{verdict}"


def measure(path: Path, rows: int) -> Iterator[Line]:
    """Open, read, write, write beside a backup, close."""
    store, opened = timed(lambda: SqliteStore(path, write=True))
    processor = time.process_time()
    evaluations, read = timed(store.read)
    processor = time.process_time() - processor
    assert len(evaluations) == rows  # noqa: S101 - what was timed was not nothing
    del evaluations
    is_fast = opened + read < MOST_SECONDS
    yield Line("open for writing (structure checked)", f"{opened:.2f} s")
    yield Line(
        "read all, each row's hash checked",
        f"{read:.2f} s ({processor:.2f} s of processor)",
        "< 5 s",
        is_fast,
    )
    yield commits("a commit of plain SQLite", plain_commits(path.with_name("plain")))
    numbers = count(rows + 1)
    appends = [write_one(store, number) for _, number in zip(range(WRITES), numbers, strict=False)]
    yield commits("begin", [seconds for seconds, _ in appends])
    yield commits("append", [seconds for _, seconds in appends], MOST_MILLISECONDS)
    beside, lasted = appends_beside_backup(store, path, numbers)
    yield commits(f"append, {len(beside)} of them beside a backup", beside, MOST_MILLISECONDS)
    size = path.with_suffix(".bak").stat().st_size / 1e6
    yield Line("that backup", f"{lasted:.2f} s, {size:.0f} MB")
    _, closed = timed(store.close)
    yield Line("close, with the last backup", f"{closed:.2f} s")
    _, looked = timed(lambda: read_all(path))
    yield Line("open and read for a leaderboard", f"{looked:.2f} s")


def timed(action: Callable[[], ResultT]) -> tuple[ResultT, float]:
    """What an action returns, and its seconds."""
    begun = time.perf_counter()
    result = action()
    return result, time.perf_counter() - begun


def read_all(path: Path) -> None:
    """As `automl-admm leaderboard` does."""
    with closing(SqliteStore(path)) as store:
        store.read()


def write_one(store: SqliteStore, number: int) -> tuple[float, float]:
    """The seconds of the two writes that an evaluation costs."""
    evaluation = an_evaluation(number)
    _, begun = timed(lambda: store.begin(number, evaluation.key, evaluation.text))
    _, kept = timed(lambda: store.append(evaluation))
    return begun, kept


def appends_beside_backup(
    store: SqliteStore, path: Path, numbers: Iterator[int]
) -> tuple[list[float], float]:
    """The seconds of writes while a backup is made as the store's own thread makes it."""
    pause = Rhythm().pause
    lasted: list[float] = []

    def copy() -> None:
        lasted.append(timed(lambda: back_up(StoreFiles(path), lambda: time.sleep(pause)))[1])

    copying = threading.Thread(target=copy)
    copying.start()
    seconds = []
    while copying.is_alive():
        seconds.append(write_one(store, next(numbers))[1])
    copying.join()
    return seconds, lasted[0]


def plain_commits(path: Path) -> list[float]:
    """The seconds of commits of one small row to an empty database."""
    with closing(connect_writing(path, create=True)) as database:
        database.execute("CREATE TABLE numbers (number INTEGER)")
        return [timed(lambda: _insert(database))[1] for _ in range(WRITES)]


def _insert(database: sqlite3.Connection) -> None:
    database.execute("INSERT INTO numbers VALUES (1)")


def commits(what: str, seconds: list[float], most: float | None = None) -> Line:
    """Median, 99th percentile and longest."""
    ordered = sorted(1e3 * each for each in seconds)
    middle, high = median(ordered), ordered[int(0.99 * (len(ordered) - 1))]
    figure = f"{middle:.1f} / {high:.1f} / {ordered[-1]:.1f} ms"
    if most is None:
        return Line(what, figure)
    return Line(what, figure, f"median < {most:g} ms", middle < most)


def main() -> int:
    """Print the table; 1 if something took too long."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where the disk to be measured is mounted")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "store.sqlite"
        fill(path, options.rows)
        print(f"a store of {options.rows:,} evaluations, {path.stat().st_size / 1e6:.0f} MB")
        print("(writes: median / 99 % / longest)")
        kept = []
        for line in measure(path, options.rows):
            print(line, flush=True)
            kept.append(line.is_kept)
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
