"""The certificate as a page for people: what is claimed, on what, and how to check it."""

from __future__ import annotations

from collections.abc import Iterator

from automl_admm.certify.certificate import Certificate
from automl_admm.certify.claims import LOOKS_COUNTED, explain
from automl_admm.certify.walk.findings import Finding, name_outcome
from automl_admm.core.messages import shorten
from automl_admm.report.audit.statement import Statement
from automl_admm.report.document import numbers
from automl_admm.report.document.frame import whole_page
from automl_admm.report.document.html import Markup, Part, block_of_code, name, tag
from automl_admm.report.document.tables import facts, table
from automl_admm.report.sections.limits import say_verdict
from automl_admm.report.view import RunView

NOT_SAID = (
    "Nothing of other data: another time, place or population.",
    "Nothing of what comes after people have adapted to the model.",
    "Nothing of a single person or row: a rate is an average over rows.",
    "Nothing of groups that no limit names.",
    "Nothing of what the labels mean: a model that repeats unfair decisions may keep every limit.",
    "Nothing of looks that were not counted: by other runs elsewhere, or with the count deleted.",
)
OTHER_LOOKS = "a look at a lower confidence adds its own risk"
COMMANDS = """\
automl-admm verify RUN --statement statement.json        # the files are those stated
automl-admm verify RUN DATA --statement statement.json   # and the data say the same
"""


def draw(view: RunView, stated: Statement, sha256: str) -> bytes:
    """Return the page of a run that has a certificate; `sha256` is that of the statement's file."""
    certificate = view.certificate
    assert certificate is not None  # noqa: S101 - the statement was made of it
    header = tag(
        "header",
        tag("h1", "Certificate of ", name(view.title, 120)),
        _verdict(certificate),
    )
    main = tag(
        "main",
        _section("What is claimed", *_claims(certificate)),
        _section("The tests", _tests(certificate)),
        _section("The frame", _frame(view, certificate)),
        _section("What it does not say", tag("ul", *(tag("li", one) for one in NOT_SAID))),
        _section("What it is about", *_identity(stated, certificate, sha256)),
        _section("How to check it", *_checks()),
    )
    footer = tag("footer", tag("p", "Made by automl-admm from the files of the run folder."))
    drawn = whole_page(f"Certificate of {view.title}", header, main, footer)
    return drawn.encode("utf-8", "backslashreplace")


def _section(title: str, *parts: Part) -> Markup:
    return tag("section", tag("h2", title), *parts)


def _verdict(certificate: Certificate) -> Markup:
    if not certificate.is_certified:
        said = "NOT CERTIFIED: at least one limit may not be claimed to hold on new rows."
        return tag("p", said, class_="verdict bad")
    outcome = name_outcome([one.is_approximate for one in certificate.findings])
    sure = numbers.confidence(1.0 - certificate.whole_risk)
    look = "fair" if certificate.is_approximate else "good"
    said = f"{outcome}, at {sure} confidence over {LOOKS_COUNTED}"
    return tag("p", said, class_=f"verdict {look}")


def _claims(certificate: Certificate) -> Iterator[Markup]:
    for line in explain(certificate).splitlines():
        yield tag("p", name(line, 2000))


def _tests(certificate: Certificate) -> Markup:
    headings = ("Limit", "Verdict", "Method", "Counted", "Value", "Bound", "Risk")
    rows = (_test(one, certificate.risk_spent) for one in certificate.findings)
    return table(headings, rows, text_columns=4)


def _test(one: Finding, risk: float) -> tuple[Part, ...]:
    counted = ", ".join(f"{cell} {count}" for cell, count in one.counts.items())
    return (
        name(one.limit),
        say_verdict(one),
        name(one.method),
        name(counted or numbers.NONE),
        numbers.plain(one.value),
        numbers.plain(one.bound),
        numbers.risk(risk if one.risk is None else one.risk),
    )


def _frame(view: RunView, certificate: Certificate) -> Markup:
    tested = "" if certificate.tested is None else f", {certificate.tested} of them counted"
    last = ", the last" if certificate.is_last_look else ""
    place = f"{certificate.position} of {len(certificate.order)}"
    return facts(
        [
            ("Rows", f"{certificate.rows} set aside before the search{tested}"),
            ("Look at these data", f"{certificate.look}{last}"),
            ("Risk of all looks", f"{numbers.risk(certificate.whole_risk)}; {OTHER_LOOKS}"),
            ("Place in the order of the tests", place),
            ("Tested", numbers.moment(certificate.time) if certificate.time else None),
            ("Price", None if certificate.price is None else str(certificate.price)),
            ("Target", name(view.settings.get("target") or numbers.NONE)),
            ("Pipeline", name(shorten(certificate.pipeline, 600))),
        ]
    )


def _identity(stated: Statement, certificate: Certificate, sha256: str) -> Iterator[Markup]:
    yield tag("p", "The SHA-256 of statement.json, the file to sign:")
    yield block_of_code(sha256)
    data = (
        ("rows set aside", certificate.rows_sha256),
        ("all rows of the data", certificate.data_sha256),
        ("settings in run.json", stated["settings_sha256"]),
    )
    known = (*sorted(stated["files"].items()), *data)
    rows = [(name(said), tag("code", name(value, 64))) for said, value in known if value]
    yield table(("What", "SHA-256"), rows, text_columns=2)
    versions = ", ".join(f"{library} {one}" for library, one in certificate.versions.items())
    yield tag("p", "Versions: ", name(versions))


def _checks() -> Iterator[Markup]:
    yield tag(
        "p",
        "The signature says who vouches for statement.json: check it with the tool that made it "
        "(ssh-keygen, gpg or openssl). Then compare the run folder, and compute all claims again:",
    )
    yield block_of_code(COMMANDS)
