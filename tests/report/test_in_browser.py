"""The report in a real browser: what is visible, in light and dark, on a screen and on a phone."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from accessibility import serious_violations
from browser import Browser, browser_here, running_browser
from report_runs import an_evaluation, of_limit, write_run

from automl_admm.report.audit.exporting import write_audit
from automl_admm.report.page import SECTIONS
from automl_admm.report.rows.given import RowsAsked
from automl_admm.report.writing import make_report
from automl_admm.runs.saved.saved_run import read_saved_run
from automl_admm.runs.session.iterations import Iteration

STORED = Path(__file__).parents[1] / "runs" / "stored_run" / "group_thresholds"
HOSTILE = "</title></style><script>alert(1)</script><img src=https://a.example onerror=alert(2)>"
LONG = "a_name_without_any_place_to_break_" * 8
pytestmark = [
    pytest.mark.skipif(browser_here() is None, reason="no Chromium or Chrome on this machine"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning"),
]
# The ids of sections with a heading that can be seen, and with something below it.
SEEN = """[...document.querySelectorAll('main section')].filter(section => {
  const heading = section.querySelector('h2'), box = heading.getBoundingClientRect();
  return heading.checkVisibility({opacityProperty: true, visibilityProperty: true})
    && box.width > 20 && box.height > 10
    && section.getBoundingClientRect().height > box.height + 15;
}).map(section => section.id)"""
# For each figure its name, its width on the screen, and the number of lines, dots and spans that
# are painted within it.
FIGURES = """[...document.querySelectorAll('svg[role=img]')].map(svg => {
  const frame = svg.getBoundingClientRect();
  const painted = [...svg.querySelectorAll('path.line, path.dots, path.span')].filter(path => {
    const look = getComputedStyle(path), box = path.getBoundingClientRect();
    return path.getAttribute('d') && look.stroke !== 'none' && parseFloat(look.strokeWidth) > 0
      && box.right >= frame.left && box.left <= frame.right
      && box.bottom >= frame.top - 1 && box.top <= frame.bottom + 1;
  });
  return [svg.getAttribute('aria-label'), frame.width, frame.height, painted.length];
})"""
# Texts that reach out of the window although nothing around them scrolls.
BEYOND = """[...document.querySelectorAll('main *, header *')].filter(one =>
  one.getBoundingClientRect().right > innerWidth + 1
  && !one.closest('.scroll, pre, svg') && one.checkVisibility()
).map(one => one.outerHTML.slice(0, 80))"""
COLOURS = """(() => { const look = getComputedStyle(document.body);
return [look.backgroundColor, look.color]; })()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(str(browser_here()), tmp_path_factory.mktemp("profile")) as found:
        yield found


