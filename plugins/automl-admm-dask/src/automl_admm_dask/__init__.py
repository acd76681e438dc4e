"""Dask as an executor for automl-admm: evaluations on a cluster, or on one of this machine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from automl_admm.plugin_api import Executor, ExecutorPlugin, ExecutorSetting, hookimpl

__all__ = ["DaskOptions", "executors"]


@dataclass(frozen=True, slots=True)
class DaskOptions:
    """Options of `dask`.

    `address` is that of a scheduler (None: a cluster of this machine, for this run). When there is
    no worker, at the start or later, one is waited for `patience` seconds.
    """

    address: str | None = None
    patience: float = 30.0

    def __post_init__(self) -> None:
        if self.address == "":
            raise ValueError("the address is empty")
        if not (self.patience > 0 and math.isfinite(self.patience)):
            raise ValueError("patience must be a number above 0")


def build_dask(work: Any, setting: ExecutorSetting, options: DaskOptions) -> Executor:
    """Connect to the cluster, or start one, and wait for its first worker."""
    from automl_admm_dask.executor import DaskExecutor

    return DaskExecutor(work, setting, options)


@hookimpl
def executors() -> Iterator[ExecutorPlugin]:
    """`dask`."""
    yield ExecutorPlugin(
        name="dask",
        summary="on a Dask cluster, in supervised child processes of its workers",
        factory=build_dask,
        options=DaskOptions,
    )
