"""The displays of progress: what they show, and what they leave alone."""

from __future__ import annotations

import html
import io
import logging
import math
import sys
import threading
import time
import types
from dataclasses import replace
from typing import Any

import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.run import RunInfo
from automl_admm.core.space import Candidate, SearchSpace, Selection
from automl_admm.progress import displays
from automl_admm.progress.console import Lenient, PlainConsole
from automl_admm.progress.displays import LineDisplay, LiveDisplay, display_for
from automl_admm.progress.observer import Progress, progress_at
from automl_admm.progress.run_so_far import RunSoFar, line_of

INFO = RunInfo(
    "credit",
    SearchSpace(),
    limits=(Limit("fpr", 0.1),),
    max_evaluations=9,
    loss_name="accuracy",
    best_score=1.0,
)
ESCAPE = "\x1b[31mred\x1b[0m"


def evaluation(number: int, loss: float, fpr: float, text: str = "ridge()") -> Evaluation:
    candidate = Candidate(Selection(()), ())
    if math.isnan(loss):
        return Evaluation(number, "k", candidate, Status.ERROR, text=text, message="broke\nmore")
    return Evaluation(number, "k", candidate, Status.SUCCESS, loss, (fpr,), 1.5, text)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def tell(progress: Progress, *ended: Evaluation) -> None:
    progress.run_started(INFO)
    for one in ended:
        progress.evaluation_started(one.number, one.text)
        progress.evaluation_finished(one, INFO)


def test_the_state_counts_and_knows_the_best_within_the_limits() -> None:
    so_far = RunSoFar()
    assert so_far.status_line() == "starting   0 evaluations (none yet)"
    assert so_far.best_line() == "best      none yet"
    so_far.begin(INFO)
    so_far.finish(evaluation(1, 0.1, 0.3))
    assert so_far.best_line() == (
        "closest, not within the limits  accuracy 0.9000  fpr 0.3 > 0.1 !  "
        "(fpr <= 0.1 binds: broken by 1 of 1, its best value is 0.3)  ridge()"
    )
    so_far.finish(evaluation(2, 0.2, 0.1))
    so_far.finish(evaluation(3, math.nan, 0.0))
    so_far.start(4, "pca() ridge()")
    assert so_far.status_line() == "3 of 9   3 evaluations (2 success, 1 error)"
    assert so_far.best_line() == "best      accuracy 0.8000  fpr 0.1 <= 0.1  ridge()"
    assert [(one.number, one.text) for one in so_far.running()] == [(4, "pca() ridge()")]


def test_an_evaluation_on_some_folds_is_counted_and_is_never_the_best() -> None:
    so_far = RunSoFar()
    so_far.begin(INFO)
    so_far.finish(replace(evaluation(1, 0.0, 0.0), details={"folds_left": 2}))
    assert so_far.count_line() == "1 evaluation (1 stopped)"
    assert so_far.best is None
    assert so_far.best_of_all is None
    assert so_far.strains[0].measured == 0


def test_an_evaluation_in_a_line_has_its_reason() -> None:
    assert line_of(evaluation(1, 0.25, 0.0), INFO) == "    1     0.7500    1.50 s  ridge()"
    assert line_of(evaluation(2, math.nan, 0), INFO).endswith("error    0.00 s  ridge()  (broke)")


@pytest.mark.parametrize("level", [1, 2])
def test_lines_come_now_and_then_and_all_evaluations_if_asked_for(
    level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(displays, "SECONDS_BETWEEN_LINES", 0.0)
    stream = io.StringIO()
    with progress_at(level, stream) as progress:
        tell(progress, evaluation(1, 0.2, 0.0, ESCAPE))
    lines = stream.getvalue().splitlines()
    assert lines[-1].startswith("1 of 9   1 evaluation (1 success)   best      accuracy 0.8000")
    assert len(lines) == level
    assert "\x1b" not in stream.getvalue()
    assert "\\x1b[31mred" in stream.getvalue()


def test_between_the_lines_nothing_is_printed() -> None:
    stream = io.StringIO()
    with progress_at(1, stream) as progress:
        tell(progress, evaluation(1, 0.2, 0.0))
        progress.should_stop()
    assert stream.getvalue() == ""


def test_no_progress_shows_nothing_and_never_stops_a_run() -> None:
    stream = Terminal()
    with progress_at(0, stream) as progress:
        tell(progress, evaluation(1, 0.2, 0.0))
        progress.say("a line")
        assert progress.should_stop() is None
    assert stream.getvalue() == ""


def test_a_picture_on_a_terminal_leaves_the_streams_of_the_process_alone() -> None:
    stream, before = Terminal(), (sys.stdout, sys.stderr)
    with progress_at(1, stream) as progress:
        assert (sys.stdout, sys.stderr) == before
        tell(progress, evaluation(1, 0.2, 0.0, ESCAPE))
        progress.evaluation_started(2, "pca() ridge()")
        progress.say("a line that stays")
        deadline = time.monotonic() + 60
        while "#2 " not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.05)
    shown = stream.getvalue()
    assert "a line that stays" in shown
    assert "accuracy 0.8000" in shown
    assert "#2 " in shown
    assert "\x1b[31m" not in shown, "only the console's own sequences"
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1, "the cursor comes back"
    assert (sys.stdout, sys.stderr) == before


