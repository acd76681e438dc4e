"""The grammars shipped with the package."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from automl_admm.grammar.locate import packaged_grammars
from automl_admm.plugins.records import GrammarPlugin
from automl_admm.plugins.specs import hookimpl

LINEAR = (
    "impute() standard_scaler() logistic_regression()",
    "impute() standard_scaler() ridge()",
)
BY_TYPE = (
    "by_type{impute() standard_scaler(), impute()} logistic_regression()",
    "by_type{impute() standard_scaler(), impute()} ridge()",
)
QUICK = {"default": LINEAR, "regression": LINEAR, "shapes": BY_TYPE}


@hookimpl
def grammars() -> Iterable[GrammarPlugin]:
    """Yield every packaged file, named without its ending."""
    for path in packaged_grammars():
        yield GrammarPlugin(
            name=path.stem, summary=_summary(path), path=path, quick=QUICK.get(path.stem, ())
        )


def _summary(path: Path) -> str:
    """Return the comment in the first line."""
    with path.open(encoding="utf-8") as lines:
        return lines.readline().strip().removeprefix("//").strip()
