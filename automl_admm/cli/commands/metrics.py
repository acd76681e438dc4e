"""`automl-admm metrics`: list what a search can be scored by."""

from __future__ import annotations

from dataclasses import asdict

import click

from automl_admm.cli.shared.installed import installed, unprinted
from automl_admm.cli.shared.listing import AS_JSON, Entry, print_entries
from automl_admm.cli.shared.screen import say
from automl_admm.pipelines.metric_facts import MetricFacts, all_metrics

COLUMNS = {"metric": "name", "target": "target", "needs": "needs", "weights": "takes_weights"}
MORE = """\
Larger is better for all of them: a name that begins with neg_ is minus an error, best at 0.
--metric takes a name; in Python scoring= takes a scorer of your own, too."""


@click.command("metrics")
@AS_JSON
def command(as_json: bool) -> None:  # noqa: FBT001 - click passes it by name
    """List the metrics, with their targets and what they need of a pipeline."""
    with unprinted():
        entries = [_entry(facts) for facts in all_metrics(installed().metrics)]
    print_entries(entries, COLUMNS | {"what it is": "summary"}, as_json=as_json)
    if not as_json:
        say(f"\n{MORE}", err=True)


def _entry(facts: MetricFacts) -> Entry:
    return {"kind": "metric", **asdict(facts)}
