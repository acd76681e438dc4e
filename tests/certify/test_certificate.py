"""Writing, reading, verifying and explaining a certificate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from automl_admm.certify.certificate import Certificate, Price, read_certificate, write_certificate
from automl_admm.certify.claims import explain, verify
from automl_admm.certify.walk.looks import Look
from automl_admm.certify.walk.verdicts import judge, judge_in
from automl_admm.core.errors import StoreError
from automl_admm.core.evidence import Estimate, Fact, Ranking, Rate, Timing
from automl_admm.core.limits import Limit

RNG = np.random.default_rng(0)
FPR = judge(Rate(20, 1000, "negatives"), Limit("fpr", 0.05, extreme=0.0), 0.025)
SIZE = judge(Fact(9.0), Limit("size_mb", 10, extreme=0.0), 0.025)
CALLS = judge(Timing(RNG.uniform(1, 2, 200), 0.95), Limit("latency_ms", 3, extreme=0.0), 0.025)
AUROC = judge(
    Ranking(RNG.normal(1, 1, 150), RNG.normal(0, 1, 400)),
    Limit("roc_auc", 0.67, at_least=True, extreme=1.0),
    0.025,
)
UNKNOWN = judge(Estimate(0.1), Limit("f1_gap", 0.2, extreme=0.0), 0.025)
CERTIFICATE = Certificate(
    model_sha256="a" * 64,
    rows_sha256="b" * 64,
    rows=1234,
    pipeline="standard_scaler() logistic_regression(C=1.0)",
    findings=(FPR, SIZE, CALLS, AUROC),
    risk=0.05,
    risk_spent=0.025,
    look=1,
    order=("key 3", "key 7"),
    position=2,
    versions={"python": "3.11.7"},
    time="2026-11-21T15:00:00+00:00",
)


def _verify(certificate: Certificate = CERTIFICATE, **changed: object) -> tuple[str, ...]:
    findings = changed.pop("findings", CERTIFICATE.findings)
    claims = {"model_sha256": "a" * 64, "rows_sha256": "b" * 64} | changed
    return verify(certificate, claims, findings)


def test_it_survives_being_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    write_certificate(path, CERTIFICATE)
    assert read_certificate(path) == CERTIFICATE
    assert json.loads(path.read_text())["schema"] == 2


def test_a_limit_with_its_own_confidence_is_claimed_at_that(tmp_path: Path) -> None:
    path, look = tmp_path / "certificate.json", Look.of(1, 0.05)
    for confidence, whole, spent in ((0.9, 0.1, "5 %"), (0.99, 0.05, "0.5 %")):
        limit = Limit("fnr", 0.05, extreme=0.0, confidence=confidence)
        own = judge_in(look, Rate(2, 500, "positives"), limit)
        mixed = replace(CERTIFICATE, findings=(FPR, own))
        write_certificate(path, mixed)
        again = read_certificate(path)
        assert again == mixed
        assert "risk" not in json.loads(path.read_text())["findings"][0]
        # Broken is any limit with at most the largest risk of one.
        assert again.whole_risk == pytest.approx(whole)
        said = explain(again).splitlines()
        assert "with probability at most 2.5 %" in said[0]
        assert f"fnr <= 0.05 @ {confidence:g}: if this did not truly hold" in said[1]
        assert f"with probability at most {spent}," in said[1]
        assert (
            "all looks at them together, each at this confidence or a higher one, are wrong with "
            f"probability at most {100 * whole:.0f} %" in said[-1]
        )
        edited = replace(own, risk=0.4)
        assert verify(replace(mixed, findings=(FPR, edited)), {}, mixed.findings) == (
            f"{own.limit}: the certificate says another risk than its confidence leaves.",
        )


def test_what_is_no_number_is_written_as_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    uncertain = replace(CERTIFICATE, findings=(UNKNOWN,))
    write_certificate(path, uncertain)
    assert "NaN" not in path.read_text()
    found = read_certificate(path)
    assert np.isnan(found.findings[0].bound)
    assert _verify(uncertain, findings=found.findings) == ()


def test_it_is_certified_if_all_limits_are_and_approximate_if_any_is() -> None:
    assert CERTIFICATE.is_certified
    assert CERTIFICATE.is_approximate
    assert not replace(CERTIFICATE, findings=(FPR, UNKNOWN)).is_certified
    assert not replace(CERTIFICATE, findings=()).is_certified
    assert not replace(CERTIFICATE, findings=(FPR, SIZE)).is_approximate


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 9}, "'schema' is 9, and 2 was expected"),
        ({"look": None}, "'look' is None, and a whole number"),
        ({"findings": [{}]}, r"'findings\[0\]\.limit' is missing"),
        ({"versions": None}, "'versions' is None, and an object"),
        ({"risk": "much"}, "'risk' is 'much', and a number"),
    ],
)
def test_a_file_that_is_no_certificate_is_an_error(
    tmp_path: Path, change: dict[str, object], words: str
) -> None:
    path = tmp_path / "certificate.json"
    write_certificate(path, CERTIFICATE)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(StoreError, match=words):
        read_certificate(path)


@pytest.mark.parametrize("content", ["", "[]", "{}", "null", '{"schema": 1}'])
def test_a_file_of_something_else_is_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "certificate.json"
    with pytest.raises(StoreError, match="there is no certificate"):
        read_certificate(path)
    path.write_text(content)
    with pytest.raises(StoreError, match=r"is damaged|cannot be read"):
        read_certificate(path)


def test_the_same_again_agrees() -> None:
    assert _verify() == ()


def test_another_model_and_other_rows_are_told() -> None:
    assert "another model" in _verify(model_sha256="c" * 64)[0]
    assert "other rows" in _verify(rows_sha256="c" * 64)[0]


def test_other_counts_values_and_verdicts_are_told() -> None:
    worse = judge(Rate(45, 1000, "negatives"), Limit("fpr", 0.05, extreme=0.0), 0.025)
    told = "\n".join(_verify(findings=(worse, SIZE, CALLS, AUROC)))
    assert "certificate says certified, the rows not certified" in told
    assert "events among negatives were 20, and are 45" in told
    assert "the value was 0.02, and is 0.045" in told
    assert "the bound was" in told


def test_a_bound_of_another_method_is_told() -> None:
    exact = replace(AUROC, is_approximate=False, method="another")
    assert "now is another" in _verify(findings=(FPR, SIZE, CALLS, exact))[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rows", 1235),
        ("data_sha256", "d" * 64),
        ("pipeline", "another()"),
        ("risk", 0.01),
        ("risk_spent", 0.0125),
        ("look", 2),
        ("order", ("key 7", "key 3")),
        ("position", 1),
        ("versions", {"python": "3.12"}),
    ],
)
def test_every_claim_that_does_not_follow_is_told(name: str, value: object) -> None:
    assert _verify(**{name: getattr(CERTIFICATE, name)}) == ()
    (told,) = _verify(**{name: value})
    assert "the certificate says" in told


def test_other_rows_needed_are_told() -> None:
    more = replace(FPR, rows_needed=7)
    assert "rows needed were None, and are 7" in _verify(findings=(more, SIZE, CALLS, AUROC))[0]


def test_limits_that_are_missing_or_new_are_told() -> None:
    told = "\n".join(_verify(findings=(FPR, SIZE, CALLS, UNKNOWN)))
    assert "roc_auc >= 0.67 is in the certificate and was not tested again" in told
    assert "f1_gap <= 0.2 is not in the certificate" in told


def test_the_claim_says_how_it_could_be_wrong_and_what_it_rests_on() -> None:
    fpr, size, calls, auroc, rows, look = explain(CERTIFICATE).splitlines()
    assert "issued with probability at most 2.5 %, for data drawn like the certification" in fpr
    assert size == "size_mb <= 10: certified: it is 9."
    assert "on the machine that timed them" in calls
    assert "probability about 2.5 %" in auroc
    assert "approximate: DeLong" in auroc
    assert "1234" in rows
    assert "look 1" in look
    assert "at most 5 %" in look


def test_what_is_not_certified_is_not_claimed() -> None:
    assert "f1_gap <= 0.2: not estimable" in explain(replace(CERTIFICATE, findings=(UNKNOWN,)))


def test_a_price_of_nothing_says_so() -> None:
    assert str(Price("balanced accuracy", 0.68284, 0.68281)) == (
        "balanced accuracy 0.6828 with and without it (nothing was lost)"
    )
    assert str(Price("balanced accuracy", 0.68, 0.7)).endswith("0.6800 instead of 0.7000")
