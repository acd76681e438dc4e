"""What is printed is shown as it is, and never acts on the terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_program, run_python, start_program

from automl_admm.cli.shared.screen import Screen, say
from automl_admm.progress.visible_text import visible

HOSTILE = "a\x1b]0;owned\x07\x1b[2J[housing][/x]\u202egro\x9b"
SHOWN = r"a\x1b]0;owned\x07\x1b[2J[housing][/x]\u202egro\x9b"
GRAMMAR = """\
%import components (impute, decision_tree, gaussian_nb)
start: impute estimator
estimator: gaussian_nb | decision_tree
"""
Seen = Callable[[str], None]

pytestmark = pytest.mark.timeout(400)


def test_hidden_signs_are_written_out_and_all_others_stay() -> None:
    assert visible(HOSTILE) == SHOWN
    assert visible("Übergröße ≤ 5 %\n\tü") == "Übergröße ≤ 5 %\n\tü"
    assert visible("\ud800\u2028\u200b\r\x00") == r"\ud800\u2028\u200b\r\x00"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table whose name, columns and labels are hostile, and a run on it."""
    from automl_admm.cli.main import main

    place = tmp_path_factory.mktemp("screen")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({HOSTILE: rng.choice(["x", "y"], 200), "n": rng.normal(size=200)})
    frame["housing"] = rng.choice(["own", "rent"], 200)
    frame["buys"] = np.where(frame["n"] > 0, f"yes{HOSTILE}", "no")
    frame.to_csv(place / "data.csv", index=False)
    (place / "g.lark").write_text(GRAMMAR)
    with pytest.raises(SystemExit) as ended:
        main(
            [
                *("fit", str(place / "data.csv"), "--target", "buys", "-q"),
                *("--grammar", str(place / "g.lark"), "--out", str(place / "run")),
                *("--executor", "inline", "--cv=2"),
                *("--max-evaluations", "2", "--on-infeasible", "closest"),
                *("--constraint", "fpr_gap[housing] <= 0.9"),
                *("--constraint", f'fpr_gap["{HOSTILE}"] <= 0.9'),
            ]
        )
    assert not ended.value.code
    return place


