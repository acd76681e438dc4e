"""The ledger of looks at held-out rows: every look may spend half the risk of the last.

A look is one walk over contenders fixed before it, however many they and the limits are. It is
recorded *before* the rows are tested, so an interrupted look counts. Asking the same question
again, word for word, is no new look, and neither is verifying a certificate: nothing new is chosen
by them. A new timing of calls needs a new question.

The k-th look spends risk / 2^k, so all looks together spend at most the risk: even if the next test
is chosen because earlier looks did *not* pass, a false certificate has at most this probability.
The count cannot cover a user's choice by printed values, nor a look at the same rows under another
hash or on another machine.

Rows are known by a hash of all the data, not of the part set aside. Trying other seeds or shares
until one passes is thereby counted as looks. They are known by a hash without weights, too: rows
left out by a weight of 0 would otherwise make other data of the same.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.core.limits import Limit
from automl_admm.store.run_folder import write_json

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Look:
    """The number of a look at its rows, from 1, and its share of the risk.

    A look that may spend all of it, at rows that nobody counts, has the number 0.
    """

    number: int
    risk: float

    @classmethod
    def of(cls, number: int, risk: float) -> Look:
        """Return the look with this number, given the risk of all looks."""
        return cls(number, risk_of_look(number, risk))

    def risk_of(self, limit: Limit) -> float:
        """Return the risk of the test of a limit: by its own confidence, if it has one.

        Limits share nothing. Let i be a broken limit, with the risk α_i. The walk gets past the
        first model that breaks it with probability at most α_i, whatever the other tests say. So a
        model that breaks limit i is certified with probability at most α_i, and one that breaks any
        limit with at most max α_i.
        """
        if limit.confidence is None:
            return self.risk
        return risk_of_look(self.number, 1.0 - limit.confidence)


def take_look(
    ledger: Path,
    rows: str,
    question: str,
    risk: float,
    *,
    earlier: Sequence[str] = (),
    run: str = "",
    also: Sequence[str] = (),
) -> Look:
    """Record a look at the rows with this hash in the ledger, and return its share of the risk.

    `question` is the hash by `question_of`, `run` the hash of the run's settings for `expect_look`.
    The ledger is created if missing, and locked: no two processes get the same look. Looks under
    the hashes in `earlier` were at the same rows and count as well, and so do those under the
    hashes in `also`, under which this one is recorded, too.
    """
    with _locked(ledger):
        content = _read(ledger)
        # A known question gets its old number, however many came after it.
        number = _number_of(content, rows, question, earlier)
        if number is None:
            number = _next_number(content, (rows, *also), earlier)
            when = datetime.now(UTC).isoformat(timespec="seconds")
            look = {"question": question, "risk": risk, "time": when, "run": run, "number": number}
            for one in dict.fromkeys((rows, *also)):
                content["looks"].setdefault(one, []).append(look)
            write_json(ledger, content)
    return Look.of(number, risk)


def check_ledger(ledger: Path) -> None:
    """Raise if looks cannot be written into a ledger: before a search, not after it.

    Nothing is left beside it: a run may end before it looks.
    """
    _read(ledger)
    lock = _lock_of(ledger)
    try:
        ledger.parent.mkdir(parents=True, exist_ok=True)
        # Written, not asked by os.access: that ignores read-only mounts and full quotas.
        with tempfile.NamedTemporaryFile(dir=ledger.parent):
            pass
        # Opening it would make it, and nothing is to be left behind.
        if lock.exists():
            lock.open("a").close()
    except OSError as problem:
        raise _unlockable(ledger, problem) from problem


def question_of(models: Sequence[str], limits: Sequence[str], risk: float) -> str:
    """The hash of a question: models in their order by their own hashes, limits, and the risk."""
    # Lists in their order: the same models in another order are another walk.
    asked = json.dumps([list(models), list(limits), risk])
    return hashlib.sha256(asked.encode()).hexdigest()


def count_looks(ledger: Path, *rows: str) -> int:
    """Return the number of looks so far at the rows with one of these hashes."""
    return _count(_read(ledger), rows)


def expect_look(
    ledger: Path, rows: str, run: str, *, earlier: Sequence[str] = (), also: Sequence[str] = ()
) -> int:
    """Return the expected number of a run's look, from 1, before it is taken.

    A run with the same question and settings as an earlier one gets its number again; without a
    `run` it is always the next number.
    """
    content = _read(ledger)
    taken = content["looks"].get(rows, [])
    known = next((look["question"] for look in taken if run and look.get("run") == run), None)
    number = None if known is None else _number_of(content, rows, known, earlier)
    return _next_number(content, (rows, *also), earlier) if number is None else number


def find_look(ledger: Path, rows: str, question: str, *, earlier: Sequence[str] = ()) -> int | None:
    """Return the number of an earlier look, or None if it is not in this ledger."""
    return _number_of(_read(ledger), rows, question, earlier)


def risk_of_look(number: int, risk: float) -> float:
    """Return the risk of the k-th look, risk / 2^k; the sum over all k is the risk."""
    return float(risk / 2**number)


def _number_of(
    content: Mapping[str, Any], rows: str, question: str, earlier: Sequence[str]
) -> int | None:
    """Return the number of a known look; the first versions wrote none beside it."""
    for place, look in enumerate(content["looks"].get(rows, [])):
        if look["question"] == question:
            return int(look.get("number") or _count(content, earlier) + place + 1)
    return None


def _next_number(content: Mapping[str, Any], rows: Iterable[str], earlier: Sequence[str]) -> int:
    """Return one more than the looks under any of the hashes."""
    asked = {look["question"] for one in rows for look in content["looks"].get(one, [])}
    return _count(content, earlier) + len(asked) + 1


def _count(content: Mapping[str, Any], rows: Iterable[str]) -> int:
    return sum(len(content["looks"].get(one, [])) for one in rows)


@contextmanager
def _locked(ledger: Path) -> Iterator[None]:
    """Wait until no other process writes; the system frees the lock of a dead process."""
    beside = _lock_of(ledger)
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        file = beside.open("a")
    except OSError as problem:
        raise _unlockable(ledger, problem) from problem
    with file:
        # On a file beside it: every write replaces the ledger, and a lock on the old one with it.
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _lock_of(ledger: Path) -> Path:
    return ledger.with_name(f"{ledger.name}.lock")


def _unlockable(ledger: Path, problem: OSError) -> StoreError:
    reason = f"'{ledger}' cannot be written: {problem.strerror}."
    return StoreError(reason, hint="Put the ledger of looks where you may write.")


def _read(ledger: Path) -> dict[str, Any]:
    """Return the content of the ledger; a damaged ledger is an error and never replaced."""
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
