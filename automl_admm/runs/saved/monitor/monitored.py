"""The findings of a look at the model of a run, as they are told, printed and written."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from automl_admm.certify.watching import State, Watched
from automl_admm.data.drift import Shift


@dataclass(frozen=True)
class Monitored:
    """Findings of a look: limits, shifted columns of all compared ones, and rows seen before.

    `doubt` is a sentence if the model learned, or may have learned, from some of the rows. `groups`
    tells groups that are new, or not among the rows. `untested` says why limits on decisions and
    the like were not tested; `anew` is a sentence if earlier looks or their reference were at
    another model, and count no more, or the reference has too few rows. `not_counted` names limits
    without these rows, or without those of an earlier look. `drawn` is the number of rows that were
    drawn for the limits, by weights or groups; None if all count. `given_twice` is a sentence if
    more labelled rows equal others among them than chance explains.
    """

    look: int
    rows: int
    pooled_rows: int
    limits: tuple[Watched, ...]
    shifts: tuple[Shift, ...]
    shifted: tuple[Shift, ...]
    repeated: int
    learned: int | None
    doubt: str | None
    is_labelled: bool
    has_reference: bool
    groups: tuple[str, ...] = ()
    untested: str | None = None
    anew: str | None = None
    not_counted: tuple[str, ...] = ()
    drawn: int | None = None
    given_twice: str | None = None

    @property
    def again(self) -> str | None:
        """A sentence on rows equal to those of earlier looks."""
        if not self.repeated:
            return None
        rows = "1 row equals" if self.repeated == 1 else f"{self.repeated} rows equal"
        return (
            f"{rows} rows of an earlier look. New rows may equal so many by chance; if some are "
            "given again they count twice, and bounds are too narrow."
        )

    @property
    def broken(self) -> tuple[Watched, ...]:
        """The limits that new rows have broken."""
        return tuple(one for one in self.limits if one.state is State.BROKEN)

    @property
    def alarms(self) -> tuple[str, ...]:
        """The limits that are broken, and the columns that have shifted, in words."""
        return (
            *(f"limit {one.limit} is broken" for one in self.broken),
            *(f"{one.column} has shifted" for one in self.shifted),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the look as it is written and printed; a number that is unknown is null."""
        content = {**asdict(self), "alarms": self.alarms}
        plain: dict[str, Any] = json.loads(
            json.dumps(content, default=str), parse_constant=lambda _: None
        )
        return plain
