"""Pages from files outside docs/: READMEs of plugins, notebooks, the changelog."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gallery_pages import GALLERY, notebooks, page_text

ROOT = Path(__file__).parents[2]
PLOTS = "benchmarks/plots"
WHOLE = {
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "plugins/README.md": "plugins/index.md",
    "examples/third_party_plugin/README.md": "plugins/third_party_plugin.md",
    f"{GALLERY}/README.md": "gallery/index.md",
    f"{GALLERY}/data/README.md": "gallery/data.md",
}


@dataclass(frozen=True, slots=True)
class Borrowed:
    """A page and the file of the repository that its text is from."""

    place: str
    origin: str
    text: str


@cache
def borrowed() -> tuple[Borrowed, ...]:
    """List the pages from other folders."""
    plugins = sorted(ROOT.glob("plugins/automl-admm-*/README.md"))
    whole = WHOLE | {
        file.relative_to(ROOT).as_posix(): f"plugins/{file.parent.name}.md" for file in plugins
    }
    return (
        *(Borrowed(place, origin, read(origin)) for origin, place in whole.items()),
        *(
            Borrowed(f"gallery/{one.stem}.md", f"{GALLERY}/{one.name}", page_text(one))
            for one in notebooks()
        ),
    )


def read(path: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def page_of(path: str) -> str | None:
    """Return the page that has a file of the repository, or None if no page has it."""
    if path == "README.md":
        return "index.md"
    if path.startswith(f"{PLOTS}/"):
        return path
    if path.startswith(f"{GALLERY}/outputs/"):
        return path.removeprefix("examples/")
    if path.startswith("docs/") and Path(path).suffix in {".md", ".svg", ".png"}:
        return path.removeprefix("docs/")
    places = {page.origin: page.place for page in borrowed()}
    return places.get(f"{path}/README.md", places.get(path))
