"""The tables of certified_averages.py, for measured/certified_averages.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from paired import Paired, compare, corrected
from scipy.stats import beta, binom

MEASURED = Path(__file__).parent / "measured" / "certified_averages.json"
KINDS = ("fpr", "fnr")
ROOMS = ("none", "some", "much")
RISK_ON_REST = 0.025
LOOKS, LOT = 20, 100  # of the monitor
# Streams of rows, and by how much the limits are multiplied to have the true rates.
STREAMS: Mapping[str, float | None] = {"rest": None, "at": 1.0, "drifted": 1.5}
Record = dict[str, Any]


def write(records: Sequence[Record], commit: str) -> None:
    """Put the tables into the file of measured numbers."""
    runs = [one for one in records if one["seed"] >= 0]
    tables = {
        "kinds": kinds_table(averages(runs)),
        "price": price_table(averages(runs)),
        "pairs": pairs_table(averages(runs)),
        "monitor": monitor_table(runs),
    }
    whole = {"commit": commit, "summary": summary(runs), "tables": tables}
    MEASURED.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def share_of(events: int, trials: int) -> str:
    """Return a share in per cent with Clopper and Pearson's 95 % interval."""
    low = float(beta.ppf(0.025, events, trials - events + 1)) if events else 0.0
    high = float(beta.ppf(0.975, events + 1, trials - events)) if events < trials else 1.0
    return f"{100 * events / trials:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def averages(runs: Iterable[Record]) -> list[Record]:
    """Return the runs that ship an average, certified or not."""
    return [one for one in runs if one["members"] > 1]


def summary(runs: Sequence[Record]) -> dict[str, int]:
    """Return the counts that the page speaks of."""
    mine = averages(runs)
    given = [one for name in KINDS for one in _given(mine, name)]
    inside = [one for one in runs if not _outside(one, "certified")]
    commanded = [one["command"] for one in runs if one.get("command")]
    alike = [one["monitor"]["alike"] for one in runs if "alike" in one["monitor"]]
    return {
        "runs": len(runs),
        "certified_runs": sum(one["certified"]["is_certified"] for one in runs),
        "averages": len(mine),
        "limits": len(given),
        "limits_broken": sum(name in _outside(one, "certified") for one, name in given),
        "limits_surely_broken": sum(_is_surely_outside(one, name) for one, name in given),
        "certificates": sum(one["certified"]["is_certified"] for one in mine),
        "certificates_broken": sum(_is_broken(one, "certified") for one in mine),
        "inside": len(inside),
        "false_alarms": sum(_raises(one, "rest") for one in inside),
        "compared": len(alike),
        "alike": sum(alike),
        "commanded": len(commanded),
        "commanded_alike": sum(one["same"] for one in commanded),
    }


def _outside(run: Record, way: str) -> set[str]:
    """Return the limits that a model breaks on the rest."""
    values = run[way]["values"]
    return {name for name, limit in run["limits"].items() if values[name] > limit}


def _is_surely_outside(run: Record, name: str) -> bool:
    """Return True if chance among the finite rows of the rest does not explain its value."""
    rows, value = run["certified"]["rows"][name], run["certified"]["values"][name]
    least = round(rows * value)
    return bool(binom.sf(least - 1, rows, run["limits"][name]) < RISK_ON_REST)


def _is_broken(run: Record, way: str) -> bool:
    return bool(run[way]["is_certified"] and _outside(run, way))


def _given(runs: Iterable[Record], name: str) -> Iterator[tuple[Record, str]]:
    """Yield runs that certify a limit of this kind."""
    for run in runs:
        findings = run["certified"]["findings"] or {}
        if findings.get(name, {}).get("verdict") == "certified":
            yield run, name


