"""The picture of a run: its lines at any width, in ASCII, and with hostile names."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest
from rich.cells import cell_len

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.run import RunInfo
from automl_admm.core.space import Candidate, SearchSpace, Selection
from automl_admm.progress.console import PlainConsole
from automl_admm.progress.limit_words import tell_value
from automl_admm.progress.picture import NARROWEST, Frame, picture
from automl_admm.progress.run_so_far import RunSoFar
from automl_admm.progress.signs import ASCII, UNICODE, Signs, signs_for
from automl_admm.progress.sparkline import Turn, sparkline

FPR, LATENCY = Limit("fpr", 0.1), Limit("latency_us", 50.0)
RECALL = Limit("recall", 0.9, at_least=True)
ROUNDED = Limit("aim", 0.03512346, has_six_digits=True)
EVIL = "fpr_gap[\x1b[31mred[/bold]\u202eabc [link=x]שלום " + "日本語" * 30 + "]"


def evaluation(number: int, loss: float, *values: float, text: str = "ridge()") -> Evaluation:
    candidate = Candidate(Selection(()), ())
    status = Status.ERROR if math.isnan(loss) else Status.SUCCESS
    return Evaluation(number, "k", candidate, status, loss, values, 1.5, text)


def run_of(*ended: Evaluation, limits: tuple[Limit, ...] = (FPR, LATENCY)) -> RunSoFar:
    so_far = RunSoFar()
    info = RunInfo("x", SearchSpace(), limits, max_evaluations=9, loss_name="auc", best_score=1.0)
    so_far.begin(info)
    for one in ended:
        so_far.finish(one)
    return so_far


def drawn(so_far: RunSoFar, width: int = 80, signs: Signs = UNICODE, height: int = 40) -> list[str]:
    lines = picture(so_far, Frame(width, height, signs))
    return [line.plain.rstrip() for line in lines]


def test_a_picture_has_the_best_within_the_limits_and_the_best_of_all() -> None:
    so_far = run_of(
        evaluation(1, 0.4, 0.1, 40.0),
        evaluation(2, 0.1, 0.3, 40.0, text="pca() forest()"),
        evaluation(3, math.nan),
        evaluation(4, 0.2, 0.05, 50.0, text="ridge(alpha=2.0)"),
    )
    so_far.start(5, "knn()")
    lines = drawn(so_far)
    assert lines[0] == "4 of 9         ━━━━━━━━━━━─────────────"
    assert lines[1].strip() == "4 evaluations: 3 success, 1 error"
    assert lines[2] == "within limits  auc 0.8000   fpr 0.05 <= 0.1   latency_us 50 <= 50"
    assert lines[3].strip() == "#4  ridge(alpha=2.0)"
    assert lines[4] == "best of all    auc 0.9000   fpr 0.3 > 0.1 !   latency_us 40 <= 50"
    assert lines[5].strip() == "#2  pca() forest()"
    assert lines[6].startswith("convergence ")
    assert "0.6000 to 0.8000   better 0:00 ago" in lines[6]
    assert lines[7].startswith("running        #5 ")
    assert lines[7].endswith(" s  knn()")


def test_what_the_search_aims_at_is_beside_its_best_before_a_certificate() -> None:
    so_far = RunSoFar()
    so_far.begin(RunInfo("x", SearchSpace(), (FPR,), aims=(replace(FPR, bound=0.05),)))
    so_far.finish(evaluation(1, 0.4, 0.07))
    assert any("fpr 0.07 > 0.05 !" in line for line in drawn(so_far))


def test_the_limit_that_binds_is_told_while_nothing_is_within_the_limits() -> None:
    limits = (FPR, LATENCY, RECALL)
    so_far = run_of(
        evaluation(1, 0.4, 0.3, 40.0, 0.95),
        evaluation(2, 0.1, 0.2, 60.0, 0.95),
        evaluation(3, 0.1, math.nan, 40.0, 0.8),
        limits=limits,
    )
    lines = drawn(so_far)
    assert lines[2] == "NOTHING        is within the limits so far"
    assert lines[3].strip() == "fpr <= 0.1   binds: kept by 0 of 3   closest: 0.2 > 0.1 !"
    assert {line.strip() for line in lines[4:6]} == {
        "latency_us <= 50   kept by 2 of 3",
        "recall >= 0.9   kept by 2 of 3",
    }
    assert lines[6].startswith("closest        auc 0.9000   fpr 0.2 > 0.1 !")
    assert "violation 2 to 1.2" in "\n".join(lines)


def test_of_many_limits_the_most_broken_are_shown() -> None:
    limits = tuple(Limit(f"limit_{place}", float(place)) for place in range(1, 8))
    lines = "\n".join(drawn(run_of(evaluation(1, 0.1, *[4.5] * 7), limits=limits)))
    assert "limit_1 <= 1   binds: kept by 0 of 1   closest: 4.5 > 1 !" in lines
    assert "and 3 more limits" in lines
    assert "limit_7 <= 7 " not in lines


def test_one_class_for_all_rows_is_told() -> None:
    same = replace(evaluation(1, 0.1, 0.0, 1.0), details={"one_class": "\x1b[2Jno"})
    lines = "\n".join(drawn(run_of(same)))
    assert "calls every row '\\x1b[2Jno' !" in lines
    assert "NOTHING" in lines


def test_without_limits_one_class_is_the_best_so_far_and_nothing_is_said_of_limits() -> None:
    same = replace(evaluation(1, 0.1), details={"one_class": "no"})
    so_far = run_of(same, limits=())
    lines = drawn(so_far)
    assert lines[2] == "best           auc 0.9000   calls every row 'no' !"
    assert "NOTHING" not in "\n".join(lines)
    assert so_far.best_line() == "best      auc 0.9000  (calls every row 'no')  ridge()"


def test_without_limits_there_is_one_best() -> None:
    lines = drawn(run_of(evaluation(1, 0.1), limits=()))
    assert lines[2] == "best           auc 0.9000"
    assert not any("best of all" in line for line in lines)
    assert lines[-1].startswith("running        nothing: ")


def test_that_nothing_runs_is_told_whole_on_a_narrow_terminal() -> None:
    *_, before, last = drawn(run_of(evaluation(1, 0.1), limits=()), width=60)
    assert before == "running        nothing: a solver proposes, or the best is"
    assert last.strip() == "fitted on all rows"


@pytest.mark.parametrize("signs", [UNICODE, ASCII])
@pytest.mark.parametrize("width", [1, 40, 80, 140])
def test_no_line_is_wider_than_the_terminal_and_values_are_whole(width: int, signs: Signs) -> None:
    limits = (Limit(EVIL, 0.1), LATENCY)
    text = f"scale(columns=['{EVIL}']) ridge()"
    so_far = run_of(evaluation(1, 0.1, 0.0321, 60.0, text=text), limits=limits)
    so_far.start(2, text)
    lines = drawn(so_far, width, signs)
    assert max(map(cell_len, lines)) <= max(width, NARROWEST)
    whole = "\n".join(lines)
    assert all(line.isprintable() for line in lines)
    if width >= 40:
        assert "0.0321 <= 0.1" in whole
        assert "latency_us 60 > 50 !" in whole
    assert whole.isascii() is signs.is_ascii


def test_a_low_terminal_has_the_first_lines() -> None:
    so_far = run_of(evaluation(1, 0.1, 0.0, 60.0))
    for number in range(2, 40):
        so_far.start(number, "ridge()")
    assert len(drawn(so_far, height=5)) == 5
    lines = drawn(so_far)
    assert sum(" s  ridge()" in line for line in lines) == 7
    assert lines[-1].strip() == "31 more"


@pytest.mark.parametrize(
    ("limit", "value", "told"),
    [
        (FPR, 0.1, "0.1 <= 0.1"),
        (FPR, 0.1000001, "0.1000001 > 0.1 !"),
        (FPR, math.nan, "not measured !"),
        (FPR, math.inf, "inf > 0.1 !"),
        (RECALL, 0.9, "0.9 >= 0.9"),
        (RECALL, 0.8999999999, "0.8999999999 < 0.9 !"),
        (Limit("abstain", 0.3), 0.1 + 0.2, "0.3 <= 0.3"),
        (Limit("us", 0.123481), 0.12346, "0.12346 <= 0.123481"),
        (Limit("us", 0.123481), 0.12351, "0.1235 > 0.123481 !"),
        (Limit("us", 0.123481), 0.123481, "0.123481 <= 0.123481"),
        (Limit("us", 0.123481, at_least=True), 0.1234799, "0.12348 < 0.123481 !"),
        (Limit("mae", 1234574.0), 1234573.0, "1.23457e+06 <= 1234574"),
        (Limit("mae", 1234574.0), 1234575.0, "1.235e+06 > 1234574 !"),
        (ROUNDED, 0.0351, "0.0351 <= 0.0351235"),
        (ROUNDED, 0.03512347, "0.0351235 > 0.03512346 !"),
    ],
)
def test_a_value_is_told_apart_from_its_bound(limit: Limit, value: float, told: str) -> None:
    assert tell_value(limit, value) == told


def test_a_line_of_convergence_ends_at_the_highest_level() -> None:
    turns = [Turn(2, -3.0), Turn(5, -2.0), Turn(9, -1.0)]
    assert sparkline(turns, 10, 10, "_-#") == " ___----##"
    assert sparkline([], 10, 4, "_-#") == "    "
    assert sparkline([Turn(1, 5.0)], 4, 4, "_-#") == "____"


@pytest.mark.parametrize(
    ("encoding", "environment", "signs"),
    [
        ("utf-8", {"LANG": "de_DE.UTF-8"}, UNICODE),
        ("utf-8", {}, UNICODE),
        ("utf-8", {"LANG": "C", "LC_CTYPE": "C.UTF-8"}, ASCII),  # as Python sets it itself
        ("utf-8", {"LANG": "C", "LC_ALL": "en_US.UTF-8"}, UNICODE),
        ("utf-8", {"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, ASCII),
        ("ascii", {"LANG": "en_US.UTF-8"}, ASCII),
        (None, {}, ASCII),
    ],
)
def test_signs_are_those_that_the_terminal_has(
    encoding: str | None, environment: dict[str, str], signs: Signs
) -> None:
    assert signs_for(encoding, environment) is signs


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_only_a_terminal_that_moves_its_cursor_has_a_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert PlainConsole(Terminal()).can_redraw
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert not PlainConsole(io.StringIO()).can_redraw, "colours forced in a file"
    monkeypatch.setenv("TERM", "dumb")
    assert not PlainConsole(Terminal()).can_redraw


def test_without_colours_no_colour_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    lines = picture(run_of(evaluation(1, 0.1, 0.3, 40.0)), Frame(80, 30, UNICODE))
    shown = []
    for no_color in ("", "1"):
        monkeypatch.setenv("NO_COLOR", no_color)
        stream = Terminal()
        console = PlainConsole(stream)
        for line in lines:
            console.print(line)
        shown.append(stream.getvalue())
    assert "\x1b[1;31m" in shown[0]
    assert "31m" not in shown[1]
    assert "\x1b[1m" in shown[1]
