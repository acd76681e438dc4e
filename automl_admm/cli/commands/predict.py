"""`automl-admm predict`: predict new rows with the pipeline of a run."""

from __future__ import annotations

import os
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import click

from automl_admm.cli.shared.installed import unprinted
from automl_admm.cli.shared.run_options import (
    FILE_OPTIONS,
    add_options,
    file_options_given,
    run_option,
)
from automl_admm.cli.shared.screen import hand_on, say
from automl_admm.core.errors import ConfigurationError
from automl_admm.data.reading.formats import CSV, OTHER_SUFFIXES, PARQUET, PARQUET_SUFFIXES
from automl_admm.runs.finish.model_file import load_model, rows_for_the_model
from automl_admm.runs.finish.trained_rows import TrainedRows
from automl_admm.store.run_folder import RunFolder, write_output


@add_options(*(run_option(option) for option in FILE_OPTIONS))
@click.command("predict")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File for the predictions. [default: the screen]",
)
def command(run: Path, data: Path, output: Path | None, **options: Any) -> None:
    """Predict DATA (a CSV or Parquet file) with the pipeline of the run folder RUN.

    Each row has a line with the prediction, and the probabilities of classes if the pipeline has
    them. FILE is Parquet if its name ends in .parquet, and CSV otherwise.
    """
    if output is not None:
        _check_output(output)
    folder = RunFolder(run)
    # stdout is for the predictions: what a model prints while it is loaded does not belong there.
    with unprinted():
        model = load_model(folder)
    manifest = folder.read(folder.model_manifest)
    frame = TrainedRows.of_model(manifest).read(data, file_options_given(options))
    predictions = _predictions(model, frame)
    if output is None:
        hand_on(predictions.to_csv(index=False))
        return
    write_output(output, _written(predictions, output))
    say(f"{len(frame)} predictions in {output}")


def _written(predictions: Any, output: Path) -> bytes:
    """Return the content of the file; its name decides the format."""
    if output.suffix.lower() in PARQUET_SUFFIXES:
        file = BytesIO()
        predictions.to_parquet(file, index=False)
        return file.getvalue()
    return bytes(predictions.to_csv(index=False).encode())


# Asked before the model is loaded: that takes seconds, and the predictions may take longer.
def _check_output(output: Path) -> None:
    suffix = output.suffix.lower()
    if suffix in OTHER_SUFFIXES:
        known = " or ".join(f"'{output.with_suffix(one).name}'" for one in (CSV, PARQUET))
        raise ConfigurationError(
            f"predictions are written as CSV or Parquet, and not as '{suffix}'.",
            hint=f"Name it {known}.",
        )
    if suffix in PARQUET_SUFFIXES and find_spec("pyarrow") is None:
        hint = "pip install pyarrow, or name a .csv file."
        raise ConfigurationError(f"'{output}': writing Parquet needs pyarrow.", hint=hint)
    if output.is_dir():
        raise ConfigurationError(f"'{output}' is a folder.", hint="Name a file with -o.")
    if not os.access(output.resolve().parent, os.W_OK):
        raise ConfigurationError(f"there is no folder '{output.parent}' that can be written to.")


def _predictions(model: Any, frame: Any) -> Any:
    import pandas as pd

    with rows_for_the_model():
        columns = {"prediction": model.predict(frame)}
        if hasattr(model, "predict_proba"):
            probabilities = model.predict_proba(frame)
            for place, label in enumerate(model.classes_):
                columns[f"probability_{label}"] = probabilities[:, place]
        return pd.DataFrame(columns)