def kinds_table(runs: Sequence[Record]) -> dict[str, Any]:
    """Return for each kind how often it is certified and how often that is false, by the room."""
    rows = []
    for name in KINDS:
        asked = [one for one in runs if name in one["limits"]]
        if not asked:
            continue
        given = [one for one, _ in _given(asked, name)]
        outside = [one for one in asked if name in _outside(one, "certified")]
        broken = sum(one in outside for one in given)
        rows.append(
            [
                f"`{name}`",
                *_by_room(asked, partial(_has, name=name)),
                f"{broken}/{len(given)}",
                sum(_is_surely_outside(one, name) for one in given),
                share_of(broken, len(asked)),
                f"{broken}/{len(outside)}",
                _distance(given, name),
            ]
        )
    rows.append(_whole_row(runs))
    columns = [
        "limit",
        *(f"room: {name}" for name in ROOMS),
        "certified, yet broken",
        "surely",
        "of all runs, per cent",
        "of the models outside",
        "bound from the truth",
    ]
    return {"title": f"{len(runs)} runs that ship an average", "columns": columns, "rows": rows}


def _whole_row(runs: Sequence[Record]) -> list[Any]:
    whole = [one for one in runs if one["certified"]["is_certified"]]
    broken = [one for one in whole if _outside(one, "certified")]
    surely = [any(_is_surely_outside(one, name) for name in one["limits"]) for one in whole]
    outside = [one for one in runs if _outside(one, "certified")]
    rooms = _by_room(runs, lambda one: one["certified"]["is_certified"])
    counts = (f"{len(broken)}/{len(whole)}", sum(surely), share_of(len(broken), len(runs)))
    return ["all of the run", *rooms, *counts, f"{len(broken)}/{len(outside)}", "-"]


def _has(run: Record, name: str) -> bool:
    return any(True for _ in _given([run], name))


def _by_room(runs: Sequence[Record], holds: Callable[[Record], bool]) -> list[str]:
    """Return how many runs of each room it holds for."""
    rooms = ([one for one in runs if one["room"] == room] for room in range(len(ROOMS)))
    return [_count(of, holds) for of in rooms]


def _distance(runs: Sequence[Record], name: str) -> str:
    """Return the median distance of a passing bound from the truth, as a share of it."""
    found = []
    for run in runs:
        told, truth = run["certified"]["findings"][name], run["certified"]["values"][name]
        found.append(abs(told["bound"] - truth) / truth)
    return f"{np.median(found):.0%}" if found else "-"


def price_table(runs: Sequence[Record]) -> dict[str, Any]:
    """Return by room what certified averages reach beside their twins and an oracle."""
    rows = []
    for room, name in enumerate(ROOMS):
        twins = [one for one in runs if one["room"] == room and "single" in one]
        whole = [one for one in twins if one["certified"]["is_certified"]]
        both = [one for one in whole if one["single"]["is_certified"]]
        plain_out = sum(bool(_outside(one, "plain")) for one in twins)
        rows.append(
            [
                name,
                f"{len(whole)}/{len(twins)}",
                _count(twins, lambda one: one["single"]["is_certified"]),
                _median(one["certified"]["utility"] for one in whole),
                _pairs((one["certified"]["utility"], one["single"]["utility"]) for one in both),
                _pairs((one["certified"]["utility"], one["certified"]["oracle"]) for one in whole),
                f"{plain_out}/{len(twins)}",
                _pairs((one["certified"]["utility"], one["plain"]["utility"]) for one in whole),
            ]
        )
    columns = [
        "room",
        "averages certified",
        "single pipelines certified",
        "mean recall, certified average",
        "given up to the single one",
        "given up to an oracle's threshold",
        "without a certificate, broken",
        "given up to it",
    ]
    return {"title": "runs with twins, medians of pairs", "columns": columns, "rows": rows}


TWINS = {
    "single": "the single pipeline, certified as well",
    "plain": "the run without a certificate",
}


def pairs_table(runs: Sequence[Record]) -> dict[str, Any]:
    """Return how often a certified average is better than a twin of its rows and seed."""
    sure = [one for one in runs if "single" in one and one["certified"]["is_certified"]]
    both = [one for one in sure if one["single"]["is_certified"]]
    found = {name: _beside(both if name == "single" else sure, name) for name in TWINS}
    told = corrected({name: pair.p for name, pair in found.items()})
    rows = [
        [TWINS[name], pair.wins, pair.losses, pair.ties, f"{pair.p:.2g}", f"{told[name]:.2g}"]
        for name, pair in found.items()
    ]
    columns = ["beside", "better", "worse", "level", "p", "p (Holm)"]
    return {
        "title": "mean recall of certified averages, sign test",
        "columns": columns,
        "rows": rows,
    }


