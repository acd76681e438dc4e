"""Every component keeps the promises of all components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from automl_admm_boost import components

from automl_admm.plugin_api import ComponentPlugin, Parameter
from automl_admm.testing.contracts import ComponentContract

RECORDS = [record for record in components() if not record.missing]
# Most promises are about a model of any size.
TREES = 20


@pytest.mark.parametrize(
    "record", RECORDS, ids=[f"{record.name}-{record.tasks[0]}" for record in RECORDS]
)
class TestBoosting(ComponentContract):
    takes_raw = True
    draws = 1

    @pytest.fixture(autouse=True)
    def _of(self, record: ComponentPlugin) -> None:
        self.record = record

    def make(self) -> ComponentPlugin:
        return self.record

    def steps(self, values: Mapping[str, Any], *, raw: bool = False) -> list[Any]:
        return super().steps({self.record.fidelity: TREES, **values}, raw=raw)

    def settings(self) -> Iterator[Mapping[str, Any]]:
        name = self.record.fidelity
        (size,) = (one for one in self.record.parameters if one.name == name)
        assert isinstance(size, Parameter)
        assert size.default is not None
        _, least, most, *drawn = super().settings()
        yield from ({name: size.default}, least, most)
        yield from ({**values, name: TREES} for values in drawn)


def test_the_libraries_that_the_package_requires_are_there() -> None:
    assert {record.name for record in RECORDS} >= {"lightgbm", "xgboost"}
    assert len(list(components())) == 6