def test_only_the_main_thread_has_a_picture() -> None:
    found: list[object] = []

    def look() -> None:
        found.append(display_for(RunSoFar(), Terminal()))

    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert [type(one) for one in found] == [LiveDisplay, LineDisplay]
    assert type(display_for(RunSoFar(), io.StringIO())) is LineDisplay


def test_a_stream_that_cannot_be_written_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displays, "SECONDS_BETWEEN_LINES", 0.0)
    closed = Terminal()
    closed.close()
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    for stream in (closed, ascii_only, io.StringIO()):
        with progress_at(2, stream) as progress:
            tell(progress, evaluation(1, 0.2, 0.0, "größer()"))
    ascii_only.flush()
    assert b"gr\\xf6\\xdfer()" in ascii_only.buffer.getvalue()
    assert Lenient(closed).write("abc") == 3
    assert not Lenient(object()).isatty()
    # A program without a console has no stream at all.
    nothing = Lenient(None)
    nothing.flush()
    assert (nothing.write("abc"), nothing.isatty()) == (3, False)


def test_a_console_takes_nothing_for_markup() -> None:
    stream = io.StringIO()
    PlainConsole(stream).print("[bold]x[/bold] :smile:")
    assert stream.getvalue() == "[bold]x[/bold] :smile:\n"


def test_warnings_of_the_package_are_lines_of_the_display(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second, logger = io.StringIO(), io.StringIO(), logging.getLogger("automl_admm.search.x")
    with progress_at(1, first):
        logger.warning("the solver '%s' is replaced", ESCAPE)
        with progress_at(1, second):
            logger.warning("of the second")
            thread = threading.Thread(target=logger.warning, args=("of nobody",))
            thread.start()
            thread.join()
            logger.info("no warning")
    assert first.getvalue().splitlines() == [
        "warning: the solver '\\x1b[31mred\\x1b[0m' is replaced",
        "warning: of nobody",
    ]
    assert second.getvalue().splitlines() == ["warning: of the second", "warning: of nobody"]
    with progress_at(0, io.StringIO()):
        assert not logging.getLogger("automl_admm").handlers
    assert capsys.readouterr() == ("", "")


class Cell:
    """A stand-in for IPython: it keeps what a cell shows."""

    def __init__(self, *, breaks: bool = False) -> None:
        self.pages: list[str] = []
        self.breaks = breaks

    def install(self, patch: pytest.MonkeyPatch) -> None:
        shell = types.SimpleNamespace(kernel=object())
        ipython: Any = types.ModuleType("IPython")
        ipython.get_ipython = lambda: shell
        shown: Any = types.ModuleType("IPython.display")
        shown.display = self.display
        patch.setitem(sys.modules, "IPython", ipython)
        patch.setitem(sys.modules, "IPython.display", shown)

    def display(self, page: dict[str, str], *, raw: bool, display_id: bool) -> Cell:
        assert display_id
        self.keep(page, raw=raw)
        return self

    def update(self, page: dict[str, str], *, raw: bool) -> None:
        if self.breaks:
            raise ConnectionError("the browser is gone")
        self.keep(page, raw=raw)

    def keep(self, page: dict[str, str], *, raw: bool) -> None:
        assert raw
        assert html.escape(page["text/plain"]) in page["text/html"]
        self.pages.append(page["text/html"])


def test_in_a_notebook_one_output_is_updated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displays, "SECONDS_BETWEEN_UPDATES", 0.0)
    cell = Cell()
    cell.install(monkeypatch)
    stream = Terminal()
    with progress_at(2, stream) as progress:
        tell(progress, evaluation(1, 0.2, 0.0, "<script>alert(1)</script>"))
        progress.should_stop()
        assert "1 of 9  " in cell.pages[-1]
        assert "1 evaluation: 1 success" in cell.pages[-1]
        progress.say("best pipeline  ridge()")
    assert stream.getvalue() == ""
    assert not any("<script>" in page for page in cell.pages)
    assert cell.pages[-1].startswith("<pre>    1     0.8000    1.50 s  &lt;script&gt;alert")
    assert cell.pages[-1].endswith("best pipeline  ridge()</pre>"), "the picture goes, lines stay"


def test_a_notebook_without_its_browser_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell(breaks=True)
    cell.install(monkeypatch)
    with progress_at(1, io.StringIO()) as progress:
        tell(progress, evaluation(1, 0.2, 0.0))
        progress.say("done")
    assert len(cell.pages) == 1


def test_a_terminal_of_ipython_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    Cell().install(monkeypatch)
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", types.SimpleNamespace)
    assert isinstance(display_for(RunSoFar(), Terminal()), LiveDisplay)
    assert isinstance(display_for(RunSoFar(), io.StringIO()), LineDisplay)
