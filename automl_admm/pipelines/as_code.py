"""A pipeline as the Python code that builds it again, unfitted."""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from automl_admm.pipelines.calibrated import without_calibration

WIDTH = 92
INDENT = "    "
SHORT = 30  # characters of an item that may stand beside others
DATES = "mM"  # kinds of numpy that lists and numbers of Python do not keep
SPLITTERS = "sklearn.model_selection."  # they keep their arguments, and have no `get_params`
THRESHOLDS = (
    *("FixedThresholdClassifier", "GroupThresholdClassifier"),
    *("WeightedClassifier", "AbstainingClassifier"),
)


class NotWritableError(Exception):
    """Raised on an object that no expression of Python builds; the message names it."""


@dataclass(frozen=True, slots=True)
class PipelineCode:
    """Expressions that build a model, and what they import: `module.name`, sorted.

    `thresholds` wraps a fitted `model` in its decision thresholds; it is empty if there are none.
    `calibration` has the last arguments of `calibrated` for it, if its probabilities are that.
    """

    pipeline: str = ""
    thresholds: str = ""
    calibration: str = ""
    imports: tuple[str, ...] = ()
    problem: str = ""

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> PipelineCode:
        """Read its fields as plain data."""
        imports = tuple(map(str, found.get("imports", ())))
        pipeline, thresholds = str(found.get("pipeline", "")), str(found.get("thresholds", ""))
        calibration, problem = str(found.get("calibration", "")), str(found.get("problem", ""))
        return cls(pipeline, thresholds, calibration, imports, problem)


def code_of(model: Any) -> PipelineCode:
    """Return the code of a fitted model; it builds an unfitted one of the same parameters.

    What cannot be written is told in `problem`: a component is anybody's class.
    """
    writer = _Writer()
    try:
        inner = without_thresholds(model)
        thresholds = "" if inner is model else writer.thresholds(model)
        plain, numbers = without_calibration(inner)
        calibration = "" if numbers is None else ", ".join(map(expression, numbers))
        code = writer.value(plain, 0)
        return PipelineCode(code, thresholds, calibration, tuple(sorted(writer.imports)))
    except NotWritableError as problem:
        return PipelineCode(problem=str(problem))
    except Exception as problem:  # noqa: BLE001 - a component is anybody's code
        return PipelineCode(problem=f"{type(problem).__name__}: {problem}")


def without_thresholds(model: Any) -> Any:
    """Return the fitted model inside its decision thresholds; one without any as it is."""
    has_any = type(model).__name__ in THRESHOLDS and hasattr(model.estimator, "estimator")
    return model.estimator.estimator if has_any else model


def undecided(model: Any) -> Any:
    """Return the fitted model inside of its decision thresholds and its calibration."""
    return without_calibration(without_thresholds(model))[0]


def expression(value: Any) -> str:
    """Return plain data as an expression of Python."""
    return _Writer().value(value, 0)


