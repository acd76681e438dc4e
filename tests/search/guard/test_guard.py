"""Whatever a solver does, the run ends well and says which solver it was."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from queue import Empty
from typing import Any

import numpy as np
import pytest

from automl_admm.core.errors import AutomlAdmmError, ConfigurationError
from automl_admm.core.run import RunResult
from automl_admm.core.space import Choice, Condition, Order, Parameter, SearchSpace, Selection
from automl_admm.core.subproblems import AtFidelity, Observation
from automl_admm.execution.threads import openmp_limiter
from automl_admm.plugins.loading import discover, load_plugins
from automl_admm.plugins.records import ThetaSolverPlugin, ZSolverPlugin
from automl_admm.plugins.specs import hookimpl
from automl_admm.runs.blackbox import run_black_box
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare import assembly
from automl_admm.search.guard import guard
from automl_admm.search.guard.guard import Guard, Helper, Post, guard_theta, guard_z
from automl_admm.search.guard.proposal_checks import Trail
from automl_admm.testing.contracts import MIXED, TABLE, box_problem, observed, table_problem

SPACE = SearchSpace(
    decisions=(
        Choice("color", ("red", "green", "blue", "grey")),
        Choice("size", ("s", "m", "l"), when=Condition("color", ("red", "green", "blue"))),
        Order("steps", ("a", "b", "c")),
    ),
    parameters=(Parameter("x", 0, 1), Parameter("n", 1, 40, kind="int")),
)


def objective(values: dict[str, Any]) -> float:
    """Best at green, b first, x = 0.3 and n = 10."""
    loss = (values["x"] - 0.3) ** 2 + abs(values["n"] - 10) / 40
    return loss + 0.3 * (values["color"] != "green") + 0.2 * (values["steps"][0] != "b")


# --- solvers that break one promise each ---------------------------------------------------------


class Good:
    """Keeps every promise, of either kind: what the bad ones are made of."""

    def begin(self, subproblem: Any) -> None:
        self.subproblem = subproblem
        self.rng = np.random.default_rng(subproblem.seed)

    def ask(self, count: int, pending: Sequence[Any]) -> Sequence[Any]:
        return [self.draw() for _ in range(count)]

    def draw(self) -> Any:
        if hasattr(self.subproblem, "parameters"):
            return self.rng.random(len(self.subproblem.parameters))
        return self.subproblem.space.sample(self.rng)

    def tell(self, observations: Sequence[Any]) -> None:
        pass


class Proposing(Good):
    """Proposes what a function of its draws makes."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change

    def draw(self) -> Any:
        return self.change(super().draw())


class Silent(Good):
    def ask(self, count: int, pending: Sequence[Any]) -> Sequence[Any]:
        return []


class NoAnswer(Good):
    def ask(self, count: int, pending: Sequence[Any]) -> Any:
        return None


class Misspelt(Good):
    """Lacks one of the three methods."""

    def __init__(self, method: str) -> None:
        self.method = method

    def __getattribute__(self, name: str) -> Any:
        if name in ("begin", "ask", "tell") and name == self.method:
            raise AttributeError(f"no {name}")
        return super().__getattribute__(name)


class Stubborn(Good):
    """The same point for ever."""

    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self.only = subproblem.start

    def draw(self) -> Any:
        return self.only


class Raising(Good):
    def __init__(self, method: str, problem: BaseException) -> None:
        self.method, self.problem = method, problem

    def __getattribute__(self, name: str) -> Any:
        if name in ("begin", "ask", "tell") and name == self.method:
            return self.fail
        return super().__getattribute__(name)

    def fail(self, *arguments: Any) -> Any:
        raise self.problem


class Hanging(Good):
    """Hangs in a loop of Python, in one method."""

    def __init__(self, method: str) -> None:
        self.method = method

    def __getattribute__(self, name: str) -> Any:
        if name in ("begin", "ask", "tell") and name == self.method:
            return self.hang
        return super().__getattribute__(name)

    def hang(self, *arguments: Any) -> Any:
        while True:
            time.sleep(0.001)


def at(value: float) -> Callable[[Any], Any]:
    return lambda point: np.full(len(point), value)


def picks(**changes: Any) -> Callable[[Any], Any]:
    return lambda selection: Selection(tuple((dict(selection.picks) | changes).items()))


