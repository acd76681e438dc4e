"""Axes of matplotlib as the pictures of a search use them: colours, dots, names, legends."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from automl_admm.core.errors import ConfigurationError
from automl_admm.progress.visible_text import in_a_line

# Colours that people with any sight tell apart (Okabe and Ito); hollow signs tell it again.
WITHIN, OUTSIDE, BEST, FAINT = "#0072B2", "#D55E00", "#000000", "0.6"
INCHES_A_LINE = 0.28
LONGEST_NAME = 30
LONGEST_LINE = 40


def axes_of(ax: Any, lines: int = 0) -> Any:
    """Return the given axes, or new ones, high enough for the lines."""
    if ax is not None:
        if not hasattr(ax, "get_legend_handles_labels"):
            raise TypeError(
                f"ax must be the axes of matplotlib to draw on, or None for new ones, "
                f"not {shorten_name(repr(ax))}."
            )
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise ConfigurationError(
            "plots need matplotlib, which is not installed.",
            hint="Install it: pip install 'automl-admm[plot]'",
        ) from None
    height = max(4.0, 1.2 + INCHES_A_LINE * lines)
    _, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
    return ax


def scatter(
    ax: Any, x: Sequence[float], y: Sequence[float], *, is_within: bool, has_limits: bool = True
) -> None:
    """Draw full dots for pipelines within the limits, hollow ones for others.

    Without limits a pipeline is outside only if it predicts one class for all rows.
    """
    if not len(x):
        return
    colour = WITHIN if is_within else OUTSIDE
    labels = ("outside the limits, or one class for all rows", "within the limits")
    if not has_limits:
        labels = ("one class for all rows", "evaluation")
    face = colour if is_within else "none"
    label = labels[is_within]
    ax.scatter(x, y, s=18, facecolors=face, edgecolors=colour, alpha=0.7, label=label)


def draw_steps(ax: Any, points: Sequence[tuple[float, float]], *, label: str, **style: Any) -> None:
    """Draw a line of steps; one of a single place cannot be seen, so it has no label either."""
    if len(set(points)) > 1:
        x, y = zip(*points, strict=True)
        ax.step(x, y, label=label, **style)


def say_instead(ax: Any, sentence: str) -> None:
    """Show a sentence in place of a picture that has nothing to show."""
    ax.set_axis_off()
    words = textwrap.fill(sentence, LONGEST_LINE)
    ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes, parse_math=False)


def name_axes(ax: Any, x: str, y: str) -> None:
    """Name both axes."""
    ax.set_xlabel(shorten_name(x, 2 * LONGEST_NAME), parse_math=False)
    ax.set_ylabel(shorten_name(y, 2 * LONGEST_NAME), parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)


def label_lines(ax: Any, places: Iterable[int], names: Sequence[str]) -> None:
    """Name the lines of a picture."""
    ax.set_yticks(list(places), names, parse_math=False)


def add_legend(ax: Any) -> None:
    """Explain the signs, if there are any, above the axes: inside, a key looks like one more dot.

    Two columns are narrow enough for axes that share their figure with others.
    """
    handles, _ = ax.get_legend_handles_labels()
    if handles:
        ax.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize="small"
        )


def shorten_name(name: object, longest: int = LONGEST_NAME) -> str:
    """Return a name on one line, short enough for an axis."""
    text = in_a_line(name)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
