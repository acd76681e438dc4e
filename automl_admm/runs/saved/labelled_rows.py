"""The model of any run on labelled rows: its score and its limits, beside what the run said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.core.evaluations import ONE_CLASS
from automl_admm.core.limits import Limit
from automl_admm.data.later_rows import LaterRows
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.metrics import Metric, resolve_metric
from automl_admm.pipelines.predictions.decisions import decisions_of, only_class, rates_of
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.predictions.wrappers import Remembered
from automl_admm.pipelines.score_interval import score_interval
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import Constraint, LearningTask
from automl_admm.runs.finish.model_file import rows_for_the_model
from automl_admm.runs.finish.model_notes import tell_mark, tell_versions
from automl_admm.runs.saved.certified_run import CertifiedRun, RowsAside, read_with_model
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.groups_of_rows import limits_on_rows
from automl_admm.runs.saved.natural_twins import tell_copies
from automl_admm.runs.saved.row_origin import count_learned, find_origin
from automl_admm.runs.session.model_run import read_run_of_model, tell_earlier
from automl_admm.store.run_folder import RunFolder

# A run without a certificate set no rows aside; the groups to compare are those of the data.
NOTHING_ASIDE = RowsAside(rows=1, places=(0,))


@dataclass(frozen=True)
class MeasuredLimit:
    """A limit and its value on labelled rows; NaN if these rows cannot tell it.

    `one_class` is the class that the model gives to all rows, of its run or of these, if it is only
    one.
    """

    limit: Limit
    value: float
    validation: float | None
    one_class: str | None = None

    @property
    def holds(self) -> bool | None:
        """True if the value is within the limit; None without a value.

        A model with one class for all rows is within none.
        """
        if math.isnan(self.value):
            return None
        return self.one_class is None and bool(self.limit.holds(self.value))


@dataclass(frozen=True)
class OnLabelledRows:
    """The score and the limits of a model on labelled rows.

    `rates` are recall and selection rate of two classes. `said` is the manifest of the model, with
    what the run said of it. The `interval` is of the score here. The model learned from so many of
    the rows, `learned`; None if the run cannot know it, and then `doubt` says why. `groups` tells
    groups that are new, or not among the rows, and `new_values` columns with new categories or
    gaps. `mark` says what is wrong with a model that was saved for want of a better one, and
    `versions` names distributions behind the model in another version than it was fitted with.
    `earlier` says that it is of a session before others. `given_twice` is a sentence if more rows
    equal others among them than chance explains.
    """

    rows: int
    metric: str
    score: float
    rates: Mapping[str, float | None]
    limits: tuple[MeasuredLimit, ...]
    said: Mapping[str, Any]
    interval: tuple[float, float] | None
    learned: int | None
    doubt: str | None
    groups: tuple[str, ...] = ()
    new_values: tuple[str, ...] = ()
    mark: str | None = None
    versions: tuple[str, ...] = ()
    earlier: str | None = None
    given_twice: str | None = None


def evaluate_on(folder: RunFolder, given: GivenTable) -> OnLabelledRows:
    """Measure the model of a run on rows with their target."""
    run = open_run(folder, given)
    table = run.table(run.counted(given.frame.reset_index(drop=True)))
    metric = metric_of(run, table)
    answers = Remembered(run.pipeline)
    with unheard_warnings(), rows_for_the_model(run.pipeline, table.X):
        # First: a metric that fails says no word on what the model cannot take.
        decisions, rates = decisions_of(answers, table), {}
        score = score_of(metric, answers, table)
        interval = score_interval(metric, answers, table, score)
        if table.classes is not None and len(table.classes) == 2:
            rates = rates_of(table.y, decisions, table.roles.weights)
    only = one_class_on(run, table, decisions)
    limits = measured_limits(run, table, limits_on_rows(run, table), only)
    origin, _ = find_origin(run, table, len(table.y), None)
    return OnLabelledRows(
        rows=len(table.y),
        metric=metric.name,
        score=score,
        rates=rates,
        limits=limits,
        said=run.manifest,
        interval=interval,
        learned=count_learned(run, origin),
        doubt=origin.doubt,
        groups=run.other_groups(table),
        new_values=_new_values(run, table),
        mark=tell_mark(run.manifest),
        versions=tuple(tell_versions(run.manifest)),
        earlier=tell_earlier(folder, run.manifest),
        given_twice=tell_copies(run.row_hashes(table), run),
    )


def _new_values(run: CertifiedRun, table: Table) -> tuple[str, ...]:
    """Tell columns with categories that the model does not know, or with more gaps."""
    later = LaterRows.of_model(run.manifest)
    later.add(table.X)
    return tuple(later.lines())


def open_run(folder: RunFolder, given: GivenTable, *, is_labelled: bool = True) -> CertifiedRun:
    """Read a run and its model; raise if labelled rows have no column of its target."""
    manifest = given.manifest_in(folder)
    content = read_run_of_model(folder, manifest)
    target = content["settings"]["target"]
    if is_labelled and target is not None and target not in given.frame.columns:
        raise DataError(f"{given.title} has no column '{target}', which the run predicts.")
    return read_with_model(folder, content, manifest, given, NOTHING_ASIDE)


def metric_of(run: CertifiedRun, table: Table) -> Metric:
    """Return the metric of a run; raise if it was a function of the user."""
    name = run.settings["metric"]
    if "scoring" in run.content["request"]["only_python"]:
        raise ConfigurationError(
            f"the run was scored by '{name}', a function of its own.",
            hint="Score automl_admm.load(folder) with it in Python.",
        )
    task: LearningTask = "regression" if table.classes is None else "classification"
    classes = 0 if table.classes is None else len(table.classes)
    metrics = load_plugins(quietly=True).metrics
    return resolve_metric(name, task, classes, metrics).knowing(table.classes)


def one_class_on(run: CertifiedRun, table: Table, decisions: Any) -> str | None:
    """Return the only class of a model's `decisions` on its run's rows, or on rows of several."""
    only: str | None = run.manifest.get(ONE_CLASS)
    return only_class(table, decisions) if only is None else only


def measured_limits(
    run: CertifiedRun, table: Table, constraints: Sequence[Constraint], only: str | None
) -> tuple[MeasuredLimit, ...]:
    """Measure the limits of a run on labelled rows; those not among `constraints` have no value.

    `only` is the class of all rows, if there is only one.
    """
    if not run.settings["limits"]:
        return ()
    said, names = run.manifest["constraints"], [str(one.limit) for one in constraints]
    seen = dict(zip(names, run.evidence(table, constraints, is_proof=False), strict=True))
    values = {name: float(evidence.value) for name, evidence in seen.items()}
    return tuple(
        MeasuredLimit(limit, values.get(str(limit), math.nan), said.get(str(limit)), only)
        for limit in (one.limit for one in run.limits)
    )
