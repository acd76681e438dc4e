"""The parameters of the estimators, and their words in docstrings of the numpydoc form.

Every parameter has a paragraph: of its own below, or that of its option in `runs/options.py` with
the names of Python. Types without words of their own are those of the record, and so are defaults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, Field, dataclass, fields
from inspect import cleandoc, signature
from textwrap import fill
from types import MappingProxyType
from typing import TypeVar

from automl_admm.runs.cancelling import Cancel
from automl_admm.runs.option_record import OPTION, Option
from automl_admm.runs.options import FLAGS, PipelineOptions

Kind = TypeVar("Kind", bound=type)
Function = TypeVar("Function", bound=Callable[..., object])
WIDTH = 88
CLI_DEFAULT = re.compile(r" ?\[default: .*\]$")
FLAG = re.compile(r"--[a-z-]+")


@dataclass(frozen=True)
class EstimatorOptions(PipelineOptions):
    """The parameters of an estimator: the options of a run, and how `fit` treats a kept run."""

    _: KW_ONLY
    warm_start: bool = False
    verbose: int = 0
    cancel: Cancel | None = None


@dataclass(frozen=True)
class Words:
    """The type of a parameter and its meaning; an empty type is that of the record."""

    type: str
    meaning: str


WORDS: Mapping[str, Words] = MappingProxyType(
    {
        "grammar": Words(
            "str or path",
            "The space of pipelines: the name of a grammar that ships (`default`, `tiny`, "
            "`regression`, `shapes`, `paper-a2`, `paper-a3`) or of a plugin, or the path of a "
            "grammar file, or its text.",
        ),
        "components": Words(
            "list of ComponentPlugin",
            "Components for this run alone: the grammar imports them as those of plugins.",
        ),
        "time_budget": Words(
            "float or str",
            'Time for everything, in seconds or as text such as `"30s"`, `"10m"` or `"1h"`. None '
            "is a minute, or no limit if `max_evaluations` is given.",
        ),
        "max_evaluations": Words(
            "",
            "Number of evaluations at most; one on a tenth of the rows counts as a tenth, and the "
            "last may go beyond by less than one. Without `time_budget` and with one worker the "
            "same `random_state` gives the same search.",
        ),
        "theta_solver": Words(
            "str or solver",
            "Solver for the parameters of components, as text `name:key=value,…`, a record, a "
            "class or function that makes one, or an object, which serves one `fit`. "
            "`automl-admm plugins` lists the names.",
        ),
        "z_solver": Words("str or solver", "Solver for the structure, in the same forms."),
        "strategy": Words(
            "str or strategy",
            "`admm` lets the two solvers take turns, `joint` gives everything to `theta_solver`. "
            "Or a `StrategyPlugin`, or a function of `(problem, solvers)`.",
        ),
        "executor": Words(
            "str or executor",
            "Place where evaluations run: `local` gives each a process of its own, with limits of "
            "time and memory; `inline` runs them in this process, one at a time. Or an "
            "`ExecutorPlugin`, or a function of `(work, setting)`.",
        ),
        "n_jobs": Words("", "Number of evaluations at a time. None is 1, and -1 one a core."),
        "eval_time_limit": Words(
            "float or str",
            "Time limit of one evaluation, in the form of `time_budget`. None is an eighth of the "
            "budget.",
        ),
        "memory_limit": Words(
            "int or str",
            "Memory that one evaluation may add to what its process begins with (libraries and the "
            'table), in bytes or as text such as `"500MB"` or `"2GB"`. None is its share of the '
            "machine's memory.",
        ),
        "on_infeasible": Words(
            "",
            "If no pipeline is within the limits, or they are not proven: `raise` raises an "
            "`InfeasibleError` (a `NotCertifiedError`), which holds the closest one; `closest` "
            "keeps that one and marks it in `feasible_`.",
        ),
        "random_state": Words(
            "int or RandomState",
            "Seed of everything random. None draws a new one at each fit, but `warm_start` goes on "
            "with that of the run.",
        ),
        "observers": Words(
            "list of str",
            "Observers of each run by name, as text `name:key=value,…`, such as "
            '`"jsonl:path=log.jsonl"`.',
        ),
        "callbacks": Words(
            "list of objects",
            "Objects with methods named like the observer hooks, such as `evaluation_finished` "
            "and `should_stop`.",
        ),
        "scoring": Words(
            "str, callable or MetricPlugin",
            "The score to maximise: the name of a scorer of scikit-learn or of a plugin, a scorer "
            "of `make_scorer`, or a function of `(estimator, X, y)`, which sees the labels of y. "
            "With a parameter `classes` it is given them all, the positive one last. A metric "
            "such as `f1_score` is no scorer: give its name or wrap it in `make_scorer`. None is "
            "roc_auc for two classes, accuracy for more, r2 for quantities. Or a `MetricPlugin`.",
        ),
        "positive": Words(
            "label",
            "The label that rates, thresholds and metrics of two classes call positive. None is "
            "the last of the sorted labels.",
        ),
        "columns": Words(
            "dict",
            'Kinds of columns in place of those found, by name, such as `{"zip": "category"}`: '
            "number, category, ordered, text, tags, date, duration, boolean, or drop.",
        ),
        "constraints": Words(
            "list of str, Constraint or ConstraintPlugin",
            'Limits: texts such as `"latency_us <= 50"` and `"fpr_gap[sex] <= 0.05"`, or '
            "`Constraint(limit, function)` with a function of the fitted pipeline. A "
            "`ConstraintPlugin`, or a function with a name, beside them defines a measure for the "
            "texts.",
        ),
        "reuse": Words(
            "list of str or path",
            "Folders of other runs: their evaluations are where this search begins, if they mean "
            "the same. Others of their pipelines are tried first. `reused_` tells what was used.",
        ),
        "starts": Words(
            "list of str or path",
            'Pipelines to begin at, as texts such as `"impute() ridge()"`, or files with one a '
            "line.",
        ),
        "cv": Words(
            "int, float or splitter",
            "Number of folds, share of a holdout, or a splitter of scikit-learn. None chooses by "
            "the number of rows.",
        ),
        "certify": Words(
            "float",
            "Confidence of a proof of the limits, such as 0.95, on rows that are set aside from X "
            "before the search.",
        ),
        "group_thresholds": Words(
            "",
            "Let each group of a limit such as `fpr_gap[sex]` have a decision threshold of its "
            "own. To decide by who somebody is may be unlawful, in lending or hiring for example.",
        ),
        "cost": Words(
            "str, dict or DataFrame",
            'Cost of a wrong decision, such as `"fn=5,fp=1"`, or of several classes, such as '
            '`{("cat", "dog"): 5, ("*", "*"): 1}` by the true class and the decision, `"*"` for '
            "any. A DataFrame has a row for each true class. What is decided is then the cheapest "
            "within the limits.",
        ),
        "column_cost": Words(
            "dict",
            'Costs of having columns, by name, such as `{"age": 1, "test": 40}`, for the limit '
            '`"column_cost <= 20"`. Columns without one cost nothing.',
        ),
        "ensemble": Words(
            "",
            "Let a weighted average of several pipelines ship, a `VotingClassifier` or "
            "`VotingRegressor`, if it gains on out-of-fold rows that did not choose it. With "
            "`certify` it ships where thresholds move all limits.",
        ),
        "refit": Words(
            "{'auto', 'whole', 'folds'}",
            "The model of the best pipeline: `whole` is its fit on all rows, `folds` the mean of "
            "the models that were fitted on its folds. `auto` takes `folds` only where there is no "
            "time for the fit on all rows.",
        ),
        "portfolio": Words(
            "",
            "Try first what was good on other tables, if the grammar has it. With limits or "
            "`starts` the search begins as without.",
        ),
        "work_dir": Words(
            "str or path",
            "Folder that keeps the run, to be resumed, verified or loaded. None keeps nothing.",
        ),
        "warm_start": Words(
            "", "Go on with the run in `work_dir`, if there is one, instead of refusing the folder."
        ),
        "cancel": Words(
            "event or callable",
            "Ends the search early, with the best so far, once it is set or returns True: a "
            "`threading.Event`, or a function without arguments. Clones share it; in another "
            "process and after pickling it is None.",
        ),
        "verbose": Words(
            "",
            "0 shows nothing. 1 shows the progress on stderr, in a notebook in one output that "
            "updates itself; 2 adds a line for each evaluation.",
        ),
    }
)

ATTRIBUTES: Mapping[str, Words] = MappingProxyType(
    {
        "best_pipeline_": Words(
            "estimator",
            "The winner, a plain Pipeline of scikit-learn, fitted on all rows. An ensemble is a "
            "`VotingClassifier` or `VotingRegressor` of such pipelines. With two classes "
            "and limits on decisions, such as `fpr`, it stands in a `FixedThresholdClassifier`, "
            "by group in a `GroupThresholdClassifier` of this package. Its rows are those of "
            "`pipeline_rows`.",
        ),
        "best_score_": Words("float", "Its score on validation rows, which chose it."),
        "best_text_": Words(
            "str", "Its text, as grammars write pipelines; of an ensemble the texts of its members."
        ),
        "ensemble_": Words(
            "dict or None",
            "The members of an ensemble with their weights, the single pipeline that it beat, and "
            "its gain with a standard error on rows that did not choose it.",
        ),
        "of_folds_": Words(
            "dict or None",
            "The number of fold models in `best_pipeline_`, and the reason, if it was not fitted "
            "on all rows.",
        ),
        "feasible_": Words("bool", "True if it is within the limits."),
        "fallback_": Words(
            "str or None",
            "The kind of makeshift model if there was no time for one evaluation: `few rows` for a "
            "pipeline fitted on few rows, `constant` for a constant prediction; `fit` then gives a "
            '`FallbackWarning`. A constant comes only with `on_infeasible="closest"`; otherwise '
            "`fit` raises a `NoSuccessError` that holds it in `closest`.",
        ),
        "certificate_": Words("Certificate or None", "The proof of the limits, if asked for."),
        "columns_": Words("frame", "The kind of each column, and a note where it is not plain."),
        "cv_results_": Words(
            "dict of arrays",
            "All evaluations as columns; `leaderboard()` puts them in order. One without a rank (a "
            "failure, `stopped` because it was clearly behind, or on a share of the rows) has the "
            "last `rank_test_score`.",
        ),
        "n_evaluations_": Words("int", "The number of evaluations."),
        "stopped_by_": Words("str", "The reason for the end of the search."),
        "reused_": Words("list of str", "A line for each run of `reuse`: what was used of it."),
        "decisions_": Words(
            "record or None",
            "For two classes `positive`, the class, `threshold` (`by_group` that of rows of no "
            "known group), `recall`, `selection_rate`, and the rows they were `measured_on`.",
        ),
        "one_class_": Words(
            "label or None", "The label if the pipeline predicts one label for all rows."
        ),
        "feature_importances_": Words(
            "array", "The importances of the columns, as `permutation_importances` measured last."
        ),
        "n_features_in_": Words("int", "The number of columns."),
        "feature_names_in_": Words("array of str", "The names of the columns, if they are texts."),
    }
)
OF_CLASSIFIERS = MappingProxyType({"classes_": Words("array", "The labels, sorted.")})

ROWS: Mapping[str, Words] = MappingProxyType(
    {
        "X": Words(
            "frame, array or list of rows",
            "The rows: any mix of numbers, text, dates and truth values, with gaps. Limits on "
            "groups may name its columns.",
        ),
        "y": Words("array-like", "The labels or quantities to predict, without gaps."),
        "sensitive_features": Words(
            "frame, series, dict or array, default=None",
            "Columns for limits on groups alone; pipelines see those of them that X has, too.",
        ),
        "sample_weight": Words(
            "array-like, default=None", "The weight of each row in fits, scores and limits."
        ),
        "groups": Words(
            "array-like, default=None", "Rows of one group are on one side of every split."
        ),
        "time": Words(
            "array-like, default=None",
            "Numbers or dates: pipelines learn from earlier rows and are measured on later ones.",
        ),
    }
)


def documented_rows(fit: Function) -> Function:
    """Add the parameters of `fit` to its docstring."""
    if fit.__doc__ is not None:
        items = [_paragraph(name, words.type, words.meaning) for name, words in ROWS.items()]
        returned = _section("Returns", ["self : object\n    The fitted estimator."])
        sections = (cleandoc(fit.__doc__), _section("Parameters", items), returned)
        fit.__doc__ = "\n\n".join(sections)
    return fit


def documented(*, attributes: Mapping[str, Words] = ATTRIBUTES) -> Callable[[Kind], Kind]:
    """Return a decorator: it puts parameters and attributes before the examples of a docstring."""

    def document(kind: Kind) -> Kind:
        if kind.__doc__ is None:  # Python was asked to leave docstrings out
            return kind
        head, mark, examples = cleandoc(kind.__doc__).partition("Examples\n--------\n")
        parameters = [_parameter(one) for one in _ordered()]
        facts = [_paragraph(name, words.type, words.meaning) for name, words in attributes.items()]
        sections = (_section("Parameters", parameters), _section("Attributes", facts))
        kind.__doc__ = "\n\n".join((head.rstrip(), *sections, mark + examples))
        return kind

    return document


def _ordered() -> list[Field[object]]:
    """Return the fields in the order of the signature."""
    by_name = {one.name: one for one in fields(EstimatorOptions)}
    return [by_name[name] for name in signature(EstimatorOptions).parameters]


def _section(title: str, paragraphs: list[str]) -> str:
    return "\n".join((title, "-" * len(title), *paragraphs))


def _parameter(one: Field[object]) -> str:
    option: Option | None = one.metadata.get(OPTION)
    words = WORDS.get(one.name, Words("", "" if option is None else _in_python(option.help)))
    kind = words.type or _type_of(one, option)
    return _paragraph(one.name, f"{kind}, default={one.default!r}", words.meaning)


def _type_of(one: Field[object], option: Option | None) -> str:
    if option is not None and option.choices:
        return "{" + ", ".join(map(repr, option.choices)) + "}"
    return str(one.type).removesuffix(" | None").replace(" | ", " or ")


def _in_python(help_text: str) -> str:
    """Return the help of an option with the names of parameters in place of flags."""
    names = {flag: name for name, flag in FLAGS.items()}
    text = CLI_DEFAULT.sub("", help_text).removesuffix(" May be repeated.")
    return FLAG.sub(lambda found: f"`{names.get(found[0], found[0])}`", text)


def _paragraph(name: str, kind: str, meaning: str) -> str:
    text = fill(meaning, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return f"{name} : {kind}\n{text}"
