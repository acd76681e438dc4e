"""`automl-admm predict`: predict new rows with the pipeline of a run."""

from __future__ import annotations

import codecs
import math
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import click

from automl_admm.cli.shared.installed import unprinted
from automl_admm.cli.shared.model_warnings import warn_of_model
from automl_admm.cli.shared.output_option import or_screen
from automl_admm.cli.shared.run_options import file_options_given, with_file_options
from automl_admm.cli.shared.screen import hand_on, say
from automl_admm.constraints.unknown_groups import count_unknown_groups, tell_unknown_groups
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_count
from automl_admm.data.later_rows import LaterRows
from automl_admm.data.reading.file_options import FileOptions
from automl_admm.data.reading.formats import CSV, OTHER_SUFFIXES, PARQUET, PARQUET_SUFFIXES
from automl_admm.data.reading.unpacking import PACKED_SUFFIXES
from automl_admm.data.writing import WRITERS, open_writer
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.labels import leaves_undecided
from automl_admm.runs.finish.model_file import load_model, rows_for_the_model
from automl_admm.runs.finish.model_notes import tell_mark
from automl_admm.runs.finish.trained_rows import TrainedRows
from automl_admm.store.output_files import is_stream, open_output
from automl_admm.store.own_files import refuse_input, refuse_own_file
from automl_admm.store.run_folder import RunFolder

BLOCK = 1 << 20
# Types of pandas with empty cells, by the kind of the labels.
NULLABLE = MappingProxyType({"i": "Int64", "u": "UInt64", "f": "Float64", "b": "boolean"})


@with_file_options
@click.command("predict")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    callback=or_screen,
    metavar="FILE",
    help="File for the predictions. [default: the screen]",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COL",
    help="A column of DATA to stand before the predictions, such as an id. May be repeated.",
)
@click.option(
    "--intervals",
    metavar="SHARE",
    callback=lambda _context, _option, text: _share(text),
    help="The columns lower and upper of intervals that hold so many of new rows, as in 90%. Of a "
    "quantity, and with --calibrate.",
)
@click.option(
    "--calibrate",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Rows with the target that the run never had, for the width of the intervals.",
)
def command(
    run: Path,
    data: Path,
    output: Path | None,
    keep: tuple[str, ...],
    intervals: float | None,
    calibrate: Path | None,
    **options: Any,
) -> None:
    """Predict DATA (a table in a file, or -) with the pipeline of the run folder RUN.

    Each row has a line with the prediction, and the probabilities of classes if the pipeline has
    them; a row that the model leaves undecided has an empty prediction. FILE is Parquet if its name
    ends in .parquet, JSON lines if in .jsonl, and CSV otherwise. DATA may be larger than the
    memory; FILE is there when all rows are predicted, or not at all.
    """
    if (intervals is None) != (calibrate is None):
        raise ConfigurationError("intervals need both --intervals SHARE and --calibrate FILE.")
    if output is not None:
        refuse_own_file(output)
        _check_output(output)
        refuse_input(output, data, calibrate)
    folder = RunFolder(run)
    # stdout is for the predictions: what a model prints while it is loaded does not belong there.
    manifest = folder.read(folder.model_manifest)
    with unprinted():
        model = load_model(folder, manifest)
    warn_of_model(folder, manifest)
    if mark := tell_mark(manifest):
        say(f"warning: {mark}", err=True)
    given = file_options_given(options)
    width = None
    if intervals is not None and calibrate is not None:
        width = _calibrated(folder, manifest, calibrate, intervals, given)
    rows = TrainedRows.of_model(manifest)
    chunks = rows.read_chunks(data, given, tuple(dict.fromkeys(keep)))
    notes = PredictionNotes.of_model(model, manifest)
    parts = (
        _with_kept(notes.count(_predictions(model, notes.see(frame), width)), kept)
        for frame, kept in chunks
    )
    if output is None:
        _print(parts)
    else:
        with open_output(output) as stream:
            count = _write(stream, suffix_of(output), parts)
        say(f"{count} predictions in {output}", err=is_stream(output))
    for line in notes.lines():
        say(line, err=True)


def _in_one_type(model: Any, labels: Any) -> Any:
    """Return labels in a type that holds empty ones, the same whichever rows are undecided.

    A column of objects has the type of its first rows in a Parquet file.
    """
    if not leaves_undecided(model):
        return labels
    import pandas as pd

    kind = pd.api.types.pandas_dtype(model.classes_.dtype).kind
    return pd.array(labels, dtype=NULLABLE.get(kind, "object"))


def _share(text: str | None) -> float | None:
    """Read a share such as 0.9 or 90%; a user may mean 90 % by 90, and is asked."""
    if text is None:
        return None
    try:
        share = float(text.rstrip("% ")) / (100 if "%" in text else 1)
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        raise ConfigurationError(
            f"--intervals {text} is no share between 0 and 1.", hint="Write it like 90% or 0.9."
        )
    return share


