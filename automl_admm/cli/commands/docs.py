"""`automl-admm docs`: the documentation in the terminal."""

from __future__ import annotations

import sys
import webbrowser

import click

from automl_admm.cli.shared.pages import (
    built_pages,
    find_page,
    for_terminal,
    list_pages,
    pages_folder,
    read_page,
    title,
)
from automl_admm.cli.shared.screen import cells, grid, hand_on, plain_console, say
from automl_admm.core.errors import ConfigurationError

# The styles of rich paint code on black.
ON_ANY_BACKGROUND = {"markdown.code": "bold", "markdown.code_block": "none"}


@click.command("docs")
@click.argument("page", required=False)
@click.option("--browser", is_flag=True, help="Open the built pages of a source tree in a browser.")
def command(page: str | None, *, browser: bool) -> None:
    """List the pages of the documentation, or show PAGE.

    PAGE is a name of the list, a path such as docs/tutorial.md, or the number of a diagnostic, such
    as G007. If the result is no
    terminal, PAGE is written as Markdown.
    """
    if browser:
        _open()
    elif page is None:
        _list()
    else:
        _show(page)


def _open() -> None:
    first = built_pages()
    if not first.is_file():
        raise ConfigurationError(
            f"there are no built pages: {first} is not there.",
            hint="Build them in a source tree: nox -s docs. In the terminal: automl-admm docs PAGE",
        )
    say(f"{first}")
    webbrowser.open(first.as_uri())


def _list() -> None:
    table = grid("page", "chapter", "what it is about")
    for name, page in list_pages().items():
        chapter = "" if page.parent == pages_folder() else page.parent.name.replace("_", " ")
        table.add_row(*cells((name, chapter, title(page))))
    plain_console().print(table)
    say("\nautoml-admm docs PAGE shows one, automl-admm docs G007 explains a diagnostic.")
    say(f"The files are in {pages_folder()}")


def _show(page: str) -> None:
    text = read_page(page)
    if not sys.stdout.isatty():
        hand_on(text)
        return
    from rich.markdown import Markdown
    from rich.theme import Theme

    console = plain_console()
    with console.use_theme(Theme(ON_ANY_BACKGROUND)):
        console.print(Markdown(for_terminal(text, find_page(page)), code_theme="ansi_dark"))
