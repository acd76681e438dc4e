"""`automl-admm export RUN --to certificate:FOLDER`: the page of a certificate and its statement."""

from __future__ import annotations

import hashlib

from automl_admm.core.run import SavedRun
from automl_admm.report.audit.page import draw
from automl_admm.report.audit.statement import canonical, make_statement
from automl_admm.report.exported import folder_for, view_of
from automl_admm.store.output_files import write_output

PAGE, STATEMENT_FILE = "certificate.html", "statement.json"


def write_audit(run: SavedRun, target: str) -> str:
    """Write the statement of a run and the page of its certificate into a folder."""
    view = view_of(run)
    stated = make_statement(view)
    content = canonical(stated)
    page = draw(view, stated, hashlib.sha256(content).hexdigest())
    folder = folder_for(target)
    write_output(folder / STATEMENT_FILE, content)
    write_output(folder / PAGE, page)
    return f"{folder / PAGE}, and to sign: {folder / STATEMENT_FILE}"
