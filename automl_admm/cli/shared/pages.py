"""The pages of the documentation, as the terminal shows them."""

from __future__ import annotations

import re
from pathlib import Path

from automl_admm.core.errors import ConfigurationError, UnknownNameError

CHAPTERS = ("how_to", "explanation", "reference", "benchmarks")
DIAGNOSTICS = "diagnostics"
CODE = re.compile(r"[A-Z]\d{3}", re.IGNORECASE)
# The beginning of a path from another page, or from the top of the source tree.
LINK = re.compile(r"^(\.{1,2}/)*(docs/)?")
COMMENT = re.compile(r"^<!--.*?-->\n", re.DOTALL | re.MULTILINE)
# Code comes first: what looks like a link in it is none.
WITH_LINKS = re.compile(
    r"^ *```.*?^ *```|`[^`\n]+`|!?\[(?P<words>(?:[^\[\]`]|`[^`]*`)*)\]\((?P<target>[^)\s]+)\)",
    re.DOTALL | re.MULTILINE,
)
ELSEWHERE = ("http://", "https://", "mailto:")
LANGUAGE = re.compile(r"^( *```)[\w-]+", re.MULTILINE)


def pages_folder() -> Path:
    """Return the folder of the pages: a wheel has them inside, a source tree beside the package."""
    package = Path(__file__).resolve().parents[2]
    inside, beside = package / "docs", package.parent / "docs"
    return inside if inside.is_dir() else beside


def built_pages() -> Path:
    """Return the first page for a browser, as `nox -s docs` builds it in a source tree."""
    return pages_folder().parent / "site" / "index.html"


def list_pages() -> dict[str, Path]:
    """Return the pages by name: first the tutorials, then chapter by chapter."""
    folder = pages_folder()
    found = [
        *sorted(folder.glob("tutorial*.md")),
        *(p for c in CHAPTERS for p in sorted((folder / c).glob("*.md"))),
    ]
    pages: dict[str, Path] = {}
    for page in found:
        name = page.parent.name if page.stem == "index" else page.stem
        # A study of certificates is no page on their use: the first of a name keeps it.
        pages[f"{page.parent.name}/{name}" if name in pages else name] = page
    if not folder.is_dir():
        message = f"the pages of the documentation are missing: {folder} is not there."
        raise ConfigurationError(message, hint="Install automl-admm again.")
    return {name: page for name, page in pages.items() if page.is_file()}


def read_page(name: str) -> str:
    """Return the text of a page, or of the section of a diagnostic such as G007.

    Its name may be a path, as in the links between pages: `docs/reference/grammar.md`.
    """
    text = find_page(name).read_text(encoding="utf-8")
    return _section(text, name.upper()) if CODE.fullmatch(name) else COMMENT.sub("", text)


def find_page(name: str) -> Path:
    """Return the file of a page, named as for `read_page`."""
    pages = list_pages()
    name = DIAGNOSTICS if CODE.fullmatch(name) else _name_of(name, pages)
    if name not in pages:
        raise UnknownNameError("page", name, set(pages))
    return pages[name]


def for_terminal(text: str, page: Path) -> str:
    """Return text of a page with names to call in place of links to files, and plain code.

    A terminal cannot open a file of the pages, and the colours of code suit some backgrounds only.
    """
    names = {path.resolve(): name for name, path in list_pages().items()}

    def point(found: re.Match[str]) -> str:
        words, target = found["words"], found["target"]
        if target is None or target.startswith(ELSEWHERE):
            return found[0]
        file = target.partition("#")[0]
        name = names.get((page.parent / file).resolve())
        return words if name is None else f"{words} (`docs {name}`)"

    return LANGUAGE.sub(r"\1", WITH_LINKS.sub(point, text))


def _name_of(path: str, pages: dict[str, Path]) -> str:
    """Return the name of the page that a link leads to, or the text as it is but for its ending."""
    plain = LINK.sub("", path.partition("#")[0]).removesuffix(".md")
    folder = pages_folder()
    by_path = {
        page.relative_to(folder).with_suffix("").as_posix(): name for name, page in pages.items()
    }
    return by_path.get(plain, plain)


def title(page: Path) -> str:
    """Return the heading of a page."""
    with page.open(encoding="utf-8") as lines:
        return next(lines).lstrip("# ").strip()


def _section(text: str, code: str) -> str:
    """Return the section below the heading of a diagnostic."""
    sections = re.split(r"^(?=##+ )", text, flags=re.MULTILINE)
    by_code = {part.split("\n")[0].lstrip("# "): part for part in sections}
    if code not in by_code:
        known = {name for name in by_code if CODE.fullmatch(name)}
        raise UnknownNameError("diagnostic", code, known)
    return COMMENT.sub("", by_code[code])
