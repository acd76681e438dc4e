"""The options of a run: each stands here once, and every door is made from its line.

`RunConfig` inherits the fields; the command line, the parameters of the estimators and of
`minimize`, the request in `run.json`, the comparison at resume and the table in the documentation
are derived from `OPTIONS`. To add an option, add a line to the class of the doors that offer it;
the options of every search are in `search_options.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from automl_admm.data.reading.file_options import DECIMALS, SEPARATORS
from automl_admm.grammar.check.recursion import DEPTH
from automl_admm.grammar.given_text import GrammarText
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    TASKS,
    ComponentPlugin,
    Constraint,
    ConstraintPlugin,
    LearningTask,
    Measured,
    MetricPlugin,
)
from automl_admm.runs.option_record import OPTION, Kind, Option, option
from automl_admm.runs.search_options import SearchOptions

# The choices of what ships of the best pipeline: a fit on all rows, or its fold models.
AUTO, WHOLE, FOLDS = "auto", "whole", "folds"


@dataclass(frozen=True)
class PipelineOptions(SearchOptions):
    """The options of a search over pipelines: those of the estimators and the command line."""

    grammar: str | Path | GrammarText = option(
        Kind.FILE,
        "--grammar",
        "Grammar file, or the name of a shipped grammar.",
        default="default",
        resume_help="Another grammar than before.",
        compared_as="grammar_text",
        is_saved=False,
    )
    _: KW_ONLY
    scoring: str | Callable[..., float] | MetricPlugin | None = option(
        Kind.SCORER,
        "--metric",
        "Any scikit-learn scorer. [default: roc_auc, accuracy or r2]",
        default=None,
        compared_as="metric",
    )
    positive: Any = option(
        Kind.LABEL,
        "--positive",
        "Class that rates and thresholds call positive. [default: the last of the sorted]",
        default=None,
        compared_as="positive",
    )
    columns: Mapping[Any, str] | None = option(
        Kind.COLUMNS,
        "--column",
        'Kind of a column in place of the one found, such as "zip=category": number, category, '
        "ordered, text, tags, date, duration, boolean, or drop to leave it out. May be repeated.",
        default=None,
        compared_as="columns",
    )
    components: Sequence[ComponentPlugin] = option(
        Kind.OBJECTS,
        None,
        "Records of components for this run alone, beside those of plugins.",
        default=(),
        is_saved=False,
    )
    constraints: Sequence[
        str | Constraint | ConstraintPlugin | Callable[[EvaluatedPipeline], Measured]
    ] = option(
        Kind.LIMITS,
        "--constraint",
        'A limit such as "latency_us <= 50" or "fpr_gap[sex] <= 5 %". May be repeated.',
        default=(),
        resume_help="Other limits than before.",
        compared_as="limits",
    )
    starts: Sequence[str | Path] = option(
        Kind.STARTS,
        "--start",
        'A pipeline to begin at, such as "impute() ridge()", or a file with one pipeline a '
        "line. May be repeated.",
        default=(),
        words="a start",
        is_saved=False,
    )
    reuse: Sequence[str | Path] = option(
        Kind.RUNS,
        "--reuse",
        "The folder of another run whose evaluations to begin with, where they mean the same. May "
        "be repeated.",
        default=(),
        words="a run to reuse",
        is_saved=False,
    )
    cv: Any = option(
        Kind.FOLDS,
        "--cv",
        "Number of folds, such as 5, or share of a holdout, such as 0.25. [default: by size]",
        default=None,
        compared_as="folds",
    )
    certify: float | None = option(
        Kind.SHARE,
        "--certify",
        "Prove the limits at this confidence, such as 0.95, on rows set aside before the search.",
        default=None,
        words="the confidence of a certificate",
        metavar="CONFIDENCE",
        compared_as="certify",
    )
    last_look: bool = option(
        Kind.FLAG,
        "--last-look",
        "Spend all the risk of the proof in one look: no later run can prove limits on these data.",
        default=False,
        words="a last look",
    )
    group_thresholds: bool = option(
        Kind.FLAG,
        "--group-thresholds",
        "Let every group of a limit such as fpr_gap[sex] have a decision threshold of its own. "
        "Deciding by who somebody is may be unlawful, in lending or hiring for example.",
        default=False,
        compared_as="group_thresholds",
    )
    cost: Any = option(
        Kind.COST,
        "--cost",
        "Cost of a wrong decision, such as fn=5,fp=1, or of several classes, such as "
        "cat->dog=5,*->*=1: what is decided is then the cheapest within the limits.",
        default=None,
        words="the cost",
        compared_as="cost",
    )
    column_cost: Mapping[Any, float] | None = option(
        Kind.COSTS,
        "--column-cost",
        "Cost of having a column, such as age=1,test=40, for the limit column_cost; columns "
        "without one cost nothing. May be repeated.",
        default=None,
        words="the costs of columns",
        compared_as="column_cost",
    )
    racing: bool = option(
        Kind.FLAG,
        "--no-racing",
        "Run all folds of every pipeline, also of those that are clearly behind.",
        default=True,
    )
    ensemble: bool = option(
        Kind.FLAG,
        "--no-ensemble",
        "Ship the single best pipeline, even if an average of several is better.",
        default=True,
    )
    refit: str = option(
        Kind.CHOICE,
        "--refit",
        "What ships of the best pipeline: whole fits it on all rows, folds takes the mean of the "
        "models that were fitted on its folds, auto does so only where there is no time for the "
        "fit on all rows.",
        default=AUTO,
        choices=(AUTO, WHOLE, FOLDS),
        resume_help="What ships of the best pipeline: whole, folds or auto. [default: as before]",
    )
    portfolio: bool = option(
        Kind.FLAG, "--no-portfolio", "Do not try first what was good on other tables.", default=True
    )
    work_dir: str | Path | None = option(
        Kind.FOLDER,
        "--out",
        "The run folder. [default: a new one in automl-runs]",
        default=None,
        is_saved=False,
    )


@dataclass(frozen=True)
class RunOptions(PipelineOptions):
    """All options of a run; these are of the command line alone."""

    _: KW_ONLY
    task: LearningTask | None = option(
        Kind.CHOICE, "--task", "Kind of target.", default=None, choices=TASKS, compared_as="task"
    )
    max_depth: int = option(
        Kind.WHOLE,
        "--max-depth",
        "Number of times that a rule of the grammar may stand inside itself.",
        default=DEPTH,
        words="the depth of recursion",
        least=0,
    )
    test_size: float = option(
        Kind.SHARE,
        "--test-size",
        "Share of the rows that the search never sees, to measure the result on; 0 for none.",
        default=0.0,
        words="the test size",
        command_default=0.2,
        compared_as="test_size",
    )
    certify_fraction: float | None = option(
        Kind.SHARE,
        "--certify-fraction",
        "Share of the rows to set aside for the proof. [default: as many as the limits take]",
        default=None,
        words="the certification fraction",
    )
    separator: str | None = option(
        Kind.CHOICE,
        "--separator",
        "Sign between the columns of a CSV file. [default: found]",
        default=None,
        words="the separator",
        choices=tuple(SEPARATORS),
        resume_help="Sign between the columns of a CSV file. [default: as before]",
    )
    decimal: str | None = option(
        Kind.CHOICE,
        "--decimal",
        "Decimal sign of a CSV file. [default: found]",
        default=None,
        words="the decimal sign",
        choices=tuple(DECIMALS),
        resume_help="Decimal sign of a CSV file. [default: as before]",
    )
    encoding: str | None = option(
        Kind.NAME,
        "--encoding",
        "Encoding of a text file, such as utf-8 or cp1250. [default: found]",
        default=None,
        words="the encoding",
        resume_help="Encoding of a text file. [default: as before]",
    )


def options_of(record: type[SearchOptions]) -> tuple[Option, ...]:
    """Return the options of a record in the order of its lines."""
    lines = (one for one in fields(record) if OPTION in one.metadata)
    return tuple(one.metadata[OPTION].of(one) for one in lines)


OPTIONS = options_of(RunOptions)
# The flag on the command line of everything that a message may tell users to set.
FLAGS: Mapping[str, str] = MappingProxyType(
    {option.name: option.flag for option in OPTIONS if option.flag is not None}
    | {
        "sensitive_features": "--sensitive",
        "sample_weight": "--weight",
        "groups": "--group",
        "time": "--time",
    }
)
