"""A search taken in steps, lent to a driver and taken back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.runs.study.conversation import ENQUEUED, Conversation
from automl_admm.search.protocol import WAIT, Proposal, Search


def candidate(place: float) -> Candidate:
    return Candidate(Selection(()), (place,))


def result(place: float) -> Evaluation:
    return Evaluation(1, str(place), candidate(place), Status.SUCCESS, loss=place)


def two_points(heard: list[Sequence[Evaluation]]) -> Search:
    heard.append((yield Proposal(candidate(0.1), "theta")))
    heard.append((yield WAIT))
    heard.append((yield Proposal(candidate(0.2), "z")))


def test_results_reach_the_search_at_its_next_step() -> None:
    heard: list[Sequence[Evaluation]] = []
    talk = Conversation()
    talk.begin(two_points(heard))
    assert talk.step() == Proposal(candidate(0.1), "theta")
    assert talk.step() is WAIT
    assert talk.is_idle
    talk.hear(result(0.1))
    assert not talk.is_idle
    assert talk.step() == Proposal(candidate(0.2), "z")
    assert talk.step() is None
    assert talk.is_over
    assert heard == [[], [result(0.1)], []]


def test_what_a_driver_did_not_answer_is_known_afterwards() -> None:
    heard: list[Sequence[Evaluation]] = []
    talk = Conversation()
    talk.begin(two_points(heard))
    talk.first.append(candidate(0.5))
    lent = talk.lent([candidate(0.9)])
    assert next(lent) == Proposal(candidate(0.9), ENQUEUED)
    assert lent.send([result(0.9)]) is WAIT
    assert lent.send([]) == Proposal(candidate(0.5), ENQUEUED)
    assert lent.send([]) == Proposal(candidate(0.1), "theta")
    assert lent.send([result(0.5)]) is WAIT
    lent.close()
    assert talk.unanswered == [candidate(0.1)]
    # What the driver sent is heard, although the search had not asked for it yet.
    assert heard == [[result(0.9), result(0.5)]]
    talk.left.append(candidate(0.1))
    talk.first.append(candidate(0.7))
    assert talk.step() == Proposal(candidate(0.7), ENQUEUED)
    assert talk.step() == Proposal(candidate(0.1), ENQUEUED)


def test_a_driver_at_its_end_leaves_no_proposal() -> None:
    talk = Conversation()
    talk.begin(two_points([]))
    lent = talk.lent()
    assert next(lent) is WAIT
    assert lent.send([]) == Proposal(candidate(0.1), "theta")
    assert lent.send([result(0.1)]) is WAIT
    lent.close()
    assert talk.unanswered == []
    assert talk.step() is WAIT


def test_an_interrupt_in_a_solver_is_not_the_end_of_the_space() -> None:
    def interrupted() -> Search:
        yield Proposal(candidate(0.1), "theta")
        raise KeyboardInterrupt

    talk = Conversation()
    talk.begin(interrupted())
    talk.step()
    with pytest.raises(KeyboardInterrupt):
        talk.step()
    assert (talk.is_over, talk.has_begun) == (False, False)
    talk.begin(two_points([]))
    assert talk.step() == Proposal(candidate(0.1), "theta")
