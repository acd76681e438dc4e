"""The order of limits where a run goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from installed import PLUGINS
from report_runs import of_limit, write_run

from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import in_known_order, resolve_constraints

KNOWN = ("bias <= 1", "mae <= 5", "bias >= -1")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (KNOWN, KNOWN),
        (("bias >= -2", "mae <= 6", "bias <= 1"), ("bias <= 1", "mae <= 6", "bias >= -2")),
        (("bias >= -1", "mae <= 5"), ("bias >= -1", "mae <= 5")),
        (("rmse <= 9", "mae <= 5", "bias >= -1"), ("rmse <= 9", "mae <= 5", "bias >= -1")),
    ],
    ids=["the same", "another order", "one less", "another one"],
)
def test_limits_come_in_the_order_of_the_run(
    given: tuple[str, ...], expected: tuple[str, ...], tmp_path: Path
) -> None:
    limits = [
        of_limit("bias", 1.0),
        of_limit("mae", 5.0),
        of_limit("bias", -1.0, at_least=True),
    ]
    run = write_run(tmp_path / "run", [])
    content = json.loads((run / "run.json").read_text())
    content["settings"]["limits"] = limits
    (run / "run.json").write_text(json.dumps(content))
    for is_resumed in (True, False):
        config = RunConfig(constraints=given, work_dir=run, resumed=is_resumed)
        resolved = resolve_constraints(config, PLUGINS, "regression")
        ordered, found = in_known_order(config, resolved)
        assert ordered.constraints == (expected if is_resumed else given)
        assert tuple(str(one.limit) for one in found) == ordered.constraints
