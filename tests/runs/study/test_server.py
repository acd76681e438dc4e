"""A study for several processes: one owns it, the others ask and tell through its server."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any

import pytest
from program import run_python

from automl_admm import Parameter, SearchSpace, Study
from automl_admm.core.errors import AutomlAdmmError, ConfigurationError
from automl_admm.runs.study.server import CLOSED

SPACE = SearchSpace((), (Parameter("x", 0.0, 1.0),))
QUICK: dict[str, Any] = {"theta_solver": "random", "z_solver": "random", "random_state": 0}


def work(address: Any) -> None:
    with Study.connect(address) as study:
        for trial in study:
            study.tell(trial, {"loss": trial.values["x"], "size": 1.0})


def test_four_processes_share_one_study(tmp_path: Path) -> None:
    study = Study(
        SPACE, constraints=["size <= 4"], max_evaluations=20, work_dir=tmp_path / "s", **QUICK
    )
    # Their server imports once for all four, and has no threads that a fork would cut off.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["automl_admm.runs.study.study"])
    with study.serve() as server:
        workers = [context.Process(target=work, args=(server.address,)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert len(study.results) == len({one.key for one in study.results}) == 20
    assert study.pending == ()
    study.close()
    with Study.load(tmp_path / "s") as again:
        assert again.results == study.results


def test_the_other_side_has_the_same_methods_and_the_same_errors() -> None:
    study = Study(SPACE, constraints=["size <= 4"], **QUICK)
    with study.serve() as server, Study.connect(server.address) as remote:
        trials = remote.ask(2)
        assert remote.pending == study.pending == tuple(trials)
        remote.tell(trials[0], 0.5, {"size": 2})
        remote.tell(trials[1].number, failed=ValueError("bad"), seconds=2.0)
        assert remote.results == study.results
        assert remote.best == study.best
        assert (remote.ended, remote.admm_state) == (None, None)
        remote.enqueue({"x": 0.125})
        third = remote.ask()
        assert third.values == {"x": 0.125}
        assert remote.add_observations([{"x": 0.25, "loss": 1, "size": 1}]) == 1
        with pytest.raises(ConfigurationError, match="trial 1 was told before"):
            remote.tell(trials[0], 0.5, {"size": 2})
        with pytest.raises(ConfigurationError, match=r"no limit named 'siez'. Did you mean 'size'"):
            remote.tell(third, 0.5, {"siez": 2})
        remote.tell(third, 0.5, {"size": 2})


def _raise(problem: BaseException) -> None:
    raise problem


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), TimeoutError()], ids=type)
def test_the_answer_to_an_interrupted_call_is_not_that_of_the_next_one(
    problem: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, is_asked = Study(SPACE, **QUICK), threading.Event()
    ask = study.ask
    with study.serve() as server, Study.connect(server.address) as remote:
        remote.tell(remote.ask(), 0.5)

        def interrupted(_: None) -> Any:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            assert is_asked.wait(10)
            return ask(1)[0]

        monkeypatch.setattr(study, "ask", interrupted)
        before = signal.signal(signal.SIGUSR1, lambda *_: _raise(problem))
        with pytest.raises((KeyboardInterrupt, AutomlAdmmError)):
            remote.ask()
        signal.signal(signal.SIGUSR1, before)
        assert remote.best == study.best
        is_asked.set()
        assert remote.results == study.results
        while not study.pending:
            time.sleep(0.01)
        # As after the death of a worker, its trial is still to be told.
        assert remote.pending == study.pending
        remote.close()
        for _ in range(2):  # no call connects anew what its user has closed
            with pytest.raises(ConfigurationError, match="connection to the study is closed"):
                remote.ask()
    study.close()


def test_threads_of_one_client_read_their_own_answers() -> None:
    study, problems = Study(SPACE, max_evaluations=60, **QUICK), []

    def work_and_look(remote: Any) -> None:
        try:
            for trial in remote:
                remote.tell(trial, trial.values["x"])
                assert remote.best.loss in {one.loss for one in remote.results}
        except BaseException as problem:  # noqa: BLE001 - of a thread it would be lost
            problems.append(problem)

    with study.serve() as server, Study.connect(server.address) as remote:
        threads = [threading.Thread(target=work_and_look, args=(remote,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
    assert problems == []
    assert len({one.number for one in study.results}) == 60
    assert all(one.loss == one.values["x"] for one in study.results)


def test_a_thread_that_waits_keeps_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    study, is_asked, is_told = Study(SPACE, **QUICK), threading.Event(), threading.Event()
    ask = study.ask

    def slow(_: None) -> Any:
        is_asked.set()
        return ask(1)[0] if is_told.wait(10) else None

    monkeypatch.setattr(study, "ask", slow)
    with study.serve() as server, Study.connect(server.address) as remote:
        found: list[Any] = []
        waiting = threading.Thread(target=lambda: found.append(remote.ask()))
        waiting.start()
        assert is_asked.wait(10)
        assert remote.results == ()
        remote.close()  # the answer of the other thread still comes
        is_told.set()
        waiting.join(10)
        assert found == list(study.pending)


def test_a_client_goes_on_with_the_next_server_at_its_address(tmp_path: Path) -> None:
    study, address = Study(SPACE, **QUICK), str(tmp_path / "socket")
    with study.serve(address), Study.connect(address) as remote:
        trial = remote.ask()
    with study.serve(address) as server:
        again = pickle.loads(pickle.dumps(remote))
        again.tell(trial, 0.5)
        server.close()
        with pytest.raises(AutomlAdmmError, match="no study answers at"):
            again.ask()
    with study.serve(address):
        assert again.best == study.best
    again.close()


def ask_at_once(study: Study, remote: Any, count: int) -> list[Any]:
    """Ask from several threads: the client has as many connections afterwards."""
    found, barrier, ask = [], threading.Barrier(count), study.ask
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "ask", lambda _: [barrier.wait(10), ask(1)[0]][1])
        threads = [
            threading.Thread(target=lambda: found.append(remote.ask())) for _ in range(count)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


@contextmanager
def told_to_the_next_server(study: Study, address: str, count: int) -> Iterator[None]:
    """Ask by several connections, and tell the results once another server is at their address."""
    server = study.serve(address)
    with Study.connect(address) as remote:
        trials = ask_at_once(study, remote, count)
        server.close()
        with study.serve(address):
            for trial in trials:
                remote.tell(trial, 0.5)
            yield


def answering() -> set[threading.Thread]:
    """Return the threads that answer connections."""
    return {thread for thread in threading.enumerate() if "_answer_all" in thread.name}


def test_no_connection_of_a_client_stays_with_a_closed_server(tmp_path: Path) -> None:
    study, before = Study(SPACE, **QUICK), answering()
    with told_to_the_next_server(study, str(tmp_path / "socket"), 5):
        assert len(study.results) == 5
        # Those of the closed server end though nobody asks them anything.
        until = time.monotonic() + 10.0
        while len(answering() - before) > 1 and time.monotonic() < until:
            time.sleep(0.01)
        assert len(answering() - before) == 1


def test_a_call_that_a_closed_server_refuses_goes_to_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study(SPACE, **QUICK)
    # As if each call came before the farewell could be seen.
    monkeypatch.setattr("automl_admm.runs.study.connections._is_over", lambda _: False)
    with told_to_the_next_server(study, str(tmp_path / "socket"), 3):
        assert len(study.results) == 3


def test_a_call_that_was_told_of_the_end_is_made_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = Study(SPACE, **QUICK)
    with study.serve() as server, Study.connect(server.address) as remote:
        told, answer = [CLOSED], server._answer
        later = lambda request: told.pop() if told else answer(request)  # noqa: E731
        monkeypatch.setattr(server, "_answer", later)
        assert [remote.ask()] == list(study.pending)
        told += [CLOSED, CLOSED]
        with pytest.raises(AutomlAdmmError, match="the server of the study is closed"):
            remote.ask()


FORKED = """
import multiprocessing, os
from automl_admm import Parameter, SearchSpace, Study
space = SearchSpace((), (Parameter("x", 0.0, 1.0),))
study = Study(space, max_evaluations=40, theta_solver="random", z_solver="random", random_state=0)
server = study.serve()

