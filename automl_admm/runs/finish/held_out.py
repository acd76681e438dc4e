"""Limits that hold on validation rows and not on rows held out: told, however a run ends."""

from __future__ import annotations

from collections.abc import Iterator

from automl_admm.runs.pipelines import PipelineResult


def tell_broken(outcome: PipelineResult) -> Iterator[str]:
    """Yield a sentence for every limit that held where the pipeline was chosen and not elsewhere.

    A certificate says more of the same rows; what it proves is not broken.
    """
    refit, constraints = outcome.refit, outcome.preparation.constraints
    if outcome.is_certified or len(refit.held_out_constraints) != len(constraints):
        return
    values = zip(constraints, outcome.best.constraints, refit.held_out_constraints, strict=True)
    for constraint, value, other in values:
        limit = constraint.limit
        if limit.holds(value) and not limit.holds(other):
            yield (
                f"{limit} is BROKEN on the {refit.held_out_rows} rows held out ({other:.4g}); it "
                f"holds on the validation rows ({value:.4g}), by which the pipeline was chosen."
            )
