"""Faults of the last part of a run: the best pipeline hangs when it is fitted or loaded."""

from __future__ import annotations

import json
import signal
import time

import pytest

pytestmark = pytest.mark.timeout(400)

# It is 10 s, where the machine is not busy with anything else; the fit would take an hour.
LONGEST_END = 200.0


@pytest.mark.fault(
    "F84",
    injected="the best three pipelines hang, raise, exit when their model is loaded",
    expected="the parent loads none of them; the next best ships",
)
def test_what_cannot_be_loaded_does_not_ship(fit, tmp_path, seen):
    names = ("unpickling_hangs", "unpickling_raises", "unpickling_exits", "gaussian_nb")
    ended = fit(tmp_path, names, "--budget", "120s")
    assert ended.code == 0, ended.err
    assert all(row.ok for row in ended.rows.values())
    assert ended.rows["unpickling_hangs"].loss < ended.rows["gaussian_nb"].loss
    assert ended.out.splitlines()[0].endswith("gaussian_nb()")
    assert (tmp_path / "out" / "model.skops").is_file()
    assert "Traceback" not in ended.err
    assert ended.left == []
    assert ended.seconds < 100
    seen(f"exit 0 after {ended.seconds:.0f} s; {ended.out.splitlines()[0]}")


@pytest.mark.fault(
    "F85",
    injected="SIGTERM, SIGINT in a final fit that hangs",
    expected="143, 130 within 10 s, the next best ships",
)
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["term", "int"]
)
def test_an_interrupt_ends_a_final_fit(begin, tmp_path, seen, number, code):
    run = begin(tmp_path, ("final_fit_hangs", "gaussian_nb"))
    run.wait_for_rows(2)
    run.fitting_the_last()
    begun = time.monotonic()
    run.process.send_signal(number)
    ended = run.end()
    took = time.monotonic() - begun
    seen(f"exit {ended.code} after {took:.1f} s; {ended.out.splitlines()[:1]}")
    assert ended.code == code, ended.err
    assert ended.out.splitlines()[0].endswith("gaussian_nb()")
    assert f"ended by: {'interrupt' if number == signal.SIGINT else 'termination'}" in ended.out
    assert took < LONGEST_END
    assert (tmp_path / "out" / "model.skops").is_file()
    assert ended.left == []


def test_an_interrupt_without_a_model_says_how_to_go_on(begin, tmp_path):
    run = begin(tmp_path, ("final_fit_hangs",))
    run.wait_for_rows(1)
    run.fitting_the_last()
    run.process.send_signal(signal.SIGTERM)
    ended = run.end()
    assert ended.code == 143
    # Click ends the line of a `^C` that the terminal shows: an empty line.
    lines = list(filter(None, ended.err.splitlines()))
    assert lines == ["go on with: automl-admm resume out", "error: interrupted"]
    assert ended.left == []


@pytest.mark.fault(
    "F63",
    injected="SIGTERM, SIGINT before the first evaluation has succeeded, while it hangs",
    expected="143, 130; what was fitted beforehand ships, marked",
)
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["term", "int"]
)
def test_an_interrupt_before_any_success_leaves_a_marked_model(begin, tmp_path, seen, number, code):
    run = begin(tmp_path, ("sleeps",), "--budget", "300s")
    run.evaluating()  # the fallback is fitted before the first evaluation begins
    begun = time.monotonic()
    run.process.send_signal(number)
    ended = run.end()
    took = time.monotonic() - begun
    seen(f"exit {ended.code} after {took:.1f} s; {ended.out.splitlines()[:1]}")
    assert ended.code == code, ended.err
    assert json.loads((tmp_path / "out" / "model.json").read_text())["fallback"] == "constant"
    assert (tmp_path / "out" / "model.skops").is_file()
    assert "marked, is a constant" in ended.err
    assert "Traceback" not in ended.err
    assert took < LONGEST_END
    assert ended.left == []


def test_an_interrupt_before_any_success_is_all_there_is_to_tell(begin, tmp_path):
    """Without a budget there is nothing to fall back on."""
    run = begin(tmp_path, ("sleeps",))
    run.evaluating()
    run.process.send_signal(signal.SIGINT)
    ended = run.end()
    assert ended.code == 130
    assert ended.err.strip().splitlines()[-1] == "error: interrupted"
    assert not (tmp_path / "out" / "model.json").exists()
    assert ended.left == []


@pytest.mark.fault(
    "F22", injected="SIGINT twice", expected="ends at once, the store kept, no stack trace"
)
def test_a_second_interrupt_ends_it_at_once(begin, tmp_path, seen):
    """The first one ends the search, and the second one the final fit."""
    run = begin(tmp_path, ("final_fit_hangs", "sleeps"))
    run.wait_for_rows(1)
    run.evaluating("sleeps")
    run.process.send_signal(signal.SIGINT)
    run.fitting_the_last()
    run.process.send_signal(signal.SIGINT)
    ended = run.end()
    said = [line for line in ended.err.splitlines() if line]
    seen(f"exit {ended.code}: {' / '.join(said)}")
    assert ended.code == 130
    assert said == ["go on with: automl-admm resume out", "error: interrupted"]
    assert not (tmp_path / "out" / "model.skops").exists()
    assert ended.rows["final_fit_hangs"].ok
    assert ended.left == []