def _beside(runs: Sequence[Record], twin: str) -> Paired:
    mine, others = ([-one[name]["utility"] for one in runs] for name in ("certified", twin))
    return compare(mine, others)


def _count(runs: Sequence[Record], holds: Callable[[Record], bool]) -> str:
    return f"{sum(map(holds, runs))}/{len(runs)}"


def _median(values: Iterable[float]) -> str:
    found = list(values)
    return f"{np.median(found):.4f}" if found else "-"


def _pairs(pairs: Iterable[tuple[float, float | None]]) -> str:
    """Return the median of what is given up; negative where the first is better."""
    return _median(other - mine for mine, other in pairs if other is not None)


SAID = {
    "rest": "drawn from the rest",
    "at": "each rate exactly at its limit",
    "drifted": "each rate at 1.5 times its limit",
}


def monitor_table(runs: Sequence[Record]) -> dict[str, Any]:
    """Return for each stream how often a limit is said to be broken or to hold, and how soon."""
    rows = []
    for stream in STREAMS:
        of = [one for one in runs if stream in one["monitor"]]
        holding = [one for one in of if not _broken_in(one, stream) or stream == "at"]
        broken = [one for one in of if _broken_in(one, stream)]
        is_found = stream != "at"  # there all limits hold, a hair within
        rows.append(
            [
                SAID[stream],
                len(of),
                _share(holding, partial(_raises, stream=stream)),
                _share(broken, partial(_claims, stream=stream)),
                _share(broken if is_found else [], partial(_raises, stream=stream)),
                _soon(broken if is_found else [], stream),
            ]
        )
    columns = [
        "rows",
        "runs",
        "alarm, though all hold",
        "said to hold, though broken",
        "alarm where one is broken",
        "rows until then, median",
    ]
    title = f"{LOOKS} looks at {LOT} rows each, risk 5%; of how many runs, and per cent"
    return {"title": title, "columns": columns, "rows": rows}


def _broken_in(run: Record, stream: str) -> set[str]:
    """Return the limits that rows of a stream break; at the limit a hair would be enough."""
    return _outside(run, "certified") if stream == "rest" else set(run["limits"])


def _raises(run: Record, stream: str) -> bool:
    """Return True if an alarm is raised in any look."""
    return any(one["alarm"] is not None for one in run["monitor"][stream].values())


def _claims(run: Record, stream: str) -> bool:
    """Return True if a broken limit is said to hold in any look."""
    told = run["monitor"][stream]
    broken = _broken_in(run, stream)
    return any(name in told and told[name]["claim"] is not None for name in broken)


def _share(runs: Sequence[Record], holds: Callable[[Record], bool]) -> str:
    if not runs:
        return "-"
    count = sum(map(holds, runs))
    return f"{count}/{len(runs)}: {share_of(count, len(runs))}"


def _soon(runs: Sequence[Record], stream: str) -> str:
    """Return the median number of rows until an alarm; none counts as beyond all looks."""
    if not runs:
        return "-"
    told = [run["monitor"][stream].values() for run in runs]
    first = [min((one["alarm"] or np.inf for one in limits), default=np.inf) for limits in told]
    middle = float(np.median(first))
    return f"{LOT * middle:g}" if np.isfinite(middle) else f"above {LOOKS * LOT}"


def sentence() -> str:
    """Return the outcome of averages in a sentence."""
    one = json.loads(MEASURED.read_text(encoding="utf-8"))["summary"]
    return (
        f"In {one['averages']} runs that ship an average of pipelines {one['limits']} limits are "
        f"certified; certificates that are false on the rest: {one['limits_broken']}."
    )
