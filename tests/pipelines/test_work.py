"""A component that cannot be made spoils the evaluations that have it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sklearn.datasets import load_iris

from automl_admm import ComponentPlugin, hookimpl
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

GRAMMAR = """
%import components (gaussian_nb, missing)
start: estimator
estimator: gaussian_nb | missing
"""


class Provider:
    def __init__(self, problem: BaseException | None) -> None:
        self.problem = problem

    @hookimpl
    def components(self) -> Iterator[ComponentPlugin]:
        yield ComponentPlugin(name="missing", summary="s", role="estimator", factory=self.build)

    def build(self, values: object, context: object) -> None:
        if self.problem is not None:
            raise self.problem


@pytest.fixture
def evaluated(tmp_path) -> Callable[..., Evaluation]:
    """The evaluation of the component in a run that ends well with the other."""

    def run(problem: BaseException | None, executor: str) -> Evaluation:
        path = tmp_path / "grammar.lark"
        path.write_text(GRAMMAR)
        config = RunConfig(
            grammar=path,
            executor=executor,
            theta_solver="random",
            z_solver="random",
            max_evaluations=2,
            starts=("missing()", "gaussian_nb()"),
            extra_plugins={"ours": Provider(problem)},
        )
        outcome = run_pipelines(prepare(config, *load_iris(return_X_y=True)))
        assert outcome.best.text == "gaussian_nb()"
        (found,) = [e for e in outcome.result.evaluations if e.text == "missing()"]
        return found

    return run


def fault(problem: Any, status: Status, says: str, name: str) -> Any:
    mark = pytest.mark.fault(
        "F08", injected=f"the factory of a component {name}", expected="named; the run goes on"
    )
    return pytest.param(problem, status, says, id=name, marks=mark)


@pytest.mark.parametrize(
    ("problem", "status", "says"),
    [
        fault(RuntimeError("boom"), Status.ERROR, "RuntimeError: boom", "raises"),
        fault(SystemExit("bye"), Status.ERROR, "SystemExit: bye", "leaves"),
        fault(MemoryError("full"), Status.MEMOUT, "MemoryError: full", "has no memory"),
        fault(None, Status.ERROR, "'NoneType' object has no attribute", "returns None"),
        fault(ConfigurationError("needs more."), Status.ERROR, "needs more", "raises one of ours"),
    ],
)
@pytest.mark.parametrize("executor", ["inline", "local"])
def test_a_component_that_cannot_be_made_takes_no_run_down(
    evaluated: Any, problem: Any, status: Status, says: str, executor: str, seen: Any
) -> None:
    found = evaluated(problem, executor)
    assert found.status is status
    assert "component 'missing' (this process) cannot be made: " in found.message
    assert says in found.message
    seen(found.message)
