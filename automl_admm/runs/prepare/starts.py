"""Starting points of a search: pipelines written as text or in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from automl_admm.core.errors import AutomlAdmmError, ConfigurationError
from automl_admm.core.space import Candidate
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar.text.matcher import parse, parse_lines

MAX_BYTES = 1_000_000


def read_starts(
    given: Iterable[str | Path],
    pipelines: PipelineSpace,
    absent: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Candidate, ...]:
    """The candidates of texts, and of files with one a line; each pipeline once.

    `absent` has the components of the grammar without a place here, with the reason.
    """
    found: dict[str, Candidate] = {}
    for item in given:
        for candidate in _read(item, pipelines, absent):
            found.setdefault(pipelines.key(candidate), candidate)
    return tuple(found.values())


def read_quick(given: Iterable[str], pipelines: PipelineSpace) -> tuple[Candidate, ...]:
    """The first of some texts that is a pipeline of the grammar; none where none is.

    Components of another kind of task are in no pipeline.
    """
    for text in given:
        with suppress(AutomlAdmmError):
            return (parse(text, pipelines, "quick"),)
    return ()


def read_known(given: Iterable[str], pipelines: PipelineSpace) -> tuple[Candidate, ...]:
    """Return the pipelines of some texts, but for those outside the grammar."""
    return tuple(one for text in given for one in read_quick((text,), pipelines))


def _read(
    item: str | Path, pipelines: PipelineSpace, absent: Mapping[str, str]
) -> tuple[Candidate, ...]:
    if isinstance(item, str):
        return (parse(item, pipelines, "start", absent),)
    candidates = parse_lines(_content(item), pipelines, str(item), absent)
    if not candidates:
        raise ConfigurationError(f"'{item}' has no pipeline.", hint="Write one a line.")
    return candidates


def _content(path: Path) -> str:
    try:
        if not path.is_file():
            raise ConfigurationError(
                f"there is no file '{path}' to start from.",
                hint="A pipeline is written like 'impute() random_forest(n_estimators=120)'.",
            )
        if path.stat().st_size > MAX_BYTES:
            raise ConfigurationError(f"'{path}' is too large for a list of pipelines.")
        return path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise ConfigurationError(f"'{path}' cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError as problem:
        raise ConfigurationError(
            f"'{path}' is not UTF-8 text (byte {problem.start}).", hint="Save it as UTF-8."
        ) from None
