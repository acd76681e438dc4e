"""`automl-admm predict`: predictions for new rows with the pipeline of a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from automl_admm.data.columns import check_columns
from automl_admm.data.tables import read_table
from automl_admm.errors import ConfigurationError, DataError
from automl_admm.runner.model_file import load_model
from automl_admm.store.folder import RunFolder, write_atomically


@click.command("predict")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write. [default: the screen]",
)
def command(run: Path, data: Path, output: Path | None) -> None:
    """Predict DATA (a CSV file) with the pipeline of the run folder RUN.

    One line a row: the prediction, and for classifiers that know them the probabilities.
    """
    if output is not None:
        _check_output(output)
    folder = RunFolder(run)
    model = load_model(folder)
    manifest = folder.read(folder.model_manifest)
    frame = check_columns(read_table(data, manifest["text_columns"]), manifest["columns"])
    text = _predictions(model, frame).to_csv(index=False)
    if output is None:
        click.echo(text, nl=False)
        return
    write_atomically(output, text.encode())
    click.echo(f"{len(frame)} predictions in {output}")


def _check_output(output: Path) -> None:
    if output.is_dir():
        raise ConfigurationError(f"'{output}' is a folder.", hint="Name a file with -o.")
    if not os.access(output.resolve().parent, os.W_OK):
        raise ConfigurationError(f"there is no folder '{output.parent}' that can be written to.")


def _predictions(model: Any, frame: Any) -> Any:
    import pandas as pd

    try:
        columns = {"prediction": model.predict(frame)}
        if hasattr(model, "predict_proba"):
            probabilities = model.predict_proba(frame)
            for place, label in enumerate(model.classes_):
                columns[f"probability_{label}"] = probabilities[:, place]
    except (TypeError, ValueError) as problem:
        reason = str(problem).splitlines()[0]
        raise DataError(f"the pipeline cannot take these rows: {reason}") from problem
    return pd.DataFrame(columns)
