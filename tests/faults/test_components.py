"""One run over a grammar of faulty components beside healthy ones; every fault is a row of it.

The first pipeline that it tries fails, all that can go wrong goes wrong after it, and it ends well
on the two that are healthy.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psutil
import pytest
from unruly import DEEDS

from automl_admm.core.evaluations import Status

# Much has to be done in little time on a machine that may be busy with other tests.
pytestmark = pytest.mark.timeout(400)

HEALTHY = ("decision_tree", "gaussian_nb")
LOOKS = ("looks_before", "looks_after")
HANGS = ("sleeps", "ignores_signals", "holds_the_lock", "predict_hangs", "limit_hangs")
FIRST = "raises"
BUDGET = 300.0
LIMIT = 1.0
ELBOW_ROOM = 30.0  # a busy machine notices the end of a limit later
MEMORY = 300
SETTINGS = ("--workers", "2", "--memory", f"{MEMORY}MB", "--constraint", "mood <= 2")


@pytest.fixture(scope="module")
def deeds() -> list[str]:
    """All faults but those that hang, in the order in which they are tried."""
    faults = [deed for deed in DEEDS if deed not in (FIRST, *LOOKS, *HANGS)]
    return [FIRST, LOOKS[0], *faults, *HEALTHY, LOOKS[1]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def ended(begin, deeds, folder):
    limits = ("--budget", f"{BUDGET:g}s", "--eval-timeout", "60s")
    return begin(folder, deeds, *limits, *SETTINGS).end(BUDGET + 50)


@pytest.fixture(scope="module")
def hanging(begin, tmp_path_factory):
    limits = ("--budget", f"{BUDGET:g}s", "--eval-timeout", f"{LIMIT:g}s")
    folder = tmp_path_factory.mktemp("hanging")
    return begin(folder, (*HANGS, "gaussian_nb"), *limits, *SETTINGS).end(BUDGET + 50)


def fault(number: str, deed: str, injected: str, status: str, says: str = "", **more: Any) -> Any:
    """A fault by one component, and how its row should read."""
    expected = f"{status}: {says}" if says else status
    return pytest.param(
        deed,
        Status(status),
        says,
        id=deed,
        marks=pytest.mark.fault(number, injected=injected, expected=more.get("expected", expected)),
    )


@pytest.mark.parametrize(
    ("deed", "status", "says"),
    [
        fault("F01", "sleeps", "fit sleeps for ever", "timeout", "killed after 1 s"),
        fault(
            "F02",
            "ignores_signals",
            "fit ignores signals, swallows BaseException",
            "timeout",
            "killed after 1 s",
        ),
        fault(
            "F03",
            "holds_the_lock",
            "native code that holds the GIL for ever",
            "timeout",
            "killed after 1 s",
        ),
        fault("F04", "wants_50_gb", "allocates 50 GB at once", "memout", "Unable to allocate"),
        fault("F05", "leaks", "leaks 10 MB steps", "memout", "of 300 MB"),
        fault(
            "F05",
            "swallows_memory_error",
            "catches MemoryError and goes on",
            "memout",
            "of 300 MB",
        ),
        fault(
            "F05",
            "leaks_in_a_grandchild",
            "a process that it starts takes the memory",
            "memout",
            "of 300 MB",
        ),
        fault("F06", "segfaults", "SIGSEGV", "crashed", "signal SIGSEGV"),
        fault("F06", "aborts", "abort()", "crashed", "signal SIGABRT"),
        fault("F06", "divides_by_zero", "SIGFPE", "crashed", "signal SIGFPE"),
        fault("F06", "overflows_the_stack", "stack overflow in C", "crashed", "signal SIGSEGV"),
        fault("F07", "exits_3", "os._exit(3)", "crashed", "exit 3"),
        fault("F07", "exits_0", "os._exit(0)", "crashed", "exit 0 without a result"),
        fault("F07", "sys_exits", "sys.exit(4)", "crashed", "exit 4"),
        fault("F08", FIRST, "raises ValueError", "error", "ValueError: of no value"),
        fault(
            "F08",
            "raises_unspeakable",
            "raises what has no text",
            "error",
            "UnspeakableError: (its text cannot be had)",
        ),
        fault(
            "F08",
            "raises_unpicklable",
            "raises what cannot be unpickled",
            "error",
            "UnpicklableError: ab",
        ),
        fault(
            "F08",
            "raises_10_mb",
            "raises a message of 10 MB",
            "error",
            "ValueError: xxx",
            expected="error, message cut at 4 kB",
        ),
        fault("F08", "raises_a_group", "raises an ExceptionGroup", "error", "ExceptionGroup"),
        fault("F09", "predicts_nan", "predicts NaN", "invalid", "not all finite"),
        fault("F09", "predicts_inf", "predicts inf", "invalid", "not all finite"),
        fault("F09", "predicts_none", "predicts None", "invalid", "no real numbers"),
        fault("F09", "predicts_complex", "predicts complex numbers", "invalid", "no real numbers"),
        fault("F09", "predicts_text", "predicts text", "invalid", "no real numbers"),
        fault("F09", "predicts_two_values", "predicts two values", "invalid", "2 for 24 rows"),
        fault("F09", "predicts_unlikely", "probabilities above 1", "invalid", "between 0 and 1"),
        fault("F09", "predicts_too_little", "probabilities add up to 0.5", "invalid", "add up"),
        fault(
            "F09",
            "predicts_a_new_label",
            "predicts a label never seen",
            "invalid",
            "the label 'purple'",
        ),
        fault("F11", "prints_much", "prints 1 GB of binary and ANSI to raw 1 and 2", "success"),
        fault("F12", "fills_the_disk", "a file of 10 GB", "error", "File too large"),
        fault(
            "F12", "fills_its_folder", "90 temporary files of 100 MB", "error", "wrote more than"
        ),
        fault(
            "F13",
            "starts_a_crowd",
            "starts threads, children, a daemon",
            "success",
            expected="success, all gone within 2 s",
        ),
        fault("F15", "asks_for_a_line", "asks stdin", "error", "EOFError"),
        fault("F15", "opens_a_socket", "opens a socket, closes stdin", "error", "ConnectionRef"),
        fault("F16", "predict_hangs", "predict hangs", "timeout", "killed after 1 s"),
        fault("F16", "predict_crashes", "predict crashes", "crashed", "signal SIGSEGV"),
        fault("F16", "predicts_too_many", "predict answers too much", "invalid", "27 for 24 rows"),
        fault("F16", "limit_hangs", "measuring a limit hangs", "timeout", "killed after 1 s"),
        fault("F17", "limit_raises", "a limit raises", "invalid", "failed: ZeroDivisionError"),
        fault("F17", "limit_is_nan", "a limit is NaN", "invalid", "has no value"),
        fault("F17", "limit_is_infinite", "a limit is -inf", "invalid", "has no value"),
        fault("F17", "limit_is_negative", "a limit is below its range", "invalid", "it is -5"),
        fault("F17", "limit_is_text", "a limit gives text", "invalid", "failed: TypeError"),
    ],
)
def test_a_fault_is_a_row_by_its_name(request, deed, status, says, seen):
    run = request.getfixturevalue("hanging" if deed in HANGS else "ended")
    assert deed in run.rows, run
    row = run.rows[deed]
    assert row.status is status, row.message
    assert says in row.message
    assert len(row.message) <= 4_000
    if status is Status.TIMEOUT:
        assert row.seconds <= LIMIT + ELBOW_ROOM
    if status is Status.MEMOUT and "used" in row.message:
        assert float(row.message.split()[1]) <= 4.0 * MEMORY  # a busy machine looks less often
    seen(f"{row.status} after {row.seconds:.2f} s{': ' if row.message else ''}{row.message[:90]}")


@pytest.mark.fault(
    "F19",
    injected="the first pipeline fails, and 35 others in every way",
    expected="exit 0 on the healthy rest, no process left, within budget + 5 s, < 100 MB more",
)
def test_the_run_goes_on_and_ends_well(ended, deeds, folder, seen):
    assert ended.code == 0, ended.err
    assert set(ended.rows) == set(deeds)
    assert ended.rows[FIRST].number == 1
    assert all(ended.rows[name].ok for name in HEALTHY)
    assert ended.left == []
    assert ended.seconds <= BUDGET + 5
    assert ended.grown_mb < 100
    assert (folder / "out" / "model.skops").is_file()
    failed = sum(not row.ok for row in ended.rows.values())
    seen(
        f"exit 0; {failed} of {len(ended.rows)} failed; none left; "
        f"{ended.seconds:.0f} s of {BUDGET:g}; {ended.grown_mb:+.0f} MB"
    )


@pytest.mark.fault(
    "F19",
    injected="the first two pipelines hang, and three others",
    expected="exit 0 on the healthy one, no process left, a second for each",
)
def test_the_run_goes_on_after_what_hangs(hanging, seen):
    assert hanging.code == 0, hanging.err
    assert hanging.rows["gaussian_nb"].ok
    assert hanging.left == []
    assert hanging.seconds <= BUDGET + 5
    assert hanging.grown_mb < 100
    seen(f"exit 0 after {hanging.seconds:.0f} s; none left; {hanging.grown_mb:+.0f} MB")


@pytest.mark.fault(
    "F11",
    injected="the same",
    expected="nothing of it on the terminal or left on the disk",
)
def test_what_components_print_is_not_seen(ended, folder, seen):
    assert ended.err == ""
    assert ended.out.startswith("best pipeline")
    assert "\x1b" not in ended.out
    left = sum(path.stat().st_size for path in (folder / "out").rglob("*") if path.is_file())
    assert left < 3_000_000
    seen(f"{len(ended.out)} characters of our own; the run folder has {left / 1e3:.0f} kB")


@pytest.mark.fault(
    "F12", injected="the same two", expected="scratch and temporary files are removed"
)
def test_scratch_is_removed(ended, folder, seen):
    temporary = Path((folder / "filled").read_text())
    assert not temporary.parent.parent.exists()
    assert not list((folder / "out").glob(".scratch-*"))
    seen("both are gone")


@pytest.mark.fault(
    "F13", injected="the same crowd, 4 processes", expected="all of it dead when the run ends"
)
def test_the_crowd_is_gone(ended, folder, seen):
    crowd = [int(pid) for pid in (folder / "crowd").read_text().split()]
    assert len(crowd) == 4
    assert not any(map(psutil.pid_exists, crowd))
    seen("4 started, 0 left")


@pytest.mark.fault(
    "F14",
    injected="overwrites X and y; changes folder, env, locale, warnings, seeds, handlers, path",
    expected="other evaluations see what they saw before",
)
def test_what_a_component_changes_stays_its_own(ended, folder, seen):
    assert ended.rows["changes_everything"].status is Status.SUCCESS
    before, after = (json.loads((folder / name).read_text()) for name in LOOKS)
    assert before == after
    assert "UNRULY_WAS_HERE" not in after["environment"]
    seen(f"equal in all of {', '.join(after)}")
