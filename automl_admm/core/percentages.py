"""Shares in percent: none but the whole is 100 %, and no risk is told as smaller than it is."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from math import floor, log10

# As many digits as a risk that was halved once or twice has.
DIGITS_OF_RISKS = Context(prec=4, rounding=ROUND_CEILING)
# Parts of a number that floating point may have added to it.
ROUNDING = 1e-9
# What is so near to the whole is a sum of its parts, rounded.
WHOLE = 1e-12


def percent(part: float) -> str:
    """Return a share in percent with three digits; near the whole with two of what is missing.

    >>> percent(0.25), percent(0.12345), percent(0.9995), percent(1.0)
    ('25 %', '12.3 %', '99.95 %', '100 %')
    """
    missing = 1.0 - part
    if WHOLE < missing < 0.01:
        decimals = 1 - floor(log10(100 * missing))
        return f"{f'{100 * part:.{decimals}f}'.rstrip('0').rstrip('.')} %"
    return f"{100 * part:.3g} %"


def percent_of_risk(risk: float) -> str:
    """Return a chance of an error in percent, rounded up.

    >>> percent_of_risk(0.05), percent_of_risk(0.05 / 2**6)
    ('5 %', '0.07813 %')
    """
    return _said(_of_risk(risk))


def percent_of_confidence(confidence: float) -> str:
    """Return a confidence in percent, rounded down, with the digits of its risk.

    >>> percent_of_confidence(0.95), percent_of_confidence(0.9985), percent_of_confidence(0.999999)
    ('95 %', '99.85 %', '99.9999 %')
    """
    # In decimals: one less a float has digits that nobody gave.
    return _said(100 - _of_risk(float(1 - Decimal(repr(float(confidence))))))


def _of_risk(risk: float) -> Decimal:
    return DIGITS_OF_RISKS.create_decimal_from_float(100 * float(risk) * (1.0 - ROUNDING))


def _said(number: Decimal) -> str:
    return f"{number.normalize():f} %"
