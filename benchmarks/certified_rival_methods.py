"""The methods of certified_rivals.py: each returns decisions for new rows, or no answer.

All rivals test on the very rows that ours sets aside as the first of several looks, with the
package's own exact bound at 5 %; nothing is returned that does not pass. Ours spends 5 % in a last
look, too, and 2.5 % in the first of several. Columns become numbers alike for all rivals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from certified_tasks import RISK, Asked, Calls, Task, balanced
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from automl_admm.core.errors import ConfigurationError, NoSuccessError
from automl_admm.core.space import Array
from automl_admm.grammar.given_text import GrammarText
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import Preparation, prepare

GRAMMAR = Path(__file__).parent / "certified_rivals.lark"
EVALUATIONS, FOLDS = 12, 5  # as many evaluations as Optuna and FLAML have trials
SET_ASIDE = 0.4
STOPS, TRIALS, ITERATIONS = 60, 12, 200
STRENGTHS = (0.03, 1.0)
DOUBLED = 2.0  # half-widths in the predicted safety test of the Seldonian papers
Decide = Callable[[Any], Calls]


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows and their truth."""

    X: Any
    truth: Calls


def numbers() -> Any:
    """Return what turns columns into numbers: means, one-hot codes, one scale."""
    numeric = make_column_selector(dtype_include="number")
    text = make_column_selector(dtype_exclude="number")
    codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    filled = make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), codes)
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    return make_column_transformer((scaled, numeric), (filled, text))


def linear(strength: float = 1.0) -> Any:
    """Return a plain logistic regression."""
    return make_pipeline(numbers(), LogisticRegression(C=strength, max_iter=500))


def prepared_for(
    task: Task,
    looks: Path,
    *,
    by_group: bool = False,
    ensemble: bool = True,
    last_look: bool = False,
    weighs: bool = True,
) -> Preparation:
    """Prepare a run of the package: it says which rows are set aside before anything is fitted."""
    config = RunConfig(
        grammar=str(GRAMMAR) if weighs else _without_weights(),
        task="classification",
        scoring="roc_auc",
        positive=1,
        constraints=(task.asked.text,),
        certify=1.0 - RISK,
        max_evaluations=EVALUATIONS,
        cv=FOLDS,
        executor="inline",
        random_state=task.seed,
        group_thresholds=by_group,
        ensemble=ensemble,
        last_look=last_look,
        looks=looks,  # a new file: each run is the first look at its rows
        portfolio=False,  # it was learned from the tables of `certified_ensembles`
    )
    return prepare(config, task.X, task.truth.astype(int))


def _without_weights() -> GrammarText:
    """Return the grammar of pipelines that take rows as they are."""
    text = GRAMMAR.read_text(encoding="utf-8")
    return GrammarText(text.replace("none | reweigh", "none").replace(", reweigh", ""))


def parted(task: Task) -> tuple[Rows, Rows]:
    """Return the rows to learn from, and those that ours sets aside.

    Where ours says beforehand that no certificate is possible, it is 40 % of the rows.
    """
    every = np.arange(len(task.truth))
    with TemporaryDirectory() as folder:
        try:
            places = prepared_for(task, Path(folder) / "looks.json").set_aside
        except ConfigurationError:
            _, places = train_test_split(
                every, test_size=SET_ASIDE, stratify=task.truth, random_state=task.seed
            )
    is_aside = np.isin(every, places)
    return (
        Rows(task.X[~is_aside], task.truth[~is_aside]),
        Rows(task.X[is_aside], task.truth[is_aside]),
    )


def ours(task: Task, **given: bool) -> Decide | None:
    """Run the package with a certificate."""
    with TemporaryDirectory() as folder:
        try:
            looks = Path(folder) / "looks.json"
            outcome = run_pipelines(prepared_for(task, looks, **given))
        except (ConfigurationError, NoSuccessError):  # no certificate is possible, or no model
            return None
    model = outcome.model
    return (lambda X: np.asarray(model.predict(X) == 1)) if outcome.is_certified else None


def threshold_walk(task: Task, rows: Rows, safe: Rows, *, risk: float = RISK) -> Decide | None:
    """Walk over thresholds of one logistic regression, from an extreme to the best.

    The first that fails ends it. The order is fixed by out-of-fold scores. The extreme is the safe
    one of a rate, and of a gap the one that is nearer to the best threshold.
    """
    ordered, last = _path(task.asked, _oof(rows, 1.0), rows.truth), None
    model = linear().fit(rows.X, rows.truth)
    scores = model.predict_proba(safe.X)[:, 1]
    for threshold in ordered:
        if task.asked.upper(scores >= threshold, safe.truth, safe.X, risk) > task.asked.bound:
            break
        last = threshold
    return None if last is None else _at(model, last)