@dataclass(slots=True)
class _Writer:
    """Writes values as expressions, and notes what they import."""

    imports: set[str] = field(default_factory=set)

    def thresholds(self, model: Any) -> str:
        """Write a model with thresholds around the name `model`, which is fitted already."""
        self.imports.add("sklearn.frozen.FrozenEstimator")
        given = [f"{name}={self.value(value, 1)}" for name, value in _given(model).items()]
        arguments = [item for item in given if not item.startswith("estimator=")]
        return _call(self.name(type(model)), ["FrozenEstimator(model)", *arguments], 0)

    def value(self, value: Any, depth: int) -> str:
        """Write any value."""
        if isinstance(value, np.generic):
            return self.scalar(value, depth)
        if isinstance(value, list | tuple | set | frozenset | Mapping):
            return self.container(value, depth)
        if isinstance(value, np.ndarray):
            return self.array(value, depth)
        if isinstance(value, np.ufunc):
            return self.ufunc(value)
        if inspect.isclass(value) or inspect.isroutine(value):
            return self.name(value)
        is_object = hasattr(value, "get_params") or type(value).__module__.startswith(SPLITTERS)
        return self.object(value, depth) if is_object else _plain(value)

    def object(self, item: Any, depth: int) -> str:
        """Write an object with parameters as a call of its class."""
        given = _given(item).items()
        items = [f"{name}={self.value(value, depth + 1)}" for name, value in given]
        return _call(self.name(type(item)), items, depth)

    def scalar(self, value: np.generic, depth: int) -> str:
        """Write a number or a text of numpy as that of Python."""
        item = value.item()
        # A date may become a whole number, and a long number stays one of numpy.
        if value.dtype.kind in DATES or isinstance(item, np.generic):
            raise NotWritableError(f"a parameter is a {type(value).__qualname__}")
        return self.value(item, depth)

    def array(self, value: Any, depth: int) -> str:
        """Write an array, with its type where the list alone makes another one."""
        dtype, items = value.dtype, value.tolist()
        again = None if dtype.kind in DATES else _array_of(items, dtype.str)
        if again is None or (again.dtype, again.shape) != (dtype, value.shape):
            raise NotWritableError(f"a parameter is an array of {dtype} that no list makes")
        plain = _array_of(items)
        is_plain = plain is not None and plain.dtype == dtype
        typed = "" if is_plain else f", dtype={_quoted(dtype.str)}"
        self.note("numpy.array")
        return f"array({self.value(items, depth)}{typed})"

    def ufunc(self, value: Any) -> str:
        """Name a function of numpy; others of its kind do not tell their module."""
        name = str(value.__name__)
        if getattr(np, name, None) is not value:
            raise NotWritableError(f"{name} is a ufunc of another package than numpy")
        self.note(f"numpy.{name}")
        return name

    def container(self, value: Any, depth: int) -> str:
        """Write a list and its like."""
        if isinstance(value, Mapping):
            pairs = value.items()
            items = [f"{self.value(k, depth)}: {self.value(v, depth + 1)}" for k, v in pairs]
            return _bracketed("{", items, "}", depth)
        members = sorted(value) if isinstance(value, set | frozenset) else value
        items = [self.value(item, depth + 1) for item in members]
        if isinstance(value, list):
            return _bracketed("[", items, "]", depth)
        if isinstance(value, tuple):
            return f"({items[0]},)" if len(items) == 1 else _bracketed("(", items, ")", depth)
        return _call(type(value).__name__, [_bracketed("[", items, "]", depth)], depth)

    def name(self, item: Any) -> str:
        """Return the name of a class or a function, and note where it is from."""
        module, name = getattr(item, "__module__", None), getattr(item, "__qualname__", "")
        if module is None or not name.isidentifier() or getattr(item, "__self__", None):
            raise NotWritableError(f"{name or item!r} is not at the top of a module")
        if module != "builtins":
            self.note(f"{_public_home(item, module, name)}.{name}")
        return str(name)

    def note(self, path: str) -> None:
        """Note an import; raise if another object has its name already."""
        name = path.rpartition(".")[2]
        if any(one.rpartition(".")[2] == name and one != path for one in self.imports):
            raise NotWritableError(f"two objects have the name {name}")
        self.imports.add(path)


def _array_of(items: Any, dtype: str | None = None) -> Any:
    """Return the array of a list; None if it is of no one shape, or the type is unknown."""
    try:
        return np.array(items, dtype=dtype)
    except (TypeError, ValueError):
        return None


def _plain(value: Any) -> str:
    """Write a text, a number, or one of Python's constants."""
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, bool | int | bytes):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    raise NotWritableError(f"a parameter is a {type(value).__qualname__}")


def _quoted(text: str) -> str:
    """Return a text in double quotes that Python reads back."""
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    # JSON writes a sign beyond 16 bits as two surrogates, and Python does not join them.
    escaped = text.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{escaped}"'


def _public_home(item: Any, module: str, name: str) -> str:
    """Return the package that gives out an object of a private module of scikit-learn's or others.

    What it gives out by that name may be another object: then it is the private module.
    """
    parts = module.split(".")
    for place, part in enumerate(parts):
        if part.startswith("_") and place:
            home = ".".join(parts[:place])
            if getattr(sys.modules.get(home), name, None) is item:
                return home
    return module


def _given(item: Any) -> dict[str, Any]:
    """Return the parameters of an object that differ from the defaults of its class."""
    known = inspect.signature(type(item).__init__).parameters
    if hasattr(item, "get_params"):
        params = item.get_params(deep=False)
    else:
        params = {name: getattr(item, name) for name in known if hasattr(item, name)}
    return {
        name: value for name, value in params.items() if not _is_default(known.get(name), value)
    }


def _is_default(parameter: inspect.Parameter | None, value: Any) -> bool:
    if parameter is None or parameter.default is inspect.Parameter.empty:
        return False
    default = parameter.default
    return default is value or (type(default) is type(value) and repr(default) == repr(value))


def _call(name: str, items: Iterable[str], depth: int) -> str:
    return _bracketed(f"{name}(", list(items), ")", depth)


def _bracketed(opening: str, items: list[str], closing: str, depth: int) -> str:
    """Return items in brackets: in one line if they fit, short ones side by side, else a line each.

    Arguments of a call are not put side by side.
    """
    line, room = f"{opening}{', '.join(items)}{closing}", WIDTH - len(INDENT) * (depth + 1)
    if len(line) <= room and "\n" not in line:
        return line
    inner = INDENT * (depth + 1)
    rows = [f"{item}," for item in items]
    if len(opening) == 1 and max(map(len, items)) <= SHORT:
        rows = list(_filled(rows, room))
    return f"{opening}\n" + "".join(f"{inner}{row}\n" for row in rows) + INDENT * depth + closing


def _filled(items: Iterable[str], room: int) -> Iterator[str]:
    """Put items side by side, as many as there is room for."""
    line = ""
    for item in items:
        if line and len(line) + 1 + len(item) > room:
            yield line
            line = ""
        line = f"{line} {item}" if line else item
    yield line
