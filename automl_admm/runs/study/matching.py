"""Hold the files of a study to each other: a result belongs to the values that were evaluated.

The store has the text of each evaluation beside its place on the unit box. In a space with other
ranges the same place would be another point, with a loss that was never measured there.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import say_count
from automl_admm.core.space import Candidate
from automl_admm.runs.blackbox import PreparedBox
from automl_admm.runs.study.journal import Journal
from automl_admm.runs.study.points import is_point
from automl_admm.store.sqlite.rows import Begun

# It does not offer warm_start: that reads the names of the limits from the file in doubt.
RESTORE_ALL = "Restore the files of the folder as they were, all of one study."


def demand_one_study(
    folder: Path,
    box: PreparedBox,
    journal: Journal,
    log: Sequence[Evaluation],
    begun: Sequence[Begun],
) -> None:
    """Raise if results do not fit the space and the limits, or asks do not fit the results."""
    for number, problem in (*_misfits(box, log), *_strange_asks(box, journal, log, begun)):
        raise StoreError(
            f"the files in '{folder}' are not of one study: trial {number} {problem}.",
            hint=RESTORE_ALL,
        )


def _misfits(box: PreparedBox, log: Sequence[Evaluation]) -> Iterator[tuple[int, str]]:
    """Yield the results that have other values in this space, or other limits."""
    for one in log:
        problem = _misfit(box, one.candidate, one.text)
        if problem is not None:
            yield one.number, problem
        elif one.ok and len(one.constraints) != len(box.names):
            yield (
                one.number,
                f"has {say_count(len(one.constraints), 'limited value')} for {len(box.names)}",
            )


def _strange_asks(
    box: PreparedBox, journal: Journal, log: Sequence[Evaluation], begun: Sequence[Begun]
) -> Iterator[tuple[int, str]]:
    """Yield the asks with other values than the store has of their numbers."""
    texts: dict[int, set[str]] = defaultdict(set)
    for ended in log:
        if ended.has_ended:
            texts[ended.number].add(ended.text)
    for waiting in begun:
        texts[waiting.number].add(waiting.text)
    for ask in journal.asks:
        if ask.number is None:
            continue
        # One that a driver had begun before it was killed may have left its number to another.
        problems = [_misfit(box, ask.candidate, text) for text in sorted(texts[ask.number])]
        if problems and all(problems):
            yield ask.number, str(problems[0])


def _misfit(box: PreparedBox, candidate: Candidate, text: str) -> str | None:
    """Return the difference between the stored text of a trial and its values in this space."""
    if not is_point(box.problem.space, candidate):
        return f"is {text} in the store, which is no point of this space"
    here = box.text(candidate)
    return None if here == text else _difference(json.loads(text), json.loads(here))


def _difference(stored: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Name the first value that is written otherwise: 3 is equal to 3.0, and is another text."""
    texts = ((name, _written(stored, name), _written(here, name)) for name in {**stored, **here})
    name, before, now = next(one for one in texts if one[1] != one[2])
    return f"has {name} = {before} in the store, and {now} by the other files"


def _written(values: Mapping[str, Any], name: str) -> str:
    return json.dumps(values[name]) if name in values else "nothing"
