"""Types in a model that its readers do not trust, told when it is saved, not when it is needed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from automl_admm.core.pipeline_space import all_steps
from automl_admm.core.run import CONSTANT
from automl_admm.execution.skops_import import import_skops
from automl_admm.plugins.loading import OURS
from automl_admm.runs.saved.model_file import trusted_types

if TYPE_CHECKING:
    from automl_admm.runs.pipelines import PipelineResult

logger = logging.getLogger(__name__)


def tell_strangers(content: bytes, outcome: PipelineResult) -> None:
    """Warn of a component whose plugin does not name the types that `predict` is to trust."""
    if outcome.fallback == CONSTANT:  # no pipeline of the grammar, and nobody's component
        return
    prepared = outcome.preparation
    registry = prepared.plugins.components[prepared.task]
    steps = all_steps(prepared.grammar.pipelines.steps(outcome.best.candidate))
    names = sorted({step.component for step in steps})
    foreign = [name for name in names if registry.provider(name).partition(" ")[0] != OURS]
    if not foreign:
        return
    found = set(import_skops().get_untrusted_types(data=content))
    strange = sorted(found - trusted_types(prepared.plugins))
    if strange:
        told = "%s: its trusted_types lack %s, so that `automl-admm predict` refuses the model"
        titles = " and ".join(map(registry.title, foreign))
        logger.warning(told, titles, ", ".join(strange))
