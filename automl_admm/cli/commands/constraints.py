"""`automl-admm constraints`: list the quantities for limits."""

from __future__ import annotations

import click

from automl_admm.cli.shared.installed import installed
from automl_admm.cli.shared.screen import cells, grid, plain_console, say
from automl_admm.plugins.records import ConstraintPlugin

MORE = """\
A limit reads "NAME <= number" or "NAME >= number". The number may be a percentage, or a multiple of
the value of the pipeline that the search begins with, as in "latency_us <= 0.5 * baseline".
NAME is also any scorer of scikit-learn, such as balanced_accuracy or neg_log_loss.
Each statistical one has a gap and a ratio, as in "fpr_gap[sex] <= 0.05", to compare groups.
[sex] are the values of a column, [sex,race] those of two, [age:30,40,50] cuts numbers at these."""


@click.command("constraints")
def command() -> None:
    """List the quantities that you can limit."""
    table = grid("constraint", "kind", "needs", "what it is")
    table.columns[0].no_wrap = True
    for record in installed().constraints:
        table.add_row(*cells(_row(record)))
    plain_console().print(table)
    say(f"\n{MORE}")


def _row(record: ConstraintPlugin) -> tuple[str, str, str, str]:
    name = record.name if record.grouped is None else f"{record.name}[column]"
    target = "" if record.target == "any" else record.target
    return name, record.kind, target, record.summary
