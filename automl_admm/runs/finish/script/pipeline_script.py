"""The text of `pipeline.py`, put together from a run's table, rows and winner."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from automl_admm.core.messages import say_error
from automl_admm.data.ingest.answers import NUMBER
from automl_admm.data.ingest.forms.chosen import BY_NAME
from automl_admm.data.ingest.records import FORM, Ingest, Reading
from automl_admm.data.reading.formats import ARFF
from automl_admm.data.row_portions import read_portion
from automl_admm.data.sample_table import SHIPPED
from automl_admm.data.table_schema import MISSING_TEXTS, Column
from automl_admm.execution.threads import THREAD_VARIABLES, threads_each
from automl_admm.pipelines.as_code import PipelineCode, expression
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.finish.script import more_forms, parts, table_parts
from automl_admm.runs.finish.script.bundle import PACKAGE, Bundle, NotBundledError
from automl_admm.runs.finish.script.csv_manner import TrainingFile, training_file
from automl_admm.runs.finish.script.imports import distribution, guarded_imports, plain_imports
from automl_admm.runs.finish.script.packed_rows import (
    fold_lines,
    packed_folds,
    packed_rows,
    whole_target,
)
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.provenance import versions
from automl_admm.store.run_folder import RunFolder, write_atomically

PARTS, TABLE_PARTS, MORE_FORMS = parts.__name__, table_parts.__name__, more_forms.__name__
ROLES = "automl_admm.data.row_roles"
WEIGHTS = "automl_admm.pipelines.weighting"
CALIBRATED = "automl_admm.pipelines.calibrated"
PORTIONS = "automl_admm.data.row_portions"
# What scikit-learn itself needs, and so whoever runs the script has.
AT_HAND = frozenset({"sklearn", "numpy", "pandas", "scipy", *sys.stdlib_module_names})
SHARED = (
    (TABLE_PARTS, "DataError"),
    (TABLE_PARTS, "read_table"),
    (PARTS, "predictions_of"),
    (PARTS, "hand_out"),
    (PARTS, "score_of"),
)
BLANK = " "
TARGET = "target"  # the name of a target that had none in Python

logger = logging.getLogger(__name__)


def write_script(folder: RunFolder, outcome: PipelineResult) -> None:
    """Write the script of a model; if it cannot be written, warn and leave none of an older one."""
    try:
        content = script_of(outcome)
        compile(content, folder.script.name, "exec")
    except Exception as problem:  # noqa: BLE001 - the model is saved: this must not lose it
        folder.script.unlink(missing_ok=True)
        reason = str(problem) if isinstance(problem, NotBundledError) else say_error(problem)
        logger.warning("no pipeline.py was written: %s", reason)
        return
    write_atomically(folder.script, content.encode())


def script_of(outcome: PipelineResult) -> str:
    """Return the script; raise NotBundledError if no code can be written for the model."""
    code = outcome.refit.measured.code
    if code.problem or not code.pipeline:
        raise NotBundledError(code.problem or "the final fit told no code")
    return _Script(outcome, code).text()


@dataclass(frozen=True)
class _Script:
    """The parts of the script of one model."""

    outcome: PipelineResult
    code: PipelineCode

    def text(self) -> str:
        """Return the whole script."""
        bundle = Bundle()
        foreign = self._import_components(bundle)
        packages = sorted({path.partition(".")[0] for path in foreign})
        body = [self._constants(), self._build(), self._fit(bundle), self._rows_of(bundle)]
        for module, name in SHARED:
            bundle.add(module, name)
        more = self._more_forms(bundle)
        head = [f'"""{self._about(packages)}"""', "from __future__ import annotations"]
        imports = [plain_imports(bundle), *guarded_imports(foreign, packages)]
        start = "\n\n".join([*head, self._threads(), *imports])
        return start + "\n\n" + "\n\n\n".join([*body, bundle.text, more, MAIN])

    def _more_forms(self, bundle: Bundle) -> str:
        """Return the functions for a training file that is ARFF or no plain CSV."""
        found = ""
        if self._file.form == ARFF:
            found = f'"arff": {bundle.add(MORE_FORMS, "read_arff")}'
        elif self._file.is_tidied:
            tidied = bundle.add(MORE_FORMS, "tidied")
            is_by_blanks = self.outcome.preparation.config.separator in ("blanks", " ")
            found = (
                f'"tidy": {f"lambda text: {tidied}(text, {BLANK!r})" if is_by_blanks else tidied}'
            )
        return f"# What else the training file needs to be read.\nMORE = {{{found}}}"

    def _import_components(self, bundle: Bundle) -> list[str]:
        """Import what the pipeline consists of; return what has to be installed for it."""
        names, foreign = set[str](), set[str]()
        for path in self.code.imports:
            module, _, name = path.rpartition(".")
            top = module.partition(".")[0]
            if name in names:
                raise NotBundledError(f"two components have the name '{name}'")
            names.add(name)
            if top == PACKAGE:
                bundle.add(module, name)
                continue
            if top in AT_HAND:
                bundle.imports.add(f"from {module} import {name}")
            else:
                foreign.add(path)
        return sorted(foreign)

    def _about(self, foreign: Iterable[str]) -> str:
        known = versions()
        needs = ["scikit-learn", "pandas", *map(distribution, foreign)]
        lines = [
            "The winning pipeline of a run, built and fitted anew.",
            "",
            "    python pipeline.py [TRAIN [NEW [OUTPUT]]]",
            "",
            "It fits the pipeline on TRAIN, and prints the predictions of NEW or writes them to",
            "OUTPUT, CSV or Parquet. Without NEW it says how well it fits rows held out. TRAIN is",
            "by default the file of the run, named from the folder where that was started.",
            "",
            f"Needs: {', '.join(needs)}. The run had scikit-learn {known['scikit-learn']} and",
            f"pandas {known['pandas']}; other versions may fit another model.",
            *self._warnings(),
        ]
        return "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''") + "\n"

    def _warnings(self) -> Iterator[str]:
        """Say where the script fits other rows than the run did."""
        config, rows = self.outcome.preparation.config, self.outcome.refit.rows
        if config.share is not None:
            yield "The run had time to read a part of the file: this script fits on all of it."
        folds = self.outcome.refit.of_folds
        if folds is not None and not packed_folds(self.outcome):
            yield f"The model of the run is {folds.made}: this script fits on all of TRAIN."
        if rows is not None:
            yield f"The run had time to fit {rows} rows: this script fits on all of TRAIN."

    def _threads(self) -> str:
        threads = threads_each(self.outcome.preparation.config.n_jobs)
        names = ", ".join(f'"{name}"' for name in THREAD_VARIABLES)
        return (
            "import os\n\n# Sums in another order differ in their last digit: the run had so many "
            f"threads.\nfor variable in ({names}):\n"
            f'    os.environ.setdefault(variable, "{threads}")'
        )

    def _constants(self) -> str:
        prepared = self.outcome.preparation
        known = prepared.schema.by_name()
        weight, readings = prepared.columns.get("weight"), prepared.ingest.readings
        names = [str(one.name) for one in readings if not one.is_left_out]
        described = {name: _description(known[name]) for name in names}
        target, told = prepared.target or TARGET, {"holds": "other", "dtype": "object"}
        roles = [target] if weight is None else [target, weight]
        answers = {name: _description(known[name]) if name in known else told for name in roles}
        lines = [
            f"TRAIN = {expression(self._train)}",
            f"TARGET = {expression(target)}",
            *([] if weight is None else [f"WEIGHT = {expression(weight)}"]),
            "# The metric of the run, if scikit-learn has it.",
            f"METRIC = {expression(_metric_of(prepared))}",
            "# What the columns held in training.",
            f"COLUMNS = {expression(described)}",
            f"ANSWER = {expression(answers)}",
            "# Texts that are missing values, unless they were values in training.",
            f"MISSING = {expression(sorted(MISSING_TEXTS))}",
            "# How the training file is written, in the words of pandas.read_csv.",
            *(["# `alike`: the names of columns of one name, or of none."] * self._has_alike),
            f"CSV = {expression(dict(self._file.csv))}",
        ]
        if not prepared.ingest.is_plain:
            lines.append("# Columns, the columns made of them, and the facts to read them by.")
            lines.append(f"READINGS = {expression([_reading(r) for r in _kept(prepared.ingest)])}")
        return "\n".join(lines)

    @property
    def _has_alike(self) -> bool:
        return "alike" in self._file.csv

    @cached_property
    def _file(self) -> TrainingFile:
        return training_file(self.outcome.preparation.config)

    @property
    def _train(self) -> str | None:
        """The file of the run, relative to the working folder if it is below it."""
        source = self.outcome.preparation.config.source
        if source in (None, SHIPPED):
            return None
        try:
            return str(Path(source).relative_to(Path.cwd()))
        except (ValueError, OSError):
            return source

    def _build(self) -> str:
        return (
            'def build():\n    """Return the pipeline, unfitted."""\n'
            f"    return {_indented(self.code.pipeline)}"
        )

    def _fit(self, bundle: Bundle) -> str:
        lines = [
            "def fit(train):",
            '    """Fit on the rows of a file that the run trained on; return the others, too."""',
            "    table, place = read_table(train, COLUMNS | ANSWER, MISSING, CSV, MORE)",
        ]
        if self._portion is not None:
            bundle.add(PORTIONS, "Portion")
            told = f"Portion({self._portion.taken}, {self._portion.rows})"
            lines.append("    # The run had time to prepare a portion of the rows.")
            lines.append(f"    table = table.iloc[{told}.places(table[TARGET])]")
        lines += self._read_answers(bundle)
        weight = self.outcome.preparation.columns.get("weight")
        if weight is not None:
            lines.append("    table = table[table[WEIGHT] > 0]")
        if self._rows.startswith(("is_for", "unpack")):
            bundle.add(PARTS, self._rows.partition("(")[0])
        lines += [
            "    X, y = rows_of(table, place), table[TARGET].to_numpy()",
            f"    is_kept = {_indented(self._rows)}",
            *self._fitting(bundle, is_weighted=self._is_weighted),
        ]
        if self.code.calibration:
            calibrated = bundle.add(CALIBRATED, "calibrated")
            lines.append(f"    model = {calibrated}(model, {self.code.calibration})")
        if self.code.thresholds:
            wrapped = _indented(self.code.thresholds)
            lines.append(f"    model = {wrapped}.fit(X[is_kept], y[is_kept])")
        return "\n".join([*lines, "    return model, X[~is_kept], y[~is_kept]"])

    def _read_answers(self, bundle: Bundle) -> list[str]:
        """Return the lines that make numbers of a target and of weights in text."""
        prepared = self.outcome.preparation
        wanted = {prepared.target, prepared.columns.get("weight")}
        found = {
            str(one.name): dict(one.facts)
            for one in prepared.answers.readings
            if str(one.name) in wanted
        }
        if not found:
            return []
        read = NUMBER.read
        reader = bundle.add(read.__module__, read.__name__)
        return [
            f"    for name, facts in {expression(found)}.items():",
            f'        table[name] = {reader}(table[name], facts, place)[""]',
        ]

    def _fitting(self, bundle: Bundle, *, is_weighted: bool) -> list[str]:
        folds = packed_folds(self.outcome)
        lines, kept = [], "X[is_kept], y[is_kept]"
        if is_weighted:
            bundle.add(PARTS, "fit_weighted")
            bundle.add(WEIGHTS, "fit_estimator")
            bundle.add(ROLES, "_relative")
            given = "_relative(table[WEIGHT].to_numpy(dtype=float))"
            lines = [f"    weights = {bundle.add(PARTS, 'kept_weights')}({given}, is_kept)"]
        if folds:
            bundle.add(PARTS, "fit_folds")
            bundle.add(PARTS, "unpack_rows")
            more = ", weights, fit_estimator" if is_weighted else ""
            return [
                *lines,
                *fold_lines(folds),
                f"    model = fit_folds(build(), {kept}, folds{more})",
            ]
        if is_weighted:
            return [*lines, f"    model = fit_weighted(build(), {kept}, weights, fit_estimator)"]
        return [f"    model = build().fit({kept})"]

    def _rows_of(self, bundle: Bundle) -> str:
        """Return the function that makes of a table what the pipeline takes."""
        ingest, X = self.outcome.preparation.ingest, self.outcome.preparation.work.table.X
        found = "table[list(COLUMNS)]"
        if not ingest.is_plain:
            bundle.add(PARTS, "make_columns")
            forms = sorted({str(one.facts[FORM]) for one in _kept(ingest) if not one.is_plain})
            reads = {form: BY_NAME[form].read for form in forms}
            named = {f: bundle.add(read.__module__, read.__name__) for f, read in reads.items()}
            readers = ", ".join(f'"{form}": {name}' for form, name in named.items())
            found = f"make_columns(table, READINGS, {{{readers}}}, place)"
        elif not hasattr(X, "columns"):
            dtype = "object" if X.dtype.kind not in "fiub" else "None"
            found = f"np.ascontiguousarray({found}.to_numpy(dtype={dtype}))"
        about = '"""Return the rows of a table as the pipeline takes them."""'
        return f"def rows_of(table, place):\n    {about}\n    return {found}"

    @property
    def _is_weighted(self) -> bool:
        return self.outcome.preparation.work.table.roles.weights is not None

    @property
    def _portion(self) -> Any:
        return read_portion(self.outcome.preparation.config.portion)

    @property
    def _rows(self) -> str:
        """Code that tells for each row if the run trained on it: by rule, or else row by row."""
        prepared = self.outcome.preparation
        if prepared.config.share is not None or self.outcome.refit.rows is not None:
            return "np.ones(len(y), dtype=bool)"
        is_kept = np.ones(prepared.rows, dtype=bool)
        is_kept[np.asarray(prepared.set_aside, dtype=np.intp)] = False
        if is_kept.all():
            return "np.ones(len(y), dtype=bool)"
        by_class, config = prepared.task == "classification", prepared.config
        found = parts.is_for_training(
            whole_target(self.outcome),
            by_class=by_class,
            share=config.test_size,
            seed=config.random_state,
        )
        if bool((found == is_kept).all()):
            rule = f"by_class={by_class}, share={config.test_size!r}, seed={config.random_state}"
            return f"is_for_training(y, {rule})"
        return packed_rows(is_kept)


def _kept(ingest: Ingest) -> tuple[Reading, ...]:
    return tuple(one for one in ingest.readings if not one.is_left_out)


def _reading(one: Reading) -> tuple[str, list[str], dict[str, Any] | None]:
    return str(one.name), list(one.made), None if one.is_plain else dict(one.facts)


def _description(column: Column) -> dict[str, Any]:
    described = column.describe()
    return {name: described[name] for name in described if name not in ("name", "has_gaps")}


def _metric_of(prepared: Preparation) -> str | None:
    """Return the metric of a run if scikit-learn has it, and needs no word on the positive class.

    The script has the labels as they are in the file, and not 0 and 1.
    """
    name = prepared.metric.name
    is_given = callable(prepared.config.scoring) or name in prepared.plugins.metrics
    if is_given or name not in get_scorer_names() or "likelihood" in name:
        return None
    scorer = get_scorer(name)
    is_of_one_class = "pos_label" in signature(scorer._score_func).parameters  # noqa: SLF001
    averaged = scorer._kwargs.get("average", "binary")  # noqa: SLF001
    return None if is_of_one_class and averaged == "binary" else name


def _indented(code: str) -> str:
    return code.replace("\n", "\n    ")


MAIN = '''def main(train=TRAIN, new=None, output=None):
    """Fit, and predict new rows; without any, say how well it fits rows held out."""
    if train is None or not Path(train).is_file():
        raise DataError(f"there is no training file {train}. Name it first.")
    model, X, y = fit(Path(train))
    if new is not None:
        rows = rows_of(*read_table(Path(new), COLUMNS, MISSING, CSV, MORE))
        hand_out(predictions_of(model, rows), output)
    elif len(y):
        name, value = score_of(model, X, y, METRIC)
        print(f"{name} {value:.4f} on {len(y)} rows that it was not fitted on")
    else:
        print("fitted on all rows")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:4])
    except (DataError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
'''
