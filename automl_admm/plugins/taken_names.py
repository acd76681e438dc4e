"""Names taken without a record: scorers of scikit-learn, and comparisons by a known measure.

A metric or a limit may be any scorer of scikit-learn; `recall_gap` and `min_recall` compare groups
or classes by another limit. No plugin may take such a name.
"""

from __future__ import annotations

from importlib import metadata

from automl_admm.plugins.records import ConstraintPlugin
from automl_admm.plugins.registry import Registry

SCIKIT_LEARN = "scikit-learn"
NAMING = frozenset({"metrics", "constraints"})  # the hooks whose names are measures
# A test holds them to those of scikit-learn, which takes a second to import.
SCORERS = frozenset(
    """
    accuracy adjusted_mutual_info_score adjusted_rand_score average_precision
    balanced_accuracy completeness_score d2_absolute_error_score d2_brier_score
    d2_log_loss_score explained_variance f1 f1_macro f1_micro f1_samples f1_weighted
    fowlkes_mallows_score homogeneity_score jaccard jaccard_macro jaccard_micro
    jaccard_samples jaccard_weighted matthews_corrcoef mutual_info_score neg_brier_score
    neg_log_loss neg_max_error neg_mean_absolute_error neg_mean_absolute_percentage_error
    neg_mean_gamma_deviance neg_mean_poisson_deviance neg_mean_squared_error
    neg_mean_squared_log_error neg_median_absolute_error neg_negative_likelihood_ratio
    neg_root_mean_squared_error neg_root_mean_squared_log_error normalized_mutual_info_score
    positive_likelihood_ratio precision precision_macro precision_micro precision_samples
    precision_weighted r2 rand_score recall recall_macro recall_micro recall_samples
    recall_weighted roc_auc roc_auc_ovo roc_auc_ovo_weighted roc_auc_ovr
    roc_auc_ovr_weighted top_k_accuracy v_measure_score
    """.split()  # noqa: SIM905 - a list would take a line for each
)
WORST = ("min_", "max_")
MACRO = "macro_"
ENDINGS = ("", "_gap", "_ratio")


def taken_by(hook: str, name: str, constraints: Registry[ConstraintPlugin]) -> str | None:
    """Return the provider of the present meaning of a name without a record; None for a free name.

    `constraints` are the built-in ones: they keep their names in any case.
    """
    if hook not in NAMING:
        return None
    if name in SCORERS:
        return _scikit_learn()
    return _compared_by(name, constraints) if hook == "constraints" else None


def _compared_by(name: str, constraints: Registry[ConstraintPlugin]) -> str | None:
    """Return the provider of the measure compared by a limit of this name."""
    macro = name.removeprefix(MACRO)
    inner = [name.removeprefix(start) for start in WORST]
    for base in (one.removesuffix(end) for end in ENDINGS for one in (name, *inner, macro)):
        if base == name:
            continue
        if base in constraints and constraints.get(base).kind == "statistical":
            return constraints.provider(base)
        # scikit-learn's scorers have no mean over classes.
        if base in SCORERS and macro == name:
            return _scikit_learn()
    return _numbered_by(name, constraints)


def _numbered_by(name: str, constraints: Registry[ConstraintPlugin]) -> str | None:
    """Return the provider of a measure with a number at the end, as in rising_breaks_1000."""
    base, _, number = name.rpartition("_")
    is_numbered = number.isdecimal() and base in constraints
    if is_numbered and constraints.get(base).numbered is not None:
        return constraints.provider(base)
    return None


def _scikit_learn() -> str:
    return f"{SCIKIT_LEARN} {metadata.version(SCIKIT_LEARN)}"
