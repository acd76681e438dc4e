"""What a work may say of its own outcome."""

from __future__ import annotations


class InvalidOutcome(Exception):  # noqa: N818 - an outcome, not a mistake of the program
    """Raised by a work that ran to its end but has nothing usable to show: status `invalid`."""
