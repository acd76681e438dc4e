"""A page that follows a run: when it is written anew, when it stands still, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path

import pytest
from report_runs import Page, an_evaluation, write_run

from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.report import watching
from automl_admm.report.document.frame import POLICY
from automl_admm.report.watching import watch_run
from automl_admm.store.run_folder import write_atomically
from automl_admm.store.sqlite.lock import Holder, this_process
from automl_admm.store.sqlite.log import SqliteStore

LOCK = "store.lock"


def live_run(path: Path, evaluations: int = 3, **changes: object) -> Path:
    """Write the folder of a run whose process, this one, lives."""
    run = write_run(path, [an_evaluation(n) for n in range(1, evaluations + 1)], **changes)
    write_lock(run, this_process())
    return run


def write_lock(run: Path, holder: Holder) -> None:
    (run / LOCK).write_text(json.dumps(asdict(holder)))


def set_state(run: Path, state: str) -> None:
    content = json.loads((run / "run.json").read_text())
    write_atomically(run / "run.json", json.dumps(content | {"state": state}).encode())


def add_evaluation(run: Path, number: int) -> None:
    with suppress(OSError):
        (run / LOCK).unlink()
    with closing(SqliteStore(run / "store.sqlite", write=True)) as store:
        store.begin_anew([an_evaluation(n) for n in range(1, number + 1)])


class Pauses:
    """What happens in the pauses between looks, one after the other."""

    def __init__(self, *events: Callable[[], None]) -> None:
        self.left: Iterator[Callable[[], None]] = iter(events)
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        next(self.left)()


def refreshes(run: Path) -> list[str | None]:
    """Return the seconds after which the page loads itself again; it may load nothing else."""
    page = Page((run / "report.html").read_text())
    metas = [attributes for tag, attributes in page.elements if tag == "meta"]
    named = {one["http-equiv"]: one["content"] for one in metas if "http-equiv" in one}
    assert named.pop("Content-Security-Policy") == POLICY
    assert set(named) <= {"refresh"}
    assert ("this page is written anew" in page.text) is bool(named)
    return list(named.values())


def evaluations_told(run: Path) -> int:
    return int(json.loads((run / "report.json").read_text())["verdict"]["evaluations"])


def test_the_page_loads_itself_until_the_run_ends(tmp_path: Path) -> None:
    run, told = live_run(tmp_path / "run"), []
    seen: list[object] = []

    def look() -> None:
        seen.append((refreshes(run), (run / "report.html").stat().st_mtime_ns))

    def end() -> None:
        look()
        set_state(run, "stopped")

    pauses = Pauses(look, end)
    last = watch_run(run, None, told.append, pauses)
    assert told == [run / "report.html"]
    assert seen[0] == seen[1], "nothing changed, so nothing was written"
    assert seen[0][0] == ["5"]  # type: ignore[index]
    assert refreshes(run) == []
    assert (last.is_over, pauses.seconds) == (True, [5.0, 5.0])


def test_a_new_evaluation_is_on_the_page(tmp_path: Path) -> None:
    run = live_run(tmp_path / "run")
    found: list[int] = []

    def more() -> None:
        found.append(evaluations_told(run))
        add_evaluation(run, 4)
        write_lock(run, this_process())

    def end() -> None:
        found.append(evaluations_told(run))
        set_state(run, "stopped")

    watch_run(run, None, lambda page: None, Pauses(more, end))
    assert found == [3, 4]


def test_a_killed_run_ends_the_watch_though_no_file_changed(tmp_path: Path) -> None:
    run = live_run(tmp_path / "run")

    def kill() -> None:
        alive = this_process()
        before = (run / LOCK).stat()
        write_lock(run, Holder(alive.host, alive.pid, alive.start - 1000.0))
        assert before.st_ino == (run / LOCK).stat().st_ino

    last = watch_run(run, None, lambda page: None, Pauses(kill))
    assert not last.is_over
    assert refreshes(run) == []
    assert "no longer written" in (run / "report.html").read_text()


def test_a_run_that_ended_between_two_readings_counts_as_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path / "run", [an_evaluation(1)])  # its process is gone
    read = watching.read_view

    def read_then_end(path: Path) -> object:
        view = read(path)
        set_state(run, "stopped")
        return view

    monkeypatch.setattr(watching, "read_view", read_then_end)
    assert watch_run(run, None, lambda page: None, Pauses()).is_over


def test_an_interrupt_leaves_a_page_that_stands_still(tmp_path: Path) -> None:
    run = live_run(tmp_path / "run")

    def interrupt() -> None:
        assert refreshes(run) == ["5"]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch_run(run, None, lambda page: None, Pauses(interrupt))
    assert refreshes(run) == []


def test_one_failed_look_is_forgiven_and_two_are_told(tmp_path: Path) -> None:
    run = live_run(tmp_path / "run")
    whole = (run / "run.json").read_bytes()

    def damage() -> None:
        (run / "run.json").write_text("{")

    def mend() -> None:
        (run / "run.json").write_bytes(whole)
        set_state(run, "stopped")

    watch_run(run, None, lambda page: None, Pauses(damage, mend))
    (run / "run.json").write_bytes(whole)
    with pytest.raises(StoreError, match=r"run\.json"):
        watch_run(run, None, lambda page: None, Pauses(damage, lambda: None))


def test_a_large_run_is_looked_at_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, clock = live_run(tmp_path / "run"), iter([0.0, 2.0, 2.0, 2.0])
    monkeypatch.setattr(watching.time, "process_time", lambda: next(clock))
    seen: list[object] = []

    def end() -> None:
        seen.extend(refreshes(run))
        set_state(run, "stopped")

    pauses = Pauses(end)
    watch_run(run, None, lambda page: None, pauses)
    assert (seen, pauses.seconds) == (["20"], [20.0])


def test_the_name_of_the_page_is_checked_before_anything(tmp_path: Path) -> None:
    run = live_run(tmp_path / "run")
    with pytest.raises(ConfigurationError, match="name of the numbers"):
        watch_run(run, tmp_path / "x.json", lambda page: None, Pauses())
    with pytest.raises(StoreError):
        watch_run(tmp_path / "nowhere", None, lambda page: None, Pauses())
