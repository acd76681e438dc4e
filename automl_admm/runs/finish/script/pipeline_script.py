"""The text of `pipeline.py`, put together from a run's table, rows and winner."""

from __future__ import annotations

import logging
import sys

from automl_admm.core.messages import say_error
from automl_admm.core.run import FallbackKind
from automl_admm.data.ingest.forms.chosen import BY_NAME
from automl_admm.data.ingest.records import FORM
from automl_admm.data.reading.encodings import is_misnamed
from automl_admm.data.reading.formats import ARFF
from automl_admm.pipelines.as_code import PipelineCode
from automl_admm.pipelines.row_weighing import names_of_weighers
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.finish.script import more_forms, parts, table_parts
from automl_admm.runs.finish.script.bundle import PACKAGE, Bundle, NotBundledError
from automl_admm.runs.finish.script.constants import constants_of, kept_readings
from automl_admm.runs.finish.script.csv_manner import TrainingFile
from automl_admm.runs.finish.script.fit_function import build_function, fit_function, name_of_fit
from automl_admm.runs.finish.script.heading import (
    docstring_of,
    guarded_imports,
    plain_imports,
    threads_of,
)
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.store.run_folder import RunFolder, write_atomically

PARTS, TABLE_PARTS, MORE_FORMS = parts.__name__, table_parts.__name__, more_forms.__name__
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

SCRIPT = "pipeline.py"
logger = logging.getLogger(__name__)


def make_script(outcome: PipelineResult) -> bytes | None:
    """Return the script of a model as a file has it; if there can be none, warn."""
    try:
        content = script_of(outcome)
        compile(content, SCRIPT, "exec")
    except Exception as problem:  # noqa: BLE001 - the model is fitted: this must not lose it
        reason = str(problem) if isinstance(problem, NotBundledError) else say_error(problem)
        logger.warning("no pipeline.py was written: %s", reason)
        return None
    return content.encode()


def put_script(folder: RunFolder, content: bytes | None) -> None:
    """Write a script, or leave none of an older model."""
    if content is None:
        folder.script.unlink(missing_ok=True)
    else:
        write_atomically(folder.script, content)


def script_of(outcome: PipelineResult) -> str:
    """Return the script; raise NotBundledError if no code can be written for the model."""
    code = outcome.refit.measured.code
    if code.problem or not code.pipeline:
        raise NotBundledError(code.problem or "the final fit told no code")
    if weighers := _weighers(outcome):
        raise NotBundledError(
            f"the rows of the model were weighed in training by {' and '.join(weighers)}"
        )
    return _text(outcome, code)


def _weighers(outcome: PipelineResult) -> list[str]:
    """Return the names of what weighed the rows of the model; a constant is no pipeline."""
    prepared = outcome.preparation
    if outcome.fallback is FallbackKind.CONSTANT:
        return []
    pipelines = map(prepared.grammar.pipelines.steps, outcome.candidates)
    return sorted(names_of_weighers(pipelines, prepared.plugins.components[prepared.task]))


def _text(outcome: PipelineResult, code: PipelineCode) -> str:
    """Return the whole script; each function is asked for what the bundle has to have."""
    bundle, prepared = Bundle(), outcome.preparation
    file = outcome.training_file
    foreign = _import_components(code, bundle)
    packages = sorted({path.partition(".")[0] for path in foreign})
    body = [
        constants_of(prepared, file.csv),
        build_function(code),
        fit_function(outcome, code, bundle),
        _rows_function(prepared, bundle),
    ]
    for module, name in SHARED:
        bundle.add(module, name)
    more = _more_forms(prepared, file, bundle)
    head = [docstring_of(outcome, packages), "from __future__ import annotations"]
    imports = [plain_imports(bundle), *guarded_imports(foreign, packages)]
    start = "\n\n".join([*head, threads_of(prepared), *imports])
    is_wrong = is_misnamed(prepared.config.encoding, prepared.config.found_encoding)
    is_found = "is_given" in file.csv and not is_wrong
    of_new = 'CSV | {"is_given": False}' if is_found else "CSV"
    main = MAIN.replace("FIT", name_of_fit(outcome)).replace("OF_NEW", of_new)
    return start + "\n\n" + "\n\n\n".join([*body, bundle.text, more, main])


def _import_components(code: PipelineCode, bundle: Bundle) -> list[str]:
    """Import what the pipeline consists of; return what has to be installed for it."""
    names, foreign = set[str](), set[str]()
    for path in code.imports:
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


def _rows_function(prepared: Preparation, bundle: Bundle) -> str:
    """Return the function that makes of a table what the pipeline takes."""
    ingest, X = prepared.ingest, prepared.work.table.X
    found = "table[list(COLUMNS)]"
    if not ingest.is_plain:
        bundle.add(PARTS, "make_columns")
        kept = kept_readings(ingest)
        forms = sorted({str(one.facts[FORM]) for one in kept if not one.is_plain})
        reads = {form: BY_NAME[form].read for form in forms}
        named = {f: bundle.add(read.__module__, read.__name__) for f, read in reads.items()}
        readers = ", ".join(f'"{form}": {name}' for form, name in named.items())
        found = f"make_columns(table, READINGS, {{{readers}}}, place)"
    elif not hasattr(X, "columns"):
        dtype = "object" if X.dtype.kind not in "fiub" else "None"
        found = f"np.ascontiguousarray({found}.to_numpy(dtype={dtype}))"
    about = '"""Return the rows of a table as the pipeline takes them."""'
    return f"def rows_of(table, place):\n    {about}\n    return {found}"


def _more_forms(prepared: Preparation, file: TrainingFile, bundle: Bundle) -> str:
    """Return the functions for a training file that is ARFF or no plain CSV."""
    found = ""
    if file.form == ARFF:
        found = f'"arff": {bundle.add(MORE_FORMS, "read_arff")}'
    elif file.is_tidied:
        tidied = bundle.add(MORE_FORMS, "tidied")
        is_by_blanks = prepared.config.separator in ("blanks", " ")
        read = f"lambda text: {tidied}(text, {BLANK!r})" if is_by_blanks else tidied
        found = f'"tidy": {read}'
    return f"# What else the training file needs to be read.\nMORE = {{{found}}}"


MAIN = '''def main(train=TRAIN, new=None, output=None):
    """Fit, and predict new rows; without any, say how well it fits rows held out."""
    if train is None or not Path(train).is_file():
        raise DataError(f"there is no training file {train}. Name it first.")
    model, X, y, *weights = FIT(Path(train))
    if new is not None:
        rows = rows_of(*read_table(Path(new), COLUMNS, MISSING, OF_NEW, MORE))
        hand_out(predictions_of(model, rows), output)
    elif len(y):
        name, value = score_of(model, X, y, METRIC, *weights)
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
