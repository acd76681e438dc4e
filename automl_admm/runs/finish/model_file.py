"""Loading the pipeline of a run (its hash, the types in it, the file), and rows for it."""

from __future__ import annotations

import hashlib
import io
import pickle
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from automl_admm.core.errors import AutomlAdmmError, DataError, StoreError
from automl_admm.core.messages import reason_of, say_error
from automl_admm.data.plain_columns import has_numbers
from automl_admm.data.reading.encodings import is_utf8_name
from automl_admm.data.reading.file_options import NO_OPTIONS, FileOptions
from automl_admm.data.reading.named_encoding import NamedEncoding
from automl_admm.data.reading.shares import Share
from automl_admm.data.reading.timed_reading import read_again
from automl_admm.data.table_schema import had_decimal_commas, read_schema
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.execution.skops_import import import_skops
from automl_admm.plugins.loading import OUR_PLUGINS, Plugins, load_plugins
from automl_admm.runs.finish.model_notes import tell_missing
from automl_admm.store.file_schemas import OF_RUN
from automl_admm.store.json_content import RESTORE, read_file
from automl_admm.store.run_folder import RunFolder

LOAD_SECONDS = 60.0
NO_FILLING = (
    "No step of it fills missing values: fill them, or fit again with a grammar that begins with "
    "impute, on rows that lack some."
)
TAME = "Correct such numbers, or leave out their rows."
HINT = "A component of it cannot be unpickled; look at what it does in __setstate__."

# Types of this package that a pipeline may have beside its components.
OUR_TYPES = frozenset(
    {
        "automl_admm.constraints.group_classifier.GroupThresholdClassifier",
        "automl_admm.pipelines.stacking.StackedPredictions",
        "automl_admm.pipelines.ensembles.all_classes.AllClasses",
        "automl_admm.pipelines.thresholds.abstaining_classifier.AbstainingClassifier",
        "automl_admm.pipelines.thresholds.weighted_classifier.WeightedClassifier",
    }
)
# What a model's file may become when it is unpacked: arrays of one value shrink much, none so much.
MOST_TIMES = 100
MOST_UNPACKED = 500_000_000
# The square of a larger number is none in single precision.
LARGE = 1.8e19


def load_model(folder: RunFolder, manifest: Mapping[str, Any] | None = None) -> Any:
    """Load the fitted pipeline of a run folder.

    A file is refused before anything of it is loaded if its hash differs from the manifest's, or if
    it names a type trusted neither by skops, nor by us, nor by the record of an installed
    component. `manifest` is that of the wanted model, if it was read before.
    """
    manifest = folder.read(folder.model_manifest) if manifest is None else manifest
    return unpack_model(folder, read_model(folder, manifest), manifest)


def read_model(folder: RunFolder, manifest: Mapping[str, Any]) -> bytes:
    """Return the file of a model; refuse one that is not the file of its manifest."""
    try:
        content = read_file(folder.model)
    except FileNotFoundError:
        hint = "Fit again, or resume the run."
        raise StoreError(f"'{folder.path}' holds no {folder.model.name}.", hint=hint) from None
    if hashlib.sha256(content).hexdigest() != manifest.get("sha256"):
        refuse_replaced(folder, manifest)
        hint = folder.way_on() or "It was changed or cut off after the run: fit again."
        raise StoreError(f"'{folder.model}' is not the file that the run wrote.", hint=hint)
    return content


def refuse_replaced(folder: RunFolder, manifest: Mapping[str, Any]) -> None:
    """Raise if another process has put another model in a folder since its manifest was read."""
    if folder.read(folder.model_manifest)["sha256"] != manifest["sha256"]:
        told = f"'{folder.model_manifest}' was written by another process meanwhile."
        raise StoreError(told, hint="Another model is there now: give the command again.")


def unpack_model(folder: RunFolder, content: bytes, manifest: Mapping[str, Any]) -> Any:
    """Return the pipeline in the file of a model; refuse types that nobody trusts."""
    skops = import_skops()
    trusted = trusted_types(load_plugins())
    try:
        _refuse_bombs(folder, content)
        strange = sorted(set(skops.get_untrusted_types(data=content)) - trusted)
    except StoreError:
        raise
    except Exception as problem:
        raise _no_model(folder, reason_of(problem)) from problem
    if strange:
        raise StoreError(
            f"'{folder.model}' holds types that are not trusted: {', '.join(strange)}.",
            hint=_remedy(strange, manifest),
        )
    try:
        model = skops.loads(content, trusted=sorted(trusted))
    except (Exception, SystemExit) as problem:
        raise _no_model(folder, reason_of(problem), tell_missing(manifest)) from problem
    if not callable(getattr(model, "predict", None)):
        raise _no_model(folder, f"it holds {type(model).__name__}, which predicts nothing.")
    return model


def _remedy(strange: Sequence[str], manifest: Mapping[str, Any]) -> str:
    """Say what to do about untrusted types; those of a missing plugin need an installation."""
    packages = {name.partition(".")[0].replace("_", "-") for name in strange}
    ours = sorted(packages & OUR_PLUGINS.keys())
    if ours:
        return f"Its model is of {ours[0]}: pip install ./plugins/{ours[0]}"
    return tell_missing(manifest) or (
        "If they are of your plugin, name them in the trusted_types of its component; "
        "else load it with skops.io.load(…, trusted=[…]) if you know where it is from."
    )