def change(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def write_course(run: Path, limits: int) -> None:
    """Write the course of three outer iterations in two sessions."""
    lines = [
        Iteration(
            session=1 + place // 2,
            iteration=place % 2,
            ended=1.79e9 + place,
            evaluations=place,
            incumbent=None,
            primal_residual=1.0 / (place + 1),
            dual_residual=0.5,
            penalty=1.0,
            integer_penalty=2.0**-place,
            multipliers=(0.1 * place,) * limits,
            violations=(0.0,) * limits,
        )
        for place in range(3)
    ]
    (run / "iterations.jsonl").write_text("".join(json.dumps(asdict(x)) + "\n" for x in lines))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a certified run on its rows, with a hostile title."""
    run = Path(shutil.copytree(STORED, tmp_path_factory.mktemp("page") / "run"))
    change(run / "run.json", title=HOSTILE)
    write_course(run, limits=2)
    frame = pd.read_csv(run / "data.csv")
    place = run / "report.html"
    place.write_bytes(make_report(run, RowsAsked(frame, HOSTILE, None, ("age:30,45",))).page)
    return place


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run in which every name is hostile or has no place to break."""
    evaluations = [
        an_evaluation(number, text=f"{LONG}(alpha={number})", message=HOSTILE)
        for number in range(1, 30)
    ]
    run = write_run(
        tmp_path_factory.mktemp("hostile") / "run",
        evaluations,
        limit=HOSTILE,
        title=LONG,
        versions={HOSTILE: LONG},
        result={"stopped_by": HOSTILE, "ledger": {LONG: 1.0}},
    )
    write_course(run, limits=1)
    place = run / "report.html"
    place.write_bytes(make_report(run).page)
    return place


@pytest.fixture(scope="module")
def conflicting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run with two limits that no evaluation keeps together."""
    evaluations = [
        an_evaluation(number, constraints=(20.0 + 8 * number, 130.0 - 8 * number))
        for number in (1, 2, 3, 4, 5, 6, 8, 9, 10, 11)
    ]
    run = write_run(tmp_path_factory.mktemp("conflicting") / "run", evaluations)
    settings = json.loads((run / "run.json").read_text())["settings"]
    limits = [of_limit(one, 50.0) for one in ("size_mb", "latency_us")]
    change(run / "run.json", settings={**settings, "limits": limits})
    place = run / "report.html"
    place.write_bytes(make_report(run).page)
    return place


def test_the_trade_off_of_two_limits_is_drawn_with_its_bounds(
    browser: Browser, conflicting: Path
) -> None:
    browser.look(1200)
    browser.open(conflicting)
    drawn = {one[0]: one for one in browser.evaluate(FIGURES)}
    _, width, height, painted = drawn["size_mb <= 50 against latency_us <= 50"]
    assert min(width, height) > 100
    # The steps, both bounds, dots within neither and dots within one of the two.
    assert painted == 5
    section = "document.querySelector('#conflicts')"
    legend = browser.evaluate(f"{section}.querySelector('.legend').innerText")
    assert "within one of the two" in legend
    assert "within both" not in legend
    browser.evaluate(f"{section}.querySelector('figure summary').click()")
    assert browser.evaluate(f"{section}.querySelectorAll('figure tbody tr').length") == 10


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a certificate, as it is exported for others, with a hostile title."""
    place = tmp_path_factory.mktemp("certificate")
    run = Path(shutil.copytree(STORED, place / "run"))
    change(run / "run.json", title=HOSTILE)
    write_audit(read_saved_run(run), str(place / "audit"))
    return place / "audit" / "certificate.html"


def test_what_is_certified_is_seen_on_the_page_for_others(
    browser: Browser, certificate: Path
) -> None:
    browser.look(1200)
    browser.open(certificate)
    said = json.loads((certificate.parents[1] / "run" / "certificate.json").read_text())
    seen = browser.evaluate("document.body.innerText")
    assert browser.evaluate("document.querySelector('.verdict').checkVisibility()")
    for finding in said["findings"]:
        row = f"""[...document.querySelectorAll('td')].find(cell =>
          cell.innerText === {json.dumps(finding["limit"])} && cell.checkVisibility()
        ).parentElement.innerText"""
        assert finding["verdict"] in browser.evaluate(row)
    stated = (certificate.parent / "statement.json").read_bytes()
    assert hashlib.sha256(stated).hexdigest() in seen
    assert said["model_sha256"] in seen
    assert "verify RUN DATA --statement statement.json" in seen
    hidden = """[...document.querySelectorAll('main h2')].filter(one =>
      !one.checkVisibility() || one.getBoundingClientRect().height < 10).length"""
    assert browser.evaluate(hidden) == 0


def test_every_section_and_figure_is_seen(browser: Browser, page: Path) -> None:
    browser.look(1200)
    browser.open(page)
    seen = browser.evaluate(SEEN)
    # It predicts classes, and has evaluations within all limits.
    assert seen == [one.key for one in SECTIONS if one.key not in ("residuals", "conflicts")]
    figures = browser.evaluate(FIGURES)
    assert {"ROC curve", "Calibration", "Rates by threshold"} <= {one[0] for one in figures}
    assert any("outer iteration" in one[0] for one in figures)
    for title, width, height, painted in figures:
        assert min(width, height) > 100, title
        assert painted > 0, title


@pytest.mark.parametrize("which", ["page", "hostile", "certificate", "conflicting"])
@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_reaches_out_of_the_window(
    browser: Browser, which: str, width: int, request: pytest.FixtureRequest
) -> None:
    browser.look(width)
    browser.open(request.getfixturevalue(which))
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(BEYOND) == []


@pytest.mark.parametrize("which", ["page", "hostile", "certificate"])
def test_nothing_runs_and_nothing_is_loaded(
    browser: Browser, which: str, request: pytest.FixtureRequest
) -> None:
    place = request.getfixturevalue(which)
    browser.open(place)
    assert browser.evaluate("new Promise(done => setTimeout(() => done(7), 200))") == 7
    assert browser.said == []
    assert browser.asked_for == [place.as_uri()]
    assert browser.evaluate("document.querySelectorAll('script, img, iframe, link').length") == 0
    assert "alert(1)" in browser.evaluate("document.body.innerText")


def test_the_page_would_refuse_a_script(browser: Browser, page: Path, tmp_path: Path) -> None:
    """The other tests could not fail if the browser told of no refusal."""
    changed = tmp_path / "changed.html"
    script = "<script>document.title = 'run'</script><img src='https://a.example/x.png'>"
    changed.write_text(page.read_text("utf-8").replace("<main>", f"<main>{script}"), "utf-8")
    browser.open(changed)
    assert browser.evaluate("document.title") != "run"
    assert sum("Content Security Policy" in one for one in browser.said) == 2


def test_it_is_dark_where_the_system_is_and_light_on_paper(browser: Browser, page: Path) -> None:
    browser.look(1200)
    browser.open(page)
    light = browser.evaluate(COLOURS)
    browser.look(1200, is_dark=True)
    dark = browser.evaluate(COLOURS)
    assert light == ["rgb(255, 255, 255)", "rgb(27, 39, 51)"]
    assert dark == ["rgb(18, 24, 31)", "rgb(228, 234, 240)"]
    line = "getComputedStyle(document.querySelector('path.best')).stroke"
    assert browser.evaluate(line) == "rgb(255, 255, 255)"
    browser.print_out()
    assert not browser.evaluate("document.querySelector('nav').checkVisibility()")
    browser.look(1200)


def test_the_numbers_behind_a_figure_open(browser: Browser, page: Path) -> None:
    browser.open(page)
    found = "document.querySelector('figure details')"
    assert not browser.evaluate(f"{found}.querySelector('table').checkVisibility()")
    browser.evaluate(f"{found}.querySelector('summary').click()")
    assert browser.evaluate(f"{found}.querySelector('table').checkVisibility()")


@pytest.mark.parametrize(("width", "is_dark"), [(1200, False), (390, True)])
@pytest.mark.parametrize("which", ["page", "hostile", "certificate", "conflicting"])
def test_axe_finds_nothing_serious(
    browser: Browser, which: str, width: int, is_dark: bool, request: pytest.FixtureRequest
) -> None:
    browser.look(width, is_dark=is_dark)
    browser.open(request.getfixturevalue(which))
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert serious_violations(browser) == []
    browser.look(1200)