def work(remote):
    for trial in remote:
        remote.tell(trial, trial.values["x"])

def lead():
    remote = Study.connect(server.address)
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=work, args=(remote,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    work(remote)
    for worker in workers:
        worker.join()
    os._exit(sum(worker.exitcode for worker in workers))

pid = os.fork()
if pid == 0:
    lead()
assert os.waitpid(pid, 0)[1] == 0
assert len(study.results) == 40 and study.pending == (), (len(study.results), study.pending)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_forked_workers_read_their_own_answers() -> None:
    # Its own process: the tests' has threads, which a fork would cut off.
    run = run_python("-c", FORKED)
    assert run.returncode == 0, run.stderr


class Stranger:
    """A class of the worker alone: the process with the study has no such module."""

    def __reduce__(self) -> Any:
        return (__import__, ("no_such_module",))


def test_a_call_that_cannot_be_sent_or_read_is_told_in_one_line(capfd: Any) -> None:
    study = Study(SPACE, **QUICK)
    with study.serve() as server, Study.connect(server.address) as remote:
        trial = remote.ask()
        with pytest.raises(ConfigurationError, match="cannot read the call: ModuleNotFound"):
            remote.tell(trial, Stranger())
        with pytest.raises(ConfigurationError, match="cannot be sent to the process"):
            remote.tell(trial, lambda: 1.0)
        remote.tell(trial, 0.5)
        assert len(remote.results) == 1
    assert capfd.readouterr() == ("", "")


def test_nothing_but_the_study_is_reached_from_outside() -> None:
    study = Study(SPACE, **QUICK)
    with study.serve() as server, Client(server.address, authkey=server.authkey) as connection:
        for name in ("close", "__class__", "_trials", "save"):
            connection.send((name, (), {}))
            is_answer, _ = connection.recv()
            assert not is_answer
    assert study.ask() is not None


def test_a_stranger_and_a_closed_server_are_told_in_one_line() -> None:
    study = Study(SPACE, **QUICK)
    server = study.serve(authkey=b"ours")
    with pytest.raises(ConfigurationError, match="no study answers at") as told:
        Study.connect(server.address, authkey=b"theirs")
    assert "\n" not in str(told.value)
    with Study.connect(server.address, authkey=b"ours") as remote:
        assert remote.ask() is not None
    server.close()
    server.close()
    with pytest.raises(ConfigurationError, match="no study answers at"):
        Study.connect(server.address, authkey=b"ours")
    with pytest.raises(ConfigurationError, match="authkey must be bytes, not str"):
        study.serve(authkey="ours")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="no server can be opened at 'nowhere/at/all'"):
        study.serve("nowhere/at/all")
    for open_at in (study.serve, Study.connect):
        with pytest.raises(ConfigurationError, match=r"80000\) is no address\. A port is a number"):
            open_at(("127.0.0.1", 80000), authkey=b"ours")
    assert "study-server" not in [thread.name for thread in threading.enumerate()]


