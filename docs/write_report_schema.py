"""Write reference/report.schema.json from the records: python docs/write_report_schema.py."""

from __future__ import annotations

import json
from pathlib import Path

from automl_admm.report.content import describe

PLACE = Path(__file__).parent / "reference" / "report.schema.json"


def schema_text() -> str:
    """Return the content of the file."""
    return json.dumps(describe(), indent=1) + "\n"


if __name__ == "__main__":
    PLACE.write_text(schema_text(), encoding="utf-8")
