"""The evaluations of a run that rank before the shipped one, and the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from automl_admm.certify.certificate import Certificate
from automl_admm.core.evaluations import Evaluation
from automl_admm.runs.finish.passed_over import MOST_NAMED, numbers_passed_over
from automl_admm.runs.finish.walked_log import came_later
from automl_admm.runs.standings import Standing


def tell_outranked(
    manifest: Mapping[str, Any], certificate: Certificate | None, standings: Sequence[Standing]
) -> str | None:
    """Say which evaluation shipped, and the reason why those that rank before it did not.

    None if none does. Those that the manifest names as passed over have their reason there.
    """
    number = manifest.get("evaluation")
    ranked = [one.evaluation for one in standings if one.rank]
    place = next((place for place, one in enumerate(ranked) if one.number == number), 0)
    if not place:
        return None
    told = numbers_passed_over(manifest)
    others = [one for one in ranked[:place] if one.number not in told]
    if certificate is None or not others:
        return f"what shipped is #{number}."
    named = [
        f"#{one.number} ({_why_not(one, certificate, manifest)})" for one in others[:MOST_NAMED]
    ]
    more = len(others) - len(named)
    named += [f"{more} more"] if more else []
    return (
        f"what shipped is #{number}, by the tests for its certificate (look {certificate.look}); "
        f"before it, by validation rows, rank {', '.join(named)}."
    )


def _why_not(evaluation: Evaluation, certificate: Certificate, manifest: Mapping[str, Any]) -> str:
    """Say the reason why the tests of a certificate did not choose an evaluation."""
    if came_later(evaluation, manifest):
        return "evaluated after these tests, and no later ones gave it the place"
    # A stop of the path of a pipeline is its key, a sign, and a number.
    keys = [name.split("#")[0] for name in certificate.order]
    if evaluation.key not in keys:
        return "not in the order of these tests"
    if keys.index(evaluation.key) >= certificate.position:
        return "later in the order of these tests, which end at the first failure"
    return "tested before it, with decisions that are no better"