BAD_THETA = {
    "outside": (lambda: Proposing(at(1.5)), "a point outside [0, 1]: 1.5 at index 0 of 2 numbers"),
    "nan": (lambda: Proposing(at(np.nan)), "is not finite: nan at index 0 of 2 numbers"),
    "shape": (lambda: Proposing(lambda p: p[:1]), "proposed a point of shape (1,), not (2,)"),
    "text": (lambda: Proposing(lambda p: "left"), "proposed 'left', which is no point"),
    "complex": (lambda: Proposing(lambda p: p + 0j), ", which is no point"),
    "fidelity": (
        lambda: Proposing(lambda p: AtFidelity(p, 0.1)),
        "fidelity 0.1, where only whole evaluations are allowed",
    ),
    "nothing": (Silent, "proposed nothing"),
    "no-answer": (NoAnswer, "raised TypeError(\"'NoneType' object is not iterable\") in ask"),
    "stubborn": (Stubborn, "proposed the same point again and again"),
    "begin": (lambda: Raising("begin", KeyError("k")), "raised KeyError('k') in begin"),
    "ask": (lambda: Raising("ask", ZeroDivisionError("z")), "raised ZeroDivisionError('z') in ask"),
    "tell": (lambda: Raising("tell", OSError("o")), "raised OSError('o') in tell"),
    "exit": (lambda: Raising("ask", SystemExit(3)), "raised SystemExit(3) in ask"),
    "no-begin": (lambda: Misspelt("begin"), "raised AttributeError('no begin') in begin"),
    "no-ask": (lambda: Misspelt("ask"), "raised AttributeError('no ask') in ask"),
    "no-tell": (lambda: Misspelt("tell"), "raised AttributeError('no tell') in tell"),
    "none": (lambda: None, "has no attribute 'begin'\") in begin"),
}
LACKING = ("no-begin", "no-ask", "no-tell", "none")
BAD_Z = {
    "alternative": (lambda: Proposing(picks(color="mauve")), "which is no selection of the space"),
    "inactive": (lambda: Proposing(picks(extra="s")), "which is no selection of the space"),
    "order": (lambda: Proposing(picks(steps=("a", "a", "b"))), "is no selection of the space"),
    "dict": (lambda: Proposing(lambda s: dict(s.picks)), "give what SearchSpace.complete returns"),
    "unhashable": (lambda: Proposing(picks(color=[1])), "which is no selection of the space"),
    **{name: BAD_THETA[name] for name in ("nothing", "no-answer", "stubborn", "fidelity")},
    **{name: BAD_THETA[name] for name in ("begin", "ask", "tell", "exit", *LACKING)},
}


@dataclass
class Provider:
    """A plugin with one bad solver of both kinds, and what it was told as an observer."""

    make: Callable[[], Any]

    def __post_init__(self) -> None:
        self.replaced: list[tuple[str, str]] = []

    @hookimpl
    def theta_solvers(self) -> Iterator[ThetaSolverPlugin]:
        yield ThetaSolverPlugin(name="bad", summary="bad", factory=lambda options: self.make())

    @hookimpl
    def z_solvers(self) -> Iterator[ZSolverPlugin]:
        yield ZSolverPlugin(name="bad", summary="bad", factory=lambda options: self.make())

    @hookimpl
    def solver_replaced(self, solver: str, reason: str) -> None:
        self.replaced.append((solver, reason))


def run(provider: Provider, **settings: Any) -> RunResult:
    arguments = {"max_evaluations": 40, "executor": "inline", "theta_solver": "random"} | settings
    config = RunConfig(extra_plugins={"provider": provider}, **arguments)
    return run_black_box(config, objective, SPACE, (), {})


