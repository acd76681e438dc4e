"""Every error that a user can meet: one line (what, where, how to mend it) and an exit code.

Nothing else leaves the library on bad input; a bug in our own code raises whatever it raises.
Wrong settings and wrong data are `ValueError`s as well, as users of scikit-learn expect.
"""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

# Parameters of the estimators whose option on the command line has another name.
OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "constraints": "--constraint",
        "eval_time_limit": "--eval-timeout",
        "memory_limit": "--memory",
        "n_jobs": "--workers",
        "random_state": "--seed",
        "scoring": "--metric",
        "sensitive_features": "--sensitive",
        "starts": "--start",
        "time_budget": "--budget",
        "work_dir": "--out",
    }
)
# A setting in a remedy, perhaps with its value: {certify} or {certify=0.95}.
SETTING = re.compile(r"\{(?P<name>[a-z_]+)(?:=(?P<value>[^{}]*))?\}")
# The disk is full, the quota is, or the file is as large as this process may make it.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
SHELL_HINT = "See 'ulimit -a': more processes, open files or memory are needed."


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do, in the words of those who ask: parameters in Python, options in a shell.

    Settings stand in braces by their names in Python; `python` is another text for Python, where
    it is not the same that has to be done.
    """

    text: str
    python: str | None = None

    def __str__(self) -> str:
        text = self.text if self.python is None else self.python
        return SETTING.sub(lambda found: found[0][1:-1], text)

    def on_command_line(self) -> str:
        """Return the text that names options."""
        return SETTING.sub(_as_option, self.text)


def _as_option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
    return option if value is None else f"{option} {value.strip(chr(39))}"


class AutomlAdmmError(Exception):
    """The root of the tree; `exit_code` is what the command line ends with."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | Remedy | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message} {self.hint}"

    def on_command_line(self) -> str:
        """Return the line that names options where `str` names parameters."""
        hint = self.hint.on_command_line() if isinstance(self.hint, Remedy) else self.hint
        return self.message if hint is None else f"{self.message} {hint}"


class ConfigurationError(AutomlAdmmError, ValueError):
    """A setting, an option or an argument is wrong."""

    exit_code = 2


class UnknownNameError(ConfigurationError):
    """A name that nothing is registered under; without a hint the nearest known one is named."""

    def __init__(
        self, kind: str, name: str, known: Iterable[str], *, hint: str | Remedy | None = None
    ) -> None:
        super().__init__(f"no {kind} named '{name}'.", hint=hint or suggest(name, known))
        self.kind = kind
        self.name = name


class GrammarError(ConfigurationError):
    """A grammar file has mistakes; the message is the rendered list of all of them."""


class PluginError(ConfigurationError):
    """A plugin is broken, or two plugins claim one name."""


class DataError(AutomlAdmmError, ValueError):
    """The data cannot be used as they are."""

    exit_code = 3


class NoSuccessError(AutomlAdmmError):
    """Not one evaluation succeeded."""

    exit_code = 4


class InfeasibleError(AutomlAdmmError):
    """Nothing within the limits was found; `closest` is the result with the least violation."""

    exit_code = 5

    def __init__(
        self, message: str, *, hint: str | Remedy | None = None, closest: object = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.closest = closest


class NotCertifiedError(AutomlAdmmError):
    """Nothing could be certified; `closest` is the result that was tested, which may be fine."""

    exit_code = 6

    def __init__(
        self, message: str, *, hint: str | Remedy | None = None, closest: object = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.closest = closest


class StoreError(AutomlAdmmError):
    """A run folder or its store is missing, damaged or not ours."""

    exit_code = 7


class DiskFullError(AutomlAdmmError):
    """The disk has no room left for the run folder."""

    exit_code = 8


class FallbackWarning(UserWarning):
    """There was not the time to evaluate anything: what `fit` gives is a makeshift model."""


class LimitWarning(UserWarning):
    """A limit cannot be certified on the rows there are, or does not hold on rows held out."""


class EvaluatorLostError(AutomlAdmmError):
    """The process that evaluates dies whenever it is started; what is known until then is kept."""


def reason_of(problem: BaseException) -> str:
    """What an exception says in its first line, with a full stop; of one without words its kind."""
    said = str(problem).strip().splitlines()
    return f"{said[0].rstrip('.')}." if said else f"{type(problem).__name__}."


def suggest(name: str, known: Iterable[str], *, shown: int = 12) -> str:
    """Say which of the known names is meant, or list them."""
    names = sorted(set(map(str, known)))
    lowered: dict[str, list[str]] = {}
    for known_name in names:
        lowered.setdefault(known_name.casefold(), []).append(known_name)
    closest = difflib.get_close_matches(name.casefold(), lowered, n=2, cutoff=0.6)
    near = [known_name for match in closest for known_name in lowered[match]][:2]
    if near:
        return "Did you mean " + " or ".join(f"'{match}'" for match in near) + "?"
    if not names:
        return "None is known."
    listed = ", ".join(names[:shown])
    return f"Known: {listed}, …" if len(names) > shown else f"Known: {listed}."
