"""The fold models of the best evaluations of this session, kept for the final fit."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Finished
from automl_admm.core.ranking import rank
from automl_admm.execution.evidence_files import FILES, read_told
from automl_admm.pipelines.ensembles.fold_models import MODELS

# The best one, and one more if its models are damaged.
MOST_FILES = 2

logger = logging.getLogger(__name__)


class KeptModels:
    """Own the fold models of the best evaluations, a file each, until the end of the session.

    They are pickles, which a run folder does not keep: a later session has none of them.
    """

    def __init__(self, folder: Path, limits: Sequence[Limit]) -> None:
        self._folder = folder
        self._limits = limits
        self._kept: dict[str, tuple[Evaluation, Finished]] = {}

    def keep(self, evaluation: Evaluation, finished: Finished) -> None:
        """Move the models of an evaluation here, if it wrote any, and drop those of the worst."""
        if not evaluation.is_ranked:  # its result may be of any form
            return
        told = dict(finished.result.get(FILES, {})).get(MODELS)
        if told is None or finished.folder is None:
            return
        place = self._folder / str(evaluation.number)
        try:
            for folder in (self._folder, place):  # not those above: a removed run stays away
                folder.mkdir(exist_ok=True)
            (finished.folder / MODELS).replace(place / MODELS)
        except OSError as problem:
            # Without the run's folder its log has a word to say.
            level = logging.WARNING if self._folder.parent.is_dir() else logging.DEBUG
            logger.log(level, "the fold models of evaluation %d: %s", evaluation.number, problem)
            return
        moved = Finished(finished.number, finished.status, {FILES: {MODELS: told}}, folder=place)
        self._kept[evaluation.key] = evaluation, moved
        ranked = rank([one for one, _ in self._kept.values()], self._limits)
        for worst in ranked[MOST_FILES:]:
            self._drop(worst)

    def has(self, evaluation: Evaluation) -> bool:
        """Return True if the models of an evaluation are here."""
        return evaluation.key in self._kept

    def read(self, evaluation: Evaluation) -> bytes | None:
        """Return the pickled models; None, and a warning, if the file is damaged."""
        if not self.has(evaluation):
            return None
        try:
            return read_told(self._kept[evaluation.key][1], MODELS)
        except AutomlAdmmError as problem:
            told = "the fold models of evaluation %d are lost: %s"
            logger.warning(told, evaluation.number, problem.message)
            self._drop(evaluation)
            return None

    def _drop(self, evaluation: Evaluation) -> None:
        _, moved = self._kept.pop(evaluation.key)
        if moved.folder is not None:
            with suppress(OSError):
                (moved.folder / MODELS).unlink(missing_ok=True)