def test_a_stranger_who_says_nothing_keeps_nobody_waiting() -> None:
    study = Study(SPACE, **QUICK)
    with study.serve() as server, socket.socket(socket.AF_UNIX) as silent:
        silent.connect(server.address)
        with Study.connect(server.address) as remote:
            assert remote.ask() is not None


def test_a_study_closed_behind_its_server_says_so() -> None:
    study = Study(SPACE, **QUICK)
    with study.serve() as server, Study.connect(server.address) as remote:
        study.close()
        for look in (remote.ask, lambda: remote.best, lambda: remote.pending):
            with pytest.raises(ConfigurationError, match="the study is closed"):
                look()
    with pytest.raises(ConfigurationError, match="the study is closed"):
        study.serve()


def test_a_closed_server_takes_no_calls_of_those_who_are_connected() -> None:
    study = Study(SPACE, **QUICK)
    server = study.serve()
    remote = Study.connect(server.address)
    trial = remote.ask()
    server.close()
    closed = "the server of the study is closed|the study does not answer|no study answers at"
    for call in (lambda: remote.tell(trial, 0.5), remote.ask, lambda: remote.results):
        with pytest.raises(AutomlAdmmError, match=closed) as told:
            call()
        assert "\n" not in str(told.value)
    assert (study.results, study.pending) == ((), (trial,))


def send_to_a_worker(remote: Any) -> int:
    trial = remote.ask()
    remote.tell(trial, 0.5)
    return int(trial.number)


def test_a_client_that_is_sent_to_another_process_connects_anew() -> None:
    study, context = Study(SPACE, **QUICK), multiprocessing.get_context("spawn")
    with study.serve() as server, Study.connect(server.address) as remote:
        with context.Pool(1) as pool:
            number = pool.apply(send_to_a_worker, (remote,))
        assert [one.number for one in remote.results] == [number]
