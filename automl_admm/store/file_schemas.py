"""Schemas of the JSON files of a run folder.

Keys without a reader are not named here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from automl_admm.store.json_content import (
    LARGEST_WHOLE,
    MismatchError,
    Schema,
    anything,
    cell,
    demand_digest,
    demand_format,
    either,
    flag,
    list_of,
    mapping_of,
    moment,
    nullable,
    number,
    one_of,
    real,
    record,
    text,
    whole,
    within,
)
from automl_admm.store.store_schemas import STORE, STORE_MANIFEST

CERTIFICATE_SCHEMA = 2
# The form of `run.json` and `model.json`: a change that makes an older file mean another thing has
# the next number.
RUN_FORMAT = 1
TASK = one_of("classification", "regression")
SHARE = within(0.0, 1.0)
TEXTS = list_of(text)
# The key of the name of the run in the files of a run: the one that `store.json` has.
RUN_ID = "run_id"
# The key in `model.json` of the part of `run.json` that belongs to the model.
OF_RUN = "run"
AS_SHIPPED = "as_shipped"
# In the data of a run: how many values stand so many times among its rows.
REPEATED = "repeated"
# In the data of a run with weights or groups.
LARGEST_TOTAL, TARGET_TYPE = "largest_total", "target_type"
QUANTITIES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
# The key in `run.json` of the pipelines of earlier sessions and of other runs that come first.
TRIED_FIRST = "tried_first"
# The key in `model.json` of the digest of the script; null where none was written.
SCRIPT_SHA256 = "script_sha256"
GAPS_OF_COLUMN = record({"of": text, "empty": whole()})


def interval(value: Any, where: str) -> None:
    """Demand both ends of an interval."""
    list_of(real)(value, where)
    if len(value) != 2:
        raise MismatchError(f"'{where}' has {len(value)} numbers, and 2 were expected")


LIMIT = record(
    {
        "name": text,
        "bound": number,
        "at_least": flag,
        "by_threshold": flag,
        "of_baseline": nullable(real),
    },
    {
        "confidence": SHARE,
        "groups": list_of(text),
        "left_out": list_of(text),
        "cuts": mapping_of(list_of(real)),
    },
)

# The options in a request are checked by the code that knows them, where a run goes on.
REQUEST = record(
    {"looks": nullable(text), "extra_plugins": TEXTS, "only_python": TEXTS},
    {
        "default_workers": flag,
        "title": text,
        "source": nullable(text),
        "share": nullable(text),
        "portion": nullable(text),
        "found_encoding": nullable(text),
        "searched_rows": nullable(whole(1)),
    },
)
SETTINGS = record(
    {
        "grammar_text": text,
        "space_sha256": text,
        "starts": TEXTS,
        "metric": text,
        "metric_best": number,
        "limits": list_of(LIMIT),
        "workers": whole(1),
        "target": nullable(text),
        "sensitive": TEXTS,
        "seed": whole(),
        "folds": whole(1),
        "split": text,
    },
    {
        "task": TASK,
        "test_size": SHARE,
        "certify": nullable(SHARE),
        "group_thresholds": flag,
        "cost": nullable(text),
        "column_cost": nullable(mapping_of(real)),
        "positive": nullable(text),
        "weight": nullable(text),
        "group": nullable(text),
        "time": nullable(text),
    },
)
DATA = record(
    {
        "rows": whole(),
        "columns": whole(),
        "sha256": text,
        "held_out_sha256": nullable(text),
        "rows_sum": text,
        "held_out_rows_sum": nullable(text),
        REPEATED: list_of(record({"times": whole(2), "values": whole(1)})),
    },
    {
        "classes": TEXTS,
        TARGET_TYPE: one_of(*QUANTITIES),
        "for_limits": mapping_of(text),
        "spreads": mapping_of(within(0.0, sys.float_info.max)),
        LARGEST_TOTAL: within(0.0, sys.float_info.max),
        "filled": TEXTS,
    },
)
SESSION = record({"begun": moment, "seconds": nullable(within(0.0, 1e12))})
READING = record(
    {
        "name": either("a text or a whole number", text, whole(-LARGEST_WHOLE)),
        "kind": one_of(
            *("number", "category", "ordered", "text", "tags", "date", "duration", "boolean"),
            *("identifier", "constant", "dropped"),
        ),
    },
    {"facts": mapping_of(anything), "made": TEXTS, "note": text, "is_asked": flag},
)
COLUMN = record(
    {
        "name": either("a text or a whole number", text, whole(-LARGEST_WHOLE)),
        "holds": one_of("boolean", "number", "text", "other"),
        "dtype": text,
    },
    {
        "categories": nullable(
            list_of(either("a text, a number or a truth value", cell, real, flag))
        ),
        "is_ordered": flag,
        "texts": TEXTS,
        "has_gaps": flag,
    },
)
# What the numbers of a run rest on, a digest each.
_BASIS = record(
    dict.fromkeys(
        (
            *("rows", "columns", "classes", "splits", "seed", "software", "components", "metric"),
            *("thresholds", "groups", "machine"),
        ),
        nullable(text),
    )
)
_RUN = record(
    {
        "settings": SETTINGS,
        "data": DATA,
        "request": REQUEST,
        "components_left_out": mapping_of(text),
        "schema": list_of(COLUMN),
        "column_kinds": list_of(one_of("categorical", "many_levels", "text", "tags", "groups")),
        "has_gaps": flag,
        "ordered_columns": TEXTS,
        "basis": _BASIS,
        "brought_by": mapping_of(text),
    },
    {
        RUN_ID: text,
        "sessions": list_of(SESSION),
        "ingest": list_of(READING),
        "answers": list_of(READING),
        "mixed_basis": TEXTS,
        "reuse": list_of(record({"told": text})),
        TRIED_FIRST: list_of(text),
        "result": record({"stopped_by": text}),
    },
)


def run(value: Any, where: str) -> None:
    """Demand a run as this version writes it."""
    demand_format(value, RUN_FORMAT)
    _RUN(value, where)


SCORED = {"evaluation": whole(), "pipeline": text, "validation_score": real}
ENSEMBLE = record(
    {
        "members": list_of(record({**SCORED, "weight": whole(1)})),
        "single": record(SCORED),
        "gain": real,
        "error": real,
    }
)
_ONE_PASSED_OVER = {"evaluation": whole(), "reason": text}
PASSED_OVER = record(
    {**_ONE_PASSED_OVER, "said": text},
    {"is_better": flag, "needs_time": flag, "others": list_of(record(_ONE_PASSED_OVER))},
)
OF_FOLDS = record(
    {"models": whole(1), "rows": whole(1), "searched": whole(1), "reason": text, "said": text}
)
RUN_OF_MODEL = record(
    {
        "settings": SETTINGS,
        "data": DATA,
        "request": REQUEST,
        "basis": _BASIS,
        "ordered_columns": TEXTS,
        "components_left_out": mapping_of(text),
        "plugins": mapping_of(text),
        "brought_by": mapping_of(text),
    }
)
_VALUES = mapping_of(nullable(real))
_THRESHOLD = either("a number, 'never' or 'always'", real, one_of("never", "always"))
_MODEL = record(
    {
        "sha256": text,
        "columns": TEXTS,
        "text_columns": TEXTS,
        "classes": nullable(TEXTS),
        "versions": mapping_of(text),
        "rows": whole(),
        "pipeline": text,
        "fallback": nullable(text),
        "evaluation": nullable(whole()),
        "validation_score": real,
        "feasible": flag,
        "certificate_sha256": nullable(text),
        "one_class": nullable(text),
        "constraints": _VALUES,
        "last_evaluation": nullable(whole()),
        "log_sha256": text,
        "seen_loss": nullable(real),
        "held_out_score": nullable(real),
        "held_out_interval": nullable(interval),
        "held_out_rows": whole(),
        "held_out_constraints": _VALUES,
        "held_out_one_class": nullable(text),
        "held_out_decisions": _VALUES,
        "schema": list_of(COLUMN),
        "trusted_types": TEXTS,
        "is_array": flag,
        OF_RUN: RUN_OF_MODEL,
        AS_SHIPPED: TEXTS,
        SCRIPT_SHA256: nullable(text),
    },
    {
        RUN_ID: text,
        "threshold": nullable(_THRESHOLD),
        "group_thresholds": mapping_of(_THRESHOLD),
        "class_weights": mapping_of(real),
        "temperature": real,
        "calibration": record({"slope": real, "offset": real, "response": text}),
        "lower_threshold": real,
        "least_share": real,
        "passed_over": nullable(PASSED_OVER),
        "ensemble": nullable(ENSEMBLE),
        "untested": nullable(text),
        "alone": nullable(text),
        "went_wrong": nullable(text),
        "of_folds": nullable(OF_FOLDS),
        "few_found": nullable(text),
        "ingest": list_of(READING),
        "answers": list_of(READING),
        "positive": nullable(text),
        "levels": mapping_of(list_of(cell)),
        "gaps": record({}, {"rows": whole(), "columns": mapping_of(GAPS_OF_COLUMN)}),
        "decimal": one_of(","),
    },
)


def model(value: Any, where: str) -> None:
    """Demand the manifest of a model, as this version wrote it."""
    demand_format(value, RUN_FORMAT)
    _MODEL(value, where)
    demand_digest(value)


FINDING = record(
    {
        "limit": text,
        "value": nullable(number),
        "bound": nullable(number),
        "verdict": one_of("certified", "not certified", "violated", "not estimable"),
        "method": text,
        "is_approximate": flag,
        "counts": mapping_of(whole()),
        "rows_needed": nullable(whole()),
        "reason": text,
    },
    {"risk": SHARE},
)
CERTIFICATE = record(
    {
        "schema": one_of(CERTIFICATE_SCHEMA),
        "model_sha256": text,
        "rows_sha256": text,
        "rows": whole(1),
        "pipeline": text,
        "findings": list_of(FINDING),
        "risk": SHARE,
        "risk_spent": SHARE,
        "look": whole(1),
        "order": TEXTS,
        "position": whole(1),
        "versions": mapping_of(text),
        "time": text,
        "data_sha256": text,
        "token": text,
    },
    {
        "tested": whole(),
        "is_last_look": flag,
        "price": record({"utility": text, "certified": number, "without": number}),
    },
)


_ROWS_SET_ASIDE = record(
    {
        "rows": whole(1),
        "places": list_of(whole()),
        "fraction": nullable(SHARE),
        "groups": mapping_of(TEXTS),
        "measured": mapping_of(
            nullable(either("a number or a list of numbers", real, list_of(real)))
        ),
    },
    {
        RUN_ID: text,
        "tested": nullable(list_of(whole())),
        "machine": mapping_of(text),
    },
)


def rows_set_aside(value: Any, where: str) -> None:
    """Demand the places of rows among so many rows, each of them once."""
    _ROWS_SET_ASIDE(value, where)
    places, rows = value["places"], value["rows"]
    if not places or len(set(places)) < len(places) or max(places) >= rows:
        raise MismatchError(f"'places' are not places of different rows among {rows}")
    if max(value.get("tested") or (), default=-1) >= len(places):
        raise MismatchError("'tested' are not places among the rows set aside")


CHANGE = record({"settings_sha256": text, "log": text, "void": flag})

# The files of a `RunFolder` that are read as they are; a certificate has a reader of its own.
SCHEMAS: Mapping[str, Schema] = MappingProxyType(
    {
        "change.json": CHANGE,
        "run.json": run,
        "model.json": model,
        STORE_MANIFEST: STORE,
        "certification-rows.json": rows_set_aside,
    }
)
