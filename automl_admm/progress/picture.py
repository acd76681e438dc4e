"""The picture of a run: a few lines for a terminal or a notebook of any width."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.messages import say_count
from automl_admm.core.run import RunInfo
from automl_admm.progress.limit_words import tell_value
from automl_admm.progress.run_so_far import RunSoFar, Strain, in_words
from automl_admm.progress.signs import Signs
from automl_admm.progress.sparkline import sparkline
from automl_admm.progress.visible_text import in_a_line

LABEL = 15
NARROWEST = 40
BAR = 24
LONGEST_SPARK = 40
# Room for "0.5300 to 0.8900   better 12:34 ago" behind the line of convergence.
REST_OF_SPARK = 40
LINES_OF_A_PIPELINE = 2
MOST_LIMITS = 4
# With more workers the picture would push the rest of a screen away.
MOST_RUNNING = 8
KEPT, BROKEN, FAINT, STRONG = "green", "bold red", "dim", "bold"


@dataclass(frozen=True, slots=True)
class Frame:
    """The room of a picture, and the signs to fill it with."""

    width: int
    height: int
    signs: Signs

    def cropped(self, text: str, width: int) -> str:
        """Return a text in at most so many cells."""
        if cell_len(text) <= width:
            return text
        more = self.signs.more
        return f"{set_cell_size(text, max(width - cell_len(more), 0)).rstrip()}{more}"

    def named(self, name: object, words: str) -> str:
        """Return a name with words behind it; however long the name is, the words are whole."""
        shown = self.signs.shown(in_a_line(name))
        return f"{self.cropped(shown, self.width - LABEL - cell_len(words) - 1)} {words}"


Piece = tuple[str, str]


def picture(so_far: RunSoFar, frame: Frame) -> list[Text]:
    """Return the state of a run as lines, none wider than the frame; together no higher."""
    frame = Frame(max(frame.width, NARROWEST), frame.height, frame.signs)
    lines = [*_state(so_far, frame), *_best(so_far, frame), *_convergence(so_far, frame)]
    room = min(max(frame.height - len(lines), 1), MOST_RUNNING)
    return [*lines, *_running(so_far, frame, room)][: max(frame.height, 1)]


def _state(so_far: RunSoFar, frame: Frame) -> Iterator[Text]:
    full = round(BAR * so_far.part_done())
    bar = frame.signs.done * full, frame.signs.left * (BAR - full)
    left = f"{so_far.time_left()}  ".ljust(LABEL)
    yield Text.assemble((left, STRONG), (bar[0], KEPT), (bar[1], FAINT))
    number = so_far.count
    counted = f"{number} evaluation{'' if number == 1 else 's'}"
    endings = so_far.endings()
    pieces = [(f"{counted}: {endings}" if endings else f"{counted} so far", "")]
    if so_far.iteration:
        pieces.append((f"iteration {so_far.iteration}", FAINT))
    yield from _flow("", pieces, frame)


def _best(so_far: RunSoFar, frame: Frame) -> Iterator[Text]:
    best, of_all, info = so_far.best, so_far.best_of_all, so_far.info
    if best is None or of_all is None or info is None:
        yield from _flow("best", [("none yet", "")], frame)
        return
    if so_far.is_within or not info.limits:
        yield from _evaluation("within limits" if info.limits else "best", best, info, frame)
    else:
        yield from _limits(so_far, frame)
        yield from _evaluation("closest", best, info, frame)
    if of_all.number != best.number:
        yield from _evaluation("best of all", of_all, info, frame)


def _evaluation(title: str, one: Evaluation, info: RunInfo, frame: Frame) -> Iterator[Text]:
    """Draw the score of an evaluation, its values of the limits, and its pipeline."""
    score = frame.named(info.loss_name, f"{info.score_of(one.loss):.4f}")
    yield from _flow(title, [(score, STRONG), *_values(one, info.limits, frame)], frame)
    yield from _pipeline(f"#{one.number}  {one.text}", frame)


def _values(one: Evaluation, limits: Iterable[Limit], frame: Frame) -> Iterator[Piece]:
    for limit, value in zip(limits, one.constraints, strict=True):
        yield (
            frame.named(limit.name, tell_value(limit, value)),
            KEPT if limit.holds(value) else BROKEN,
        )
    if one.one_class is not None:
        yield f"calls every row '{in_a_line(one.one_class)}' !", BROKEN


def _pipeline(text: str, frame: Frame) -> Iterator[Text]:
    width = frame.width - LABEL
    shown = frame.signs.shown(in_a_line(text))
    lines = textwrap.wrap(shown, width, max_lines=LINES_OF_A_PIPELINE, placeholder=frame.signs.more)
    for line in lines:
        yield Text(" " * LABEL + frame.cropped(line, width), style=FAINT)


def _limits(so_far: RunSoFar, frame: Frame) -> Iterator[Text]:
    """Draw how far the limits are kept while nothing keeps all of them, the binding one first."""
    binding = so_far.binding
    yield from _flow("NOTHING", [("is within the limits so far", BROKEN)], frame)
    strains = sorted(so_far.strains, key=lambda one: (one is not binding, one.kept))
    for strain in strains[:MOST_LIMITS]:
        yield from _flow("", _strain(strain, frame, is_binding=strain is binding), frame)
    if len(strains) > MOST_LIMITS:
        yield from _flow(
            "", [(f"and {say_count(len(strains) - MOST_LIMITS, 'more limit')}", FAINT)], frame
        )


def _strain(strain: Strain, frame: Frame, *, is_binding: bool) -> Iterator[Piece]:
    limit = strain.limit
    yield frame.named(limit.name, f"{'>=' if limit.at_least else '<='} {limit.said_bound}"), STRONG
    yield f"{'binds: ' if is_binding else ''}kept by {strain.kept} of {strain.measured}", ""
    if strain.kept == 0 and strain.closest is not None:
        yield f"closest: {tell_value(limit, strain.closest)}", BROKEN


def _convergence(so_far: RunSoFar, frame: Frame) -> Iterator[Text]:
    info, turns = so_far.info, so_far.scores or so_far.distances
    if info is None or len(turns) < 2:
        return
    width = min(LONGEST_SPARK, max(frame.width - LABEL - REST_OF_SPARK, 8))
    line = sparkline(turns, so_far.count, width, frame.signs.levels)
    first, last = turns[0].value, turns[-1].value
    told = f"violation {-first:.4g} to {-last:.4g}"
    if so_far.scores:
        told = f"{info.score_of(-first):.4f} to {info.score_of(-last):.4f}"
    ago = in_words(time.monotonic() - so_far.last_turn)
    yield from _flow("convergence", [(line, KEPT), (told, ""), (f"better {ago} ago", FAINT)], frame)


def _running(so_far: RunSoFar, frame: Frame, room: int) -> Iterator[Text]:
    running = so_far.running()
    if not running and so_far.count:
        said = "nothing: a solver proposes, or the best is fitted on all rows"
        for place, part in enumerate(textwrap.wrap(said, frame.width - LABEL)):
            yield from _flow("" if place else "running", [(part, FAINT)], frame)
    if len(running) > room:
        running, rest = running[: room - 1], len(running) - room + 1
    else:
        rest = 0
    for place, one in enumerate(running):
        title = "running" if place == 0 else ""
        said = f"#{one.number}  {one.seconds:5.1f} s  {in_a_line(one.text)}"
        yield from _flow(title, [(said, FAINT)], frame)
    if rest:
        yield from _flow("" if running else "running", [(f"{rest} more", FAINT)], frame)


def _flow(title: str, pieces: Iterable[Piece], frame: Frame) -> Iterator[Text]:
    """Draw pieces behind a title, on as many lines as it takes; a long piece is cut short."""
    line, used = Text.assemble((title.ljust(LABEL), STRONG)), 0
    for said, style in pieces:
        shown = frame.cropped(frame.signs.shown(said), frame.width - LABEL)
        if used and LABEL + used + 3 + cell_len(shown) > frame.width:
            yield line
            line, used = Text(" " * LABEL), 0
        line.append(f"{'   ' if used else ''}")
        line.append(shown, style=style)
        used += cell_len(shown) + (3 if used else 0)
    yield line
