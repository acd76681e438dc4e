"""The executor keeps its contract, on a Ray of its own."""

from __future__ import annotations

from automl_admm_ray import RayOptions, build_ray

from automl_admm.testing.contracts import ExecutorContract


class TestRay(ExecutorContract):
    def make(self, work, setting):
        return build_ray(work, setting, RayOptions(patience=200.0))
