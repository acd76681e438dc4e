"""All the steps that certify, in their order, on made-up models whose truth is known."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from automl_admm.certify.certificate import Certificate, read_certificate, write_certificate
from automl_admm.certify.claims import explain, verify
from automl_admm.certify.plan.margins import slack_of, tighten
from automl_admm.certify.plan.planning import Demand, plan
from automl_admm.certify.walk.findings import Finding
from automl_admm.certify.walk.looks import question_of, risk_of_look, take_look
from automl_admm.certify.walk.sequence import Contender, order, walk
from automl_admm.certify.walk.verdicts import judge
from automl_admm.core.evidence import Evidence, Gap, Rate
from automl_admm.core.limits import Limit

LIMITS = (Limit("fpr", 0.1, extreme=0.0), Limit("fpr_gap[group]", 0.15, extreme=0.0))
RATES = {"cautious": 0.03, "balanced": 0.06, "bold": 0.2}  # a bolder model scores better
GROUPS = {"A": 0.7, "B": 0.3}


@dataclass(frozen=True)
class _Rows:
    """Negative rows: their groups, and a level that a model flags a row below."""

    groups: np.ndarray
    level: np.ndarray

    @classmethod
    def draw(cls, rng: np.random.Generator, rows: int) -> _Rows:
        names, shares = list(GROUPS), list(GROUPS.values())
        return cls(rng.choice(names, rows, p=shares), rng.random(rows))

    def evidence(self, model: str) -> tuple[Evidence, ...]:
        flagged = self.level < RATES[model]
        groups = {
            name: Rate(int(flagged[own].sum()), int(own.sum()), "negatives")
            for name in GROUPS
            if (own := self.groups == name).any()
        }
        return Rate(int(flagged.sum()), len(flagged), "negatives"), Gap(groups)

    def judge(self, model: str, risk: float) -> tuple[Finding, ...]:
        pairs = zip(self.evidence(model), LIMITS, strict=True)
        return tuple(judge(evidence, limit, risk) for evidence, limit in pairs)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.level.tobytes()).hexdigest()


def _contenders(rows: _Rows, share: float, risk: float) -> list[Contender]:
    return [
        Contender(
            model,
            rate,
            min(
                slack_of(limit, evidence, share, risk)
                for limit, evidence in zip(LIMITS, rows.evidence(model), strict=True)
            ),
        )
        for model, rate in RATES.items()
    ]


def test_from_the_plan_to_the_verified_certificate(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows, risk = _Rows.draw(rng, 4000), risk_of_look(1, 0.05)
    demands = [Demand(*pair) for pair in zip(LIMITS, rows.evidence("cautious"), strict=True)]
    planned = plan(demands, risk)
    assert 0 < planned.fraction <= 0.4
    assert planned.shortfalls == ()

    kept = int(planned.fraction * 4000)
    held, searched = (
        _Rows(rows.groups[part], rows.level[part]) for part in (slice(kept), slice(kept, None))
    )
    share = kept / (4000 - kept)
    for demand in demands:
        aimed = tighten(demand.limit, demand.evidence, share, risk)
        assert aimed.bound < demand.limit.bound

    contenders = order(_contenders(searched, share, risk))
    assert [contender.key for contender in contenders] == ["cautious", "balanced"]
    limits, models = [str(limit) for limit in LIMITS], [one.key for one in contenders]
    look = take_look(tmp_path / "looks.json", held.sha256, question_of(models, limits, 0.05), 0.05)
    assert look.risk == risk

    def test(contender: Contender) -> Sequence[Finding]:
        return held.judge(contender.key, look.risk)

    shipped = walk(contenders, test).chosen
    assert shipped is not None
    certificate = Certificate(
        model_sha256="a" * 64,
        rows_sha256=held.sha256,
        rows=kept,
        pipeline=shipped.contender.key,
        findings=shipped.findings,
        risk=0.05,
        risk_spent=look.risk,
        look=look.number,
        order=tuple(models),
        position=models.index(shipped.contender.key) + 1,
    )
    path = tmp_path / "certificate.json"
    write_certificate(path, certificate)
    again = read_certificate(path)
    assert again.is_certified
    assert not again.is_approximate
    assert "fpr_gap[group] <= 0.15" in explain(again)
    model = shipped.contender.key
    claims = {"model_sha256": "a" * 64, "rows_sha256": held.sha256, "look": 1, "risk": 0.05}
    assert verify(again, claims, held.judge(model, look.risk)) == ()
    fresh = _Rows.draw(rng, kept)
    claims["rows_sha256"] = fresh.sha256
    assert verify(again, claims, fresh.judge(model, look.risk)) != ()
    assert not held.judge("bold", look.risk)[0].is_certified
