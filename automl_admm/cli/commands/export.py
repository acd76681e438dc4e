"""`automl-admm export`: the model of a run as ONNX, or the run in the form of another tool."""

from __future__ import annotations

from pathlib import Path

import click

from automl_admm.cli.shared.installed import unprinted
from automl_admm.cli.shared.model_warnings import warn_of_model
from automl_admm.cli.shared.screen import say
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_count
from automl_admm.runs.finish.model_file import load_model
from automl_admm.runs.finish.trained_rows import TrainedRows
from automl_admm.runs.saved.exporting import export
from automl_admm.runs.saved.onnx_export.file import check_onnx, convert
from automl_admm.runs.saved.onnx_export.told import has_truth_values
from automl_admm.runs.session.model_run import read_run_of_model
from automl_admm.store.output_files import write_output
from automl_admm.store.own_files import refuse_input, refuse_own_file
from automl_admm.store.run_folder import RunFolder


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--onnx",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File for the model in ONNX.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DATA",
    help="With --onnx: rows to compare predictions on. [default: the file of the run]",
)
@click.option(
    "--to",
    metavar="NAME:TARGET",
    help="Write the run by the exporter NAME: certificate:FOLDER, or one of a plugin, such as "
    "optuna:sqlite:///runs.db.",
)
def command(run: Path, onnx: Path | None, data: Path | None, to: str | None) -> None:
    """Write the model of the run folder RUN as ONNX, or the run in the form of another tool.

    The file of --onnx is kept only if it predicts as the model does, on the rows of training. With
    --to, the run may be finished, killed, or still running.
    """
    if (onnx is None) == (to is None):
        raise click.UsageError("say one of --onnx FILE and --to NAME:TARGET.")
    if data is not None and onnx is None:
        raise click.UsageError("--data goes with --onnx alone: leave it out.")
    if onnx is not None:
        _write_onnx(RunFolder(run), onnx, data)
    if to is not None:
        say(export(run, to))


def _write_onnx(folder: RunFolder, onnx: Path, data: Path | None) -> None:
    refuse_own_file(onnx)
    refuse_input(onnx, data)
    check_onnx()
    source = _rows(folder, data)
    refuse_input(onnx, source)
    with unprinted():
        manifest = folder.read(folder.model_manifest)
        model = load_model(folder, manifest)
        rows = TrainedRows.of_model(manifest).read(source)
        found = convert(model, rows, manifest)
    warn_of_model(folder, manifest)
    write_output(onnx, found.content)
    rows = say_count(found.rows, "row")
    say(f"{onnx}: the same predictions on {rows} (within {found.difference:.1g})")
    say(found.tell())
    if has_truth_values(model):
        say("its labels are 0 for False and 1 for True")


def _rows(folder: RunFolder, data: Path | None) -> Path:
    if data is not None:
        return data
    source = read_run_of_model(folder)["request"].get("source")
    if source is None or not Path(source).is_file():
        raise ConfigurationError(
            "the rows to compare predictions on are not there.", hint="Name a file with --data."
        )
    return Path(source)
