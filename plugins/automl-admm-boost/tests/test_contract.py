"""Every component keeps the promises of all components."""

from __future__ import annotations

import pytest
from automl_admm_boost import components

from automl_admm.plugin_api import ComponentPlugin
from automl_admm.testing.contracts import ComponentContract

RECORDS = [record for record in components() if not record.missing]


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


def test_the_libraries_that_the_package_requires_are_there() -> None:
    assert {record.name for record in RECORDS} >= {"lightgbm", "xgboost"}
    assert len(list(components())) == 6
