from __future__ import annotations

import json
import math
import os

import numpy as np
import pytest

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.evaluations import Status
from automl_admm.core.evidence import (
    Calibration,
    Estimate,
    Explained,
    Fact,
    Gap,
    Largest,
    Mean,
    Quantile,
    RankCorrelation,
    Ranking,
    Rate,
    Ratio,
    RootMeanSquare,
    Smallest,
    Timing,
)
from automl_admm.core.protocols import Finished
from automl_admm.execution.evidence_files import (
    FILES,
    decode_evidence,
    encode_evidence,
    hash_files,
    read_told,
)

RATES = {"a": Rate(np.int64(1), 3, "negatives"), "b": Rate(2, 3)}
SCORES = np.random.default_rng(0).random(20)


class Own:
    """Evidence of a kind that only its author knows."""

    value = np.float32(0.5)


@pytest.mark.parametrize(
    "evidence",
    [
        *(Fact(3.0), Estimate(np.float64(0.1)), RATES["a"], Rate(0, 0), Own()),
        *(Quantile(SCORES, 0.9), RootMeanSquare(SCORES), Explained(SCORES, 2 * SCORES, 0.5)),
        Calibration(SCORES, (SCORES > 0).astype(float)),
        RankCorrelation(-0.25, 40),
        *(
            Mean(SCORES, 0.0, 1.0),
            Mean(SCORES, 0.0, math.inf),
            Timing(SCORES, 0.9),
            Ranking(SCORES[:9], SCORES[9:]),
        ),
        *(
            Smallest(RATES),
            Gap(RATES),
            Ratio(RATES),
            Largest({"tpr": Gap(RATES), "fpr": Gap(RATES)}),
        ),
    ],
    ids=lambda evidence: type(evidence).__name__,
)
def test_evidence_comes_back_as_it_was(evidence):
    (found,) = decode_evidence(encode_evidence([evidence]))
    assert type(found) is (Estimate if isinstance(evidence, Own) else type(evidence))
    assert found.value == evidence.value or (found.value != found.value)
    assert encode_evidence([found]) == encode_evidence([evidence])


def test_numbers_of_earlier_versions_are_read_as_what_they_mean():
    """They were written as a plugin gave them."""
    kept = [{"kind": "Rate", "events": 130.0, "trials": True, "of": "rows"}]
    kept += [{"kind": "RootMeanSquare", "errors": [1.0], "largest": 3}]
    rate, root = decode_evidence(json.dumps(kept).encode())
    assert (rate, type(rate.events), type(rate.trials)) == (Rate(130, 1), int, int)
    assert (root.largest, type(root.largest)) == (3.0, float)


def finished(folder):
    told = {FILES: hash_files([folder / "told"])}
    return Finished(1, Status.SUCCESS, told, folder=folder)


def test_a_file_is_read_as_it_was_told(tmp_path):
    (tmp_path / "told").write_bytes(b"the model")
    task = finished(tmp_path)
    assert read_told(task, "told") == b"the model"
    assert read_told(task, "another") is None
    (tmp_path / "told").write_bytes(b"of somebody else")
    with pytest.raises(AutomlAdmmError, match="not the file that the final fit wrote"):
        read_told(task, "told")
    (tmp_path / "told").unlink()
    os.mkfifo(tmp_path / "told")
    with pytest.raises(AutomlAdmmError, match="no regular file"):
        read_told(task, "told")
