"""An ensemble that ships: its members, their weights, and the single pipeline that it beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.results import EvaluationResult
from automl_admm.pipelines.metrics import Metric


@dataclass(frozen=True, slots=True)
class Member:
    """An evaluation whose pipeline is in an ensemble, and its weight there."""

    evaluation: Evaluation
    weight: int

    @property
    def name(self) -> str:
        """The name of the pipeline in the model."""
        return f"pipeline_{self.evaluation.number}"


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The members, the heaviest first, and the best `single` pipeline.

    `gain` is the mean gain of the loss over single pipelines on rows that did not choose them, and
    `error` its standard error.
    """

    members: tuple[Member, ...]
    single: Evaluation
    gain: float
    error: float

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(member.weight for member in self.members)

    @property
    def key(self) -> str:
        """The key that tells it from other ensembles and from pipelines."""
        return "+".join(f"{one.weight}×{one.evaluation.key}" for one in self.members)

    def shares(self) -> list[str]:
        """Return the share and the number of each member."""
        return [
            f"{100 * one.weight / self.total:.0f} % #{one.evaluation.number}"
            for one in self.members
        ]

    def lines(self) -> list[str]:
        """Return a line for each member: its share, its number, its pipeline."""
        pairs = zip(self.shares(), self.members, strict=True)
        return [f"{share} {one.evaluation.text}" for share, one in pairs]

    def compared(self, metric: Metric) -> str:
        """Say how many pipelines it has, and how the single best one scored."""
        single, gain = metric.score(self.single.loss), f"{self.gain:+.4f} ± {self.error:.4f}"
        return (
            f"{len(self.members)} pipelines; the best single one, #{self.single.number}, has "
            f"{metric.name} {single:.4f} (gain {gain} on rows that did not choose)"
        )

    def as_evaluation(self, found: EvaluationResult, seconds: float) -> Evaluation:
        """Return its evaluation on out-of-fold predictions; it has no number in the log."""
        return Evaluation(
            number=0,
            key=self.key,
            candidate=self.members[0].evaluation.candidate,
            status=Status.SUCCESS,
            loss=found.loss,
            constraints=found.constraints,
            seconds=seconds,
            text=f"ensemble of {'; '.join(self.lines())}",
            details=found.details,
        )

    def as_content(self, metric: Metric) -> dict[str, Any]:
        """Describe it for `model.json`."""
        return {
            "members": [
                {
                    "evaluation": one.evaluation.number,
                    "weight": one.weight,
                    "pipeline": one.evaluation.text,
                    "validation_score": metric.score(one.evaluation.loss),
                }
                for one in self.members
            ],
            "single": {
                "evaluation": self.single.number,
                "pipeline": self.single.text,
                "validation_score": metric.score(self.single.loss),
            },
            "gain": self.gain,
            "error": self.error,
        }

    @classmethod
    def from_content(
        cls, content: Mapping[str, Any], known: Mapping[int, Evaluation]
    ) -> Ensemble | None:
        """Read what `as_content` wrote; None if an evaluation of it is no longer known."""
        told = [*content["members"], content["single"]]
        found = [known.get(one["evaluation"]) for one in told]
        pairs = zip(found, told, strict=True)
        if not all(one is not None and one.text == item["pipeline"] for one, item in pairs):
            return None
        *evaluations, single = [one for one in found if one is not None]
        weights = [one["weight"] for one in content["members"]]
        members = tuple(map(Member, evaluations, weights))
        return cls(members, single, float(content["gain"]), float(content["error"]))
