"""Every error a user can meet: one line (what, where, how to mend it) and an exit code.

Nothing else leaves the library on bad input; a bug in our own code raises its own exception. Wrong
settings and wrong data are `ValueError`s as well, as users of scikit-learn expect.
"""

from __future__ import annotations

import difflib
import errno
import pickle
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# A setting in a remedy, perhaps with its value: {certify} or {certify=0.95}.
SETTING = re.compile(r"\{(?P<name>[a-z_]+)(?:=(?P<value>[^{}]*))?\}")
# The disk is full, the quota is used up, or the file has reached this process's size limit.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
FREE_ROOM = "Free some room, or raise the quota, and go on: what is written is kept."
SHELL_LIMITS = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
SHELL_HINT = "See 'ulimit -a': more processes, open files or memory are needed."


@dataclass(frozen=True, slots=True)
class Remedy:
    """An instruction in the user's vocabulary: parameters in Python, options in a shell.

    Settings stand in braces by their names in Python; `python` is another text for Python, if the
    user must do something else there.
    """

    text: str
    python: str | None = None

    def __str__(self) -> str:
        text = self.text if self.python is None else self.python
        # Without its braces a setting is Python as it stands.
        return SETTING.sub(lambda found: found[0][1:-1], text)

    def on_command_line(self, flags: Mapping[str, str]) -> str:
        """Return the text with the flag of each setting, given the flags by name in Python."""
        return SETTING.sub(lambda found: _as_flag(found, flags), self.text)


def _as_flag(found: re.Match[str], flags: Mapping[str, str]) -> str:
    name, value = found["name"], found["value"]
    flag = flags.get(name, f"--{name.replace('_', '-')}")
    # A text in Python's quotes needs none in a shell (39 is the quote).
    return flag if value is None else f"{flag} {value.strip(chr(39))}"


# docs/reference/exit_codes.md names them and scripts rely on them: never reuse one.
class AutomlAdmmError(Exception):
    """The root of all errors; `exit_code` is the exit code of the command line.

    >>> str(AutomlAdmmError("the cluster is gone.", hint="Start it."))
    'the cluster is gone. Start it.'
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str | Remedy | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message} {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts for another process: Python would call `__init__` with `args` alone."""
        return _restore, (type(self), self.args), self._state()

    def _state(self) -> dict[str, Any]:
        return self.__dict__

    def on_command_line(self, flags: Mapping[str, str]) -> str:
        """Return the line that names flags where `str` names parameters."""
        hint = self.hint.on_command_line(flags) if isinstance(self.hint, Remedy) else self.hint
        return self.message if hint is None else f"{self.message} {hint}"


def _restore(kind: type[AutomlAdmmError], args: tuple[Any, ...]) -> AutomlAdmmError:
    return kind.__new__(kind, *args)


class ConfigurationError(AutomlAdmmError, ValueError):
    """A setting, an option or an argument is wrong.

    >>> ConfigurationError("no worker fits.").exit_code
    2
    """

    exit_code = 2


class UnknownNameError(ConfigurationError):
    """An unregistered name; without a hint the message suggests the nearest known one."""

    def __init__(
        self, kind: str, name: str, known: Iterable[str], *, hint: str | Remedy | None = None
    ) -> None:
        super().__init__(f"no {kind} named '{name}'.", hint=hint or suggest(name, known))
        self.kind = kind
        self.name = name


class GrammarError(ConfigurationError):
    """A grammar file has mistakes; the message is the rendered list of all of them."""


class PluginError(ConfigurationError):
    """A plugin is broken, or two plugins claim one name.

    >>> isinstance(PluginError("its licence has ended."), ConfigurationError)
    True
    """


class DataError(AutomlAdmmError, ValueError):
    """The data cannot be used as they are."""

    exit_code = 3


def is_own_error(problem: BaseException) -> bool:
    """Return True for an error of the code that was called: neither ours nor an interrupt.

    Code of others may derive its errors from `BaseException`, and call `sys.exit`.

    >>> is_own_error(ZeroDivisionError()), is_own_error(KeyboardInterrupt())
    (True, False)
    """
    return not isinstance(problem, AutomlAdmmError | KeyboardInterrupt)


