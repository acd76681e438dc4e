"""The ledger of looks at held-out rows: every look may spend half the risk of the last.

A look is one walk over contenders fixed before it, however many they and the limits are. It is
recorded *before* the rows are tested, so an interrupted look counts. Asking the same question
again, word for word, is no new look, and neither is verifying a certificate: nothing new is chosen
by them. A new timing of calls needs a new question.

The k-th look spends risk / 2^k, so all looks together spend at most the risk: even if the next test
is chosen because earlier looks did *not* pass, a false certificate has at most this probability.
A *last* look spends all that is left, risk / 2^(k - 1), as all later looks together would: there is
none after it.
The count cannot cover a user's choice by printed values, nor a look at the same rows under another
hash. A run folder carries its looks to other machines; a look there counts here once its folder has
come back.

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

from automl_admm.certify.walk.carried_looks import CarriedLooks, unite
from automl_admm.core.errors import ConfigurationError, Remedy, StoreError
from automl_admm.core.limits import Limit
from automl_admm.store.run_folder import write_json

SCHEMA = 1
LAST = "last"


@dataclass(frozen=True, slots=True)
class Look:
    """The number of a look at its rows, from 1, and its share of the risk.

    A last look has no other after it. One at rows that nobody counts has the number 0.
    """

    number: int
    risk: float
    is_last: bool = False

    @classmethod
    def of(cls, number: int, risk: float, *, is_last: bool = False) -> Look:
        """Return the look with this number, given the risk of all looks."""
        return cls(number, risk_of_look(number, risk, is_last=is_last), is_last)

    def risk_of(self, limit: Limit) -> float:
        """Return the risk of the test of a limit: by its own confidence, if it has one.

        Limits share nothing. Let i be a broken limit, with the risk α_i. The walk gets past the
        first model that breaks it with probability at most α_i, whatever the other tests say. So a
        model that breaks limit i is certified with probability at most α_i, and one that breaks any
        limit with at most max α_i.
        """
        if limit.confidence is None:
            return self.risk
        return risk_of_look(self.number, 1.0 - limit.confidence, is_last=self.is_last)


def take_look(  # noqa: PLR0913 - a look, under each hash of its rows, in two ledgers
    ledger: Path,
    rows: str,
    question: str,
    risk: float,
    *,
    earlier: Sequence[str] = (),
    run: str = "",
    also: Sequence[str] = (),
    carried: CarriedLooks | None = None,
    is_last: bool = False,
) -> Look:
    """Record a look at the rows with this hash in the ledger, and return its share of the risk.

    `question` is the hash by `question_of`, `run` the hash of the run's settings for `expect_look`.
    The ledger is created if missing, and locked: no two processes get the same look. Looks under
    the hashes in `earlier` were at the same rows and count as well, and so do those under the
    hashes in `also`, under which this one is recorded, too. The looks that a run folder has
    `carried` here count, and the folder carries this one on. There is none after one that
    `is_last`: that raises a ConfigurationError.
    """
    with _locked(ledger):
        before = _read(ledger)
        content = _with_carried(before, carried)
        # A known question gets its old number, however many came after it.
        number = _number_of(content, rows, question)
        if number is None:
            number = _next_number(content, (rows, *also), earlier, carried)
            when = datetime.now(UTC).isoformat(timespec="seconds")
            look = {"question": question, "risk": risk, "time": when, "run": run, "number": number}
            look |= {LAST: True} if is_last else {}
            for one in dict.fromkeys((rows, *also)):
                content["looks"].setdefault(one, []).append(look)
        if content != before:
            write_json(ledger, content)
        if carried is not None:
            asked, known = (rows, *also, *earlier), content["looks"]
            carried.keep({one: known[one] for one in asked if one in known})
    return Look.of(number, risk, is_last=is_last)


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


def expect_look(
    ledger: Path,
    rows: str,
    run: str,
    *,
    earlier: Sequence[str] = (),
    also: Sequence[str] = (),
    carried: CarriedLooks | None = None,
) -> int:
    """Return the expected number of a run's look, from 1, before it is taken.

    A run with the same question and settings as an earlier one gets its number again; without a
    `run` it is always the next number.
    """
    content = _with_carried(_read(ledger), carried)
    taken = content["looks"].get(rows, [])
    known = next((look["question"] for look in taken if run and look.get("run") == run), None)
    number = None if known is None else _number_of(content, rows, known)
    return _next_number(content, (rows, *also), earlier, carried) if number is None else number


def find_look(
    ledger: Path,
    rows: str,
    question: str,
    *,
    carried: CarriedLooks | None = None,
) -> int | None:
    """Return the number of an earlier look, or None if neither ledger nor folder knows it."""
    return _number_of(_with_carried(_read(ledger), carried), rows, question)


def risk_of_look(number: int, risk: float, *, is_last: bool = False) -> float:
    """Return the risk of the k-th look, risk / 2^k; the sum over all k is the risk.

    A last one has that of all later ones besides, risk / 2^(k - 1). Of looks that nobody counts,
    with the number 0, each has the risk.
    """
    return float(risk / 2 ** (number - is_last if number else 0))


def _number_of(content: Mapping[str, Any], rows: str, question: str) -> int | None:
    """Return the number of a known look."""
    taken = content["looks"].get(rows, [])
    return next((int(look["number"]) for look in taken if look["question"] == question), None)


def _next_number(
    content: Mapping[str, Any],
    rows: Iterable[str],
    earlier: Sequence[str],
    carried: CarriedLooks | None,
) -> int:
    """Return one more than the looks under any of the hashes, and than each of their numbers.

    Copies of a folder that were used apart may have given the same number to two looks.
    """
    taken = [look for one in rows for look in content["looks"].get(one, [])]
    had_last = carried is not None and carried.was_last
    if had_last or any(look.get(LAST) for look in taken):
        raise ConfigurationError(
            "these data have had their last look: no other certificate can be had on them.",
            hint=Remedy("Fit on new rows, or without {certify}."),
        )
    count = _count(content, earlier) + len({look["question"] for look in taken})
    least = 0 if carried is None else carried.least
    return 1 + max(count, least, *(int(look["number"]) for look in taken))


def _with_carried(content: Mapping[str, Any], carried: CarriedLooks | None) -> dict[str, Any]:
    """Return a copy of the ledger's content, with the looks that a folder brings."""
    looks = unite(content["looks"], {} if carried is None else carried.read())
    return {**content, "looks": looks}


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
        isinstance(taken, list) and all(map(_is_look, taken)) for taken in looks.values()
    )


def _is_look(look: Any) -> bool:
    if not isinstance(look, dict) or not isinstance(look.get("question"), str):
        return False
    number = look.get("number")
    return type(number) is int and number > 0


def _unreadable(ledger: Path, reason: str) -> StoreError:
    hint = "Restore it: without it nobody knows how often these rows were looked at."
    return StoreError(f"the ledger of looks '{ledger}' cannot be read: {reason}.", hint=hint)
