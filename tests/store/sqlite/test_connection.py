"""A lock of another program is waited for, and named at the end of patience."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.store.sqlite import connection
from automl_admm.store.sqlite.log import SqliteStore

Make = Callable[..., Evaluation]


class Clock:
    """A clock that goes on by each pause alone, by ten seconds; `then` is called at each."""

    def __init__(self) -> None:
        self.now = 0.0
        self.then: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += 10.0
        self.then()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(
        connection, "time", SimpleNamespace(monotonic=made.monotonic, sleep=made.sleep)
    )
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.001)
    return made


@pytest.fixture
def browser(tmp_path: Path, clock: Clock) -> Iterator[sqlite3.Connection]:
    """Another program with an open change."""
    SqliteStore(tmp_path / "store.sqlite", create=True).close()
    made = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
    with closing(made):
        yield made


def test_a_lock_of_another_program_is_waited_for(
    tmp_path: Path, clock: Clock, browser: sqlite3.Connection, evaluation: Make
) -> None:
    with closing(SqliteStore(tmp_path / "store.sqlite", write=True)) as store:
        browser.execute("BEGIN IMMEDIATE")
        clock.then = lambda: browser.execute("ROLLBACK") if clock.now == 50.0 else None
        store.append(evaluation(1))
        assert (clock.now, store.read()) == (50.0, [evaluation(1)])


@pytest.mark.parametrize(
    ("is_run", "told"),
    [
        (True, r"Close it; a run goes on by `automl-admm resume .*`\."),
        (False, r"Close that program\."),
    ],
)
def test_at_the_end_of_patience_the_line_says_what_holds_and_how_to_go_on(
    tmp_path: Path,
    clock: Clock,
    browser: sqlite3.Connection,
    evaluation: Make,
    told: str,
    *,
    is_run: bool,
) -> None:
    if is_run:
        (tmp_path / "run.json").write_text("{}")
    with closing(SqliteStore(tmp_path / "store.sqlite", write=True)) as store:
        browser.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=f"another program holds a lock on it. {told}") as held:
            store.append(evaluation(1))
        assert held.value.exit_code == 7
        assert clock.now == connection.PATIENCE_SECONDS
        browser.execute("ROLLBACK")
        store.append(evaluation(1))
        assert store.read() == [evaluation(1)]


def test_an_interrupt_ends_the_wait(
    tmp_path: Path, clock: Clock, browser: sqlite3.Connection, evaluation: Make
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with closing(SqliteStore(tmp_path / "store.sqlite", write=True)) as store:
        browser.execute("BEGIN IMMEDIATE")
        clock.then = interrupt
        with pytest.raises(KeyboardInterrupt):
            store.append(evaluation(1))
        assert clock.now == 10.0
        browser.execute("ROLLBACK")


def test_any_other_error_is_not_waited_for(tmp_path: Path, clock: Clock, evaluation: Make) -> None:
    path = tmp_path / "store.sqlite"
    SqliteStore(path, create=True).close()
    with (
        closing(SqliteStore(path)) as store,
        pytest.raises(StoreError, match="readonly"),
    ):
        store.append(evaluation(1))
    assert clock.now == 0.0
