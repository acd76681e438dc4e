"""The tables of certified_rivals.py, for measured/certified_rivals.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from certified_tasks import NO_ANSWER, SEEN, SETTINGS, SPLITS, Asked
from paired import corrected
from printed_tables import wrapped
from scipy.stats import wilcoxon

MEASURED = Path(__file__).parent / "measured" / "certified_rivals.json"
OURS, BY_GROUP, SINGLE = "ours", "ours, thresholds by group", "ours, one pipeline"
SEVERAL, UNWEIGHED = "ours, the first of several looks", "ours, rows not weighed"
FORMS = (BY_GROUP, SINGLE, SEVERAL, UNWEIGHED)
LEVEL = 0.001  # within it two methods are level, as on the page of limits
COMPARED = ("ours leads by", "ours better / worse / level", "p (Wilcoxon, Holm)")
Record = dict[str, Any]
Table = dict[str, Any]
# A method, and a split of a setting.
Place = tuple[str, str, int]


def write(records: Sequence[Record], commit: str) -> None:
    """Put the tables into the file of measured numbers."""
    kept = {(one["method"], one["table"], one["limit"], one["split"]): one for one in records}
    complete = [
        (table, limit)
        for table, limit in SETTINGS
        if all(_is_whole(kept, table, limit, split) for split in SPLITS)
    ]
    found = [one for one in kept.values() if (one["table"], one["limit"]) in complete]
    tables = {
        "answers": answers(found),
        "utility": utility(found),
        "rates": first(found, lambda one: not _is_gap(one), "limits on a rate"),
        "gaps": first(found, _is_gap, "limits on a gap"),
        "settings": settings(found),
        "seen": seen_before(found),
    }
    whole = {
        "commit": commit,
        "versions": _versions(),
        "settings": len(complete),
        "asked": len(SETTINGS),
        "splits": len(SPLITS),
        "first": places(found, _methods(found, plain=True)),
        "tables": tables,
    }
    MEASURED.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _is_whole(kept: dict[Any, Record], table: str, limit: str, split: int) -> bool:
    last = "fairlearn ThresholdOptimizer" if "gap" in limit else "FLAML"
    return (last, table, limit, split) in kept


def _versions() -> dict[str, str]:
    # Rivals that were measured before, and are not installed here, were of these versions.
    before = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    found = dict(before.get("versions", {}))
    for name in ("fairlearn", "optuna", "flaml", "seldonian-engine", "scikit-learn"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _is_gap(one: Record) -> bool:
    return "gap" in one["limit"]


def _is_broken(one: Record) -> bool:
    return bool(one["answers"] and one["value"] > Asked(one["limit"]).bound)


def _methods(found: Iterable[Record], *, plain: bool = False) -> list[str]:
    """Return the methods in their order; `plain` leaves out ours in other forms."""
    names = list(dict.fromkeys(one["method"] for one in found))
    return [name for name in names if not (plain and name in FORMS)]


def worth(one: Record) -> float:
    """Return the balanced accuracy of an answer; that of a constant without one."""
    return float(one["balanced"]) if one["answers"] else NO_ANSWER


def kept_worth(one: Record) -> float:
    """Return the same, where an answer outside of its limit on the rest is none."""
    return NO_ANSWER if _is_broken(one) else worth(one)


def answers(found: Sequence[Record]) -> Table:
    """Return how many answer, how many of the answers are broken, and how good answers are."""
    rows = []
    for name in _methods(found):
        mine = [one for one in found if one["method"] == name]
        given = [one for one in mine if one["answers"]]
        errors = sum(bool(one["error"]) for one in mine)
        middles = [
            f"{np.median([one[key] for one in given]):.3f}" if given else "-"
            for key in ("balanced", "recall")
        ]
        broken = f"{sum(map(_is_broken, given))}/{len(given)}"
        rows.append([name, f"{len(given)}/{len(mine)}", broken, *middles, errors])
    columns = ["", "answers", "broken on the rest", "balanced accuracy", "recall", "failed"]
    return {"title": "medians of the answers given", "columns": columns, "rows": rows}


def _by_setting(
    found: Iterable[Record], method: str, value: Callable[[Record], float]
) -> dict[tuple[str, str], float]:
    """Return the mean over splits of a value, by setting."""
    seen: dict[tuple[str, str], list[float]] = {}
    for one in found:
        if one["method"] == method:
            seen.setdefault((one["table"], one["limit"]), []).append(value(one))
    return {place: float(np.mean(values)) for place, values in seen.items()}


def utility(found: Sequence[Record]) -> Table:
    """Return ours beside each method: differences by setting, wins, and corrected p."""
    mine = _by_setting(found, OURS, worth)
    rows, chances = {}, {}
    for name in _methods(found):
        theirs = _by_setting(found, name, worth)
        strict = _by_setting(found, name, kept_worth)
        means = [f"{np.mean(list(one.values())):.3f}" for one in (theirs, strict)]
        rows[name] = [name, str(len(theirs)), *means]
        if name == OURS:
            continue
        lead = np.array([mine[place] - reached for place, reached in theirs.items()])
        chances[name] = float(wilcoxon(lead).pvalue) if np.any(lead) else 1.0
        won, lost = int((lead > LEVEL).sum()), int((lead < -LEVEL).sum())
        rows[name] += [f"{np.mean(lead):+.3f}", f"{won}/{lost}/{len(lead) - won - lost}"]
    for name, p in corrected(chances).items():
        rows[name].append(f"{p:.2g}")
    columns = [
        "",
        "settings",
        "mean utility",
        "broken answers as none",
        *COMPARED,
    ]
    shown = [[*row, *[""] * (len(columns) - len(row))] for row in rows.values()]
    title = f"no answer is worth {NO_ANSWER}; means over settings"
    return {"title": title, "columns": columns, "rows": shown}


def places(found: Sequence[Record], methods: Sequence[str]) -> dict[str, int]:
    """Return at how many settings each method is first, or within a thousandth of the first."""
    values = {name: _by_setting(found, name, worth) for name in methods}
    every = values[OURS]
    best = {place: max(one.get(place, 0.0) for one in values.values()) for place in every}
    return {
        name: sum(reached >= best[place] - LEVEL for place, reached in one.items())
        for name, one in values.items()
    }


def first(found: Sequence[Record], is_asked: Callable[[Record], bool], of: str) -> Table:
    """Return the number of settings at which each method is first, for a kind of limits."""
    some = [one for one in found if is_asked(one)]
    plain = places(some, _methods(some, plain=True))
    names = [name for name in _methods(some) if name not in (SINGLE, SEVERAL, UNWEIGHED)]
    every = places(some, names)
    settings_of = len(_by_setting(some, OURS, worth))
    rows = [[name, plain.get(name, ""), every[name]] for name in names]
    title = f"{of}: {settings_of} settings, at how many a method is first or within {LEVEL:g} of it"
    return {"title": title, "columns": ["", "first", "with thresholds by group"], "rows": rows}


def seen_before(found: Sequence[Record]) -> Table:
    """Return ours and its strongest rival on splits that decisions had seen, and on the others."""
    rows = []
    for is_seen, which in ((True, "0 and 1, seen by decisions"), (False, "2 and 3, seen by none")):
        some = [one for one in found if (one["split"] in SEEN) is is_seen]
        counts = places(some, _methods(some, plain=True))
        near = max((name for name in counts if name != OURS), key=lambda name: counts[name])
        beside = next(row[4:] for row in utility(some)["rows"] if row[0] == near)
        rows.append([which, counts[OURS], near, counts[near], *beside])
    columns = ["splits", "ours first", "strongest rival", "first", *COMPARED]
    return {"title": "means over two splits each", "columns": columns, "rows": rows}


def settings(found: Sequence[Record]) -> Table:
    """Return for each setting what ours reached, the best rival, and ours by the side of it."""
    names = [one for one in _methods(found, plain=True) if one != OURS]
    mine = _by_setting(found, OURS, worth)
    values = {name: _by_setting(found, name, worth) for name in names}
    rows = []
    for (table, limit), reached in mine.items():
        here = {name: one[table, limit] for name, one in values.items() if (table, limit) in one}
        best = max(here, key=lambda name: here[name])
        gap = reached - here[best]
        rows.append([table, limit, f"{reached:.3f}", f"{here[best]:.3f}", f"{gap:+.3f}", best])
    columns = ["table", "limit", "ours", "best rival", "difference", "which"]
    return {"title": "mean utility over splits", "columns": columns, "rows": rows}


def short() -> str:
    """Return the outcome in sentences."""
    found = json.loads(MEASURED.read_text(encoding="utf-8"))
    rows = {row[0]: row for row in found["tables"]["answers"]["rows"]}
    utility_of = {row[0]: row for row in found["tables"]["utility"]["rows"]}
    first_of = found["first"]
    rivals = [name for name in first_of if name != OURS]
    near = max(rivals, key=lambda name: first_of[name])
    lead, won, p = utility_of[near][4:7]
    unseen = found["tables"]["seen"]["rows"][-1]
    return wrapped(
        f"**In short:** ours is first, or within {LEVEL:g} of it, at {first_of[OURS]} of",
        f"{found['settings']} settings, and the strongest rival ({near}) at {first_of[near]}; the",
        f"aim was 90 %. Beside that one the utility of ours is better / worse / level at {won}",
        f"settings, by {lead} in the mean (p {p}); on the splits that no decision had seen, ours",
        f"is first at {unseen[1]} and p is {unseen[-1]}. Ours answers in {rows[OURS][1]} runs, and",
        f"breaks its limit on the rest in {rows[OURS][2]}.",
    )
