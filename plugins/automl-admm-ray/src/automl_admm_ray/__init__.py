"""Ray as an executor for automl-admm: evaluations on a cluster, or on a Ray of this run."""

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

__all__ = ["RayOptions", "executors"]


@dataclass(frozen=True, slots=True)
class RayOptions:
    """Options of `ray`.

    `address` is that of a cluster, or `auto` for the one of this machine (None: a Ray of this
    machine, for this run). An evaluation takes `cpus` CPUs. When there is no worker, at the start
    or later, one is waited for `patience` seconds.
    """

    address: str | None = None
    cpus: int = 1
    patience: float = 60.0

    def __post_init__(self) -> None:
        if self.address == "":
            raise ValueError("the address is empty")
        if self.cpus < 1:
            raise ValueError("cpus must be 1 or more")
        if not (self.patience > 0 and math.isfinite(self.patience)):
            raise ValueError("patience must be a number above 0")


def build_ray(work: Any, setting: ExecutorSetting, options: RayOptions) -> Executor:
    """Connect to the cluster, or start a Ray, and wait for its first node."""
    from automl_admm_ray.transport import RayTransport

    # On a cluster of the user's its size counts, unless a number of workers was asked for.
    is_free = options.address is not None and setting.is_default
    staffing = Staffing(None if is_free else setting.workers, options.patience)
    transport = RayTransport(options.address, setting, options.cpus)
    return RemoteExecutor(work, setting, transport, staffing)


@hookimpl
def executors() -> Iterator[ExecutorPlugin]:
    """`ray`."""
    yield ExecutorPlugin(
        name="ray",
        summary="on a Ray cluster, in supervised child processes of its nodes",
        factory=build_ray,
        options=RayOptions,
    )
