"""Dask as an executor for automl-admm: evaluations on a cluster, or on one of this machine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from automl_admm.plugin_api import (
    Executor,
    ExecutorPlugin,
    ExecutorSetting,
    RemoteExecutor,
    Staffing,
    hookimpl,
)

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
    from automl_admm_dask.transport import DaskTransport

    # On a cluster of the user's its size counts, unless a number of workers was asked for.
    is_free = options.address is not None and setting.is_default
    staffing = Staffing(None if is_free else setting.workers, options.patience)
    transport = DaskTransport(options.address, setting, options.patience)
    return RemoteExecutor(work, setting, transport, staffing)


@hookimpl
def executors() -> Iterator[ExecutorPlugin]:
    """`dask`."""
    yield ExecutorPlugin(
        name="dask",
        summary="on a Dask cluster, in supervised child processes of its workers",
        factory=build_dask,
        options=DaskOptions,
    )
