"""Reports of a fitted estimator: tables, pictures, importances, its look in a notebook."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from automl_admm.api.history import leaderboard
from automl_admm.api.importances import importance_frame, permute
from automl_admm.api.plot_methods import Plots
from automl_admm.api.plots import draw_importances
from automl_admm.api.report_rows import rows_asked
from automl_admm.core.errors import ConfigurationError
from automl_admm.pipelines.metrics import Metric
from automl_admm.report.content import as_plain
from automl_admm.report.sections.conflicts import explain_limits
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.finish.passed_over import say_passed_over, say_unsound


class Reports(Plots):
    """The reports of a fitted estimator; `fit` leaves the history, the metric and the classes."""

    best_pipeline_: Any
    best_score_: float
    feasible_: bool
    fallback_: str | None
    _is_best: bool
    ensemble_: Any
    _metric: Metric
    _classes: Any
    _importances: tuple[Any, Any] | None
    _folder: Path | None

    def leaderboard(self) -> Any:
        """Return all evaluations as a frame, best first.

        It has the lines of `automl-admm leaderboard`: those within the limits by score, then the
        others by their excess over the limits. Those `stopped` because they were clearly
        behind, failures and evaluations on a share of the rows come last and have no rank.

        Returns
        -------
        pandas.DataFrame
            With the columns of `automl-admm leaderboard --csv`: rank, number, key, score, for each
            limit its value, its bound and the excess over it (0 within it, in its own unit),
            feasible, seconds, fidelity, status, pipeline and message.
        """
        check_is_fitted(self)
        return leaderboard(self._history)

    def explain_limits(self) -> dict[str, Any]:
        """Explain the limits by the evaluations: which conflict, and what would be met.

        Returns
        -------
        dict
            The content of `automl-admm explain RUN --limits --json`: the smallest sets of limits
            that no evaluation keeps together (`conflicts`), those `never_met`, the `closest`
            evaluations with the bounds that they would be within, and the `trade_offs` of pairs.
        """
        check_is_fitted(self)
        return dict(as_plain(explain_limits(self._history.search)))

    def permutation_importances(
        self, X: Any, y: Any, *, n_repeats: int = 5, random_state: Any = None
    ) -> Any:
        """Measure the loss of score when one column of X is shuffled.

        The columns are those that you give to `predict`, and the score is that of the search. Give
        rows that `fit` has not seen: on its own rows a column that it learned by heart looks
        important. Afterwards `feature_importances_` has the means in the order of the columns.

        Parameters
        ----------
        X : frame or array
            Rows with the columns of `fit`.
        y : array-like
            Their targets.
        n_repeats : int, default=5
            Number of times that a column is shuffled.
        random_state : int, RandomState or None, default=None
            The seed of the shuffles.

        Returns
        -------
        pandas.DataFrame
            The importance of each column and its standard deviation over the repeats, the most
            important first.
        """
        check_is_fitted(self)
        means, deviations = permute(
            self, self._metric, self._classes, X, y, n_repeats=n_repeats, random_state=random_state
        )
        self._importances = means, deviations
        return self._importance_frame()

    def _importance_frame(self) -> Any:
        means, deviations = self._measured_importances()
        names = getattr(self, "feature_names_in_", range(len(means)))
        return importance_frame(names, means, deviations)

    @property
    def feature_importances_(self) -> Any:
        """Importances of the columns, in their order, as last measured."""
        return self._measured_importances()[0]

    def _measured_importances(self) -> tuple[Any, Any]:
        """Return means and standard deviations; `hasattr` takes the AttributeError for a no."""
        check_is_fitted(self)
        if self._importances is None:
            raise AttributeError(
                "importances are not measured yet: call permutation_importances(X, y) with rows "
                "that fit has not seen."
            )
        return self._importances

    def plot_importances(self, ax: Any = None) -> Any:
        """Draw what `permutation_importances` last measured: the thirty most important columns.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            The axes to draw on.

        Returns
        -------
        matplotlib axes
        """
        return draw_importances(self._importance_frame(), self._history.search.metric, ax)

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        data: Any = None,
        groups: Sequence[str] = (),
    ) -> Path:
        """Write the report of the run: one HTML page, and its numbers as JSON beside it.

        It is made from the folder of the run, so `fit` needs a `work_dir`. With `data` it has
        curves, thresholds, quality by group and the importance of columns on these rows, too.

        Parameters
        ----------
        path : str or path, default=None
            The file of the page; None is `report.html` in `work_dir`.
        data : frame, str or path, default=None
            Rows with the target in a column of its name, or a file of such a table; best rows that
            `fit` has not seen.
        groups : sequence of str, default=()
            Columns of `data` to compare groups by, such as `"sex"` or `"age:30,50"`, beside those
            of the limits.

        Returns
        -------
        pathlib.Path
            The file of the page.
        """
        check_is_fitted(self)
        if self._folder is None:
            raise ConfigurationError(
                "a report is made from the folder of a run, and this one had none.",
                hint="Give work_dir, and fit again.",
            )
        from automl_admm.report.writing import write_report

        asked = rows_asked(self._folder, data, groups)
        return write_report(self._folder, None if path is None else Path(path), asked)[0]

    @available_if(lambda self: self.__sklearn_is_fitted__())  # type: ignore[untyped-decorator]
    def _sk_visual_block_(self) -> Any:
        """Show the winner and its score in scikit-learn's diagram."""
        from sklearn.utils._repr_html.estimator import _VisualBlock

        return _VisualBlock("parallel", [self.best_pipeline_], names=[self._headline()])

    def _headline(self) -> str:
        if self.fallback_ is not None:
            return f"best pipeline: a makeshift one ({self.fallback_})"
        scored = _scored(self._history.search.metric, self.best_score_, self.feasible_)
        single = "best pipeline" if self._is_best else "pipeline, not the best found"
        return f"{single if self.ensemble_ is None else 'ensemble'}: {scored}"


def end_lines(outcome: PipelineResult, counted: str) -> list[str]:
    """Return the end of a run in lines; `counted` tells the evaluations."""
    metric, result = outcome.preparation.metric, outcome.result
    score = _scored(metric.name, outcome.score, result.feasible)
    if outcome.fallback is not None:
        score = f"none: a makeshift model ({outcome.fallback})"
    ensemble, passed = outcome.refit.ensemble, outcome.refit.passed_over
    is_best = not any(one.is_better for one in passed)
    title = "best pipeline" if is_best else "what ships   "
    note = "not tested  " if is_best else "not the best"
    best = [f"{title}  {outcome.best.text}"]
    if ensemble is not None:
        members = [f"member         {line}" for line in ensemble.lines()]
        best = [f"ensemble       {ensemble.compared(metric)}", *members]
    of_folds, unsound = outcome.refit.of_folds, say_unsound(outcome.went_wrong)
    return [
        *best,
        *([] if unsound is None else [f"WARNING        {unsound}"]),
        *([] if of_folds is None else [f"what ships     {of_folds}"]),
        *([f"{note}   {say_passed_over(passed)}"] if passed else []),
        f"validation     {score}",
        f"ended by       {result.stopped_by}, after {counted}",
    ]


def _scored(metric: str, score: float, feasible: bool) -> str:  # noqa: FBT001 - it is a fact
    return f"{metric} {score:.4f}{'' if feasible else ', NOT within the limits'}"