def is_full_disk(problem: BaseException) -> bool:
    """Return True if the system has no room left, whoever writes.

    >>> is_full_disk(OSError(errno.ENOSPC, "No space left on device"))
    True
    """
    return isinstance(problem, OSError) and problem.errno in NO_ROOM


class _ResultError(AutomlAdmmError):
    """An error with a result: `closest` is what was found all the same."""

    def __init__(
        self, message: str, *, hint: str | Remedy | None = None, closest: object = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.closest = closest

    def _state(self) -> dict[str, Any]:
        """Leave the result behind if it cannot go to another process: the reason has to arrive."""
        try:
            pickle.dumps(self.closest)
        except Exception:  # noqa: BLE001 - a result holds objects of plugins and users
            return {**self.__dict__, "closest": None}
        return self.__dict__


class NoSuccessError(_ResultError):
    """Not one evaluation succeeded; `closest` is a result with a constant model, or None."""

    exit_code = 4


class InfeasibleError(_ResultError):
    """No result within the limits; `closest` is the result with the least violation."""

    exit_code = 5


class NotCertifiedError(_ResultError):
    """No certified result; `closest` is the tested result, and may be fine."""

    exit_code = 6


class StoreError(AutomlAdmmError):
    """A run folder or its store is missing, damaged or not ours."""

    exit_code = 7


def folder_is_gone(path: Path | str) -> StoreError:
    """Return the error of a run whose folder is no longer where it was."""
    return StoreError(
        f"'{path}' was removed, moved or replaced while the run went on.",
        hint="If the run folder was moved, resume it where it is; else begin the run anew.",
    )


class DiskFullError(AutomlAdmmError):
    """The disk has no room left for the run folder."""

    exit_code = 8


class FallbackWarning(UserWarning):
    """No time to evaluate anything: the model of `fit` is a makeshift."""


class FrozenModelWarning(UserWarning):
    """A loaded model was told to fit, and stays as it is."""


class LimitWarning(UserWarning):
    """A limit is not what it seems: doubtful, unseen by the metric, beyond proof, or broken."""


class NewValuesWarning(UserWarning):
    """Rows to predict have categories or gaps that training rows had not."""


class VersionWarning(UserWarning):
    """A model comes from another version of scikit-learn, and may predict otherwise."""


class EvaluatorLostError(AutomlAdmmError):
    """The evaluating process dies at every start; earlier results are kept."""

    exit_code = NoSuccessError.exit_code  # it is raised where there is no result


class InvalidOutcome(Exception):  # noqa: N818 - an outcome, not a mistake of the program
    """Raised by a work that ran to its end without a usable result: the status is `invalid`.

    >>> str(InvalidOutcome("the predictions are not all finite"))
    'the predictions are not all finite'
    """


def suggest(name: str, known: Iterable[str], *, shown: int = 12) -> str:
    """Suggest the closest known names, or list them."""
    names = sorted(set(map(str, known)))
    if (near := nearest(name, names)) is not None:
        return near
    if not names:
        return "None is known."
    listed = ", ".join(names[:shown])
    return f"Known: {listed}, …" if len(names) > shown else f"Known: {listed}."


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Ask for the closest known names; None if no name is close."""
    lowered: dict[str, list[str]] = {}
    for known_name in sorted(set(map(str, known))):
        # Several known names may differ in case alone.
        lowered.setdefault(known_name.casefold(), []).append(known_name)
    # Compare without case: a name in the wrong case is the nearest of all.
    closest = difflib.get_close_matches(name.casefold(), lowered, n=2, cutoff=0.6)
    near = [known_name for match in closest for known_name in lowered[match]][:2]
    return "Did you mean " + " or ".join(f"'{match}'" for match in near) + "?" if near else None


@contextmanager
def naming_os_errors(what: str) -> Iterator[None]:
    """Raise what the system refuses in this block as an error that says what could not be done.

    >>> with naming_os_errors("the result cannot be read"):
    ...     raise FileNotFoundError(2, "No such file")
    Traceback (most recent call last):
    automl_admm.core.errors.AutomlAdmmError: the result cannot be read: No such file.
    """
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFullError(f"no room left on the disk: {what}.", hint="Free some.") from error
        hint = SHELL_HINT if error.errno in SHELL_LIMITS else None
        raise AutomlAdmmError(f"{what}: {error.strerror or error}.", hint=hint) from error