def _path(asked: Asked, scores: Array, truth: Calls) -> Array:
    """Return thresholds from an extreme to the one with the best balanced accuracy."""
    stops = np.unique(np.quantile(scores, np.linspace(0.002, 0.998, STOPS)))
    best = int(np.argmax([balanced(scores >= one, truth) for one in stops]))
    rate, column, _ = asked.parts
    is_nearer_above = len(stops) - best < best
    falls = rate == "fpr" if column is None else is_nearer_above
    return np.asarray(stops[best:][::-1] if falls else stops[: best + 1])


@cache
def _oof(rows: Rows, strength: float) -> Array:
    """Return out-of-fold scores of a logistic regression."""
    found = cross_val_predict(linear(strength), rows.X, rows.truth, cv=3, method="predict_proba")
    return np.asarray(found[:, 1])


def _at(model: Any, threshold: float) -> Decide:
    return lambda X: np.asarray(model.predict_proba(X)[:, 1] >= threshold)


def predicted(asked: Asked, called: Calls, rows: Rows, safe: int, widths: float) -> float:
    """Predict the bound on the rows set aside: v + widths (u - v) √(n / n_safe)."""
    value = asked.value(called, rows.truth, rows.X)
    width = asked.upper(called, rows.truth, rows.X) - value
    return float(value + widths * width * np.sqrt(len(rows.truth) / safe))


