"""Pages of the documentation in a real browser, as they were built."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from accessibility import serious_violations
from browser import PATIENCE, Browser, browser_here, running_browser

SITE = Path(__file__).parents[1] / "site"
PAGES = (
    "index.html",
    "how_to/report.html",
    "reference/options.html",
    "benchmarks/certificates.html",
)
OURS = ("file:", "data:", "blob:")
SEARCH = """(() => {
  const field = document.querySelector('.md-search__input');
  field.value = 'latency';
  for (const kind of ['input', 'keyup']) field.dispatchEvent(new Event(kind, {bubbles: true}));
  return [...document.querySelectorAll('.md-search-result__link')].map(one => one.href);
})()"""
pytestmark = [
    pytest.mark.skipif(browser_here() is None, reason="no Chromium or Chrome on this machine"),
    pytest.mark.skipif(not SITE.exists(), reason="the pages are not built: run mkdocs build"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(str(browser_here()), tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(browser: Browser, name: str, is_dark: bool) -> None:
    browser.look(1200, is_dark=is_dark)
    # The theme remembers the colours of an earlier visit.
    browser.open(SITE / name)
    browser.evaluate("localStorage.clear()")
    browser.open(SITE / name)
    scheme = browser.evaluate("document.body.dataset.mdColorScheme")
    assert scheme == ("slate" if is_dark else "default")
    assert serious_violations(browser) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_no_other_host_and_fits_a_phone(browser: Browser, name: str) -> None:
    browser.look(390)
    browser.open(SITE / name)
    assert [one for one in browser.asked_for if not one.startswith(OURS)] == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_search_finds_pages_from_a_folder(browser: Browser) -> None:
    browser.look(1200)
    browser.open(SITE / "index.html")
    browser.evaluate("document.querySelector('.md-search__input').focus()")
    until = time.monotonic() + PATIENCE
    # Keys pressed before the index is read are heard by nobody: press again.
    while not (found := browser.evaluate(SEARCH)) and time.monotonic() < until:
        time.sleep(0.5)
    assert any("how_to/latency.html" in link for link in found)
    assert [one for one in browser.asked_for if not one.startswith(OURS)] == []
