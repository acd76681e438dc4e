"""The largest weights of the fit and of looks, and what to say of a look whose own is far off.

Rows are drawn by the largest weight of all. So in another unit, or beside one mistyped weight,
hardly a row counts, and no limit would ever be tested. Without weights that of a group is its
number of rows: there is no unit to mistake, and no look to give again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from automl_admm.core.messages import say_count

FAR = 100.0  # a group seldom weighs so many times what the largest one of other rows does
OF_THE_FIT = "the fit"


@dataclass(frozen=True, slots=True)
class Heaviest:
    """The largest weight of a group, and the rows it is among, in words; 0 where none is known."""

    total: float
    among: str = OF_THE_FIT

    def or_of(self, looks: Iterable[tuple[int, float | None]]) -> Heaviest:
        """Return the largest of this one and of looks, each a number with its largest weight."""
        more = (Heaviest(total or 0.0, f"look {number}") for number, total in looks)
        return max((self, *more), key=lambda one: one.total)


@dataclass(frozen=True, slots=True)
class Draw:
    """The rows of a look, how many of them were drawn (None if all count), and its own largest.

    Of a run with groups alone the largest has so many rows.
    """

    rows: int = 0
    drawn: int | None = None
    largest: float = 0.0
    is_weighted: bool = True

    def warnings(self, known: Heaviest, path: Path) -> Iterator[str]:
        """Say why hardly a row counts, here or elsewhere, and the cure; `path` is of this look."""
        if self.drawn is None or not self.rows:
            return
        if not self.is_weighted:
            yield from self._warnings_of_groups(known)
            return
        has_both = known.total > 0.0 < self.largest
        weights = (
            f"the largest weight of these rows is {self.largest:.3g}, and of {known.among} "
            f"{known.total:.3g}"
        )
        counted = f"{self.drawn} of {say_count(self.rows, 'row')} of this look"
        if has_both and known.total / self.largest > FAR:
            yield f"{weights}: so {counted} count. {_cure_of_light(known, path)}"
        elif has_both and self.largest / known.total > FAR:
            yield (
                f"{weights}: so {counted} count, and hardly a row of other looks. If a weight is "
                f"mistyped or in another unit, delete '{path}' and give the rows again, corrected"
            )
        elif not self.drawn:
            yield f"{counted} count: rows that weigh little are seldom drawn"

    def _warnings_of_groups(self, known: Heaviest) -> Iterator[str]:
        """Say the same of groups, which are as large as they are: nothing is to be mended."""
        counted = f"{self.drawn} of {say_count(self.rows, 'row')} of this look"
        groups = (
            f"the largest group of these rows has {say_count(round(self.largest), 'row')}, and of "
            f"{known.among} {round(known.total)}"
        )
        if known.total > FAR * self.largest > 0.0:
            yield f"{groups}: so {counted} count, as rows of small groups are seldom drawn"
        elif self.largest > FAR * known.total > 0.0:
            yield (
                f"{groups}: so {counted} count, and hardly a row of other looks, as rows of small "
                "groups are seldom drawn"
            )
        elif not self.drawn:
            yield f"{counted} count: rows of small groups are seldom drawn"


NOT_DRAWN = Draw()


def _cure_of_light(known: Heaviest, path: Path) -> str:
    told = (
        f"If these are in another unit, delete '{path}' and give the rows again in the unit of "
        "the fit"
    )
    if known.among == OF_THE_FIT:
        return told
    return (
        f"{told}; if the mistake is in {known.among}, delete it and all looks after it, and give "
        "their rows again"
    )
