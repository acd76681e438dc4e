"""The docstrings of the estimators: numpydoc, complete, true, and with examples that run."""

from __future__ import annotations

import doctest
import inspect
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier, AutoMLRegressor
from automl_admm.api import parameters
from automl_admm.api.parameters import ATTRIBUTES, OF_CLASSIFIERS, WORDS, EstimatorOptions
from automl_admm.runs.options import OPTIONS, PipelineOptions, options_of

ESTIMATORS = [AutoMLClassifier, AutoMLRegressor]
SECTION = re.compile(r"^(?P<title>[A-Z]\w+)\n(?P<line>-+)\n", re.MULTILINE)
ITEM = re.compile(r"^(?P<name>\w+) : (?P<type>.+)\n(?P<text>(?:    .+\n?)+)", re.MULTILINE)


def sections(kind: object) -> dict[str, str]:
    text = inspect.getdoc(kind) or ""
    found = list(SECTION.finditer(text))
    ends = [*(one.start() for one in found[1:]), len(text)]
    assert all(len(one["line"]) == len(one["title"]) for one in found)
    return {one["title"]: text[one.end() : end] for one, end in zip(found, ends, strict=True)}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_parameter_is_documented_with_its_default(kind: type) -> None:
    shown = inspect.signature(kind).parameters
    items = list(ITEM.finditer(sections(kind)["Parameters"]))
    assert [one["name"] for one in items] == list(shown)
    for one in items:
        kinds, default = one["type"].rsplit(", default=", 1)
        assert default == repr(shown[one["name"]].default)
        assert kinds
        assert not re.search(r"np\.|Sequence|Mapping|Literal|\bAny\b|OnInfeasible", kinds), kinds
        assert one["text"].rstrip().endswith("."), one["text"]
        assert "--" not in one["text"], "flags are of the command line"
    assert "".join(one[0] for one in items).split() == sections(kind)["Parameters"].split()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_parameter_of_fit_is_documented(kind: Any) -> None:
    found = sections(kind.fit)
    items = list(ITEM.finditer(found["Parameters"]))
    shown = list(inspect.signature(kind.fit).parameters)
    assert ["self", *(one["name"] for one in items)] == shown
    assert all(one["text"].rstrip().endswith(".") for one in items)
    assert found["Returns"].startswith("self : object\n")


def test_words_are_of_parameters_that_are_there() -> None:
    assert set(WORDS) <= set(inspect.signature(EstimatorOptions).parameters)


def test_a_parameter_without_words_of_its_own_has_those_of_its_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parameters, "WORDS", {})

    @parameters.documented()
    class Plain:
        """Do nothing.

        Examples
        --------
        """

    text = sections(Plain)["Parameters"]
    assert "random_state : int or np.random.RandomState, default=None\n    Seed of every" in text
    assert "on_infeasible : {'raise', 'closest'}, default='raise'\n" in text
    assert "Without `time_budget` and with one worker" in " ".join(text.split())
    assert "[default" not in text
    for option in options_of(PipelineOptions):
        assert re.search(rf"^{option.name} : .+, default={re.escape(repr(option.default))}$", text,
                         re.MULTILINE)  # fmt: skip
    assert {option.name for option in options_of(PipelineOptions)} < {o.name for o in OPTIONS}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_attribute_of_a_fitted_estimator_is_documented(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    quantity = X["a"] + rng.normal(size=40)
    y = quantity > 0 if kind is AutoMLClassifier else quantity
    search = kind("tiny", cv=2, max_evaluations=1, executor="inline").fit(X, y)
    search.permutation_importances(X, y)
    items = list(ITEM.finditer(sections(kind)["Attributes"]))
    documented = [one["name"] for one in items]
    expected = {**ATTRIBUTES, **(OF_CLASSIFIERS if kind is AutoMLClassifier else {})}
    assert documented == list(expected)
    assert all(hasattr(search, name) for name in documented)
    public = {n for n in dir(search) if n.endswith("_") and not n.startswith("_")}
    assert public == set(documented)
    assert all(one["text"].rstrip().endswith(".") for one in items)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_examples_run(kind: type) -> None:
    (test,) = doctest.DocTestFinder(recurse=False).find(kind, globs={})
    assert len(test.examples) >= 5
    # Children of a search are seen in docs/how_to/python.md; here the words are what matters.
    searching = [one for one in test.examples if '("tiny", ' in one.source]
    for one in searching:
        one.source = one.source.replace('"tiny", ', '"tiny", cv=2, executor="inline", ')
    assert len(searching) == 1
    assert doctest.DocTestRunner().run(test).failed == 0


def test_without_docstrings_nothing_is_added() -> None:
    class Silent:
        pass

    assert parameters.documented()(Silent).__doc__ is None
