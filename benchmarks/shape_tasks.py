"""Tables on which the shape of a pipeline decides, and the grammars that compete on them.

In `order` and `views` every fixed order has exactly the components of the search, one after another
in one order; what the search has beside them is the order itself, and in `views` branches. In
`shipped` the search is over `grammars/shapes.lark` as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np

from automl_admm.core.space import Array

SHAPES = Path(__file__).parents[1] / "grammars" / "shapes.lark"
TEST_ROWS = 4000
NOISE = 0.2
SEARCH = "any_order"
BRANCHED = "any_order with union"

COMPONENTS = """\
%import components (standard_scaler, {more}, polynomial_features)
%import components (ridge, decision_tree, k_neighbors)

%override polynomial_features: "polynomial_features" "(" "degree" "=" "2" ")"
"""
RANKS = '"n_quantiles" "=" "100" "," "output_distribution" "=" "normal"'

ORDERS_RULES = f"""
%override quantile_transformer: "quantile_transformer" "(" {RANKS} ")"

spread: quantile_transformer | standard_scaler
turned: pca
crossed: polynomial_features
estimator: ridge | decision_tree | k_neighbors
"""

VIEWS_RULES = """
%override truncated_svd: "truncated_svd" "(" "n_components" "=" log_int{{"2", "30", "6"}} ")"

spread: standard_scaler | none
view: {view}
turned: truncated_svd
bent: truncated_svd polynomial_features
estimator: ridge | decision_tree | k_neighbors
"""
ONE_VIEW = "none | turned | bent | polynomial_features"
TWO_VIEWS = f"{ONE_VIEW} | union{{standard_scaler, bent}}"

PIECES = ("spread", "turned", "crossed")
VIEWED = ("spread", "view")


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows to search on, many fresh rows to measure on, and what kind of table it is."""

    kind: str
    X: Array
    y: Array
    X_test: Array
    y_test: Array


@dataclass(frozen=True, slots=True)
class DataTask:
    """A table for every seed, and the grammars that compete on it by name."""

    name: str
    draw: Callable[[int], Sample]
    grammars: Mapping[str, str]
    searches: tuple[str, ...]

    @property
    def fixed(self) -> tuple[str, ...]:
        """The names of the grammars of a fixed order."""
        return tuple(name for name in self.grammars if name not in self.searches)


# --- tables --------------------------------------------------------------------------------------


def skewed_mixtures(rng: np.random.Generator, rows: int) -> tuple[Array, Array]:
    """Ranks first, products last: y = f₁f₂ + f₂f₃ of three factors f ~ N(0, 1).

    16 columns are exp of noisy mixtures of f, each in a unit of its own. Only once every column
    is ranked to a normal distribution do products of columns, or of their principal components,
    say anything about y.
    """
    factors = rng.normal(size=(rows, 3))
    mixed = factors @ _directions(rng, 3, 16) * 4.0 + 1.5 * rng.normal(size=(rows, 16))
    columns = np.exp(0.7 * mixed) * 10 ** rng.uniform(-2.0, 2.0, 16)
    return columns, factors[:, 0] * factors[:, 1] + factors[:, 1] * factors[:, 2]


def heavy_factors(rng: np.random.Generator, rows: int) -> tuple[Array, Array]:
    """Principal components first, ranks after them: y = Σ g_k of six g ~ N(0, 1).

    12 columns are a rotation of g³, each cube in a size of its own. The rotation shows the cubes,
    and ranking them gives back g; ranking the mixed columns destroys what the rotation needs.
    """
    normal = rng.normal(size=(rows, 6))
    cubes = normal**3 * np.geomspace(8.0, 1.0, 6)
    columns = cubes @ _directions(rng, 6, 12) + 0.05 * rng.normal(size=(rows, 12))
    return columns, normal.sum(axis=1)


def signed_pairs(rng: np.random.Generator, rows: int) -> tuple[Array, Array]:
    """Products first, ranks after them: y = Σ log(a_k b_k) over five pairs of columns a, b.

    Both columns of a pair have one random sign and sizes that say nothing alone, so that only
    their product is of use, and only its logarithm (much like its rank) is linear in y.
    """
    logs, sizes = rng.normal(size=(rows, 5)), np.exp(rng.normal(size=(rows, 5)))
    signs = rng.choice([-1.0, 1.0], size=(rows, 5))
    pairs = signs[..., None] * np.exp(logs / 2)[..., None] * np.stack([sizes, 1 / sizes], axis=-1)
    return pairs.reshape(rows, 10), logs.sum(axis=1)


def two_views(rng: np.random.Generator, rows: int) -> tuple[Array, Array]:
    """Columns and bent factors beside each other: y = wᵀx / s + (f₁f₂ + f₂f₃) / √2.

    30 columns x = 4 Bᵀf + e are noisy mixtures of three factors; Bw = 0 and s makes both parts of
    one size. The linear part needs all columns. The products need only those of the first three
    principal components, 6, where there are 465 of all columns.
    """
    factors, directions = rng.normal(size=(rows, 3)), _directions(rng, 3, 30)
    columns = 4.0 * factors @ directions + rng.normal(size=(rows, 30))
    weights = rng.normal(size=30)
    linear = columns @ (weights - directions.T @ (directions @ weights))
    bent = factors[:, 0] * factors[:, 1] + factors[:, 1] * factors[:, 2]
    return columns, linear / linear.std() + bent / np.sqrt(2.0)


