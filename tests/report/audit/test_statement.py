"""A statement of a certified run: signed by real tools, checked in another place and process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from program import run_program
from report_runs import Page

from automl_admm.certify.certificate import read_certificate, write_certificate
from automl_admm.core.errors import StoreError
from automl_admm.report.audit.exporting import write_audit
from automl_admm.report.audit.page import draw
from automl_admm.report.audit.statement import canonical, check_statement, make_statement
from automl_admm.report.document import numbers
from automl_admm.report.document.frame import POLICY
from automl_admm.report.view import RunView, read_view
from automl_admm.report.writing import make_report
from automl_admm.runs.saved.saved_run import read_saved_run

STORED_RUN = Path(__file__).parents[2] / "runs" / "stored_run" / "group_thresholds"
HOSTILE = '<script>alert(1)</script>"\x1b[2J\u202e'
ACTIVE = {"script", "img", "link", "iframe", "object", "embed", "form", "base", "use", "image"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED_RUN, tmp_path / "RUN"))


@pytest.fixture
def statement(run: Path) -> Path:
    write_audit(read_saved_run(run), str(run.parent / "audit"))
    return run.parent / "audit" / "statement.json"


def test_two_exports_of_a_run_are_equal_byte_by_byte(run: Path, statement: Path) -> None:
    moved = shutil.copytree(run, run.parent / "elsewhere" / "another name")
    write_audit(read_saved_run(moved), str(run.parent / "again"))
    assert (run.parent / "again" / "statement.json").read_bytes() == statement.read_bytes()
    content = json.loads(statement.read_bytes())
    assert statement.read_bytes() == canonical(content)
    assert content["files"]["model.skops"] == content["certificate"]["model_sha256"]
    assert check_statement(moved, statement) == content


def test_the_page_says_which_looks_its_risk_is_of(run: Path, statement: Path) -> None:
    page = statement.with_name("certificate.html").read_text()
    risk = read_certificate(run / "certificate.json").whole_risk
    assert f"{numbers.risk(risk)}; a look at a lower confidence adds its own risk" in page
    looks = "over all looks at these data, each at this confidence or a higher one"
    assert f"{numbers.confidence(1.0 - risk)} confidence {looks}" in page
    assert f"{numbers.confidence(1.0 - risk)} {looks}" in make_report(run).page.decode()


def test_a_statement_holds_in_another_process_and_place(run: Path, statement: Path) -> None:
    moved = shutil.move(run, run.parent / "moved")
    words = ("verify", moved, "--statement", statement)
    assert run_program(*words, cwd=run.parent).returncode == 0
    as_json = run_program(*words, "--json", cwd=run.parent)
    files = len(json.loads(statement.read_bytes())["files"])
    assert (as_json.returncode, json.loads(as_json.stdout)) == (0, {"files": files})
    assert as_json.stderr.startswith(f"{files} files, the data named and the settings are as")
    assert run_program("verify", moved, cwd=run.parent).returncode == 2
    (moved / "grammar.lark").write_text("start: ridge\n")
    refused = run_program(*words, cwd=run.parent)
    assert (refused.returncode, refused.stdout) == (7, "")
    assert "grammar.lark has changed" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert run_program(*words, "--json", cwd=run.parent).stdout == ""


def test_nothing_claims_a_certificate_of_another_model(run: Path, statement: Path) -> None:
    (run / "model.skops").write_bytes((run / "model.skops").read_bytes() + b" ")
    view = read_view(run)
    assert view.is_foreign
    assert view.certificate is None
    with pytest.raises(StoreError, match="is not that of its model"):
        write_audit(read_saved_run(run), str(run.parent / "again"))
    board = run_program("leaderboard", run)
    assert "the certificate here is not that of the model in the folder" in board.stdout
    assert "certified:" not in board.stdout


def changed(name: str) -> Callable[[Path], object]:
    return lambda run: (run / name).write_bytes((run / name).read_bytes() + b" ")


def other_settings(run: Path) -> None:
    content = json.loads((run / "run.json").read_text())
    content["settings"]["seed"] += 1
    (run / "run.json").write_text(json.dumps(content))


def other_data(run: Path) -> None:
    content = json.loads((run / "run.json").read_text())
    content["data"]["sha256"] = "0" * 64
    (run / "run.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (changed("model.skops"), "model.skops has changed"),
        (changed("certificate.json"), "certificate.json has changed"),
        (changed("row-hashes.npy"), "row-hashes.npy has changed"),
        (lambda run: (run / "model.skops").unlink(), "model.skops is missing"),
        (lambda run: (run / "row-hashes.npy").unlink(), "row-hashes.npy is missing"),
        (lambda run: (run / "pipeline.py").write_text("1"), "pipeline.py is not in the statement"),
        (other_settings, "run.json has other settings"),
        (other_data, "was made for other settings than 'run.json' has"),
    ],
)
def test_what_is_not_as_stated_is_refused(
    run: Path, statement: Path, change: Callable[[Path], object], told: str
) -> None:
    change(run)
    with pytest.raises(StoreError, match=told):
        check_statement(run, statement)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"statement": "certificate of automl-admm", "schema": 1, "files": {}}'],
)
def test_a_damaged_statement_proves_nothing(run: Path, statement: Path, content: str) -> None:
    statement.write_text(content)
    with pytest.raises(StoreError, match=r"statement\.json'"):
        check_statement(run, statement)
    emptied = canonical({**make_statement(read_view(run)), "files": {}})
    statement.write_bytes(emptied)
    with pytest.raises(StoreError, match=r"model\.skops is not in the statement"):
        check_statement(run, statement)


def test_a_certificate_of_another_model_or_none_is_not_exported(run: Path) -> None:
    path = run / "certificate.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"model_sha256": "0" * 64}))
    refused = run_program("export", run, "--to", "certificate:audit", cwd=run.parent)
    assert (refused.returncode, refused.stderr.count("\n")) == (7, 1)
    path.unlink()
    manifest = run / "model.json"
    assert manifest.exists()
    with pytest.raises(StoreError, match="holds no certificate"):
        make_statement(read_view(run))
    assert not (run.parent / "audit").exists()


def call(*words: str | Path, cwd: Path, **more: Any) -> int:
    # Keys and settings of this user stay out of it.
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), "GNUPGHOME": str(cwd)}
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, check=False, **more)
    return done.returncode


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
def test_ssh_signs_a_statement_and_finds_a_changed_one(statement: Path) -> None:
    place, name = statement.parent, "statement.json"
    assert call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key", cwd=place) == 0
    assert call("ssh-keygen", "-Y", "sign", "-f", "key", "-n", "file", name, cwd=place) == 0
    public = (place / "key.pub").read_text()
    (place / "signers").write_text(f"me@example.org {public}")
    check = ("ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "me@example.org", "-n", "file")
    signed = (*check, "-s", f"{name}.sig")
    assert call(*signed, cwd=place, input=statement.read_bytes()) == 0
    assert call(*signed, cwd=place, input=statement.read_bytes() + b" ") != 0


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl")
def test_openssl_signs_a_statement_and_finds_a_changed_one(statement: Path) -> None:
    place = statement.parent
    made = ("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    assert call("openssl", *made, "-out", "key.pem", cwd=place) == 0
    assert call("openssl", "pkey", "-in", "key.pem", "-pubout", "-out", "pub.pem", cwd=place) == 0
    sign = ("openssl", "dgst", "-sha256", "-sign", "key.pem", "-out", "s.sig", "statement.json")
    check = ("openssl", "dgst", "-sha256", "-verify", "pub.pem", "-signature", "s.sig")
    assert call(*sign, cwd=place) == 0
    assert call(*check, "statement.json", cwd=place) == 0
    statement.write_bytes(statement.read_bytes().replace(b"1", b"2", 1))
    assert call(*check, "statement.json", cwd=place) != 0


@pytest.mark.skipif(shutil.which("gpg") is None, reason="no gpg")
def test_gpg_signs_a_statement_and_finds_a_changed_one(statement: Path) -> None:
    place = statement.parent
    place.chmod(0o700)
    alone = ("gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "")
    try:
        made = call(*alone, "--quick-gen-key", "me@example.org", cwd=place)
        if made != 0:
            pytest.skip("gpg makes no key here")
        sign = (*alone, "--armor", "--detach-sign", "statement.json")
        assert call(*sign, cwd=place) == 0
        check = (*alone, "--verify", "statement.json.asc", "statement.json")
        assert call(*check, cwd=place) == 0
        statement.write_bytes(statement.read_bytes() + b" ")
        assert call(*check, cwd=place) != 0
    finally:
        call("gpgconf", "--kill", "gpg-agent", cwd=place)


def page_of(view: RunView) -> tuple[str, Page]:
    source = draw(view, make_statement(view), "f" * 64).decode()
    return source, Page(source)


def test_the_page_has_claims_tests_and_digests_and_loads_nothing(run: Path) -> None:
    source, read = page_of(read_view(run))
    certificate = read_certificate(run / "certificate.json")
    assert not ACTIVE & read.tags()
    policies = [a for _, a in read.elements if a.get("http-equiv")]
    assert policies == [{"http-equiv": "Content-Security-Policy", "content": POLICY}]
    assert "://" not in source
    assert len(source) < 40_000
    for finding in certificate.findings:
        assert finding.limit in read.text
        assert finding.method in read.text
    for said in (certificate.model_sha256, certificate.rows_sha256, "f" * 64):
        assert said in read.text
    assert "CERTIFIED" in read.text
    assert "It says nothing of data from another time" in read.text


def test_a_failed_certificate_is_no_green_page(run: Path) -> None:
    path = run / "certificate.json"
    content = json.loads(path.read_text())
    content["findings"][0]["verdict"] = "not certified"
    path.write_text(json.dumps(content))
    view = read_view(run)
    certificate = read_certificate(path)
    shown = RunView(**{**vars(view), "certificate": certificate, "is_foreign": False})
    source, read = page_of(shown)
    assert "NOT CERTIFIED" in read.text
    assert 'class="verdict bad"' in source
    assert 'class="verdict good"' not in source


def test_hostile_names_are_text(run: Path) -> None:
    path = run / "certificate.json"
    content = json.loads(path.read_text())
    content["findings"][0] |= {"limit": HOSTILE, "method": HOSTILE, "counts": {HOSTILE: 3}}
    content |= {"pipeline": HOSTILE, "versions": {HOSTILE: HOSTILE}, "time": HOSTILE}
    path.write_text(json.dumps(content))
    write_certificate(path, read_certificate(path))
    view = read_view(run)
    settings = {**view.content, "title": HOSTILE}
    certificate = read_certificate(path)
    known = {**vars(view), "content": settings, "certificate": certificate, "is_foreign": False}
    source, read = page_of(RunView(**known))
    assert not ACTIVE & read.tags()
    assert not [a for _, a in read.elements if any(key.startswith("on") for key in a)]
    assert not any(sign in source for sign in "\x1b\u202e")
    assert "alert(1)" in read.text
