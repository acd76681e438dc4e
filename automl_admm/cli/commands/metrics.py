"""`automl-admm metrics`: list what a search can be scored by."""

from __future__ import annotations

from dataclasses import asdict

import click

from automl_admm.cli.shared.installed import installed, unprinted
from automl_admm.cli.shared.listing import AS_JSON, print_entries, print_options
from automl_admm.cli.shared.screen import say
from automl_admm.core.errors import UnknownNameError
from automl_admm.pipelines.metric_facts import MetricFacts, all_metrics
from automl_admm.plugins.records import MetricPlugin
from automl_admm.plugins.registry import Registry

COLUMNS = {"metric": "name", "target": "target", "needs": "needs", "weights": "takes_weights"}
SENSES = {False: "larger is better", True: "minus an error: larger is better, 0 is best"}
WEIGHTS = {False: "weights of rows are left out", True: "weights of rows count"}
MORE = """\
Larger is better for all of them: a name that begins with neg_ is minus an error, best at 0.
--metric takes a name; in Python scoring= takes a scorer of your own, too."""


@click.command("metrics")
@click.argument("name", required=False)
@AS_JSON
def command(name: str | None, as_json: bool) -> None:  # noqa: FBT001 - click passes it by name
    """List the metrics, with their targets and what they need of a pipeline, or the metric NAME."""
    plugins = installed()
    with unprinted():
        found = {facts.name: facts for facts in all_metrics(plugins.metrics)}
    if name is not None and name not in found:
        raise UnknownNameError("metric", name, found)
    if name is not None and not as_json:
        _show(found[name], plugins.metrics)
        return
    wanted = found.values() if name is None else [found[name]]
    entries = [{"kind": "metric", **asdict(facts)} for facts in wanted]
    print_entries(entries, COLUMNS | {"what it is": "summary"}, as_json=as_json)
    if not as_json:
        say(f"\n{MORE}", err=True)


def _show(facts: MetricFacts, registry: Registry[MetricPlugin]) -> None:
    """Print all that is known of a metric, and its options."""
    say(f"metric {facts.name}, from {facts.provider}")
    say(f"  {facts.summary}")
    say(f"  target: {facts.target}; needs {facts.needs}; {SENSES[facts.is_negated]}")
    say(f"  {WEIGHTS[facts.takes_weights]}")
    if facts.name in registry:
        print_options(next(record for record in registry if record.name == facts.name))
