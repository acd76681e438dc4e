"""Watching a model in use from Python: the looks of `automl-admm monitor`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from automl_admm.api.given_tables import read_given
from automl_admm.core.errors import LimitWarning
from automl_admm.runs.saved.monitor.monitored import Monitored
from automl_admm.runs.saved.monitor.monitoring import monitor as look_at
from automl_admm.runs.session.model_run import tell_earlier
from automl_admm.store.run_folder import RunFolder

# The share of rows from which on it matters to bounds that they are known.
MANY = 0.1


def monitor(
    run: str | PathLike[str],
    data: Any,
    *,
    reference: Any = None,
    confidence: float = 0.95,
) -> Monitored:
    """Look at rows that arrived since the last look at the model of a run folder.

    If the rows have the target, the limits of the run are tested on all labelled rows of all looks,
    and on those of this look alone; without it only shifts are looked for. A `LimitWarning` says
    that no limit was tested, of rows given twice, of many equal to rows of the fit or of earlier
    looks, that the folder has another model than before, or that its model is of an earlier
    session. The look is written into the folder, where `automl-admm monitor` counts it, too.

    Parameters
    ----------
    run : path
        The folder of the run.
    data : frame or path
        Rows that arrived since the last look, or a file of them.
    reference : frame or path, default=None
        Rows of the time of the fit, to compare columns with; their counts are kept.
    confidence : float, default=0.95
        The probability that no alarm of all looks together is false.

    Returns
    -------
    Monitored
        With `alarms` in words, the `broken` ones of its `limits`, and the `shifted` columns;
        `as_json()` is what the command prints.
    """
    folder = RunFolder(Path(run))
    manifest = folder.read(folder.model_manifest)
    earlier = tell_earlier(folder, manifest)
    given, known = read_given(data, "data", manifest), None
    if reference is not None:
        known = read_given(reference, "reference", manifest).frame
    found = look_at(folder, given, reference=known, confidence=confidence)
    for told in (earlier, *_doubts(found)):
        if told is not None:
            warnings.warn(told, LimitWarning, stacklevel=2)
    return found


def _doubts(found: Monitored) -> Iterator[str | None]:
    """Yield the reasons to doubt a look; the command tells of fewer known rows, too.

    In most tables a few rows equal others by chance: a job with warnings for errors would stop at
    each look, for bounds hardly narrower.
    """
    yield from (found.untested, found.anew, found.given_twice)
    if (found.learned or 0) >= MANY * found.rows:
        yield found.doubt
    if found.repeated >= MANY * found.rows:
        yield found.again
