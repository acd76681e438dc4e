"""Find grammars: by name among the registered ones, or as a file."""

from __future__ import annotations

from pathlib import Path

from automl_admm.core.errors import ConfigurationError, suggest
from automl_admm.core.messages import say_value
from automl_admm.plugins.records import GrammarPlugin
from automl_admm.plugins.registry import Registry

SUFFIX = ".lark"
MAX_BYTES = 256_000  # bytes: checked before a pasted data file is read


def packaged_grammars() -> list[Path]:
    """Return the grammars shipped with the package.

    A wheel has them inside the package; in a source tree they are beside it.
    """
    package = Path(__file__).resolve().parent.parent
    inside, beside = package / "grammars", package.parent / "grammars"
    return sorted((inside if inside.is_dir() else beside).glob(f"*{SUFFIX}"))


def find_grammar(source: str | Path, grammars: Registry[GrammarPlugin]) -> Path:
    """Return the file of a grammar. A registered name never means a file."""
    if isinstance(source, str) and source in grammars:
        return grammars.get(source).path
    path = Path(source)
    if _is_file(path):
        return path
    names = [plugin.name for plugin in grammars]
    if path.is_dir():
        raise ConfigurationError(f"grammar '{source}' is a folder.", hint="Name a file in it.")
    if path.exists():
        raise ConfigurationError(
            f"grammar '{source}' is no ordinary file.",
            hint="Save what comes through it in a file, and name that.",
        )
    # Written like a path: registered names have neither a suffix nor a slash.
    if path.suffix == SUFFIX or len(path.parts) > 1:
        hint = f"By name there are: {', '.join(names)}." if names else None
        raise ConfigurationError(f"grammar file '{source}' does not exist.", hint=hint)
    raise ConfigurationError(
        f"no grammar is named '{source}', and there is no such file.",
        hint=suggest(str(source), names),
    )


def _is_file(path: Path) -> bool:
    """Return True for a file; raise if the system cannot even look for one of such a name."""
    try:
        return path.is_file()
    except OSError as problem:
        raise ConfigurationError(
            f"no grammar file can be named {say_value(str(path))}: {problem.strerror}.",
            hint="Give the name of a grammar, the path of its file, or its text.",
        ) from None


def read_grammar(path: Path) -> str:
    """The text of a grammar file, a byte order mark left out."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigurationError(f"'{path}' is too large for a grammar.")
        return path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise ConfigurationError(f"grammar '{path}' cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError as problem:
        raise ConfigurationError(
            f"grammar '{path}' is not UTF-8 text (byte {problem.start}).", hint="Save it as UTF-8."
        ) from None
