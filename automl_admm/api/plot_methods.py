"""Pictures of a fitted estimator, as methods that draw on axes of matplotlib."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from automl_admm.api.history import History
from automl_admm.api.plots import (
    draw_components,
    draw_convergence,
    draw_effects,
    draw_limits,
    draw_pareto,
)


class Plots:
    """The plots of a fitted estimator, of the history that `fit` leaves."""

    _history: History

    def plot_convergence(self, ax: Any = None, *, by: str = "evaluation") -> Any:
        """Draw the score of each evaluation, and the best so far within the limits.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            The axes to draw on; None makes a new figure. So it is for every plot here.
        by : {"evaluation", "time"}, default="evaluation"
            The axis: the number of the evaluation, or the seconds of the run.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        return draw_convergence(self._history, ax, by)

    def plot_limits(self, ax: Any = None) -> Any:
        """Draw how far each evaluation, and the model, is from each limit, in parts of its bound.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            The axes to draw on.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        return draw_limits(self._history, ax)

    def plot_pareto(self, limit: str | None = None, ax: Any = None) -> Any:
        """Draw the score of each evaluation over the value of a limit, with bound and front.

        Parameters
        ----------
        limit : str, default=None
            The name of a limit, such as `"latency_us"`; None takes the first.
        ax : matplotlib axes, default=None
            The axes to draw on.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        return draw_pareto(self._history, limit, ax)

    def plot_components(self, ax: Any = None) -> Any:
        """Draw the scores of the evaluations that used each component, the best on top.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            The axes to draw on.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        return draw_components(self._history, ax)

    def plot_effects(self, ax: Any = None) -> Any:
        """Draw the decisions and parameters that mattered to the score, roughly.

        They are those of the report, in the section "What mattered". After fewer than 12
        evaluations, or if none explains more than chance would, a sentence on the axes says so.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            The axes to draw on.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        return draw_effects(self._history, ax)
