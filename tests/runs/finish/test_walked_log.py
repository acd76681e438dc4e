"""The log as it was when a model was chosen, after sessions that added to it or changed it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report_runs import an_evaluation

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.runs.finish.walked_log import came_later, describe_log, has_log_of


def test_the_number_of_one_that_was_cut_short_is_given_to_another_later() -> None:
    cut_short = replace(an_evaluation(2), status=Status.CANCELLED)
    manifest = describe_log((an_evaluation(1), cut_short))
    assert manifest["last_evaluation"] == 1
    later = an_evaluation(2)
    assert has_log_of(manifest, (an_evaluation(1), later))
    assert came_later(later, manifest)
    assert not came_later(an_evaluation(1), manifest)


@pytest.mark.parametrize(
    ("log", "is_there"),
    [
        ((an_evaluation(1), an_evaluation(2), an_evaluation(3)), True),
        ((an_evaluation(2), an_evaluation(1)), True),
        ((an_evaluation(2),), False),
        ((an_evaluation(1), replace(an_evaluation(2), key="of another grammar")), False),
        ((), False),
    ],
    ids=["more", "another order", "one is gone", "a number of another", "nothing"],
)
def test_a_log_without_all_that_it_had_is_another(
    log: tuple[Evaluation, ...], is_there: bool
) -> None:
    manifest = describe_log((an_evaluation(1), an_evaluation(2)))
    assert has_log_of(manifest, log) is is_there
