"""Looks at the same rows are counted, and every one has half as much risk to spend as the last.

A look is one walk over contenders that were fixed before it, whatever their number and that of the
limits. It is written down *before* the rows are tested, so that one that was interrupted counts. To
ask the same question again, word for word, is no new look, and neither is to verify a certificate:
nothing new is chosen by them. Where calls are timed anew the question has to be made another one.

The k-th look spends risk / 2^k, so that all of them together spend no more than the risk: whatever
is tested next, because the looks before it did *not* pass, a false certificate has at most that
probability. Who also chooses by the values that a look printed knows more than the count allows
for, and a look at the same rows under another hash, or elsewhere, cannot be seen.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from automl_admm.errors import StoreError
from automl_admm.store.folder import write_json

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Look:
    """The number of a look at its rows, from 1, and the risk that it may spend."""

    number: int
    risk: float


def take_look(ledger: Path, rows: str, question: str, risk: float) -> Look:
    """Write a look at the rows with this hash into the ledger, a file, and say what it may spend.

    `question` is a hash of all that is asked, as of `question_of`. The ledger is made where it is
    missing, and locked, so that no two processes have the same look.
    """
    with _locked(ledger):
        content = _read(ledger)
        taken = content["looks"].setdefault(rows, [])
        questions = [look["question"] for look in taken]
        if question not in questions:
            when = datetime.now(UTC).isoformat(timespec="seconds")
            taken.append({"question": question, "risk": risk, "time": when})
            questions.append(question)
            write_json(ledger, content)
    number = questions.index(question) + 1
    return Look(number, risk_of_look(number, risk))


def question_of(models: Sequence[str], limits: Sequence[str], risk: float) -> str:
    """The hash of a question: models in their order by their own hashes, limits, and the risk."""
    asked = json.dumps([list(models), list(limits), risk])
    return hashlib.sha256(asked.encode()).hexdigest()


def count_looks(ledger: Path, rows: str) -> int:
    """How many looks at the rows with this hash were taken so far."""
    return len(_read(ledger)["looks"].get(rows, []))


def risk_of_look(number: int, risk: float) -> float:
    """What the k-th look spends: risk / 2^k, of which Σ is the risk."""
    return float(risk / 2**number)


@contextmanager
def _locked(ledger: Path) -> Iterator[None]:
    """Wait until no other process writes; the system frees the lock of one that died."""
    beside = ledger.with_name(f"{ledger.name}.lock")
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        file = beside.open("a")
    except OSError as problem:
        reason = f"'{ledger}' cannot be locked: {problem.strerror}."
        raise StoreError(reason, hint="Put the ledger of looks where you may write.") from problem
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _read(ledger: Path) -> dict[str, Any]:
    """The content of the ledger; one that cannot be trusted is never begun anew."""
    try:
        content = json.loads(ledger.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"schema": SCHEMA, "looks": {}}
    except (OSError, ValueError) as problem:
        raise _unreadable(ledger, str(problem)) from problem
    if not _is_ledger(content):
        raise _unreadable(ledger, f"it is not a ledger of schema {SCHEMA}")
    return dict(content)


def _is_ledger(content: Any) -> bool:
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        return False
    looks = content.get("looks")
    return isinstance(looks, dict) and all(
        isinstance(taken, list)
        and all(isinstance(look, dict) and isinstance(look.get("question"), str) for look in taken)
        for taken in looks.values()
    )


def _unreadable(ledger: Path, reason: str) -> StoreError:
    hint = "Restore it: without it nobody knows how often these rows were looked at."
    return StoreError(f"the ledger of looks '{ledger}' cannot be read: {reason}.", hint=hint)
