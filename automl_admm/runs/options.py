"""The options of a run: each stands here once, and every door is made from its line.

`RunConfig` inherits the fields; the command line, the parameters of the estimators and of
`minimize`, the request in `run.json`, the comparison at resume and the table in the documentation
are derived from `OPTIONS`. To add an option, add a line to the class of the doors that offer it;
the options of every search are in `search_options.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
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
from automl_admm.runs.option_record import OPTION, Kind, Option
from automl_admm.runs.search_options import SearchOptions

# The choices of what ships of the best pipeline: a fit on all rows, or its fold models.
AUTO, WHOLE, FOLDS = "auto", "whole", "folds"


@dataclass(frozen=True)
class PipelineOptions(SearchOptions):
    """The options of a search over pipelines: those of the estimators and the command line."""

    grammar: str | Path | GrammarText = field(
        default="default",
        metadata=Option(
            Kind.FILE,
            "--grammar",
            "Grammar file, or the name of a shipped grammar.",
            resume_help="Another grammar than before.",
            compared_as="grammar_text",
            is_saved=False,
        ).metadata,
    )
    _: KW_ONLY
    scoring: str | Callable[..., float] | MetricPlugin | None = field(
        default=None,
        metadata=Option(
            Kind.SCORER,
            "--metric",
            "Any scikit-learn scorer. [default: roc_auc, accuracy or r2]",
            compared_as="metric",
        ).metadata,
    )
    positive: Any = field(
        default=None,
        metadata=Option(
            Kind.LABEL,
            "--positive",
            "Class that rates and thresholds call positive. [default: the last of the sorted]",
            compared_as="positive",
        ).metadata,
    )
    columns: Mapping[Any, str] | None = field(
        default=None,
        metadata=Option(
            Kind.COLUMNS,
            "--column",
            'Kind of a column in place of the one found, such as "zip=category": number, category, '
            "ordered, text, tags, date, duration, boolean, or drop to leave it out. May be "
            "repeated.",
            compared_as="columns",
        ).metadata,
    )
    components: Sequence[ComponentPlugin] = field(
        default=(),
        metadata=Option(
            Kind.OBJECTS,
            None,
            "Records of components for this run alone, beside those of plugins.",
            is_saved=False,
        ).metadata,
    )
    constraints: Sequence[
        str | Constraint | ConstraintPlugin | Callable[[EvaluatedPipeline], Measured]
    ] = field(
        default=(),
        metadata=Option(
            Kind.LIMITS,
            "--constraint",
            'A limit such as "latency_us <= 50" or "fpr_gap[sex] <= 5 %". May be repeated.',
            resume_help="Other limits than before.",
            compared_as="limits",
        ).metadata,
    )
    starts: Sequence[str | Path] = field(
        default=(),
        metadata=Option(
            Kind.STARTS,
            "--start",
            'A pipeline to begin at, such as "impute() ridge()", or a file with one pipeline a '
            "line. May be repeated.",
            words="a start",
            is_saved=False,
        ).metadata,
    )
    reuse: Sequence[str | Path] = field(
        default=(),
        metadata=Option(
            Kind.RUNS,
            "--reuse",
            "The folder of another run whose evaluations to begin with, where they mean the same. "
            "May be repeated.",
            words="a run to reuse",
            is_saved=False,
        ).metadata,
    )
    cv: Any = field(
        default=None,
        metadata=Option(
            Kind.FOLDS,
            "--cv",
            "Number of folds, such as 5, or share of a holdout, such as 0.25. [default: by size]",
            compared_as="folds",
        ).metadata,
    )
    certify: float | None = field(
        default=None,
        metadata=Option(
            Kind.SHARE,
            "--certify",
            "Prove the limits at this confidence, such as 0.95, on rows set aside before the "
            "search.",
            words="the confidence of a certificate",
            metavar="CONFIDENCE",
            compared_as="certify",
        ).metadata,
    )
    last_look: bool = field(
        default=False,
        metadata=Option(
            Kind.FLAG,
            "--last-look",
            "Spend all the risk of the proof in one look: no later run can prove limits on these "
            "data.",
            words="a last look",
        ).metadata,
    )
    group_thresholds: bool = field(
        default=False,
        metadata=Option(
            Kind.FLAG,
            "--group-thresholds",
            "Let every group of a limit such as fpr_gap[sex] have a decision threshold of its own. "
            "Deciding by who somebody is may be unlawful, in lending or hiring for example.",
            compared_as="group_thresholds",
        ).metadata,
    )
    cost: Any = field(
        default=None,
        metadata=Option(
            Kind.COST,
            "--cost",
            "Cost of a wrong decision, such as fn=5,fp=1, or of several classes, such as "
            "cat->dog=5,*->*=1: what is decided is then the cheapest within the limits.",
            words="the cost",
            compared_as="cost",
        ).metadata,
    )
    column_cost: Mapping[Any, float] | None = field(
        default=None,
        metadata=Option(
            Kind.COSTS,
            "--column-cost",
            "Cost of having a column, such as age=1,test=40, for the limit column_cost; columns "
            "without one cost nothing. May be repeated.",
            words="the costs of columns",
            compared_as="column_cost",
        ).metadata,
    )
    racing: bool = field(
        default=True,
        metadata=Option(
            Kind.FLAG,
            "--no-racing",
            "Run all folds of every pipeline, also of those that are clearly behind.",
        ).metadata,
    )
    ensemble: bool = field(
        default=True,
        metadata=Option(
            Kind.FLAG,
            "--no-ensemble",
            "Ship the single best pipeline, even if an average of several is better.",
        ).metadata,
    )
    refit: str = field(
        default=AUTO,
        metadata=Option(
            Kind.CHOICE,
            "--refit",
            "What ships of the best pipeline: whole fits it on all rows, folds takes the mean of "
            "the models that were fitted on its folds, auto does so only where there is no time "
            "for the fit on all rows.",
            choices=(AUTO, WHOLE, FOLDS),
            resume_help="What ships of the best pipeline: whole, folds or auto. [default: as "
            "before]",
        ).metadata,
    )
    portfolio: bool = field(
        default=True,
        metadata=Option(
            Kind.FLAG,
            "--no-portfolio",
            "Do not try first what was good on other tables.",
        ).metadata,
    )
    work_dir: str | Path | None = field(
        default=None,
        metadata=Option(
            Kind.FOLDER,
            "--out",
            "The run folder. [default: a new one in automl-runs]",
            is_saved=False,
        ).metadata,
    )


@dataclass(frozen=True)
class RunOptions(PipelineOptions):
    """All options of a run; these are of the command line alone."""

    _: KW_ONLY
    task: LearningTask | None = field(
        default=None,
        metadata=Option(
            Kind.CHOICE, "--task", "Kind of target.", choices=TASKS, compared_as="task"
        ).metadata,
    )
    max_depth: int = field(
        default=DEPTH,
        metadata=Option(
            Kind.WHOLE,
            "--max-depth",
            "Number of times that a rule of the grammar may stand inside itself.",
            words="the depth of recursion",
            least=0,
        ).metadata,
    )
    test_size: float = field(
        default=0.0,
        metadata=Option(
            Kind.SHARE,
            "--test-size",
            "Share of the rows that the search never sees, to measure the result on; 0 for none.",
            words="the test size",
            command_default=0.2,
            compared_as="test_size",
        ).metadata,
    )
    certify_fraction: float | None = field(
        default=None,
        metadata=Option(
            Kind.SHARE,
            "--certify-fraction",
            "Share of the rows to set aside for the proof. [default: as many as the limits take]",
            words="the certification fraction",
        ).metadata,
    )
    separator: str | None = field(
        default=None,
        metadata=Option(
            Kind.CHOICE,
            "--separator",
            "Sign between the columns of a CSV file. [default: found]",
            words="the separator",
            choices=tuple(SEPARATORS),
            resume_help="Sign between the columns of a CSV file. [default: as before]",
        ).metadata,
    )
    decimal: str | None = field(
        default=None,
        metadata=Option(
            Kind.CHOICE,
            "--decimal",
            "Decimal sign of a CSV file. [default: found]",
            words="the decimal sign",
            choices=tuple(DECIMALS),
            resume_help="Decimal sign of a CSV file. [default: as before]",
        ).metadata,
    )
    encoding: str | None = field(
        default=None,
        metadata=Option(
            Kind.NAME,
            "--encoding",
            "Encoding of a text file, such as utf-8 or cp1250. [default: found]",
            words="the encoding",
            resume_help="Encoding of a text file. [default: as before]",
        ).metadata,
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
