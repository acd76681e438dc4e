"""A comparison of runs: what differs between them, and whether their scores may be compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from automl_admm.data.row_roles import NAMES
from automl_admm.pipelines.metric_facts import looks_at_scores
from automl_admm.report.comparing.run_facts import RunFacts
from automl_admm.report.pipeline_differences import ParameterValues, SideBySide, put_side_by_side
from automl_admm.runs.metric_code import UNKNOWN

# Without them equal, two scores are numbers of different quantities.
DEFINING = ("metric", "positive", *NAMES)


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that is not the same in all runs; a run without it has None."""

    name: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs, their differences by chapter, and the reasons why scores cannot be compared.

    `equal` counts the facts of each chapter that are the same in all runs. The winners are
    compared by their pipelines and by where they decide; None if one has an ensemble, or no model.
    """

    runs: tuple[RunFacts, ...]
    is_comparable: bool
    warnings: tuple[str, ...]
    settings: tuple[Difference, ...]
    data: tuple[Difference, ...]
    versions: tuple[Difference, ...]
    equal: dict[str, int]
    winners: SideBySide | None


def compare(runs: Sequence[RunFacts]) -> Comparison:
    """Compare runs, in their order."""
    chapters: Mapping[str, Callable[[RunFacts], Mapping[str, Any]]] = {
        "settings": lambda one: one.settings,
        "data": lambda one: one.data,
        "versions": lambda one: one.versions,
    }
    rows = {name: _rows([of(one) for one in runs]) for name, of in chapters.items()}
    differing = {
        name: tuple(row for row in found if not _all_equal(row.values))
        for name, found in rows.items()
    }
    reasons = tuple(_reasons(runs))
    return Comparison(
        runs=tuple(runs),
        is_comparable=not reasons,
        warnings=(*reasons, *(() if reasons else _remarks(runs))),
        settings=differing["settings"],
        data=differing["data"],
        versions=differing["versions"],
        equal={name: len(found) - len(differing[name]) for name, found in rows.items()},
        winners=_winners(runs),
    )


def _rows(found: Sequence[Mapping[str, Any]]) -> list[Difference]:
    names = dict.fromkeys(name for one in found for name in one)
    return [Difference(name, tuple(one.get(name) for one in found)) for name in names]


def _all_equal(values: Sequence[Any]) -> bool:
    return all(value == values[0] for value in values)


def _reasons(runs: Sequence[RunFacts]) -> Iterator[str]:
    """Yield the reasons why the scores are of different quantities, or of different rows."""
    for name in ("target", "task"):
        values = [one.data[name] for one in runs]
        if not _all_equal(values):
            yield f"the runs have other {name}s: {_listed(values)}"
    for name in DEFINING:
        values = [one.settings.get(name) for one in runs]
        if not _all_equal(values):
            yield f"the scores are measured otherwise, {name}: {_listed(values)}"
    yield from _of_own_metrics(runs)
    yield from _of_undecided(runs)
    if not _all_equal([one.data["fingerprint"] for one in runs]):
        yield f"the runs searched on other rows{_same_file(runs)}"
    elif not _all_equal([one.data["held_out_fingerprint"] for one in runs]):
        yield "other rows were held out"


def _of_own_metrics(runs: Sequence[RunFacts]) -> Iterator[str]:
    """Yield a line where metrics of one's own share a name, and are not known to be the same."""
    codes = [one.settings.get("metric_code") for one in runs]
    is_same = _all_equal([one.settings.get("metric") for one in runs])
    if is_same and (not _all_equal(codes) or UNKNOWN in codes):
        yield (
            f"the metric '{runs[0].settings['metric']}' was given as an object of Python, and "
            "nothing tells that it was the same one"
        )


def _of_undecided(runs: Sequence[RunFacts]) -> Iterator[str]:
    """Yield a line where runs may leave other shares of rows undecided, and the metric sees it."""
    named = [[one.limit for one in run.result.limits] for run in runs]
    found = [[limit for limit in limits if limit.split()[0] == "abstain"] for limits in named]
    metrics = {str(run.settings.get("metric")) for run in runs}
    if not _all_equal(found) and not all(map(looks_at_scores, metrics)):
        told = _listed([", ".join(one) or None for one in found])
        yield f"the scores are of decided rows, and runs may leave others undecided: {told}"


def _same_file(runs: Sequence[RunFacts]) -> str:
    """Say so if the rows are of one file by its name: then another share or seed may be why."""
    sources = [(one.data["source"], one.data["columns"]) for one in runs]
    if sources[0][0] is None or not _all_equal(sources):
        return ""
    return ", though of a file of one name: a seed, a share held out or the file itself differs"


def _remarks(runs: Sequence[RunFacts]) -> Iterator[str]:
    """Yield what a reader of comparable scores should know."""
    if not _all_equal([one.data["validated_on"] for one in runs]):
        folds = _listed([one.data["validated_on"] for one in runs])
        yield f"validation scores are of other folds ({folds}): compare those on rows held out"
    if not _all_equal([one.settings["limits"] for one in runs]):
        yield "the limits differ: a higher score may be that of wider limits"


def _listed(values: Sequence[Any]) -> str:
    return ", ".join("none" if value is None else str(value) for value in values)


def _winners(runs: Sequence[RunFacts]) -> SideBySide | None:
    found = [one.result.pipelines for one in runs]
    if any(len(one) != 1 for one in found):
        return None
    winners = put_side_by_side([one[0] for one in found])
    decided = [run.result.decisions for run in runs]
    names = dict.fromkeys(name for one in decided for name in one)
    more = (ParameterValues(name, tuple(_text(one.get(name)) for one in decided)) for name in names)
    return replace(winners, parameters=(*winners.parameters, *more))


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)
