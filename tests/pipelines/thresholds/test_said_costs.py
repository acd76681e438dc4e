"""Costs of pairs of classes: each cell has the cost that was said, whatever the names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.errors import ConfigurationError
from automl_admm.pipelines.thresholds.cost_text import costs_as_text, read_costs

ANIMALS = ("bird", "cat", "dog")
# Names that look like the parts of the text.
HOSTILE = (
    'say "no"',
    "a, b=2",
    "c->d",
    " blank ",
    "*",
    "-",
    "fn=5",
    "",
    "Ünï",
    "l1\nl2",
    "a-",
    ">b",
)


def test_a_pair_has_its_cost_and_stars_have_the_rest() -> None:
    table = read_costs("cat->dog=5, bird -> * = 2, cat->cat=-1, *->*=1").of(ANIMALS).table
    assert table == ((0.0, 2.0, 2.0), (1.0, -1.0, 5.0), (1.0, 1.0, 0.0))
    assert read_costs("no->yes=1,yes->no=5").of(("no", "yes")) == read_costs("fn=5,fp=1").of(
        ("no", "yes")
    )
    assert read_costs("1->2=3,2->1=4").of(np.array([1.0, 2.0])).table == ((0.0, 3.0), (4.0, 0.0))


@given(st.permutations(HOSTILE))
def test_any_names_are_read_back_from_a_text_of_python(names: list[str]) -> None:
    labels = tuple(sorted(names))
    numbers = np.arange(144.0).reshape(12, 12) + 1.5
    np.fill_diagonal(numbers, 0.0)
    frame = pd.DataFrame(numbers, index=labels, columns=labels).loc[names, list(reversed(names))]
    text = costs_as_text(frame)
    assert np.array_equal(read_costs(text).of(labels).table, numbers)
    assert costs_as_text(text) == text


def test_a_mapping_of_python_is_the_same_as_its_text() -> None:
    text = costs_as_text({(1, 2): 5, ("*", "*"): np.float32(0.5)})
    assert text == "1->2=5.0, *->*=0.5"
    assert read_costs(text).of((1, 2, 3)).table[0] == (0.0, 5.0, 0.5)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("cat->dog", "no cost of a pair in 'cat->dog'"),
        ("->dog=1", "no cost of a pair"),
        ("a->b->c=1", "no cost of a pair"),
        ("cat->dog=5; dog->cat=1", "no cost of a pair"),
        ("cat->dog=five", "'five' where a finite number is due"),
        ("cat->dog=nan", "finite"),
        ("cat->dog=5,cat->dog=5", "cat->dog twice"),
        ('cat->dog=5,"cat" -> dog=6,*->*=1', "cat->dog twice"),
        ("cat->dog=5", "no cost of bird->cat, bird->dog, cat->bird and 2 more"),
        ("cow->dog=5,*->*=1", "the class 'cow', and the target has no such class"),
        ("cat->*=5,*->dog=2,*->*=1", "cat->dog is both"),
        ("cat->dog=-5,*->*=1", "cat->dog costs -5, less than the right one"),
        ("cat->cat=1,*->*=1", "every decision on class 'cat' costs the same"),
        ("*->*=0", "costs the same"),
        ("bird->dog=0,cat->dog=0,*->*=1", "deciding 'dog' for every row never costs more"),
    ],
)
def test_what_is_unclear_is_told_and_never_guessed(said: str, why: str) -> None:
    with pytest.raises(ConfigurationError) as problem:
        read_costs(said).of(ANIMALS)
    assert why in str(problem.value)


def test_stars_are_refused_where_a_class_is_called_so() -> None:
    with pytest.raises(ConfigurationError, match="target has a class"):
        read_costs("a->b=2,*->*=1").of(("*", "a", "b"))
    assert read_costs('"*"->a=2,a->"*"=1').of(("*", "a")).table == ((0.0, 2.0), (1.0, 0.0))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"cat": 5}, r"the key 'cat', and not a pair .+ the text 'fn=5,fp=1'"),
        ({("a", "b"): True}, "'True' where a finite number"),
        (pd.DataFrame([[0, None], [1, 0]], index=["a", "b"], columns=["a", "b"]), "finite number"),
    ],
)
def test_costs_of_python_that_make_no_sense_are_one_line(given: object, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        costs_as_text(given)
