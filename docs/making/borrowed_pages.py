"""Pages from files outside docs/: studies, READMEs of plugins, notebooks, the changelog."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gallery_pages import GALLERY, notebooks, page_text

ROOT = Path(__file__).parents[2]
RESULTS = "benchmarks/RESULTS.md"
PLOTS = "benchmarks/plots"
INDEX = "docs/benchmarks/index.md"
WHOLE = {
    "benchmarks/FAULTS.md": "benchmarks/faults.md",
    "benchmarks/FRAMES.md": "benchmarks/frames.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "plugins/README.md": "plugins/index.md",
    "examples/third_party_plugin/README.md": "plugins/third_party_plugin.md",
    f"{GALLERY}/README.md": "gallery/index.md",
    f"{GALLERY}/data/README.md": "gallery/data.md",
}
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
QUESTION = re.compile(r"^\| \[(.+?)\]\(.+?RESULTS\.md#.+?\) \| (.+) \|$", re.MULTILINE)
SECTION = re.compile(r"^(?=## )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Borrowed:
    """A page and the file of the repository that its text is from."""

    place: str
    origin: str
    text: str

    @property
    def is_study(self) -> bool:
        """Tell the sections of RESULTS.md from other pages."""
        return self.origin == RESULTS

    @property
    def title(self) -> str:
        """Return the heading."""
        return self.text.partition("\n")[0].lstrip("# ")


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
        *map(_study, SECTION.split(read(RESULTS))[1:]),
    )


def read(path: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def page_of(path: str, anchor: str) -> str | None:
    """Return the page that has a file of the repository, or None if no page has it."""
    if path == RESULTS:
        return _studies_by_anchor().get(anchor, "benchmarks/index.md")
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


def slug(title: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _study(section: str) -> Borrowed:
    title = section.partition("\n")[0].removeprefix("## ")
    letters = unicodedata.normalize("NFKD", slug(title.replace("θ", "theta")))
    place = f"benchmarks/{letters.encode('ascii', 'ignore').decode().replace('-', '_')}.md"
    heading, _, rest = _raised(section).partition("\n")
    return Borrowed(place, RESULTS, f"{heading}\n\n*{_questions().get(title, title)}*\n{rest}")


@cache
def _questions() -> dict[str, str]:
    """Return the question of each study, as the page on benchmarks has it."""
    return dict(QUESTION.findall(read(INDEX)))


def _raised(section: str) -> str:
    """Raise the headings of a section by one level."""
    return re.sub(r"^#(#+ )", r"\1", section, flags=re.MULTILINE)


@cache
def _studies_by_anchor() -> dict[str, str]:
    return {
        slug(title): page.place
        for page in borrowed()
        if page.is_study
        for title in re.findall(r"^#+ (.+)$", FENCE.sub("", page.text), re.MULTILINE)
    }
