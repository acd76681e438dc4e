"""The tables of certified_findings.py, for measured/certified_findings.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from certified_answers import of_answers
from certified_averages_tables import sentence as of_averages
from certified_kinds import RAISED, Kind, of_classes, of_regression, of_two_classes
from printed_tables import wrapped
from scipy.stats import beta

MEASURED = Path(__file__).parent / "measured" / "certified_findings.json"
KINDS = {
    **{name: of_two_classes(column, limit) for name, (column, limit, _) in RAISED.items()},
    "abalone": of_regression("Sex"),
    "wind": of_regression("half"),
    "abalone_sex": of_classes("I", "F"),
    "wind_quarters": of_classes("q3", "q2"),
    "adult_answers": of_answers(),
    "credit_default_answers": of_answers(),
}
ROOMS = ("none", "some", "much")
SCORES = {
    "two_classes": "mean recall",
    "regression": "R²",
    "classes": "mean recall",
    "answers": "rows decided rightly",
}
Record = dict[str, Any]


def write(task: str, records: Sequence[Record], commit: str) -> None:
    """Put the tables of a task into the file of measured numbers."""
    found = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    tables, runs = found.get("tables", {}), [one for one in records if one["seed"] >= 0]
    tables[f"{task}-kinds"] = kinds_table(runs)
    tables[f"{task}-price"] = price_table(task, runs)
    summary = found.get("summary", {}) | {task: _summary(runs)}
    whole = {"commit": commit, "summary": summary, "tables": tables}
    MEASURED.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _summary(runs: Sequence[Record]) -> dict[str, int]:
    """Return the counts of certified limits and whole certificates, and of those broken."""
    given = [one for kind in _places(runs) for one in _given(runs, kind)]
    whole = [one for one in runs if one.get("is_certified")]
    return {
        "runs": len(runs),
        "limits": len(given),
        "limits_broken": sum(not holds for _, holds in given),
        "certificates": len(whole),
        "certificates_broken": sum(_is_broken(one, "certified") for one in whole),
        "plain": sum("plain" in one for one in runs),
        "plain_broken": sum(_is_broken(one, "plain") for one in runs if "plain" in one),
    }


def _places(runs: Sequence[Record]) -> range:
    return range(len(KINDS[runs[0]["world"]]))


def _kind(run: Record, place: int) -> Kind:
    return KINDS[run["world"]][place]


def _holds(run: Record, way: str, place: int) -> bool:
    kind = _kind(run, place)
    return kind.holds(run[way][kind.text], run["limits"][kind.text])


def _is_broken(run: Record, way: str) -> bool:
    return not all(_holds(run, way, place) for place in _places([run]))


def _given(runs: Iterable[Record], place: int) -> Iterator[tuple[Record, bool]]:
    """Yield runs that certify a limit, and whether it truly holds."""
    for run in runs:
        if "findings" in run:
            verdict = run["findings"][_kind(run, place).text]["verdict"]
            if verdict == "certified":
                yield run, _holds(run, "certified", place)


def kinds_table(runs: Sequence[Record]) -> dict[str, Any]:
    """Return for each kind how often it is certified and how often that is false, by the room."""
    rows = []
    for place in _places(runs):
        given = list(_given(runs, place))
        broken = sum(not holds for _, holds in given)
        outside = sum("certified" in run and not _holds(run, "certified", place) for run in runs)
        rows.append(
            [
                _text(runs, place),
                _kind(runs[0], place).bound,
                *(_of_room(runs, place, room) for room in range(len(ROOMS))),
                f"{broken}/{len(given)}",
                f"{_highest(broken, len(runs)):.1%}",
                f"{broken}/{outside}",
                _approximate(given, place),
                _distance(runs, place),
            ]
        )
    columns = [
        "limit",
        "bound",
        *(f"room: {name}" for name in ROOMS),
        "certified, yet broken",
        "of all runs at most",
        "of the models outside",
        "approximate",
        "bound from the truth",
    ]
    return {"title": f"{len(runs)} runs", "columns": columns, "rows": rows}


def _text(runs: Sequence[Record], place: int) -> str:
    """Return the limit without its names of columns, where tables have others."""
    texts = list(dict.fromkeys(_kind(run, place).text for run in runs))
    return " or ".join(f"`{text}`" for text in texts)


def _of_room(runs: Sequence[Record], place: int, room: int) -> str:
    of = [run for run in runs if run["room"] == room]
    return f"{len(list(_given(of, place)))}/{len(of)}"


def _highest(events: int, trials: int) -> float:
    """Return Clopper and Pearson's upper end at 97.5 %."""
    return float(beta.ppf(0.975, events + 1, trials - events))


