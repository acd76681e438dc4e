"""Readings as plain JSON data, and back."""

from __future__ import annotations

import json

import pytest

from automl_admm.core.errors import StoreError
from automl_admm.data.ingest.records import KINDS, Ingest, Reading, read_ingest
from automl_admm.store.file_schemas import READING
from automl_admm.store.json_content import MismatchError

MIXED = Ingest(
    (
        Reading("age", "number", made=("age",)),
        Reading("born", "date", {"order": ["day", "month"]}, ("born", "born.year"), "dates"),
        Reading("id", "identifier", note="all different"),
        Reading(7, "category", made=("7",), is_asked=True),
        Reading("essay", "text", made=("essay",)),
        Reading("skills", "tags", {"separator": ";"}, ("skills",)),
        Reading("\x1b[31m.größe", "ordered", {"levels": ["S", "M"]}, ("\x1b[31m.größe",)),
    )
)


def test_readings_come_back_from_json_as_they_were():
    described = json.loads(json.dumps(MIXED.as_content()))
    for reading in described["ingest"]:
        READING(reading, "ingest")
    assert read_ingest(described) == MIXED
    assert read_ingest({}) is None


def test_made_columns_are_known_by_role_and_by_origin():
    assert MIXED.numeric == ("age", "born", "born.year")
    assert MIXED.categorical == ("7", "\x1b[31m.größe")
    assert (MIXED.text, MIXED.tags) == (("essay",), ("skills",))
    assert MIXED.origins()["born.year"] == "born"
    assert not MIXED.is_plain
    assert Ingest(MIXED.readings[:1]).is_plain


@pytest.mark.parametrize(
    "readings",
    [
        [{"name": "a"}],
        [{"name": "a", "kind": "colour"}],
        [{"name": "a", "kind": "number", "made": []}],
        [{"name": "a", "kind": "identifier", "made": ["a"]}],
        [{"name": "a", "kind": "number", "facts": 3}],
        [{"name": "a", "kind": "number"}, {"name": "b", "kind": "number", "made": ["a"]}],
        [{"name": "a", "kind": "number"}, {"name": "a", "kind": "text", "made": ["b"]}],
        ["a"],
        {"a": "number"},
    ],
)
def test_readings_that_make_no_sense_are_refused(readings):
    with pytest.raises(StoreError, match=r"make no sense.*fit again"):
        read_ingest({"ingest": readings})


def test_the_schema_of_files_knows_every_kind():
    for kind in KINDS:
        READING({"name": "a", "kind": kind}, "ingest")
    with pytest.raises(MismatchError):
        READING({"name": "a", "kind": "colour"}, "ingest")
