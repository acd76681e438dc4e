"""Built-in executors: child processes, this process."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.protocols import Executor
from automl_admm.plugins.records import ExecutorPlugin, ExecutorSetting, NoOptions
from automl_admm.plugins.specs import hookimpl


def build_local(work: Any, setting: ExecutorSetting, options: NoOptions) -> Executor:
    """Build one supervised child process per task; needs fork, so not for Windows."""
    del options
    # Here, not at import: a user of Windows may still list the executors.
    if os.name != "posix":
        raise ConfigurationError(
            "the executor 'local' needs Linux or macOS.",
            hint=Remedy("Use {executor='inline'}, which has no time and memory limits."),
        )
    from automl_admm.execution.local_executor import LocalExecutor

    return LocalExecutor(work, setting)


def build_inline(work: Any, setting: ExecutorSetting, options: NoOptions) -> Executor:
    """Build an executor in this process, without limits."""
    del options
    from automl_admm.execution.inline_executor import InlineExecutor

    return InlineExecutor(work, setting)


@hookimpl
def executors() -> Iterable[ExecutorPlugin]:
    """Yield `local` and `inline`."""
    yield ExecutorPlugin(
        name="local",
        summary="one supervised child process per evaluation, with time and memory limits",
        factory=build_local,
    )
    yield ExecutorPlugin(
        name="inline",
        summary="in this process, one at a time and without limits: for debuggers",
        factory=build_inline,
    )
