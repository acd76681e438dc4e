"""`automl-admm constraints`: what limits can be set on."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from automl_admm.plugin_types import ConstraintPlugin
from automl_admm.plugins import load_plugins

MORE = """\
A limit reads "NAME <= number" or "NAME >= number". A number may be a percentage, or so many times
what the pipeline has that the search begins with, as in "latency_us <= 0.5 * baseline".
NAME is also any scorer of scikit-learn, such as balanced_accuracy or neg_log_loss.
Each that is statistical has a gap and a ratio, as in "fpr_gap[sex] <= 0.05": groups are compared.
[sex] are the values of a column, [sex,race] those of two, [age:30,40,50] where numbers are cut."""


@click.command("constraints")
def command() -> None:
    """List what limits can be set on."""
    table = Table(box=None, pad_edge=False)
    table.add_column("constraint", no_wrap=True)
    for heading in ("kind", "needs", "what it is"):
        table.add_column(heading)
    for record in load_plugins().constraints:
        table.add_row(*map(Text, _row(record)))
    Console(highlight=False).print(table)
    click.echo(f"\n{MORE}")


def _row(record: ConstraintPlugin) -> tuple[str, str, str, str]:
    name = record.name if record.grouped is None else f"{record.name}[column]"
    target = "" if record.target == "any" else record.target
    return name, record.kind, target, record.summary
