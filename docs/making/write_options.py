"""Write options.md from the record of the options: python docs/making/write_options.py."""

from __future__ import annotations

import re
from pathlib import Path

from automl_admm.runs.option_record import Kind, Option
from automl_admm.runs.options import OPTIONS, PipelineOptions, options_of
from automl_admm.runs.search_options import SearchOptions

PAGE = Path(__file__).parents[1] / "reference" / "options.md"
HEAD = """# The options of a run

One record, `automl_admm/runs/options.py`, is the source of the command line, the parameters of
`AutoMLClassifier` and `AutoMLRegressor`, the arguments of `minimize` and the request in `run.json`.
The command line and scikit-learn have habits of their own, so some options have two names; this
table, written by `python docs/making/write_options.py`, has both. `run.json` and the package itself
use the names of Python. On the command line a share may be in percent: `--test-size 20%` is
`--test-size 0.2`.
"""
TABLE = """
| command line | meaning | default | Python | `minimize` | at resume |
| --- | --- | --- | --- | --- | --- |
"""
FOOT = """
At resume an option "may change" freely; to change one that "must stay", give `--allow-changed`, and
the evaluations that it makes useless are done again. `--max-depth`, `--seed` and
`--certify-fraction` may change as far as the search space and the parts of the rows stay the same:
otherwise they count as another grammar or as other data. The command `resume` offers the options in
**bold** type; the others keep their values. In Python, `fit` with `warm_start=True` takes all
parameters as they are now.

## Values

| kind | command line | Python |
| --- | --- | --- |
| time | `30s`, `10m`, `1h`, or seconds | the same text, or seconds: `600` |
| memory | `500MB`, `2GB`, or bytes | the same text, or bytes: `2_000_000_000` |
| several values | the option once for each | a list |
| kinds of columns | `--column COL=KIND` for each | `columns={"COL": "KIND"}` |
| a solver, strategy or executor | `NAME:key=value,…` | the same text |
| yes or no | the option alone | `True` |
| all cores | leave out `--workers` | `n_jobs=-1` |

An option with one value keeps the last of two. Two values of `--target`, `--weight`,
`--group`, `--time`, `--metric`, `--positive` or `--cost`, and two kinds or costs of one column, are
refused: each would be another question.

## Other words for one thing

| command line | Python |
| --- | --- |
| `DATA` and `--target COL` | `fit(X, y)` |
| `--sensitive COL` | `fit(X, y, sensitive_features=…)`, or a column of `X` |
| `--weight COL`, `--group COL`, `--time COL` | `fit(X, y, sample_weight=…, groups=…, time=…)` |
| `automl-admm resume RUN` | `warm_start=True` with the same `work_dir` |
| exit codes 4, 5 and 6 | `NoSuccessError`, `InfeasibleError`, `NotCertifiedError` |
"""
DEFAULT = re.compile(r" \[default: (?P<words>.*)\]$")


def page() -> str:
    """Return the text of the page."""
    rows = [_row(option) for option in OPTIONS]
    return HEAD + TABLE + "\n".join(rows) + "\n" + FOOT


def _row(option: Option) -> str:
    in_python = {one.name for one in options_of(PipelineOptions)}
    # Its limits are texts or `Limit` objects, so it names them itself.
    in_minimize = {one.name for one in options_of(SearchOptions)} | {"constraints"}
    flag = "" if option.flag is None else f"`{option.flag}`"
    cells = (
        f"**{flag}**" if option.resume_help is not None else flag,
        DEFAULT.sub("", option.help),
        _default(option),
        f"`{option.name}`" if option.name in in_python else "",
        "yes" if option.name in in_minimize else "",
        _at_resume(option),
    )
    return f"| {' | '.join(cells)} |"


def _default(option: Option) -> str:
    told = DEFAULT.search(option.help)
    words = _shown(option.default) if option.default not in (None, ()) else ""
    if option.command_default is not None:
        return f"{words or 'drawn anew'}; command line: {_shown(option.command_default)}"
    if option.kind is Kind.CHOICE and option.default is None:
        return f"command line: `auto`, {'by the target' if option.name == 'task' else 'found'}"
    if option.name == "n_jobs" and told:
        return f"1; command line: {told['words']}"
    return words or (told["words"] if told else "none")


def _at_resume(option: Option) -> str:
    if option.kind is Kind.FOLDER:
        return "names the run"
    return "may change" if option.compared_as is None else "must stay"


def _shown(value: object) -> str:
    return f"`{value}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
