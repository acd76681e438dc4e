"""`automl-admm constraints`: list the quantities for limits."""

from __future__ import annotations

import click

from automl_admm.cli.shared.installed import installed
from automl_admm.cli.shared.listing import AS_JSON, Entry, entry_of, option_entries, print_entries
from automl_admm.cli.shared.screen import say
from automl_admm.constraints.options import written_name
from automl_admm.plugins.records import ConstraintPlugin
from automl_admm.plugins.registry import Registry

COLUMNS = {
    "constraint": "written",
    "kind": "measured_as",
    "needs": "target",
    "what it is": "summary",
}
MORE = """\
A limit reads "NAME <= number" or "NAME >= number". The number may be a percentage, or a multiple of
the value of the pipeline that the search begins with, as in "latency_us <= 0.5 * baseline".
The N in a name is a number of yours, as in "abs_error_quantile_90 <= 2".
An option in braces may be left out: "automl-admm plugins show NAME" has its default.
NAME is also any scorer of scikit-learn, such as balanced_accuracy or neg_log_loss.
One for two classes is asked of any class of several, too, as in 'recall{class="fraud"} >= 0.9': of
"min_recall{class}" or "max_fpr{class}" for the worst class, of "macro_recall" for their mean.
Each statistical one has a gap and a ratio, as in "fpr_gap[sex] <= 0.05", to compare groups.
With groups "min_recall[sex] >= 0.8" and "max_brier[sex] <= 0.2" are about the worst of them.
[sex] are the values of a column, [sex,race] those of two, [age:30,40,50] cuts numbers at these."""


@click.command("constraints")
@AS_JSON
def command(as_json: bool) -> None:  # noqa: FBT001 - click passes it by name
    """List the quantities that you can limit."""
    registry = installed().constraints
    entries = [_entry(registry, record) for record in registry]
    print_entries(entries, COLUMNS, as_json=as_json)
    if not as_json:
        say(f"\n{MORE}", err=True)


def _entry(registry: Registry[ConstraintPlugin], record: ConstraintPlugin) -> Entry:
    return entry_of(
        registry,
        record.name,
        written=written_name(record),
        measured_as=record.kind,
        target="" if record.target == "any" else record.target,
        lowest=record.lowest,
        highest=record.highest,
        takes_weights=record.takes_weights,
        options=option_entries(record),
    )