def _approximate(given: Sequence[tuple[Record, bool]], place: int) -> str:
    of = [run["findings"][_kind(run, place).text]["approximate"] for run, _ in given]
    return f"{sum(of)}/{len(of)}"


def _distance(runs: Iterable[Record], place: int) -> str:
    """Return the median distance of a passing bound from the truth; a share of it, but of gaps."""
    found, is_gap = [], False
    for run, _ in _given(runs, place):
        kind = _kind(run, place)
        is_gap, truth = kind.is_added, run["certified"][kind.text]
        bound = run["findings"][kind.text]["bound"]
        if bound is not None and truth:
            found.append(abs(bound - truth) / (1.0 if is_gap else abs(truth)))
    if not found:
        return "-"
    middle = float(np.median(found))
    return f"{middle:.2f}" if is_gap else f"{middle:.0%}"


def price_table(task: str, runs: Sequence[Record]) -> dict[str, Any]:
    """Return whole certificates by room, and what they give up, in medians of pairs."""
    rows, has_oracle = [], task in ("two_classes", "classes")
    for room, name in enumerate(ROOMS):
        of = [run for run in runs if run["room"] == room]
        whole = [run for run in of if run.get("is_certified")]
        twins = [run for run in of if "plain" in run]
        broken = sum(_is_broken(run, "certified") for run in whole)
        outside = sum(_is_broken(run, "plain") for run in twins)
        row = [name, f"{len(whole)}/{len(of)}", broken, f"{outside}/{len(twins)}"]
        row += _lost(whole, "plain_utility")
        rows.append([*row, *(_lost(whole, "oracle")[1:] if has_oracle else [])])
    score = SCORES[task]
    columns = ["room", "whole certificates", "broken", "without one, a limit broken"]
    columns += [f"{score}, certified", "without", "given up"]
    columns += ["an oracle's weights", "given up to them"] if has_oracle else []
    return {"title": "all limits at once", "columns": columns, "rows": rows}


def _lost(runs: Iterable[Record], than: str) -> list[str]:
    """Return the median score of certified models, of something better, and of the difference."""
    pairs = [(run["certified_utility"], run[than]) for run in runs if run.get(than) is not None]
    if not pairs:
        return ["-"] * 3
    mine, other = np.array(pairs).T
    return [f"{np.median(values):.4f}" for values in (mine, other, other - mine)]


def short() -> str:
    """Return the outcome in sentences."""
    summary = json.loads(MEASURED.read_text(encoding="utf-8"))["summary"]
    sentences = " ".join([*(_sentence(name, one) for name, one in summary.items()), of_averages()])
    return wrapped(f"**In short:** {sentences[0].lower()}{sentences[1:]}")


def _sentence(task: str, one: Record) -> str:
    said = {
        "two_classes": "of two classes",
        "regression": "of a regression",
        "classes": "of several classes",
        "answers": "with undecided rows, blank columns and noise",
    }[task]
    share = f"{100 * one['limits_broken'] / max(one['limits'], 1):.1f} %"
    return (
        f"In {one['runs']} runs {said} {one['limits']} limits are certified, of which "
        f"{one['limits_broken']} ({share}) do not hold on the rest; of {one['plain']} runs without "
        f"a certificate {one['plain_broken']} ship a model that breaks a limit."
    )
