"""Units and currencies beside numbers, and how they convert into each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Factors = Mapping[str, float]


def _all_one(*words: str) -> Factors:
    return dict.fromkeys(words, 1.0)


# One currency in several spellings; rates of exchange are not ours to know.
CURRENCIES: tuple[Factors, ...] = (
    _all_one("$", "US$", "USD", "usd", "Dollar", "dollars"),
    _all_one("€", "EUR", "eur", "Euro", "euro", "euros"),
    _all_one("£", "GBP", "gbp"),
    _all_one("¥", "JPY", "JP¥"),
    _all_one("CHF", "Fr.", "SFr.", "sFr."),
    _all_one("₹", "INR", "Rs", "Rs.", "₨"),
    _all_one("CNY", "RMB", "CN¥", "元"),
    _all_one("₽", "RUB", "руб", "руб."),
    _all_one("₩", "KRW"),
    _all_one("R$", "BRL"),
    _all_one("A$", "AU$", "AUD"),
    _all_one("C$", "CA$", "CAD"),
    _all_one("zł", "PLN"),
    _all_one("Kč", "CZK"),
    _all_one("₺", "TRY", "TL"),
    _all_one("₪", "ILS"),
    _all_one("₫", "VND"),
    *map(_all_one, ("SEK", "NOK", "DKK", "HUF", "MXN", "ZAR", "SGD", "HKD", "NZD", "THB", "IDR")),
)
SIZES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "mn": 1e6, "Mio": 1e6, "Mio.": 1e6, "B": 1e9}
SIZES |= {"bn": 1e9, "Mrd": 1e9, "Mrd.": 1e9, "T": 1e12, "tn": 1e12}
SIZES |= {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
# A table has one dimension; the first one with all units of a column is taken.
DIMENSIONS: tuple[Factors, ...] = (
    {"mg": 1e-6, "g": 1e-3, "kg": 1.0, "t": 1e3, "oz": 0.028349523125, "lb": 0.45359237}
    | {"lbs": 0.45359237},
    {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "in": 0.0254, "ft": 0.3048, "yd": 0.9144}
    | {"mi": 1609.344, "miles": 1609.344},
    {"m²": 1.0, "m2": 1.0, "qm": 1.0, "sqm": 1.0, "km²": 1e6, "km2": 1e6, "ha": 1e4}
    | {"sqft": 0.09290304, "sq ft": 0.09290304, "ft²": 0.09290304},
    {"ml": 1e-3, "mL": 1e-3, "cl": 1e-2, "dl": 0.1, "l": 1.0, "L": 1.0},
    {"B": 1.0, "bytes": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15}
    | {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40},
    {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    {"mW": 1e-3, "W": 1.0, "kW": 1e3, "MW": 1e6, "GW": 1e9},
    {"Wh": 1.0, "kWh": 1e3, "MWh": 1e6},
    {"mV": 1e-3, "V": 1.0, "kV": 1e3},
    {"mA": 1e-3, "A": 1.0},
    {"month": 1.0, "months": 1.0, "mo": 1.0, "mos": 1.0, "year": 12.0, "years": 12.0}
    | {"yr": 12.0, "yrs": 12.0},
    {"st": 1.0, "nd": 1.0, "rd": 1.0, "th": 1.0},
    SIZES,
)
# These make durations, which a file may hold as such.
OF_TIME = frozenset(
    {"ns", "us", "µs", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute"}
    | {"minutes", "h", "hr", "hrs", "hour", "hours", "d", "day", "days", "w", "week", "weeks"}
)


def factors_before(marks: Sequence[str]) -> Factors | None:
    """Return the factors of marks in front of numbers; None if they are no single currency."""
    if not marks:
        return {}
    return next((table for table in CURRENCIES if set(marks) <= table.keys()), None)


def factors_after(marks: Sequence[str], *, is_bare: bool) -> Factors | None:
    """Return the factors of marks behind numbers, the most frequent mark first.

    The factors are those to the first mark. None stands for marks of different dimensions, and for
    units of time, unless there is one mark only. A number without a mark may stand beside one
    mark, or beside sizes such as `k`.
    """
    if not marks:
        return {}
    if set(marks) <= OF_TIME:
        return None
    currency = factors_before(marks)
    if currency is not None:
        return currency
    is_one_word = len({mark.removesuffix("s") for mark in marks}) == 1
    if is_bare and set(marks) <= SIZES.keys():
        return SIZES
    for table in DIMENSIONS:
        if set(marks) <= table.keys():
            return None if is_bare and len(marks) > 1 else _to_base(table, marks[0])
    return _all_one(*marks) if is_one_word else None


def _to_base(table: Factors, base: str) -> Factors:
    return {unit: factor / table[base] for unit, factor in table.items() if unit}
