"""Refuse limits before anything is measured: settled by a range, or shares of what is none."""

from __future__ import annotations

import math

from automl_admm.constraints.syntax import WrittenLimit
from automl_admm.core.errors import ConfigurationError
from automl_admm.plugins.records import ConstraintPlugin

SHARES = (0.0, 1.0)


def check_percentage(written: WrittenLimit, plugin: ConstraintPlugin) -> None:
    """Raise on a percentage of what is no share, as a time or an error in the target's unit."""
    if not written.is_percent or written.of_baseline or not _is_no_share(plugin):
        return
    part, whole = _said(written, written.bound), _said(written, 100 * written.bound)
    raise ConfigurationError(
        f"the limit '{whole} %' is a percentage, and '{written.name}' is no share of anything.",
        hint=f"Write '{whole}', or '{part} * baseline' to compare with the first pipeline.",
    )


def _is_no_share(plugin: ConstraintPlugin) -> bool:
    """Return True for a cost, and for an error of a quantity; a negated one is 0 at best.

    A share of a plugin need not say that it is at most 1.
    """
    if plugin.highest is not None:
        return plugin.highest <= 0.0
    return plugin.kind != "statistical" or plugin.target == "a quantity"


def check_bound(written: WrittenLimit, plugin: ConstraintPlugin) -> None:
    """Raise if every value of the measure is within the limit, or none is.

    A bound on the edge of the range may stand: `fpr_gap[sex] <= 1` reports a gap without a limit.
    """
    # What hangs on a baseline has no number yet, and `Limit` tells of infinite ones.
    if written.of_baseline or not math.isfinite(written.bound):
        return
    lowest, highest = plugin.lowest, plugin.highest
    if highest is not None and written.bound > highest:
        _refuse(written, f"above {highest:g}", _cure(written, plugin, highest))
    if lowest is not None and written.bound < lowest:
        _refuse(written, f"below {lowest:g}", f"Write more than {lowest:g}.")


def _refuse(written: WrittenLimit, edge: str, cure: str) -> None:
    # A minimum above the range is beyond reach, a maximum below it as well.
    is_never = written.at_least == edge.startswith("above")
    verdict = "can never hold" if is_never else "always holds"
    raise ConfigurationError(
        f"the limit '{_said(written, written.bound)}' {verdict}: '{written.name}' is never {edge}.",
        hint=cure,
    )


def _cure(written: WrittenLimit, plugin: ConstraintPlugin, highest: float) -> str:
    """Say what was meant: percent for a share, or a negated error written without its sign."""
    bound = written.bound
    # A range that the user set by costs is in their unit, even where it ends at 1.
    is_share = (plugin.lowest, highest) == SHARES and not plugin.setting
    if is_share and bound <= 100 and not written.is_percent:
        return f"Write '{_said(written, bound / 100)}' for {bound:g} %."
    if highest == 0:
        return f"Write '{written.name} >= {-bound:g}': it is an error with its sign turned."
    return f"Write less than {highest:g}."


def _said(written: WrittenLimit, bound: float) -> str:
    return f"{written.name} {'>=' if written.at_least else '<='} {bound:g}"