def trend_and_wave(rng: np.random.Generator, rows: int) -> tuple[Array, Array]:
    """A trend in all columns and a square wave in one: y = 3 wᵀx / 2s + sign(sin 4x₁).

    30 columns x ~ N(0, 1). A linear model sees the trend alone, and trees take many rows for it;
    a model that sees the other's predictions beside the columns has both. Products of columns,
    which a row of modules has too, say nothing of the wave.
    """
    columns = rng.normal(size=(rows, 30))
    trend = columns @ rng.normal(size=30)
    return columns, 1.5 * trend / trend.std() + np.sign(np.sin(4.0 * columns[:, 0]))


ORDER_TABLES = (skewed_mixtures, heavy_factors, signed_pairs)


def draw_order_table(seed: int) -> Sample:
    """The three kinds of table in turn: which order is good hangs on the table."""
    return _sample(ORDER_TABLES[seed % len(ORDER_TABLES)], seed, rows=300)


def draw_views_table(seed: int) -> Sample:
    """One kind of table."""
    return _sample(two_views, seed, rows=180)


def draw_wave_table(seed: int) -> Sample:
    """One kind of table."""
    return _sample(trend_and_wave, seed, rows=400)


Maker = Callable[[np.random.Generator, int], tuple[Array, Array]]


def _sample(make: Maker, seed: int, rows: int) -> Sample:
    """A table with noise of a fifth of the target's spread, split into search and test rows."""
    rng = np.random.default_rng([seed, 5])
    X, y = make(rng, rows + TEST_ROWS)
    y = y + NOISE * y.std() * rng.normal(size=len(y))
    return Sample(make.__name__, X[:rows], y[:rows], X[rows:], y[rows:])


def _directions(rng: np.random.Generator, count: int, columns: int) -> Array:
    """Some directions of a random rotation, one a row."""
    rotation, _ = np.linalg.qr(rng.normal(size=(columns, columns)))
    return np.asarray(rotation[:count], dtype=float)


# --- grammars ------------------------------------------------------------------------------------


def order_grammars() -> dict[str, str]:
    """All three pieces in any order, and in each of the six orders."""
    return {SEARCH: _grammar(_any(PIECES), ORDERS_RULES)} | _in_each_order(PIECES, ORDERS_RULES)


def views_grammars() -> dict[str, str]:
    """Any order with a union; without it; and each of the two orders without it."""
    one, two = VIEWS_RULES.format(view=ONE_VIEW), VIEWS_RULES.format(view=TWO_VIEWS)
    searches = {BRANCHED: _grammar(_any(VIEWED), two), SEARCH: _grammar(_any(VIEWED), one)}
    return searches | _in_each_order(VIEWED, one)


def shipped_grammars() -> dict[str, str]:
    """`shapes.lark` as it ships, and three fixed orders of its modules without its branches.

    What stands in a union there is a module of its own here, and no model is stacked.
    """
    text = SHAPES.read_text()
    rows = (
        ("widened", "reduced", "varied", "selector"),
        ("reduced", "widened", "varied", "selector"),
        ("varied", "selector", "reduced", "widened"),
    )
    return {"shapes.lark": text} | {" ".join(row): _without_branches(text, row) for row in rows}


def _without_branches(text: str, row: Sequence[str]) -> str:
    bodies = {
        "start": "by_type{numbers, categories} prepared estimator",
        "prepared": " ".join(row),
        "widened": "none | standard_scaler | pca | nystroem | polynomial_features",
    }
    dropped = ("derived:", "stacked:", "learner:")
    lines = [line for line in text.splitlines() if not line.startswith(dropped)]
    for place, line in enumerate(lines):
        name = line.partition(":")[0]
        if name in bodies:
            lines[place] = f"{name}: {bodies[name]}"
    joined = "\n".join(lines) + "\n"
    return joined.replace(", k_neighbors)", ")").replace(", gaussian_nb)", ")")


def _in_each_order(pieces: Sequence[str], rules: str) -> dict[str, str]:
    names = [" ".join(order) for order in permutations(pieces)]
    return {name: _grammar(name, rules) for name in names}


def _any(pieces: Sequence[str]) -> str:
    return f"any_order{{{', '.join(pieces)}}}"


def _grammar(middle: str, rules: str) -> str:
    more = "quantile_transformer, pca" if "pca" in rules else "truncated_svd"
    return f"{COMPONENTS.format(more=more)}\nstart: {middle} estimator\n{rules}"


def data_tasks() -> tuple[DataTask, ...]:
    """All tasks."""
    return (
        DataTask("order", draw_order_table, order_grammars(), (SEARCH,)),
        DataTask("views", draw_views_table, views_grammars(), (BRANCHED, SEARCH)),
        DataTask("shipped", draw_wave_table, shipped_grammars(), ("shapes.lark",)),
    )
