"""axe-core on a page in a browser, to find what shuts out some of its readers."""

from __future__ import annotations

from importlib import resources

from browser import Browser

RUN = """axe.run(document, {resultTypes: ['violations']}).then(found => found.violations
  .filter(one => one.impact === 'serious' || one.impact === 'critical')
  .map(one => one.id + ': ' + one.nodes.slice(0, 3).map(
    node => node.target + ' ' + node.failureSummary).join('; ')))"""


def serious_violations(browser: Browser) -> list[str]:
    """Return the serious and critical violations of the rules of axe-core on the open page."""
    source = resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    browser.evaluate(f"{source}; 0")
    found: list[str] = browser.evaluate(RUN)
    return found
