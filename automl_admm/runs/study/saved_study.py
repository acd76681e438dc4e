"""`study.json`: the space, the limits and the options of a study, to go on with it later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.decisions import Choice, Condition, Decision, Order
from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.core.limits import Limit
from automl_admm.core.messages import say_value
from automl_admm.core.space import Parameter, SearchSpace
from automl_admm.store.json_content import (
    RESTORE,
    MismatchError,
    anything,
    demand_digest,
    demand_format,
    either,
    flag,
    list_of,
    mapping_of,
    nullable,
    number,
    one_of,
    read_content,
    real,
    record,
    text,
    with_digest,
)
from automl_admm.store.run_folder import write_json

FILE, JOURNAL = "study.json", "asks.jsonl"
# The types of values that a file gives back as they are.
PLAIN = (str, int, float, bool, type(None))
VERSION = 2
VALUE = nullable(either("a text, a number or a truth value", text, real, flag))
CONDITION = nullable(record({"decision": text, "alternatives": list_of(text)}))
DECISION = either(
    "a choice or an order",
    record(
        {
            "kind": one_of("choice"),
            "name": text,
            "alternatives": list_of(text),
            "when": CONDITION,
            "values": list_of(VALUE),
        }
    ),
    record(
        {
            "kind": one_of("order"),
            "name": text,
            "items": list_of(text),
            "when": CONDITION,
            "precedence": list_of(list_of(anything)),
        }
    ),
)
PARAMETER = record(
    {
        "name": text,
        "low": number,
        "high": number,
        "kind": one_of("float", "int", "category"),
        "log": flag,
        "default": nullable(number),
        "values": list_of(VALUE),
        "when": CONDITION,
    }
)
_FIELDS = record(
    {
        "name": text,
        "decisions": list_of(DECISION),
        "parameters": list_of(PARAMETER),
        "limits": list_of(
            record({"name": text, "bound": number, "at_least": flag, "extreme": nullable(number)})
        ),
        "cheap": list_of(text),
        "starts": list_of(mapping_of(either("a value or a list", VALUE, list_of(text)))),
        "options": mapping_of(VALUE),
        "objects": list_of(text),
    }
)
CHANGED = "Restore it; Study.load(folder, …) takes changes of a study."


def _study(value: Any, where: str) -> None:
    """Demand the description of a study as it was written: a changed range moves all points."""
    demand_format(value, VERSION, key="version", again="Begin a new study")
    _FIELDS(value, where)
    demand_digest(value)


@dataclass(frozen=True, slots=True)
class SavedStudy:
    """The description of a study; the values of `objects` and `cheap` must be given again."""

    name: str
    space: SearchSpace
    limits: tuple[Limit, ...]
    starts: tuple[Mapping[str, Any], ...]
    options: Mapping[str, Any]
    cheap: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


def demand_writable(space: SearchSpace) -> None:
    """Raise if a file would not give back a value of the space as it is."""
    choices = [one for one in space.decisions if isinstance(one, Choice)]
    holders: list[Choice | Parameter] = [*choices, *space.parameters]
    for one in holders:
        for value in one.values:
            if type(value) not in PLAIN or not _comes_back(value):
                raise ConfigurationError(
                    f"a folder cannot keep the value {say_value(value)} of '{one.name}'.",
                    hint="Use texts, numbers or truth values, and let the objective look up more.",
                )


def _comes_back(value: object) -> bool:
    """Return True if `read_study` takes the value: half of a character it does not."""
    try:
        VALUE(value, "")
    except MismatchError:
        return False
    return True


def write_study(folder: Path, study: SavedStudy) -> None:
    """Write `study.json` into a folder."""
    content = {
        "version": VERSION,
        "name": study.name,
        "decisions": [_decision(one) for one in study.space.decisions],
        "parameters": [asdict(one) for one in study.space.parameters],
        "limits": [_limit(limit) for limit in study.limits],
        "cheap": list(study.cheap),
        "starts": [dict(point) for point in study.starts],
        "options": dict(study.options),
        "objects": list(study.objects),
    }
    write_json(folder / FILE, with_digest(content))


def _limit(limit: Limit) -> dict[str, Any]:
    """Return a limit without a confidence: what an objective returns is not certified."""
    return {name: value for name, value in asdict(limit).items() if name != "confidence"}


def _decision(decision: Decision) -> dict[str, Any]:
    return {"kind": type(decision).__name__.lower(), **asdict(decision)}


def read_study(folder: Path) -> SavedStudy:
    """Read `study.json`; raise if the folder has none, or a damaged one."""
    path = folder / FILE
    try:
        content = read_content(path, _study, hint=CHANGED)
    except FileNotFoundError:
        hint = "Name the work_dir of a Study."
        raise StoreError(f"'{folder}' holds no {FILE}.", hint=hint) from None
    try:
        space, limits = _space(content), tuple(Limit(**_plain(one)) for one in content["limits"])
    except (ConfigurationError, TypeError, ValueError) as problem:
        raise StoreError(f"'{path}' is damaged: {problem}", hint=RESTORE) from problem
    return SavedStudy(
        content["name"],
        space,
        limits,
        tuple(content["starts"]),
        content["options"],
        tuple(content["cheap"]),
        tuple(content["objects"]),
    )


def _space(content: Mapping[str, Any]) -> SearchSpace:
    return SearchSpace(
        tuple(_read_decision(one) for one in content["decisions"]),
        tuple(Parameter(**_plain(one)) for one in content["parameters"]),
    )


def _read_decision(content: Mapping[str, Any]) -> Decision:
    kind = {"choice": Choice, "order": Order}[content["kind"]]
    found: Decision = kind(**_plain({key: one for key, one in content.items() if key != "kind"}))
    return found


def _plain(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record: lists as tuples, a condition as such."""
    found = {key: _tuples(one) for key, one in content.items()}
    if isinstance(when := found.get("when"), dict):
        found["when"] = Condition(when["decision"], tuple(when["alternatives"]))
    return found


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
