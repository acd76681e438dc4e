"""One call of a work's method, as a report in JSON.

Both executors use it, so a task ends with the same status and message wherever it ran.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from automl_admm.core.errors import InvalidOutcome
from automl_admm.core.evaluations import Status
from automl_admm.core.messages import say_error, say_exit, shorten, text_of
from automl_admm.core.results import TaskResult

# Characters, and bytes of a result: they all go through a pipe and into the log.
MESSAGE_LIMIT = 4_000
TRACEBACK_LIMIT = 16_000
RESULT_LIMIT = 16_000_000


@dataclass(frozen=True, slots=True)
class TaskReport:
    """The outcome of a call; `result` is a mapping fit for JSON."""

    status: Status
    message: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)


def call_work(work: Any, method: str, arguments: Mapping[str, Any], folder: Path) -> TaskReport:
    """Call `work.method(folder=folder, **arguments)`; an error it raises is reported.

    An exit and an interrupt are raised.
    """
    try:
        result = getattr(work, method)(folder=folder, **arguments)
        if isinstance(result, TaskResult):
            result = result.as_json()
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - asyncio's CancelledError is no Exception
        return report_error(error)
    if not isinstance(result, Mapping):
        return TaskReport(Status.INVALID, f"the result is no mapping but {type(result).__name__}")
    return TaskReport(Status.SUCCESS, result=dict(result))


def report_error(error: BaseException) -> TaskReport:
    """Name an exception: MemoryError is `memout`, `InvalidOutcome` is `invalid`, else `error`."""
    if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
        # The frames hold the arrays that filled the memory; the report needs a little of it.
        traceback.clear_frames(error.__traceback__)
        return TaskReport(Status.MEMOUT, say_error(error, MESSAGE_LIMIT))
    if isinstance(error, InvalidOutcome):
        return TaskReport(Status.INVALID, shorten(text_of(error), MESSAGE_LIMIT))
    lines = "".join(traceback.format_exception(error))
    return TaskReport(
        Status.ERROR,
        say_error(error, MESSAGE_LIMIT),
        {"traceback": shorten(lines, TRACEBACK_LIMIT)},
    )


def encode_report(report: TaskReport) -> bytes:
    """Write a report as JSON; a result unfit for JSON, or too large, is `invalid`."""
    try:
        encoded = json.dumps(
            {"status": report.status, "message": report.message, "result": report.result}
        ).encode()
    except (TypeError, ValueError, RecursionError) as error:
        reason = f"the result cannot be written as JSON: {text_of(error)}"
        return encode_report(TaskReport(Status.INVALID, shorten(reason, MESSAGE_LIMIT)))
    if len(encoded) > RESULT_LIMIT:
        reason = f"the result is too large: {len(encoded):,} bytes of at most {RESULT_LIMIT:,}"
        return encode_report(TaskReport(Status.INVALID, reason))
    return encoded


def decode_report(encoded: bytes) -> TaskReport:
    """Read a report written by `encode_report`."""
    found = json.loads(encoded)
    if not isinstance(found["message"], str) or not isinstance(found["result"], dict):
        raise TypeError("no report")
    return TaskReport(Status(found["status"]), found["message"], found["result"])


def exit_code(leave: SystemExit) -> int:
    """Return Python's exit code for a SystemExit: a text is printed and means 1."""
    if leave.code is None or isinstance(leave.code, int):
        # The system keeps the low byte alone: exit(256) is a success to everybody.
        return (leave.code or 0) & 0xFF
    sys.stderr.write(f"{leave.code}\n")
    return 1


def describe_exit(code: int) -> str:
    """Name the end of a process without a report; a negative code is a signal, as in Popen."""
    if code == 0:
        return "exit 0 without a result"
    return say_exit(code)
