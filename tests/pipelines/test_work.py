"""A component that cannot be made spoils the evaluations that have it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from automl_admm import ComponentPlugin, hookimpl
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare


@dataclass(frozen=True)
class Case:
    """A way in which a factory disappoints, and the evaluation that is to come of it."""

    component: str
    problem: BaseException | None
    status: Status
    says: str


CASES = (
    Case("raises", RuntimeError("boom"), Status.ERROR, "RuntimeError: boom"),
    Case("leaves", SystemExit("bye"), Status.ERROR, "SystemExit: bye"),
    Case("has_no_memory", MemoryError("full"), Status.MEMOUT, "MemoryError: full"),
    Case("returns_none", None, Status.ERROR, "'NoneType' object has no attribute"),
    Case("raises_one_of_ours", ConfigurationError("needs more."), Status.ERROR, "needs more"),
)
NAMES = [case.component for case in CASES]
GRAMMAR = f"""
%import components (gaussian_nb, {", ".join(NAMES)})
start: estimator
estimator: gaussian_nb | {" | ".join(NAMES)}
"""


class Provider:
    """A plugin with all of the components; each is a name of its own, so one run tries them all."""

    @hookimpl
    def components(self) -> Iterator[ComponentPlugin]:
        for case in CASES:
            yield ComponentPlugin(
                name=case.component, summary="s", role="estimator", factory=partial(build, case)
            )


def build(case: Case, values: object, context: object) -> None:
    if case.problem is not None:
        raise case.problem


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Evaluation]]:
    """The evaluations of a run by an executor, by pipeline; the run ends well with a last one."""

    @cache
    def run(executor: str) -> dict[str, Evaluation]:
        path = tmp_path_factory.mktemp("grammar") / "grammar.lark"
        path.write_text(GRAMMAR)
        texts = [f"{name}()" for name in (*NAMES, "gaussian_nb")]
        config = RunConfig(
            grammar=path,
            executor=executor,
            cv=2,
            theta_solver="random",
            z_solver="random",
            max_evaluations=len(texts),
            starts=tuple(texts),
            extra_plugins={"ours": Provider()},
        )
        outcome = run_pipelines(prepare(config, *load_iris(return_X_y=True)))
        assert outcome.best.text == "gaussian_nb()"
        assert [found.text for found in outcome.result.evaluations] == texts
        return {found.text: found for found in outcome.result.evaluations}

    return run


def fault(case: Case) -> Any:
    named = f"the factory of a component {case.component.replace('_', ' ')}"
    mark = pytest.mark.fault("F08", injected=named, expected="named; the run goes on")
    return pytest.param(case, id=case.component.replace("_", " "), marks=mark)


@pytest.mark.parametrize("case", [fault(case) for case in CASES])
@pytest.mark.parametrize("executor", ["inline", "local"])
def test_a_component_that_cannot_be_made_takes_no_run_down(
    evaluated: Any, case: Case, executor: str, seen: Any
) -> None:
    found = evaluated(executor)[f"{case.component}()"]
    assert found.status is case.status
    assert f"component '{case.component}' (this process) cannot be made: " in found.message
    assert case.says in found.message
    seen(found.message)


def test_factories_of_others_are_called_in_children_alone(tmp_path: Path) -> None:
    """The process that forks them can be neither stopped nor cleaned."""
    called = []

    def make(_values: object, _context: object) -> Any:
        called.append("mine")
        return GaussianNB()

    mine = ComponentPlugin(name="mine", summary="s", role="estimator", factory=make)
    (tmp_path / "grammar.lark").write_text(
        "%import components (gaussian_nb, mine)\nstart: mine | gaussian_nb\n"
    )
    plugin = SimpleNamespace(components=hookimpl(lambda: [mine]))
    given = RunConfig(
        grammar=tmp_path / "grammar.lark",
        max_evaluations=2,
        starts=("mine()",),
        extra_plugins={"ours": plugin},
    )
    work = prepare(given, *load_iris(return_X_y=True)).work
    called.clear()
    work.prepare()
    assert list(work.prepare_more())
    assert not called
