"""The executor keeps its contract, on a cluster of its own."""

from __future__ import annotations

from automl_admm_dask import DaskOptions, build_dask

from automl_admm.testing.contracts import ExecutorContract


class TestDask(ExecutorContract):
    def make(self, work, setting):
        return build_dask(work, setting, DaskOptions())
