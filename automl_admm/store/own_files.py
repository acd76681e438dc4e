"""Files that outputs may not replace: those of a run, and the inputs of the same command."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from pathlib import Path

from automl_admm.core.errors import ConfigurationError
from automl_admm.store.run_folder import RunFolder

ELSEWHERE = "Name another file."
# The store with what lies beside it: SQLite's own files, its manifest, and copies of it.
_OF_STORE = ("store.sqlite*", "store.json", "store.lock", "store.bak", "store.*.sqlite")


def refuse_own_file(path: Path) -> None:
    """Raise if an output has the place of a file that a run reads again.

    The name alone decides: the run may write the file later. Links are followed, too.
    """
    for place in (path, Path(os.path.realpath(path))):  # of a link to itself, too
        if _is_own(place):
            raise ConfigurationError(
                f"'{path}' would replace a file of the run.",
                hint=ELSEWHERE,
            )


def refuse_input(output: Path, *inputs: Path | None) -> None:
    """Raise if an output would replace one of the files that are read for it."""
    for one in inputs:
        if one is not None and output.is_file() and one.is_file() and output.samefile(one):
            raise ConfigurationError(
                f"'{output}' is read for this output, and would be lost.", hint=ELSEWHERE
            )


def _is_own(path: Path) -> bool:
    # A file system may not tell RUN.JSON from run.json.
    name, beside, above = path.name.lower(), RunFolder(path.parent), RunFolder(path.parent.parent)
    if _is_run(beside):
        return name in _names(beside) or any(fnmatch(name, one) for one in _OF_STORE)
    return _is_run(above) and path.parent in (above.predictions, above.monitoring)


def _is_run(folder: RunFolder) -> bool:
    marks = (folder.settings, folder.model_manifest, folder.store_manifest, folder.study)
    return any(mark.is_file() for mark in marks)


def _names(folder: RunFolder) -> set[str]:
    """Return the names of files of a run or a Study."""
    files = (
        *(folder.settings, folder.grammar, folder.iterations, folder.model, folder.model_manifest),
        *(folder.script, folder.certificate, folder.rows_set_aside, folder.row_hashes),
        *(folder.looks, folder.change, folder.study, folder.asks),
    )
    return {path.name for path in files}