def on_a_terminal(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run the program on a terminal of its own; its exit code, and what reached the terminal."""
    main_end, other_end = pty.openpty()
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "400", "TERM": "dumb"}
    ends = {"stdin": other_end, "stdout": other_end, "stderr": other_end}
    process = start_program(*arguments, cwd=folder, env=environment, **ends)
    os.close(other_end)
    found = b""
    while True:
        try:
            some = os.read(main_end, 65536)
        except OSError:
            break
        if not some:
            break
        found += some
    os.close(main_end)
    return process.wait(), found.decode(errors="surrogateescape")


def acts(text: str) -> list[str]:
    return [sign for sign in text if sign in "\x1b\x07\x9b\u202e"]


@pytest.mark.fault(
    "F94",
    injected="escape sequences and markup in names of columns, labels and files",
    expected="shown on the terminal, never acted on",
)
def test_names_never_act_on_a_terminal(hostile: Path, seen: Seen) -> None:
    told = [
        on_a_terminal(hostile, "leaderboard", "run"),
        on_a_terminal(hostile, "predict", "run", "data.csv"),
        on_a_terminal(hostile, "fit", f"no{HOSTILE}"),
    ]
    assert [code for code, _ in told] == [0, 0, 3], told
    for _, text in told:
        assert acts(text) == [], text
    assert SHOWN in told[2][1]
    seen(f"as {SHOWN[:12]}…")


def test_the_leaderboard_shows_brackets(
    hostile: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    ended = run("leaderboard", hostile / "run")
    assert ended.code == 0
    assert "fpr_gap[housing] <= 0.9" in ended.out
    assert SHOWN in ended.out
    assert acts(ended.out) == []


def test_data_for_another_program_are_exact(hostile: Path, run: Any) -> None:
    ended = run("predict", hostile / "run", hostile / "data.csv")
    assert f"yes{HOSTILE}" in ended.out
    first = json.loads(
        run("store", "export", hostile / "run", "--format", "jsonl").out.split("\n")[0]
    )
    assert any(HOSTILE in name for name in first["constraints"])


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-16", "utf-8"])
def test_data_are_in_utf_8_whatever_the_encoding_of_the_stream(encoding: str) -> None:
    bytes_of = io.BytesIO()
    screen = Screen(io.TextIOWrapper(bytes_of, encoding), is_result=True)
    for line in ("čáp\n", "≤\n"):
        screen.hand_on(line)
    screen.flush()
    assert bytes_of.getvalue().decode("utf-8") == "čáp\n≤\n"


def test_predictions_on_a_stream_of_another_encoding_are_those_of_a_file(hostile: Path) -> None:
    """Labels and kept columns go to the next program unchanged."""
    frame = pd.read_csv(hostile / "data.csv").assign(id="čáp")
    frame.to_csv(hostile / "named.csv", index=False)
    asked = ("predict", "run", "named.csv", "--keep", "id")
    code = "for one in (sys.stdin, sys.stdout, sys.stderr): one.reconfigure(encoding='latin-1')"
    printed = run_behind(code, *asked, cwd=hostile, text=False)
    assert printed.returncode == 0
    assert run_program(*asked, "-o", "named_out.csv", cwd=hostile).returncode == 0
    assert printed.stdout == (hostile / "named_out.csv").read_bytes()
    assert "čáp".encode() in printed.stdout


@pytest.mark.fault(
    "F95",
    injected="stdout is full, closed, or a pipe that nobody reads",
    expected="one line, exit 8 or 129; a pipe: no line, exit 141",
)
@pytest.mark.parametrize(
    ("shell", "code"),
    [(">/dev/full", 8), (">&-", 129), ("| :", 141)],
)
def test_a_result_that_cannot_be_printed_is_one_line_at_most(
    shell: str, code: int, hostile: Path, seen: Seen
) -> None:
    done = redirected(shell, hostile, "leaderboard", "run")
    assert done.returncode == code, done
    if code == 141:
        assert not done.stderr
    else:
        assert done.stderr.startswith("error: the result cannot be printed"), done.stderr
        assert done.stderr.count("\n") == 1
    seen(f"exit {code}: {done.stderr.strip()}")


@pytest.mark.fault(
    "F95", injected="stderr is closed or full while a run goes on", expected="exit 0, model saved"
)
@pytest.mark.parametrize("shell", ["2>&-", "2>/dev/full"])
def test_progress_that_cannot_be_printed_ends_no_run(
    shell: str, hostile: Path, tmp_path: Path, seen: Seen
) -> None:
    few = ("--grammar", "g.lark", "--executor", "inline", "--cv", "2", "--max-evaluations", "1")
    given = ("data.csv", "--target", "buys", *few, "-v", "--out", str(tmp_path / "out"))
    done = redirected(shell, hostile, "fit", *given)
    assert done.returncode == 0, done
    assert (tmp_path / "out" / "model.json").exists()
    seen("exit 0, model saved")


def redirected(shell: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program with a stream that is full, or as a shell is told to."""
    if shell.endswith("/dev/full"):
        name = "stdout" if shell.startswith(">") else "stderr"
        with Path("/dev/full").open("w") as full:
            return run_program(*arguments, cwd=folder, **{name: full})
    if shell == "| :":  # whoever would read has ended
        read, written = os.pipe()
        os.close(read)
        with os.fdopen(written, "w") as pipe:
            return run_program(*arguments, cwd=folder, stdout=pipe)
    number, name = (2, "stderr") if shell == "2>&-" else (1, "stdout")
    closed = f"os.close({number}); sys.{name} = sys.__{name}__ = None"
    return run_behind(closed, *arguments, cwd=folder)


def run_behind(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run the program in a process that has done to its streams what Python does at its start."""
    program = "runpy.run_module('automl_admm', run_name='__main__', alter_sys=True)"
    return run_python("-c", f"import os, runpy, sys\n{code}\n{program}", *arguments, **options)


def test_a_terminal_breaks_messages_between_words_and_a_pipe_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stream(io.StringIO):
        def __init__(self, *, is_tty: bool) -> None:
            super().__init__()
            self.is_tty = is_tty

        def isatty(self) -> bool:
            return self.is_tty

    monkeypatch.setenv("COLUMNS", "40")
    parts = [
        "error: there was no time for the final",
        "fit of",
        "a/long/path/of-the-run/model.skops.",
    ]
    line = " ".join(parts)
    for is_tty, shown in ((False, [line]), (True, parts)):
        stream = Stream(is_tty=is_tty)
        monkeypatch.setattr("sys.stderr", stream)
        say(line, err=True)
        assert stream.getvalue().splitlines() == shown