def seldonian_style(task: Task, rows: Rows, safe: Rows) -> Decide | None:
    """Select a candidate by the predicted safety test, then test it (Thomas et al. 2019).

    Candidates are logistic regressions of several strengths at all thresholds; the best balanced
    accuracy of those whose predicted bound is within the limit, else the smallest predicted bound.
    """
    found: list[tuple[bool, float, float, float]] = []
    for strength in STRENGTHS:
        oof = _oof(rows, strength)
        for threshold in np.unique(np.quantile(oof, np.linspace(0.01, 0.99, STOPS // 2))):
            called = oof >= threshold
            bound = predicted(task.asked, called, rows, len(safe.truth), DOUBLED)
            is_inside = bound <= task.asked.bound
            merit = balanced(called, rows.truth) if is_inside else -bound
            found.append((is_inside, merit, strength, float(threshold)))
    _, _, strength, threshold = max(found)
    return _tested(task, _at(linear(strength).fit(rows.X, rows.truth), threshold), safe)


def _tested(task: Task, decide: Decide, safe: Rows) -> Decide | None:
    """Return the decisions if the one test on the rows set aside passes."""
    upper = task.asked.upper(decide(safe.X), safe.truth, safe.X)
    return decide if upper <= task.asked.bound else None


def seldonian_engine(task: Task, rows: Rows, safe: Rows) -> Decide | None:
    """Select a candidate by the toolkit itself, seldonian-engine, and test its decisions.

    The toolkit constrains the rates of decisions drawn at random by the probabilities. Here it
    decides at 0.5, and these decisions are tested. Its loss weighs both classes alike.
    """
    from seldonian.dataset import SupervisedDataSet, SupervisedMetaData
    from seldonian.models.models import BinaryLogisticRegressionModel
    from seldonian.parse_tree.parse_tree import make_parse_trees_from_constraints
    from seldonian.seldonian_algorithm import SeldonianAlgorithm
    from seldonian.spec import SupervisedSpec

    _, column, _ = task.asked.parts
    groups = [] if column is None else sorted(rows.X[column].unique())
    names = [f"g{place}" for place in range(len(groups))]
    coded = numbers().fit(rows.X)
    joined = [*rows.truth, *safe.truth]
    X = np.vstack([coded.transform(one.X) for one in (rows, safe)])
    members = [[*rows.X[column], *safe.X[column]] for _ in names] if column else []
    marks = [np.array(all_) == group for all_, group in zip(members, groups, strict=True)]
    features = [f"x{place}" for place in range(X.shape[1])]
    meta = SupervisedMetaData(
        sub_regime="classification",
        all_col_names=[*names, *features, "y"],
        feature_col_names=features,
        label_col_names=["y"],
        sensitive_col_names=names,
    )
    trees = make_parse_trees_from_constraints(
        [_engine_text(task.asked, names)],
        [RISK],
        regime="supervised_learning",
        sub_regime="classification",
        columns=names,
        delta_weight_method="equal",
    )
    data = SupervisedDataSet(
        features=X,
        labels=np.array(joined, dtype=int),
        sensitive_attrs=np.column_stack(marks).astype(int) if marks else [],
        num_datapoints=len(joined),
        meta=meta,
    )
    spec = SupervisedSpec(
        dataset=data,
        model=BinaryLogisticRegressionModel(),
        parse_trees=trees,
        frac_data_in_safety=len(safe.truth) / len(joined),
        primary_objective=_balanced_loss,
        use_builtin_primary_gradient_fn=False,
        sub_regime="classification",
        initial_solution_fn=_start,
        optimization_technique="gradient_descent",
        optimizer="adam",
        optimization_hyperparams={
            "lambda_init": np.array([0.5]),
            "alpha_theta": 0.01,
            "alpha_lamb": 0.01,
            "beta_velocity": 0.9,
            "beta_rmsprop": 0.95,
            "use_batches": False,
            "num_iters": ITERATIONS,
            "gradient_library": "autograd",
            "hyper_search": None,
            "verbose": False,
        },
    )
    algorithm = SeldonianAlgorithm(spec)
    algorithm.set_initial_solution()
    weights = algorithm.run_candidate_selection()
    if weights is None or isinstance(weights, str):
        return None
    return _tested(
        task, lambda X: np.asarray(weights[0] + coded.transform(X) @ weights[1:] >= 0.0), safe
    )


def _engine_text(asked: Asked, names: list[str]) -> str:
    rate, _, bound = asked.parts
    symbol = {"fpr": "FPR", "fnr": "FNR", "recall": "TPR", "selection_rate": "PR"}[rate]
    if not names:
        return f"{symbol} <= {bound}"
    first, second = names
    return f"abs(({symbol} | [{first}]) - ({symbol} | [{second}])) <= {bound}"


def _start(model: Any, X: Any, y: Any) -> Any:
    del model
    found = LogisticRegression(max_iter=500, class_weight="balanced").fit(X, y)
    return np.concatenate([found.intercept_, found.coef_[0]])


def _balanced_loss(model: Any, theta: Any, X: Any, Y: Any, **_: Any) -> Any:
    from autograd import numpy as differentiable

    chance = differentiable.clip(model.predict(theta, X), 1e-6, 1.0 - 1e-6)
    losses = -(Y * differentiable.log(chance) + (1 - Y) * differentiable.log(1.0 - chance))
    return differentiable.mean(losses * np.where(Y == 1, 0.5 / np.mean(Y), 0.5 / np.mean(1 - Y)))


def reductions(task: Task, rows: Rows, safe: Rows) -> Decide | None:
    """Fit fairlearn's ExponentiatedGradient at a quarter of the limit, and test it.

    Its bound is on the distance of a group to all rows: a gap is at most twice that, and the other
    half is room for the test.
    """
    return _tested(task, fit_reductions(task, rows, task.asked.bound / 4.0), safe)


def fit_reductions(task: Task, rows: Rows, bound: float) -> Decide:
    """Fit fairlearn's ExponentiatedGradient; its costs weigh both classes alike."""
    from fairlearn import reductions as fair

    rate, column, _ = task.asked.parts
    moments = {
        "fpr": fair.FalsePositiveRateParity,
        "recall": fair.TruePositiveRateParity,
        "selection_rate": fair.DemographicParity,
    }
    share = float(rows.truth.mean())
    coded = numbers().fit(rows.X)
    model = fair.ExponentiatedGradient(
        LogisticRegression(solver="liblinear"),  # as in its documentation
        moments[rate](difference_bound=bound),
        objective=fair.ErrorRate(costs={"fp": share, "fn": 1.0 - share}),
    )
    model.fit(
        coded.transform(rows.X),
        rows.truth.astype(int),
        sensitive_features=rows.X[column].to_numpy(),
    )
    return lambda X: np.asarray(model.predict(coded.transform(X), random_state=task.seed) == 1)


def threshold_optimizer(task: Task, rows: Rows, safe: Rows) -> Decide | None:
    """Fit fairlearn's ThresholdOptimizer, and test it."""
    return _tested(task, fit_threshold_optimizer(task, rows), safe)


def fit_threshold_optimizer(task: Task, rows: Rows) -> Decide:
    """Fit fairlearn's ThresholdOptimizer around a logistic regression."""
    from fairlearn.postprocessing import ThresholdOptimizer

    rate, column, _ = task.asked.parts
    parities = {
        "fpr": "false_positive_rate_parity",
        "recall": "true_positive_rate_parity",
        "selection_rate": "demographic_parity",
    }
    model = ThresholdOptimizer(
        estimator=linear(),
        constraints=parities[rate],
        objective="balanced_accuracy_score",
        predict_method="predict_proba",
    )
    model.fit(rows.X, rows.truth.astype(int), sensitive_features=rows.X[column].to_numpy())

    def decide(X: Any) -> Calls:
        groups = X[column].to_numpy()
        found = model.predict(X, sensitive_features=groups, random_state=task.seed)
        return np.asarray(found == 1)

    return decide


def optuna_constraints(task: Task, rows: Rows, safe: Rows, *, widths: float = 0.0) -> Decide | None:
    """Let Optuna's TPE search model and threshold under the limit, and test the best trial.

    The limit is on a third of its rows, `widths` half-widths of the test inside.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    places = np.arange(len(rows.truth))
    learned, seen = (
        Rows(rows.X.iloc[part], rows.truth[part])
        for part in train_test_split(
            places, test_size=1 / 3, stratify=rows.truth, random_state=task.seed
        )
    )

    def objective(trial: Any) -> float:
        model = _suggested(trial, task.seed).fit(learned.X, learned.truth)
        called = _at(model, trial.suggest_float("threshold", 0.02, 0.98))(seen.X)
        reached = task.asked.value(called, seen.truth, seen.X)
        if widths:
            reached = predicted(task.asked, called, seen, len(safe.truth), widths)
        trial.set_constraint("limit", reached - task.asked.bound)
        return balanced(called, seen.truth)

    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=task.seed)
    )
    study.optimize(objective, n_trials=TRIALS)
    try:
        best = study.best_trial
    except ValueError:  # no trial is within the limit
        return None
    model = _suggested(best, task.seed).fit(rows.X, rows.truth)
    return _tested(task, _at(model, best.params["threshold"]), safe)


def _suggested(trial: Any, seed: int) -> Any:
    """Return the model of a trial, or of a finished one by its parameters."""
    if trial.suggest_categorical("kind", ["linear", "boosting"]) == "linear":
        return linear(trial.suggest_float("C", 1e-3, 1e2, log=True))
    rate = trial.suggest_float("rate", 0.02, 0.3, log=True)
    booster = HistGradientBoostingClassifier(learning_rate=rate, max_iter=40, random_state=seed)
    return make_pipeline(numbers(), booster)


def flaml_constraints(task: Task, rows: Rows, safe: Rows) -> Decide | None:
    """Let FLAML search with `metric_constraints`, and test what it returns."""
    import logging

    from flaml import AutoML

    logging.getLogger("flaml").setLevel(logging.ERROR)

    def metric(X: Any, y: Any, estimator: Any, *_: Any, **__: Any) -> tuple[float, dict[str, Any]]:
        called, truth = np.asarray(estimator.predict(X)) == 1, np.asarray(y) == 1
        return 1.0 - balanced(called, truth), {"limit": task.asked.value(called, truth, X)}

    model = AutoML()
    model.fit(
        rows.X,
        rows.truth.astype(int),
        task="classification",
        metric=metric,
        metric_constraints=[("limit", "<=", task.asked.bound)],
        max_iter=TRIALS,
        time_budget=-1,
        eval_method="holdout",
        split_ratio=1 / 3,
        n_jobs=1,
        seed=task.seed,
        verbose=0,
    )
    if model.model is None:
        return None
    return _tested(task, lambda X: np.asarray(model.predict(X)) == 1, safe)


Rival = Callable[[Task, Rows, Rows], Decide | None]
OF_ALL: Mapping[str, Rival] = {
    "ours": lambda task, _rows, _safe: ours(task, last_look=True),
    "ours, the first of several looks": lambda task, _rows, _safe: ours(task),
    "ours, one pipeline": lambda task, _rows, _safe: ours(task, last_look=True, ensemble=False),
    "threshold walk of a logistic regression": threshold_walk,
    "the same walk at a risk of 2.5 %": partial(threshold_walk, risk=RISK / 2),
    "Seldonian-style": seldonian_style,
    "seldonian-engine": seldonian_engine,
    "Optuna": optuna_constraints,
    "Optuna, one half-width inside": partial(optuna_constraints, widths=1.0),
    "FLAML": flaml_constraints,
}
OF_GAPS: Mapping[str, Rival] = {
    "ours, rows not weighed": lambda task, _rows, _safe: ours(task, last_look=True, weighs=False),
    "ours, thresholds by group": lambda task, _rows, _safe: ours(
        task, last_look=True, by_group=True
    ),
    "fairlearn ExponentiatedGradient": reductions,
    "fairlearn ThresholdOptimizer": threshold_optimizer,
}


def rivals_of(task: Task) -> dict[str, Rival]:
    """Return ours and the rivals that know the kind of the limit."""
    is_gap = task.asked.parts[1] is not None
    return {**OF_ALL, **(OF_GAPS if is_gap else {})}
