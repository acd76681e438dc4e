"""The hook of MkDocs: fill the marks of pages, add pages from other folders, point links at pages.

A page says `<!-- made: NAME -->`, a line for readers of the source, and `<!-- end -->`; the built
page has a table made from the code there. Files of other folders, such as the README of a plugin,
become pages of their own.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from borrowed_pages import PLOTS, ROOT, borrowed, page_of
from gallery_pages import GALLERY
from made_parts import PARTS
from mkdocs.structure.files import File

MARK = re.compile(r"<!-- made: ([\w-]+) -->\n.*?<!-- end -->\n?", re.DOTALL)
COMMENT = re.compile(r"^ *<!--.*?-->\n", re.DOTALL | re.MULTILINE)
# Code comes first: what looks like a link in it is none.
LINK = re.compile(
    r"^ *```.*?^ *```|`[^`\n]+`|(?P<text>!?\[(?:[^\[\]`]|`[^`]*`)*\])\((?P<target>[^)\s]+)\)",
    re.DOTALL | re.MULTILINE,
)
# On the web a bar in the code of a table has a backslash; MkDocs would show it.
ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
CODE = re.compile(r"`[^`\n]+`")
ELSEWHERE = ("http://", "https://", "mailto:")
# The theme gives its search no name, and a screen reader would say "dialog" alone.
SEARCH = '<div class="md-search" data-md-component="search" role="dialog"'


def on_files(files: Any, config: Any) -> Any:
    """Add the pages and pictures from other folders."""
    for page in borrowed():
        files.append(File.generated(config, page.place, content=page.text))
    for picture in sorted((ROOT / PLOTS).glob("*.png")):
        place = f"{PLOTS}/{picture.name}"
        files.append(File.generated(config, place, abs_src_path=str(picture)))
    for picture in sorted((ROOT / GALLERY / "outputs").glob("*/*.png")):
        place = picture.relative_to(ROOT / "examples").as_posix()
        files.append(File.generated(config, place, abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill the marks, point the links at pages, and leave out comments."""
    place = page.file.src_uri
    origins = {one.place: one.origin for one in borrowed()}
    text = MARK.sub(lambda found: PARTS[found[1]](), markdown)
    text = ROW.sub(lambda row: CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), text)
    return COMMENT.sub("", pointed(text, origins.get(place, f"docs/{place}"), place))


def pointed(text: str, origin: str, place: str) -> str:
    """Point the links of a page, written for a file of the repository, at pages.

    A link to a file that is no page becomes its path.
    """

    def point(found: re.Match[str]) -> str:
        target = found["target"]
        if target is None or target.startswith(ELSEWHERE):
            return found[0]
        file, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), file))
        page = page_of(path if file else origin)
        if page is None:
            words = found["text"][1:-1]
            return f"`{path}`" if words.strip("`/") in path else f"{words} (`{path}`)"
        there = posixpath.relpath(page, posixpath.dirname(place) or ".")
        return f"{found['text']}({there}{'#' + anchor if anchor else ''})"

    return LINK.sub(point, text)


def on_post_page(output: str, **_: Any) -> str:
    """Name the search of the theme."""
    return output.replace(SEARCH, f'{SEARCH} aria-label="Search"')