def _refuse_bombs(folder: RunFolder, content: bytes) -> None:
    """Raise if a small archive would unpack to more than a machine has room for."""
    with ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(item.file_size for item in archive.infolist())
    if unpacked > max(MOST_UNPACKED, MOST_TIMES * len(content)):
        raise _no_model(folder, f"it would become {unpacked} bytes.")


def _no_model(folder: RunFolder, reason: str, hint: str | None = None) -> StoreError:
    return StoreError(f"'{folder.model}' is no model of a run: {reason}", hint=hint or RESTORE)


@contextmanager
def rows_for_the_model(model: Any, X: Any) -> Iterator[None]:
    """Turn any error of a model about the rows `X` into an error of the data.

    A model from a run folder may be anything, and so may its errors.
    """
    try:
        yield
    except AutomlAdmmError:
        raise
    except (Exception, SystemExit) as problem:
        raise _untaken(problem, model, X) from problem


def _untaken(problem: BaseException, model: Any, X: Any) -> DataError:
    """Return the error of rows that a model cannot take, with the cause where it is known."""
    told, reason = "the pipeline cannot take these rows:", reason_of(problem)
    large = overflow_of(model, X)
    if large is not None:
        return DataError(f"{told} a step of it overflows on {large}.", hint=TAME)
    is_unfilled = "Input X contains NaN" in reason and has_gaps(X)
    return DataError(f"{told} {reason}", hint=NO_FILLING if is_unfilled else None)


def read_rows(
    manifest: Mapping[str, Any],
    data: Path,
    share: Share | None = None,
    options: FileOptions = NO_OPTIONS,
) -> Any:
    """Return all columns of a file, target and all, in the form of the run's own table.

    Of a run on a share of this file the same share is read.
    """
    before = options.encoding_before or encoding_before(manifest)
    options = replace(options, had_commas=had_decimal_commas(manifest), encoding_before=before)
    return read_again(data, read_schema(manifest), share, options)


def trusted_types(plugins: Plugins) -> frozenset[str]:
    """Return types of ours, and those of installed components by their records."""
    records = (record for registry in plugins.components.values() for record in registry)
    return OUR_TYPES.union(*(record.trusted_types for record in records))


def load_fitted(content: bytes, seconds: float = LOAD_SECONDS) -> Any:
    """Load a pickled pipeline; raise AutomlAdmmError if that fails, or takes too long.

    It is loaded in a thread; a hanging one is left alone.
    """
    found: list[Any] = []
    problems: list[BaseException] = []

    def load() -> None:
        try:
            found.append(pickle.loads(content))  # noqa: S301 - a child of ours wrote it
        except BaseException as problem:  # noqa: BLE001 - a component may raise SystemExit
            problems.append(problem)

    thread = threading.Thread(target=load, name="automl-admm-load", daemon=True)
    thread.start()
    thread.join(seconds)
    if found:
        return found[0]
    reason = f"it takes longer than {seconds:g} s"
    if problems:
        reason = say_error(problems[0])
    raise AutomlAdmmError(f"the fitted pipeline cannot be loaded: {reason}.", hint=HINT)


def has_gaps(X: Any) -> bool:
    """Return True if a cell of the rows is empty."""
    import pandas as pd

    return bool(pd.DataFrame(X).isna().to_numpy().any())


def overflow_of(model: Any, X: Any) -> str | None:
    """Name the largest number of the rows if a model takes them without such numbers.

    It is asked to predict them once more, with zeros in the places of large ones.
    """
    import pandas as pd

    frame = pd.DataFrame(X)
    sizes = {place: _sizes(frame.iloc[:, place]) for place in range(frame.shape[1])}
    largest = {place: size.max() for place, size in sizes.items() if (size > LARGE).any()}
    if not largest or not _takes(model, _tamed(X, frame, sizes, largest)):
        return None
    place = max(largest, key=lambda one: largest[one])
    value = frame.iloc[int(sizes[place].to_numpy().argmax()), place]
    return f"large numbers, such as {value:.6g} in column '{frame.columns[place]}'"


def _sizes(column: Any) -> Any:
    """Return the absolute values of a column of numbers, 0 for what is none."""
    import numpy as np
    import pandas as pd

    is_number = has_numbers(column)
    values = column.to_numpy(dtype=float, na_value=np.nan) if is_number else np.zeros(len(column))
    sizes = np.abs(values)
    return pd.Series(np.where(np.isfinite(sizes), sizes, 0.0), index=column.index)


def _tamed(X: Any, frame: Any, sizes: Any, largest: Any) -> Any:
    found = frame.copy()
    for place in largest:
        found.isetitem(place, found.iloc[:, place].mask(sizes[place] > LARGE, 0))
    return found if hasattr(X, "columns") else found.to_numpy()


def _takes(model: Any, X: Any) -> bool:
    try:
        with unheard_warnings():
            model.predict(X)
    except (Exception, SystemExit):  # noqa: BLE001 - a model may raise anything
        return False
    return True


def encoding_before(manifest: Mapping[str, Any]) -> NamedEncoding | None:
    """Return the encoding that the user named; None for UTF-8, as its text is known as such."""
    request = manifest[OF_RUN]["request"]
    name = request.get("encoding")
    if name is None or is_utf8_name(name):
        return None
    return NamedEncoding(name, request.get("found_encoding"))
