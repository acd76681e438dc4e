"""All values that the checks of options accept come back from the request of a run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from option_values import LIMIT, other_value

from automl_admm.core.errors import ConfigurationError
from automl_admm.runs.config import RunConfig
from automl_admm.runs.option_record import Kind, Option
from automl_admm.runs.options import OPTIONS
from automl_admm.runs.saved_request import check_request, describe_request

# What a program may give beside the example of each kind; the checks refuse some.
ODD_VALUES: Mapping[Kind, tuple[Any, ...]] = {
    Kind.WHOLE: (2.0, np.float32(2), Fraction(2), 2.5, np.int8(2), math.inf, True),
    Kind.SHARE: (0.75, Fraction(3, 4), np.float16(0.5), 0, 1, math.nan),
    Kind.SECONDS: (60, 60.5, Fraction(60), np.float32(60), np.int64(60), math.inf),
    Kind.BYTES: (2e9, Fraction(2 * 10**9), np.int64(2 * 10**9), np.float64(2e9), 2.5e6),
    Kind.FOLDS: (0.25, np.float32(0.25), np.int64(3)),
    Kind.COSTS: ({"a": Fraction(1, 2)}, {1: np.float32(2)}, {"a": 3}),
    Kind.LABEL: (True, False, np.True_, 1, 2.5, np.int64(3), math.inf, -math.inf, ""),
}
SAVED = [option for option in OPTIONS if option.is_saved]
CERTIFIED = {"certify": 0.9, "constraints": (LIMIT,)}


def config_of(option: Option, value: Any) -> RunConfig:
    needed = CERTIFIED if option.name in ("certify", "certify_fraction", "last_look") else {}
    return RunConfig("tiny", **{**needed, option.name: value})


def said_of(config: RunConfig) -> dict[str, Any]:
    """The request as the file of a run has it."""
    said: dict[str, Any] = json.loads(json.dumps(describe_request(config)))
    return said


@pytest.mark.parametrize("option", SAVED, ids=lambda option: option.name)
def test_all_that_the_checks_accept_is_read_back(option: Option) -> None:
    accepted = 0
    for value in (other_value(option), *ODD_VALUES.get(option.kind, ())):
        try:
            config = config_of(option, value)
        except ConfigurationError:
            continue
        accepted += 1
        said = said_of(config)
        check_request(said, Path("run.json"))
        assert said[option.name] == json.loads(json.dumps(getattr(config, option.name)))
    assert accepted


@pytest.mark.parametrize("option", SAVED, ids=lambda option: option.name)
def test_a_whole_number_is_an_int_and_a_share_no_fraction(option: Option) -> None:
    kinds = {Kind.WHOLE: {int}, Kind.SHARE: {int, float}, Kind.SECONDS: {int, float}}
    for value in ODD_VALUES.get(option.kind, ()) if option.kind in kinds else ():
        try:
            config = config_of(option, value)
        except ConfigurationError:
            continue
        assert type(getattr(config, option.name)) in kinds[option.kind], value
