"""Texts of parts that come again are text, and identifiers without such parts are left out."""

from __future__ import annotations

import uuid

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.forms.known import FORMS
from automl_admm.data.ingest.forms.parts import read_parts, recognise_parts, say_parts

GENERATOR = np.random.default_rng(0)
ROWS = 300
HOSTS = [f"user{n}@host{n % 7}.example" for n in range(ROWS)]
CODES = [f"{['AB', 'CX', 'QZ'][n % 3]}-{n}" for n in range(ROWS)]
GLUED = [code.replace("-", "") for code in CODES]


def kind_of(cells):
    column = pd.Series(list(cells), name="x")
    return next((form.name for form in FORMS if form.recognise(column) is not None), "category")


def digits(size, base):
    return "".join(map(str, GENERATOR.choice(list(base), size)))


@pytest.mark.parametrize(
    "cells",
    [
        HOSTS,
        CODES,
        GLUED,
        [*CODES[:-1], CODES[0]],
        [*CODES[:-20], *[None] * 20],
        [f"https://site{n % 9}.example/{n}" for n in range(ROWS)],
        [f"10.{n % 4}.{n % 251}.{n % 7}" for n in range(ROWS)],
        [f"B-{n}" if n % 50 == 0 else f"A-{n}" for n in range(ROWS)],
    ],
    ids=["mail", "codes", "glued", "two alike", "gaps", "links", "addresses", "a rare part"],
)
def test_texts_of_parts_that_come_again_are_text(cells):
    assert kind_of(cells) == "parts"


@pytest.mark.parametrize(
    "cells",
    [
        [str(uuid.UUID(bytes=GENERATOR.bytes(16), version=4)) for _ in range(3000)],
        [str(uuid.UUID(int=n)) for n in range(30)],
        [digits(32, "0123456789abcdef") for _ in range(ROWS)],
        [digits(10, "ABCDEFGHIJK0123456789") for _ in range(ROWS)],
        [f"{digits(4, '0123456789')}-{digits(4, '0123456789')}" for _ in range(3000)],
        [f"ID-{n:05}" for n in range(ROWS)],
        [f"user{n}@host.example" for n in range(ROWS)],
        ["odd-1", *[f"ID-{n}" for n in range(ROWS)]],
    ],
    ids=["uuid", "short uuid", "hash", "key", "random", "running", "one host", "one is odd"],
)
def test_identifiers_without_such_parts_are_left_out(cells):
    assert kind_of(cells) == "identifier"


@pytest.mark.parametrize(
    "cells",
    [
        [f"city {n % 150}" for n in range(ROWS)],
        [f"AB-{n % 200}" for n in range(ROWS)],
        CODES[:15],
    ],
    ids=["levels", "levels of parts", "few"],
)
def test_levels_stay_a_category(cells):
    assert kind_of(cells) == "category"


def test_glued_parts_are_made_into_words_and_a_line_says_it():
    facts = recognise_parts(pd.Series(GLUED, name="x"))
    later = pd.Series(["AB77", None, "", "new"], name="x")
    assert read_parts(later, facts, row_of)[""].tolist() == ["AB 77", "", "", "new"]
    assert say_parts(facts).startswith("texts of parts that come again, such as 'qz' in 'QZ")
    apart = recognise_parts(pd.Series(CODES, name="x"))
    assert read_parts(pd.Series(CODES, name="x"), apart, row_of)[""].tolist() == CODES