def check_it_was_named(
    kind: str, reason: str, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    ((solver, told),) = provider.replaced
    assert solver == f"{kind} solver 'bad' (this process)"
    assert reason in told
    (record,) = [r for r in caplog.records if r.levelname == "WARNING"]
    assert record.name == "automl_admm.search.guard.guard"
    assert record.getMessage().startswith(f"{solver} {told}; random proposals take its place")
    assert "\n" not in record.getMessage()


def faults(kind: str, bad: Mapping[str, tuple[Any, str]]) -> list[Any]:
    """A parameter for each bad solver, each a row of the table of faults."""
    expected = "named, random proposals take its place, all evaluations made"
    return [
        pytest.param(
            name,
            marks=pytest.mark.fault("F54", injected=f"a {kind} solver: {name}", expected=expected),
        )
        for name in bad
    ]


@pytest.mark.parametrize("name", faults("theta", BAD_THETA))
def test_a_bad_theta_solver_is_named_and_replaced(
    name: str, caplog: pytest.LogCaptureFixture, seen: Callable[[str], None]
) -> None:
    make, reason = BAD_THETA[name]
    provider = Provider(make)
    result = run(provider, theta_solver="bad", z_solver="random")
    assert result.best is not None
    assert len({e.key for e in result.evaluations}) == 40
    assert len({e.candidate.theta for e in result.evaluations}) > 10
    check_it_was_named("theta", reason, provider, caplog)
    seen(f"it {provider.replaced[0][1]}; 40 evaluations")


@pytest.mark.parametrize("name", faults("z", BAD_Z))
def test_a_bad_z_solver_is_named_and_replaced(
    name: str, caplog: pytest.LogCaptureFixture, seen: Callable[[str], None]
) -> None:
    make, reason = BAD_Z[name]
    provider = Provider(make)
    result = run(provider, z_solver="bad", strategy="admm:first=16,step=0")
    assert result.best is not None
    assert len({e.candidate.selection for e in result.evaluations}) > 5
    check_it_was_named("z", reason, provider, caplog)
    seen(f"it {provider.replaced[0][1]}; 40 evaluations")


@pytest.mark.parametrize("name", ["outside", "nothing", "stubborn", "begin", "ask", *LACKING])
def test_a_bad_solver_of_everything_is_named_and_replaced(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    make, reason = BAD_THETA[name]
    provider = Provider(make)
    result = run(provider, theta_solver="bad", strategy="joint")
    assert len({e.key for e in result.evaluations}) == 40
    check_it_was_named("theta", reason.split(":")[0], provider, caplog)


def hurry(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no patience with this method of the bad solver.

    All other calls come back, but on a busy machine not always within half a second.
    """
    call, usual = guard.Guard._call, guard.LONGEST_CALL

    def call_within(one: Any, name: str, function: Callable[[], Any]) -> Any:
        is_bad = "'bad'" in one._post.title and name == method
        monkeypatch.setattr(guard, "LONGEST_CALL", 0.5 if is_bad else usual)
        return call(one, name, function)

    monkeypatch.setattr(guard.Guard, "_call", call_within)


@pytest.mark.fault(
    "F54", injected="a solver hangs in begin, ask or tell", expected="left behind, its thread ended"
)
@pytest.mark.parametrize("method", ["begin", "ask", "tell"])
@pytest.mark.parametrize("kind", ["theta", "z"])
def test_a_hanging_solver_is_left_behind(
    kind: str,
    method: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    seen: Callable[[str], None],
) -> None:
    hurry(method, monkeypatch)
    threads = set(threading.enumerate())
    provider = Provider(lambda: Hanging(method))
    result = run(provider, **{f"{kind}_solver": "bad"})
    assert len(result.evaluations) == 40
    check_it_was_named(kind, f"did not come back from {method} within 0.5 s", provider, caplog)
    for thread in set(threading.enumerate()) - threads:
        thread.join(60)
        assert not thread.is_alive(), "its thread goes on"
    seen(f"a {kind} solver {provider.replaced[0][1]}")


def test_several_workers_and_pending_points(caplog: pytest.LogCaptureFixture) -> None:
    provider = Provider(Stubborn)
    result = run(provider, theta_solver="bad", n_jobs=2, strategy="joint")
    assert len({e.key for e in result.evaluations}) == 40
    check_it_was_named("theta", "the same point", provider, caplog)


PLUGINS = load_plugins(sources=[source for source in discover() if source.builtin])
PAIRS = [
    *((record.name, "cmab") for record in PLUGINS.theta_solvers),
    *(("random", record.name) for record in PLUGINS.z_solvers),
]


@pytest.mark.parametrize(("theta", "z"), PAIRS)
def test_a_good_run_is_the_same_with_and_without(
    theta: str, z: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    provider = Provider(Good)
    runs = []
    for _ in range(2):
        result = run(provider, theta_solver=theta, z_solver=z, max_evaluations=20)
        runs.append([(e.candidate, e.loss) for e in result.evaluations])
        for name in ("guard_theta", "guard_z"):
            monkeypatch.setattr(assembly, name, Unguarded)
    assert runs[0] == runs[1]
    assert not provider.replaced
    assert not caplog.records


class Unguarded:
    """A solver as it is, in the place of its guard."""

    def __init__(self, solver: Any, post: Post) -> None:
        self.begin, self.ask, self.tell = solver.begin, solver.ask, solver.tell

    def close(self) -> None:
        pass


# --- the parts -----------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Office:
    """A guard's surroundings, with a stand-in that remembers how it began."""

    deadline: float | None = None

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.stand_in = Good()
        self.reports: list[tuple[str, str]] = []

    def post(self) -> Post:
        def report(title: str, reason: str) -> None:
            self.reports.append((title, reason))

        nothing = lambda: None  # noqa: E731
        return Post("it", lambda: self.stand_in, report, nothing, self.deadline, self.clock)


@pytest.fixture
def guarded() -> Iterator[Callable[..., Guard[Any]]]:
    made: list[Guard[Any]] = []

    def make(solver: Any, office: Office, kind: Callable[..., Guard[Any]] = guard_theta) -> Any:
        made.append(kind(solver, office.post()))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_the_stand_in_begins_with_all_that_is_known(guarded: Callable[..., Guard[Any]]) -> None:
    office = Office()
    known, told = observed(np.full(4, 0.1), 1.0), observed(np.full(4, 0.2), 2.0)
    it = guarded(Raising("ask", ValueError()), office)
    it.begin(box_problem(MIXED, [known]))
    it.tell([told])
    assert len(it.ask(1, [])) == 1
    assert office.stand_in.subproblem.history == (known, told)
    it.begin(box_problem(MIXED[:2], [known]))
    assert it.ask(2, [])[0].shape == (2,)
    assert len(office.reports) == 1


def test_two_faults_are_forgiven(guarded: Callable[..., Guard[Any]]) -> None:
    answers = iter([[np.full(4, 2.0)], [], [np.full(4, 0.5)]] * 3)
    solver = Good()
    solver.ask = lambda count, pending: next(answers)  # type: ignore[method-assign]
    office = Office()
    it = guarded(solver, office)
    it.begin(box_problem(MIXED))
    for _ in range(3):
        (point,) = it.ask(1, [])
        assert np.array_equal(point, np.full(4, 0.5))
    assert not office.reports


def test_ten_faults_in_a_run_are_too_many(guarded: Callable[..., Guard[Any]]) -> None:
    answers = iter([np.full(4, 2.0), np.full(4, 0.5)] * 20)
    solver = Proposing(lambda point: next(answers))
    office = Office()
    it = guarded(solver, office)
    it.begin(box_problem(MIXED))
    for _ in range(9):
        it.ask(1, [])
    assert not office.reports
    it.ask(1, [])
    assert len(office.reports) == 1


def test_a_rounding_error_is_put_on_the_edge(guarded: Callable[..., Guard[Any]]) -> None:
    office = Office()
    it = guarded(Proposing(at(1.0 + 1e-10)), office)
    it.begin(box_problem(MIXED))
    assert np.array_equal(it.ask(1, [])[0], np.ones(4))
    assert not office.reports


def test_no_more_is_taken_than_was_asked_for(guarded: Callable[..., Guard[Any]]) -> None:
    def without_end(count: int, pending: Sequence[Any]) -> Iterator[Any]:
        while True:
            yield np.full(4, 0.5)

    solver = Good()
    solver.ask = without_end  # type: ignore[assignment,method-assign]
    it = guarded(solver, Office())
    it.begin(box_problem(MIXED))
    assert len(it.ask(2, [])) == 2
    assert len(it.ask(0, [])) == 0


def test_fidelities_pass(guarded: Callable[..., Guard[Any]]) -> None:
    it = guarded(Proposing(lambda s: AtFidelity(s, np.float32(0.25))), Office(), guard_z)
    it.begin(replace(table_problem(), lowest_fidelity=0.1))
    (proposal,) = it.ask(1, [])
    assert proposal.fidelity == 0.25
    assert TABLE.complete(dict(proposal.point.picks)) == proposal.point


def test_nothing_is_an_answer_where_little_is_left(guarded: Callable[..., Guard[Any]]) -> None:
    office = Office()
    it = guarded(Silent(), office)
    it.begin(box_problem(MIXED[3:], [observed(np.zeros(1), 1.0)]))
    assert it.ask(1, []) == []
    it.begin(box_problem(()))
    assert it.ask(1, []) == []
    it.begin(box_problem(MIXED))
    assert it.ask(1, [np.full(4, 0.5)]) == [], "it may wait for what is pending"
    assert not office.reports


def test_a_continuous_box_is_never_used_up(guarded: Callable[..., Guard[Any]]) -> None:
    office = Office()
    it = guarded(Silent(), office)
    points = np.random.default_rng(0).random((90, 4))
    it.begin(box_problem(MIXED, [observed(point, 1.0) for point in points]))
    assert len(it.ask(1, [])) == 1
    assert len(office.reports) == 1


def test_a_solver_may_refuse_a_space_when_it_first_sees_it(
    guarded: Callable[..., Guard[Any]],
) -> None:
    it = guarded(Raising("begin", ConfigurationError("too large for me.")), Office(), guard_z)
    with pytest.raises(ConfigurationError, match="too large"):
        it.begin(table_problem())
    office = Office()
    solver = Good()
    it = guarded(solver, office, guard_z)
    it.begin(table_problem())
    solver.begin = Raising("begin", ConfigurationError("no more.")).fail  # type: ignore[method-assign]
    it.begin(table_problem())
    assert len(office.reports) == 1


def test_what_is_repeated_in_a_small_box_is_no_fault() -> None:
    trail = Trail()
    trail.enter(3.0, ["a"])
    for _ in range(1000):
        trail.note("a")
    assert not trail.is_stuck


def test_an_exploiting_solver_may_repeat_the_best_for_long() -> None:
    trail = Trail()
    trail.enter(144.0, [])
    for key in "ab":
        trail.note(key)
    trail.enter(144.0, ["a"])
    for _ in range(1000):
        trail.note("a")
    assert not trail.is_stuck


def test_in_a_continuous_box_nobody_repeats_for_long() -> None:
    trail = Trail()
    trail.enter(np.inf, ["a"])
    for key in ["b", *"a" * 64]:
        assert not trail.is_stuck
        trail.note(key)
    assert not trail.is_stuck
    trail.note("a")
    assert trail.is_stuck


def test_a_call_may_take_a_quarter_of_the_time_left() -> None:
    office = Office(deadline=1000.0)
    waits = {}
    for now in (0.0, 800.0, 990.0, 998.0, 1001.0):
        office.clock.now = now
        waits[now] = office.post().patience()
    assert waits == {0.0: 120.0, 800.0: 50.0, 990.0: 5.0, 998.0: 2.0, 1001.0: 0.5}
    assert Office().post().patience() == 120.0


@pytest.mark.fault(
    "F55", injected="a solver is still thinking when the budget ends", expected="the call is ended"
)
def test_a_call_that_the_deadline_ends_is_nobodys_fault(
    guarded: Callable[..., Guard[Any]],
    caplog: pytest.LogCaptureFixture,
    seen: Callable[[str], None],
) -> None:
    office = Office(deadline=0.0)
    it = guarded(Hanging("ask"), office)
    it.begin(box_problem(MIXED))
    assert len(it.ask(1, [])) == 1
    assert not office.reports
    assert not caplog.records
    seen("a random proposal in its place, nothing reported")


@pytest.mark.fault(
    "F55", injected="a solver hangs until the budget ends", expected="it is said which one it was"
)
def test_a_solver_that_took_long_when_the_time_ran_out_is_named(
    guarded: Callable[..., Guard[Any]],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    seen: Callable[[str], None],
) -> None:
    monkeypatch.setattr(guard, "WORTH_TELLING", guard.GRACE)
    office = Office(deadline=0.0)
    it = guarded(Hanging("ask"), office)
    it.begin(box_problem(MIXED))
    assert len(it.ask(1, [])) == 1
    assert not office.reports
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == "it was still in ask after 0.5 s when the time ran out"
    seen(record.getMessage())


def test_a_fidelity_that_is_too_low_is_told_with_those_allowed(
    guarded: Callable[..., Guard[Any]],
) -> None:
    office = Office()
    it = guarded(Proposing(lambda s: AtFidelity(s, 0.01)), office, guard_z)
    it.begin(replace(table_problem(), lowest_fidelity=0.1))
    it.ask(1, [])
    assert office.reports == [("it", "asked for the fidelity 0.01, where 0.1 to 1 are allowed")]


@pytest.fixture
def hears_interrupts() -> Iterator[None]:
    """What starts the tests in the background may have them ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hears_interrupts")
def test_an_interrupt_passes_through_a_call_at_once() -> None:
    helper = Helper(lambda: None)
    solver = Hanging("ask")

    def ask() -> Sequence[Any]:
        os.kill(os.getpid(), signal.SIGINT)
        return solver.ask(1, [])

    with pytest.raises(KeyboardInterrupt):
        helper.call(ask, timeout=60.0)
    thread = helper._thread
    assert thread is not None
    helper.stop()
    thread.join(60)
    assert not thread.is_alive()


def test_a_process_that_stood_still_does_not_make_a_call_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Ten minutes pass between two looks at the clock.
    monkeypatch.setattr(time, "monotonic", count(0.0, 600.0).__next__)
    helper = Helper(lambda: None)
    try:
        outcome = helper.call(lambda: time.sleep(0.6), timeout=10.0)
    finally:
        helper.stop()
    assert outcome == (None, None)


@pytest.mark.usefixtures("hears_interrupts")
def test_an_interrupted_call_that_ends_by_itself_is_not_broken_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "GRACE", 60.0)
    helper, broken_off = Helper(lambda: None), threading.Event()

    def finish_soon() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            for _ in range(20):
                time.sleep(0.01)
        except SystemExit:
            broken_off.set()

    with pytest.raises(KeyboardInterrupt):
        helper.call(finish_soon, timeout=60.0)
    helper.stop()
    assert not broken_off.is_set()


def test_no_thread_to_be_had_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(AutomlAdmmError, match="the thread of a solver cannot be started"):
        Helper(lambda: None).call(int, timeout=1.0)


@pytest.mark.fault(
    "F55", injected="the answer to a call that was given up", expected="dropped, once and for all"
)
def test_a_late_answer_is_not_taken_for_the_next(seen: Callable[[str], None]) -> None:
    helper, gate = Helper(lambda: None), threading.Event()
    with pytest.raises(Empty):
        helper.call(lambda: gate.wait(60) and "late", timeout=0.05)
    gate.set()
    assert helper.call(lambda: "next", timeout=60.0) == ("next", None)
    helper.stop()
    seen("the next call has its own answer")


def test_the_thread_ends_with_the_search() -> None:
    def solvers() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "solver"]

    heard: list[int] = []
    solver = Proposing(lambda point: heard.append(len(solvers())) or point)
    run(Provider(lambda: solver), theta_solver="bad", z_solver="bad", max_evaluations=5)
    deadline = time.monotonic() + 60
    while solvers() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert max(heard) >= 1
    assert not solvers()


def test_openmp_is_held_to_one_thread_where_the_solver_runs() -> None:
    import sklearn.tree  # noqa: F401 - brings OpenMP
    from threadpoolctl import ThreadpoolController

    controller = ThreadpoolController().select(user_api="openmp")
    assert controller.lib_controllers, "nothing here uses OpenMP"
    helper = Helper(openmp_limiter())
    counts, problem = helper.call(
        lambda: [library.num_threads for library in controller.lib_controllers], timeout=10.0
    )
    helper.stop()
    assert problem is None
    assert set(counts) == {1}


def test_observations_of_rough_evaluations_are_points_of_their_own(
    guarded: Callable[..., Guard[Any]],
) -> None:
    start = TABLE.complete({})
    rough = [Observation(start, 1.0, fidelity=share) for share in (0.1, 0.3, 1.0)]
    it = guarded(Stubborn(), Office(), guard_z)
    it.begin(table_problem(rough))
    assert len(it._trail.known) == 3
