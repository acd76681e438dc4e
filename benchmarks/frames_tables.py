"""Tables as people have them: one kind of trouble each, and a target that hangs on it.

numpy and pandas alone are imported, so that every rival makes the same tables in its own
environment. A table is a function of a random generator and a number of rows; `TABLES` has all of
them by name.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

Made = tuple[pd.DataFrame, Any]
Maker = Callable[[np.random.Generator, int], Made]
TEST_SHARE = 0.25
WORDS = [
    "room",
    "breakfast",
    "staff",
    "street",
    "window",
    "bathroom",
    "coffee",
    "price",
    "station",
    "garden",
    "morning",
    "towel",
    "lift",
    "family",
    "weekend",
    "city",
    "floor",
    "pillow",
    "shower",
    "dinner",
]
GOOD, BAD = "lovely clean friendly quiet superb", "dirty rude noisy broken awful"


@dataclass(frozen=True)
class Task:
    """A table made: its parts to train and to test on."""

    name: str
    X_train: pd.DataFrame
    y_train: pd.Series
    X_test: pd.DataFrame
    y_test: pd.Series
    is_regression: bool


@dataclass(frozen=True)
class Table:
    """A way to make a table; `rows` are as many as it has."""

    name: str
    make: Maker
    rows: int = 1200
    is_regression: bool = False


TABLES: dict[str, Table] = {}


def table(name: str, rows: int = 1200, *, is_regression: bool = False) -> Callable[[Maker], Maker]:
    """Register a table under a name."""

    def register(make: Maker) -> Maker:
        TABLES[name] = Table(name, make, rows, is_regression)
        return make

    return register


def make_task(name: str, seed: int) -> Task:
    """Make a table and part it, the same for everybody who asks with this seed."""
    chosen = TABLES[name]
    rng = np.random.default_rng([seed, *name.encode()])
    X, y = chosen.make(rng, chosen.rows)
    X, y = X.reset_index(drop=True), pd.Series(y, name="target").reset_index(drop=True)
    order = rng.permutation(len(X))
    test = order[: round(TEST_SHARE * len(X))]
    train = order[len(test) :]
    return Task(
        name,
        X.iloc[train].reset_index(drop=True),
        y.iloc[train].reset_index(drop=True),
        X.iloc[test].reset_index(drop=True),
        y.iloc[test].reset_index(drop=True),
        chosen.is_regression,
    )


def noise(rng: np.random.Generator, rows: int, columns: int = 3) -> dict[str, Any]:
    """Make columns of numbers that tell nothing."""
    return {f"noise_{i}": rng.standard_normal(rows) for i in range(columns)}


def label(rng: np.random.Generator, score: Any, sharpness: float = 3.0) -> Any:
    """Draw yes or no, with odds that grow with a score (standardised first)."""
    centred = (score - np.mean(score)) / (np.std(score) + 1e-12)
    drawn = rng.random(len(centred)) < 1 / (1 + np.exp(-sharpness * centred))
    return np.where(drawn, "yes", "no")


def _framed(rng: np.random.Generator, score: Any, **columns: Any) -> Made:
    """Return columns beside noise, with a target that hangs on the score."""
    return pd.DataFrame({**columns, **noise(rng, len(score))}), label(rng, score)


# --- numbers -------------------------------------------------------------------------------------


def _amounts(rng: np.random.Generator, rows: int) -> Any:
    return np.round(np.exp(rng.normal(7, 1.2, rows)), 2)


def _number_texts(name: str, write: Callable[[float], str]) -> None:
    """Register a table whose amounts are written as text."""

    @table(name)
    def make(rng: np.random.Generator, rows: int) -> Made:
        amounts = _amounts(rng, rows)
        return _framed(rng, np.log(amounts), amount=[write(amount) for amount in amounts])


_number_texts("numbers as text", lambda x: f"{x:.2f}")
_number_texts("thousands 1,234.50", lambda x: f"{x:,.2f}")
_number_texts("thousands 1.234,50", lambda x: f"{x:,.2f}".translate({44: 46, 46: 44}))
_number_texts("thousands 1 234,50", lambda x: f"{x:,.2f}".translate({44: " ", 46: ","}))
_number_texts("thousands 1'234.50", lambda x: f"{x:,.2f}".replace(",", "'"))
_number_texts("decimal comma", lambda x: f"{x:.2f}".replace(".", ","))
_number_texts("dollars", lambda x: f"${x:,.2f}")
_number_texts("euros behind", lambda x: f"{x:.2f} €")
_number_texts("currency code", lambda x: f"USD {x:,.0f}")
_number_texts("percent", lambda x: f"{x / 100:.1f}%")
_number_texts("kilograms", lambda x: f"{x:.1f} kg")
_number_texts("scientific", lambda x: f"{x:.3e}")


@table("negatives in parentheses")
def _parentheses(rng: np.random.Generator, rows: int) -> Made:
    balance = np.round(rng.normal(0, 500, rows), 2)
    return _framed(rng, balance, balance=[f"({-b:.2f})" if b < 0 else f"{b:.2f}" for b in balance])


@table("numbers with n/a and dashes")
def _null_texts(rng: np.random.Generator, rows: int) -> Made:
    amounts = _amounts(rng, rows)
    written = np.array([f"{x:.2f}" for x in amounts], dtype=object)
    for marker in ("n/a", "-", "unknown", "n.d."):
        written[rng.random(rows) < 0.03] = marker
    return _framed(rng, np.log(amounts), amount=written)


@table("plain numbers")
def _plain(rng: np.random.Generator, rows: int) -> Made:
    a, b, c = rng.standard_normal((3, rows))
    return _framed(rng, a + b * c, a=a, b=b, c=c)


@table("infinite numbers")
def _infinite(rng: np.random.Generator, rows: int) -> Made:
    a = rng.standard_normal(rows)
    shown = np.where(rng.random(rows) < 0.05, np.inf, a)
    return _framed(rng, a, a=np.where(rng.random(rows) < 0.03, -np.inf, shown))


@table("huge and tiny numbers")
def _huge(rng: np.random.Generator, rows: int) -> Made:
    exponent = rng.uniform(-300, 300, rows)
    return _framed(rng, exponent, size=10.0**exponent)


@table("nullable integers")
def _nullable(rng: np.random.Generator, rows: int) -> Made:
    count = rng.poisson(5, rows)
    shown = pd.array(np.where(rng.random(rows) < 0.1, -1, count), dtype="Int64")
    shown[shown == -1] = pd.NA
    flag = pd.array(count > 5, dtype="boolean")
    flag[rng.random(rows) < 0.2] = pd.NA
    return _framed(rng, count, count=shown, flag=flag)


@table("decimals")
def _decimals(rng: np.random.Generator, rows: int) -> Made:
    amounts = _amounts(rng, rows)
    return _framed(rng, np.log(amounts), amount=[Decimal(f"{x:.2f}") for x in amounts])


@table("half precision")
def _narrow(rng: np.random.Generator, rows: int) -> Made:
    a, b = rng.standard_normal((2, rows))
    return _framed(rng, a - b, a=a.astype(np.float16), b=b.astype(np.float32))


@table("sparse columns")
def _sparse(rng: np.random.Generator, rows: int) -> Made:
    values = rng.standard_normal((rows, 10)) * (rng.random((rows, 10)) < 0.3)
    frame = pd.DataFrame(values).add_prefix("s").astype(pd.SparseDtype(float, 0.0))
    return frame, label(rng, values[:, :3].sum(axis=1))


@table("gaps that tell")
def _gaps(rng: np.random.Generator, rows: int) -> Made:
    a, b = rng.standard_normal((2, rows))
    hidden = rng.random(rows) < 0.4
    return _framed(rng, np.where(hidden, 1.5, a), a=np.where(hidden, np.nan, a), b=b)


@table("wide: 1 500 columns", 200)
def _wide(rng: np.random.Generator, rows: int) -> Made:
    values = rng.standard_normal((rows, 1500))
    frame = pd.DataFrame(values).add_prefix("w")
    return frame, label(rng, values[:, :5].sum(axis=1), 6.0)


@table("50 rows", 60)
def _few(rng: np.random.Generator, rows: int) -> Made:
    a, b = rng.standard_normal((2, rows))
    return _framed(rng, a + b, a=a, b=b, c=rng.choice(list("uvw"), rows))


@table("one column")
def _alone(rng: np.random.Generator, rows: int) -> Made:
    a = rng.standard_normal(rows)
    return pd.DataFrame({"a": a}), label(rng, a)


# --- categories ----------------------------------------------------------------------------------


def _levels(name: str, count: int, rows: int) -> None:
    """Register a table with one category of many levels, each with an effect of its own."""

    @table(name, rows)
    def make(rng: np.random.Generator, rows: int) -> Made:
        effects, places = rng.standard_normal(count), rng.integers(0, count, rows)
        names = np.array([f"city {i}" for i in range(count)])
        return _framed(rng, effects[places], city=names[places])


_levels("10 levels", 10, 1200)
_levels("200 levels", 200, 6000)
_levels("5 000 levels", 5000, 20000)


@table("levels with a long tail", 6000)
def _tail(rng: np.random.Generator, rows: int) -> Made:
    places = np.minimum(rng.zipf(1.5, rows), 3000)
    effects = rng.standard_normal(3001)
    return _framed(rng, effects[places], shop=[f"shop-{p}" for p in places])


@table("codes with zeros: 007")
def _codes(rng: np.random.Generator, rows: int) -> Made:
    places, effects = rng.integers(0, 60, rows), rng.standard_normal(60)
    return _framed(rng, effects[places], zip=[f"{p:05d}" for p in places])


@table("integers that are categories")
def _coded(rng: np.random.Generator, rows: int) -> Made:
    places, effects = rng.integers(0, 30, rows), rng.standard_normal(30)
    return _framed(rng, effects[places], branch=places)


@table("two categories that only count together", 2400)
def _crossed(rng: np.random.Generator, rows: int) -> Made:
    a, b = rng.integers(0, 6, (2, rows))
    effects = rng.standard_normal((6, 6))
    names = np.array([f"k{i}" for i in range(6)])
    return _framed(rng, effects[a, b], a=names[a], b=names[b])


@table("truth values with gaps")
def _truths(rng: np.random.Generator, rows: int) -> Made:
    truth = rng.random(rows) < 0.5
    shown = truth.astype(object)
    shown[rng.random(rows) < 0.2] = np.nan
    return _framed(rng, truth.astype(float), member=shown)


@table("yes, Yes, Y, no, N")
def _spelled(rng: np.random.Generator, rows: int) -> Made:
    truth = rng.random(rows) < 0.5
    yes, no = rng.choice(["yes", "Yes", "Y"], rows), rng.choice(["no", "No", "N"], rows)
    return _framed(rng, truth.astype(float), member=np.where(truth, yes, no))


@table("levels with an order")
def _ordered(rng: np.random.Generator, rows: int) -> Made:
    names = np.array(["very low", "low", "medium", "high", "very high"])
    places = rng.integers(0, 5, rows)
    return _framed(rng, places, risk=names[places])


@table("ages in groups")
def _intervals(rng: np.random.Generator, rows: int) -> Made:
    names = np.array(["<18", "18-29", "30-44", "45-64", "65+"])
    places = rng.integers(0, 5, rows)
    return _framed(rng, np.abs(places - 2), age=names[places])


@table("pandas categories, some unused")
def _categorical(rng: np.random.Generator, rows: int) -> Made:
    effects = rng.standard_normal(8)
    places = rng.integers(0, 6, rows)
    column = pd.Categorical.from_codes(places, categories=[f"c{i}" for i in range(8)])
    return _framed(rng, effects[places], kind=column)


@table("categories that are numbers and text")
def _mixed(rng: np.random.Generator, rows: int) -> Made:
    values = np.array([1, 2, 3, "A", "B"], dtype=object)
    places, effects = rng.integers(0, 5, rows), rng.standard_normal(5)
    return _framed(rng, effects[places], grade=values[places])


@table("only categories, 19 classes", 683)
def _soybean(rng: np.random.Generator, rows: int) -> Made:
    classes = rng.integers(0, 19, rows)
    usual = rng.integers(0, 4, (19, 35))
    odd = rng.random((rows, 35)) < 0.35
    cells = np.where(odd, rng.integers(0, 4, (rows, 35)), usual[classes])
    names = np.array(["norm", "lt-norm", "gt-norm", "absent"])
    frame = pd.DataFrame(names[cells]).add_prefix("leaf_").mask(rng.random((rows, 35)) < 0.05)
    return frame, np.array([f"disease {c}" for c in classes])


# --- dates and times -----------------------------------------------------------------------------


def _days(rng: np.random.Generator, rows: int) -> pd.Series:
    return pd.Series(
        pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 1400, rows), unit="D")
    )


def _date_texts(name: str, write: str) -> None:
    """Register a table whose target hangs on the time that has passed, written as text."""

    @table(name)
    def make(rng: np.random.Generator, rows: int) -> Made:
        days = _days(rng, rows)
        return _framed(rng, days.astype("int64").to_numpy(float), day=days.dt.strftime(write))


_date_texts("dates 2023-05-17", "%Y-%m-%d")
_date_texts("dates 17.05.2023", "%d.%m.%Y")
_date_texts("dates 05/17/2023", "%m/%d/%Y")
_date_texts("dates 17 May 2023", "%d %b %Y")


@table("dates of pandas: the day of the week")
def _weekday(rng: np.random.Generator, rows: int) -> Made:
    days = _days(rng, rows)
    return _framed(rng, (days.dt.day_of_week >= 5).to_numpy(float), day=days)


@table("dates with zones: the hour")
def _zoned(rng: np.random.Generator, rows: int) -> Made:
    hours = rng.integers(0, 24, rows)
    moments = (_days(rng, rows) + pd.to_timedelta(hours, unit="h")).dt.tz_localize("UTC")
    return _framed(rng, ((hours >= 8) & (hours < 18)).astype(float), moment=moments)


@table("moments as ISO text: the hour")
def _iso(rng: np.random.Generator, rows: int) -> Made:
    hours = rng.integers(0, 24, rows)
    moments = _days(rng, rows) + pd.to_timedelta(hours * 3600 + 17, unit="s")
    return _framed(rng, np.abs(hours - 12), moment=moments.dt.strftime("%Y-%m-%dT%H:%M:%SZ"))


@table("dates with gaps: the month")
def _months(rng: np.random.Generator, rows: int) -> Made:
    days = _days(rng, rows)
    months = days.dt.month.to_numpy(float)
    return _framed(rng, np.abs(months - 6.5), day=days.mask(rng.random(rows) < 0.1))


@table("date objects")
def _objects(rng: np.random.Generator, rows: int) -> Made:
    days = _days(rng, rows)
    return _framed(rng, days.astype("int64").to_numpy(float), day=list(days.dt.date))


@table("months as periods")
def _periods(rng: np.random.Generator, rows: int) -> Made:
    days = _days(rng, rows)
    return _framed(rng, days.astype("int64").to_numpy(float), month=days.dt.to_period("M"))


@table("times of day")
def _clock(rng: np.random.Generator, rows: int) -> Made:
    minutes = rng.integers(0, 1440, rows)
    return _framed(rng, np.abs(minutes - 700), at=[f"{m // 60:02d}:{m % 60:02d}" for m in minutes])


@table("durations of pandas")
def _lasting(rng: np.random.Generator, rows: int) -> Made:
    seconds = rng.exponential(5000, rows)
    return _framed(rng, np.log(seconds + 1), lasted=pd.to_timedelta(seconds, unit="s"))


@table("durations 1:23:45")
def _lasting_texts(rng: np.random.Generator, rows: int) -> Made:
    seconds = rng.exponential(5000, rows).astype(int)
    written = [f"{s // 3600}:{s // 60 % 60:02d}:{s % 60:02d}" for s in seconds]
    return _framed(rng, np.log(seconds + 1), lasted=written)


@table("time between two dates")
def _between(rng: np.random.Generator, rows: int) -> Made:
    first, lasted = _days(rng, rows), rng.integers(1, 400, rows)
    last = first + pd.to_timedelta(lasted, unit="D")
    return _framed(rng, lasted, ordered=first, sent=last)


# --- text and lists ------------------------------------------------------------------------------


def _reviews(rng: np.random.Generator, score: Any, length: int = 12) -> list[str]:
    said = []
    for one in score:
        words = list(rng.choice(WORDS, length))
        words += list(rng.choice((GOOD if one else BAD).split(), 2))
        said.append(" ".join(rng.permutation(words)) + ".")
    return said


@table("free text")
def _text(rng: np.random.Generator, rows: int) -> Made:
    good = rng.random(rows) < 0.5
    frame = pd.DataFrame({"review": _reviews(rng, good), **noise(rng, rows)})
    return frame, np.where(good, "yes", "no")


@table("free text with gaps, and numbers")
def _text_and_numbers(rng: np.random.Generator, rows: int) -> Made:
    good, a = rng.random(rows) < 0.5, rng.standard_normal(rows)
    review = pd.Series(_reviews(rng, good)).mask(rng.random(rows) < 0.2)
    return _framed(rng, good + a, review=review, a=a)


@table("parts of a code: AB-1234")
def _part_codes(rng: np.random.Generator, rows: int) -> Made:
    kinds, effects = np.array(["AB", "CX", "QZ", "RT", "UV"]), rng.standard_normal(5)
    places = rng.integers(0, 5, rows)
    codes = [f"{kinds[p]}-{rng.integers(1000, 9999)}" for p in places]
    return _framed(rng, effects[places], part=codes)


@table("addresses of mail")
def _mails(rng: np.random.Generator, rows: int) -> Made:
    hosts, effects = [f"host{i}.example" for i in range(12)], rng.standard_normal(12)
    places = rng.integers(0, 12, rows)
    mails = [f"user{rng.integers(10**6)}@{hosts[p]}" for p in places]
    return _framed(rng, effects[places], mail=mails)


def _tag_sets(rng: np.random.Generator, rows: int) -> tuple[list[list[str]], Any]:
    tags, effects = np.array([f"tag{i}" for i in range(15)]), rng.standard_normal(15)
    chosen = rng.random((rows, 15)) < 0.25
    return [list(tags[row]) for row in chosen], chosen @ effects


@table("tags in a text")
def _tags(rng: np.random.Generator, rows: int) -> Made:
    tags, score = _tag_sets(rng, rows)
    return _framed(rng, score, tags=[", ".join(one) for one in tags])


@table("lists of tags")
def _tag_lists(rng: np.random.Generator, rows: int) -> Made:
    tags, score = _tag_sets(rng, rows)
    return _framed(rng, score, tags=tags)


# --- names, identifiers, odd tables --------------------------------------------------------------


@table("identifiers beside a number")
def _identifiers(rng: np.random.Generator, rows: int) -> Made:
    a = rng.standard_normal(rows)
    made = [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(rows)]
    return _framed(rng, a, id=np.arange(rows), key=made, a=a)


@table("constant and empty columns")
def _constant(rng: np.random.Generator, rows: int) -> Made:
    a = rng.standard_normal(rows)
    return _framed(rng, a, one=1, word="same", nothing=np.nan, none=[None] * rows, a=a)


@table("names with markup and blanks")
def _odd_names(rng: np.random.Generator, rows: int) -> Made:
    a, b = rng.standard_normal((2, rows))
    columns = {
        "<b>a</b> [x]": a,
        "b\n{c}": b,
        "": rng.standard_normal(rows),
        '"q",é': 1.0 * (a > 0),
    }
    return pd.DataFrame(columns), label(rng, a + b)


@table("names that are numbers")
def _numbered(rng: np.random.Generator, rows: int) -> Made:
    values = rng.standard_normal((rows, 6))
    return pd.DataFrame(values), label(rng, values[:, 0] - values[:, 3])


@table("two columns of one name")
def _twice(rng: np.random.Generator, rows: int) -> Made:
    a, b = rng.standard_normal((2, rows))
    frame = pd.DataFrame({"a": a, "b": b, **noise(rng, rows)})
    return frame.set_axis(["a", "a", *frame.columns[2:]], axis=1), label(rng, a - b)


@table("Arrow's types")
def _arrow(rng: np.random.Generator, rows: int) -> Made:
    a, word = rng.standard_normal(rows), rng.choice(["u", "v", "w"], rows)
    frame = pd.DataFrame({"a": a, "word": word, **noise(rng, rows)})
    frame.loc[rng.random(rows) < 0.1, "word"] = None
    return frame.convert_dtypes(dtype_backend="pyarrow"), label(rng, a + (word == "v"))


@table("one in a hundred", 8000)
def _rare(rng: np.random.Generator, rows: int) -> Made:
    a, b = rng.standard_normal((2, rows))
    positive = rng.random(rows) < 1 / (1 + np.exp(-(2 * a + b - 6)))
    return pd.DataFrame({"a": a, "b": b, **noise(rng, rows)}), np.where(positive, "yes", "no")


@table("classes of few rows")
def _few_of_a_class(rng: np.random.Generator, rows: int) -> Made:
    a = rng.standard_normal(rows)
    classes = np.digitize(a, [-2.4, -0.5, 0.5, 2.4])
    return pd.DataFrame({"a": a, **noise(rng, rows)}), np.array(list("vwxyz"))[classes]


# --- quantities ----------------------------------------------------------------------------------


@table("quantity: dates and categories", 2000, is_regression=True)
def _sales(rng: np.random.Generator, rows: int) -> Made:
    days, shops = _days(rng, rows), rng.integers(0, 100, rows)
    size = rng.normal(0, 2, 100)[shops] + 3 * (days.dt.day_of_week >= 5) + rng.normal(0, 1, rows)
    columns = {"day": days.dt.strftime("%Y-%m-%d"), "shop": [f"shop {s}" for s in shops]}
    return pd.DataFrame({**columns, **noise(rng, rows)}), size


@table("quantity: money as text", is_regression=True)
def _money(rng: np.random.Generator, rows: int) -> Made:
    amounts = _amounts(rng, rows)
    frame = pd.DataFrame({"amount": [f"${x:,.2f}" for x in amounts], **noise(rng, rows)})
    return frame, np.log(amounts) + rng.normal(0, 0.3, rows)


@table("quantity: free text", 2000, is_regression=True)
def _stars(rng: np.random.Generator, rows: int) -> Made:
    good = rng.random(rows) < 0.5
    frame = pd.DataFrame({"review": _reviews(rng, good), **noise(rng, rows)})
    return frame, 3.0 * good + rng.normal(0, 0.5, rows)


@table("quantity: heavy tail", 2000, is_regression=True)
def _heavy(rng: np.random.Generator, rows: int) -> Made:
    a, b = rng.standard_normal((2, rows))
    return pd.DataFrame({"a": a, "b": b, **noise(rng, rows)}), np.exp(
        1.2 * a + rng.normal(0, 0.2, rows)
    )
