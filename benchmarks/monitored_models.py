"""The monitor on the models of real runs, for certified_averages.py.

A model is watched in 20 looks of 100 labelled rows each. The rows are drawn with replacement from
those of the table that the run never had, so that the rate on them is exactly the truth, and no
finite rest makes the test careful. The first stream goes through `monitor` itself. As most of its
time is for hashes and files, the others go through what it judges by, `Watch`; on the first stream
both have to say the same. Three streams:

- `rest`: all rows alike; the truth is the rate on the rest.
- `at`: the rate of each limit is exactly at the limit. Which class a row has is drawn as in the
  rest; then whether the model is wrong about it, with the limit as the probability; then a row of
  that kind. An alarm is false here, and likeliest; so is a claim that the limit holds, a hair
  further.
- `drifted`: the same, at 1.5 times the limit.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from certified_averages_tables import LOOKS, LOT, STREAMS
from certified_findings import Record, rows_of
from certified_kinds import Seen, World

from automl_admm import monitor
from automl_admm.certify.watching import State, Watch, Watched
from automl_admm.core.evidence import Rate
from automl_admm.core.limits import Limit
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.finish.model_file import unpack_model
from automl_admm.runs.saved import certified_run, rows_of_run
from automl_admm.runs.saved.monitor import monitoring

Places = Any  # of rows, an array of a line for each look
SALT, RISK = 220, 0.05
COMMANDED = 2  # looks through the command line
BROKEN_CODE = 6


def watched(
    folder: Path, here: World, seed: int, seen: Seen, limits: Mapping[str, float]
) -> Record:
    """Return for each stream and limit the first look with an alarm, and that with a claim."""
    found: Record = {}
    for name, factor in STREAMS.items():
        lots = _lots(seed, name, seen, _rates(limits, factor))
        if lots is not None:
            found[name] = _first_looks(_judged(lots, seen, limits))
            if factor is None:
                with loaded_once(), drawn_again():
                    real = [monitor(folder, _rows(here, seed, lot)).limits for lot in lots]
                found["alike"] = _first_looks(real) == found[name]
    return found


def _judged(lots: Places, seen: Seen, limits: Mapping[str, float]) -> Iterator[list[Watched]]:
    """Yield what the monitor finds in each look, without a folder, files and hashes of rows."""
    pooled = dict.fromkeys(limits, Rate(0, 0))
    for number, lot in enumerate(lots, start=1):
        watch, judged = Watch(RISK, number, len(limits)), []
        for name, bound in limits.items():
            one, before = _rate(name, seen, lot), pooled[name]
            both = Rate(before.events + one.events, before.trials + one.trials)
            pooled[name] = both
            judged.append(watch.judge(Limit(name, bound), one, both))
        yield judged


def _rate(name: str, seen: Seen, lot: Any) -> Rate:
    positive = np.asarray(seen.is_positive)[lot]
    wrong = np.asarray(seen.predicted != seen.truth)[lot]
    of = positive if name == "fnr" else ~positive
    return Rate(int((wrong & of).sum()), int(of.sum()))


@contextmanager
def loaded_once() -> Iterator[None]:
    """Load the plugins and the model once for all looks: that takes most of the time of a look."""
    with (
        patch.object(rows_of_run, "load_plugins", cache(load_plugins)),
        patch.object(certified_run, "unpack_model", _unpacked_once()),
    ):
        yield


def _unpacked_once() -> Callable[..., Any]:
    """Return what unpacks the file of a model, and keeps the model of each."""
    known: dict[bytes, Any] = {}

    def unpack(folder: Any, content: bytes, manifest: Any) -> Any:
        if content not in known:
            known[content] = unpack_model(folder, content, manifest)
        return known[content]

    return unpack


@contextmanager
def drawn_again() -> Iterator[None]:
    """Count a row that is drawn again as a new one; else the monitor would refuse it."""
    with (
        patch.object(monitoring, "refuse_again", lambda *_: None),
        patch.object(monitoring, "tell_copies", lambda *_: None),
        patch.object(monitoring, "count_again", lambda *_: 0),
    ):
        yield


def as_commanded(
    folder: Path, here: World, seed: int, seen: Seen, limits: Mapping[str, float]
) -> Record | None:
    """Return whether the command says the same as the function, and its exit codes.

    It gets each row once, as rows that are given again would be refused.
    """
    lots = _lots(seed, "drifted", seen, _rates(limits, STREAMS["drifted"]))
    if lots is None:
        return None
    _, first = np.unique(lots[:COMMANDED], return_index=True)
    once = np.isin(np.arange(COMMANDED * LOT), first).reshape(COMMANDED, LOT)
    lots = [lot[is_new] for lot, is_new in zip(lots, once, strict=False)]
    copy, same, codes = folder.with_name("copy"), [], []
    shutil.rmtree(folder / "monitoring", ignore_errors=True)
    shutil.copytree(folder, copy)
    for number, places in enumerate(lots):
        path, lot = folder.with_name(f"lot{number}.csv"), _rows(here, seed, places)
        lot.to_csv(path, index=False)
        given = [sys.executable, "-m", "automl_admm", "monitor", str(copy), str(path), "--json"]
        ended = subprocess.run(given, capture_output=True, text=True, check=False)
        said = monitor(folder, lot)
        is_right = ended.returncode == (BROKEN_CODE if said.broken else 0)
        same.append(is_right and json.loads(ended.stdout) == said.as_json())
        codes.append(ended.returncode)
    return {"same": all(same), "codes": codes}


def _rates(limits: Mapping[str, float], factor: float | None) -> Mapping[str, float] | None:
    return None if factor is None else {name: factor * limit for name, limit in limits.items()}


def _lots(seed: int, stream: str, seen: Seen, rates: Mapping[str, float] | None) -> Places | None:
    """Return places in the rest for all looks; None if no row is of a kind that is wanted."""
    rng = np.random.default_rng([seed, SALT, list(STREAMS).index(stream)])
    weights = weights_of(seen, rates)
    return None if weights is None else rng.choice(len(weights), size=(LOOKS, LOT), p=weights)


def _rows(here: World, seed: int, places: Any) -> Any:
    """Return labelled rows of the rest."""
    _, rest = rows_of(here, seed)
    whole = here.X.assign(**{str(here.y.name): here.y})
    return whole.iloc[rest[places]]


def weights_of(seen: Seen, rates: Mapping[str, float] | None) -> Any:
    """Return the probabilities of the rows of the rest, so that the model has these rates."""
    positive = np.asarray(seen.is_positive)
    wrong = np.asarray(seen.predicted != seen.truth)
    weights = np.full(len(wrong), 1.0 / len(wrong))
    for name, rate in (rates or {}).items():
        is_class = positive if name == "fnr" else ~positive
        share = float(is_class.mean())
        for part, of_part in ((wrong, rate), (~wrong, 1.0 - rate)):
            rows = is_class & part
            if not rows.any() or of_part < 0.0:
                return None
            weights[rows] = share * of_part / rows.sum()
    return weights / weights.sum()


def _first_looks(looks: Iterable[Iterable[Watched]]) -> Record:
    found: Record = {}
    for number, look in enumerate(looks, start=1):
        for one in look:
            limit = found.setdefault(one.limit.split()[0], {"alarm": None, "claim": None})
            for name, state in (("alarm", State.BROKEN), ("claim", State.HOLDS)):
                if one.state is state and limit[name] is None:
                    limit[name] = number
    return found