def _calibrated(
    folder: RunFolder,
    manifest: Mapping[str, Any],
    source: Path,
    coverage: float,
    options: FileOptions,
) -> float:
    """Return the half width of the intervals by labelled rows, and say what it comes from."""
    from automl_admm.runs.saved.calibration import calibrate
    from automl_admm.runs.saved.given_table import GivenTable

    rows = GivenTable.of_file(source, manifest, options)
    with unprinted():
        found = calibrate(folder, rows, coverage)
    for doubt in filter(None, (found.doubt, found.given_twice)):
        say(f"warning: {doubt}", err=True)
    of_groups = "" if found.groups is None else " in new groups"
    counted = "" if found.groups is None else f" in {say_count(found.groups, 'group')}"
    say(
        f"intervals: the prediction plus or minus {found.half_width:.6g} holds at least "
        f"{100 * coverage:g} % of new rows{of_groups} on average, by the {found.rows}{counted} of "
        f"{source}",
        err=True,
    )
    return found.half_width


def suffix_of(output: Path) -> str:
    """Return the format of the predictions; what is none by its name is CSV."""
    suffix = output.suffix.lower()
    return suffix if suffix in WRITERS else CSV


def _write(stream: BinaryIO, suffix: str, parts: Iterable[Any]) -> int:
    """Write predictions and return their number."""
    count = 0
    with open_writer(stream, suffix) as write:
        for part in parts:
            write(part)
            count += len(part)
    return count


def _print(parts: Iterable[Any]) -> None:
    """Print predictions when all are there: half of them would be taken for all."""
    with tempfile.TemporaryFile() as spool:
        _write(spool, CSV, parts)
        spool.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        while block := spool.read(BLOCK):
            hand_on(decoder.decode(block))


def _with_kept(predictions: Any, kept: Any) -> Any:
    import pandas as pd

    if kept is None:
        return predictions
    twice = [name for name in kept.columns if name in predictions.columns]
    if twice:
        raise ConfigurationError(
            f"'{twice[0]}' is a column of the predictions, too.", hint="Rename it in DATA."
        )
    return pd.concat([kept, predictions], axis=1)


# Asked before the model is loaded: that takes seconds, and the predictions may take longer.
def _check_output(output: Path) -> None:
    suffix = output.suffix.lower()
    if suffix not in WRITERS and suffix in OTHER_SUFFIXES:
        stem = output.with_suffix("") if suffix in PACKED_SUFFIXES else output
        known = " or ".join(f"'{stem.with_suffix(one).name}'" for one in (CSV, PARQUET))
        raise ConfigurationError(
            f"predictions are written as CSV, Parquet or JSON lines, and not as '{suffix}'.",
            hint=f"Name it {known}.",
        )
    if suffix in PARQUET_SUFFIXES and find_spec("pyarrow") is None:
        hint = "pip install pyarrow, or name a .csv file."
        raise ConfigurationError(f"'{output}': writing Parquet needs pyarrow.", hint=hint)
    if output.is_dir():
        raise ConfigurationError(f"'{output}' is a folder.", hint="Name a file with -o.")
    folder = Path(os.path.realpath(output)).parent
    if not os.access(folder, os.W_OK):
        named = folder if output.is_symlink() else output.parent
        raise ConfigurationError(f"there is no folder '{named}' that can be written to.")


def _predictions(model: Any, frame: Any, half_width: float | None = None) -> Any:
    import pandas as pd

    from automl_admm.pipelines.intervals import ends

    with unheard_warnings(), rows_for_the_model(model, frame):
        columns = {"prediction": _in_one_type(model, model.predict(frame))}
        if half_width is not None:
            columns["lower"], columns["upper"] = ends(columns["prediction"], half_width)
        if hasattr(model, "predict_proba"):
            probabilities = model.predict_proba(frame)
            for place, label in enumerate(model.classes_):
                columns[f"probability_{label}"] = probabilities[:, place]
        return pd.DataFrame(columns)


@dataclass
class PredictionNotes:
    """Counts over all parts of a table, for the lines that follow the predictions."""

    model: Any
    later: LaterRows
    unknown_groups: Counter[str] = field(default_factory=Counter)
    undecided: int = 0
    rows: int = 0

    @classmethod
    def of_model(cls, model: Any, manifest: Mapping[str, Any]) -> PredictionNotes:
        """Begin with a model and its manifest."""
        return cls(model, LaterRows.of_model(manifest))

    def see(self, frame: Any) -> Any:
        """Return the rows, and count what the model does not know of them."""
        self.unknown_groups.update(count_unknown_groups(self.model, frame))
        self.later.add(frame)
        return frame

    def count(self, predictions: Any) -> Any:
        """Return the predictions, and count those that are empty."""
        self.undecided += int(predictions["prediction"].isna().sum())
        self.rows += len(predictions)
        return predictions

    def lines(self) -> Iterator[str]:
        """Yield what is to be said."""
        if leaves_undecided(self.model):
            told = f"{self.undecided} of {self.rows} rows are left undecided"
            yield f"{told}: their prediction is empty"
        for line in (*tell_unknown_groups(self.unknown_groups), *self.later.lines()):
            yield f"warning: {line}"
