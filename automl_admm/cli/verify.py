"""`automl-admm verify`: compute the certificate of a run again."""

from __future__ import annotations

from pathlib import Path

import click

from automl_admm.certify.verification import explain
from automl_admm.data.tables import read_table
from automl_admm.errors import NotCertifiedError
from automl_admm.runner.verification import verify_run
from automl_admm.store.folder import RunFolder


@click.command("verify")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
def command(run: Path, data: Path) -> None:
    """Test the pipeline of the run folder RUN again on the rows of DATA that were set aside.

    DATA is the file that the run was made on, or has just these rows.
    """
    folder = RunFolder(run)
    manifest = folder.read(folder.model_manifest)
    found = verify_run(folder, read_table(data, manifest["text_columns"]))
    click.echo(explain(found.certificate))
    for difference in found.differences:
        click.echo(f"DIFFERS: {difference}")
    if found.differences:
        raise NotCertifiedError(f"the certificate of '{run}' is not what these data say.")
    if not found.certificate.is_certified:
        raise NotCertifiedError(f"the data agree with '{run}', and nothing was certified there.")
    click.echo("the data agree: CERTIFIED")
