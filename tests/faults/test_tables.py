"""Tables that are not what they should be: the answer is right, or a line says why."""

from __future__ import annotations

import gzip
import os
import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from automl_admm import AutoMLClassifier, AutoMLRegressor
from automl_admm.cli.main import main
from automl_admm.core.errors import AutomlAdmmError

ROWS = 60
RNG = np.random.default_rng(0)
PLAIN = pd.DataFrame({"a": RNG.normal(size=ROWS), "c": RNG.choice(list("uvw"), ROWS)})
TARGET = pd.Series(np.where(PLAIN["a"] > 0, "yes", "no"), name="y")
SEARCH = {
    "executor": "inline",
    "grammar": "tiny",
    "cv": 0.25,
    "max_evaluations": 1,
    "theta_solver": "random",
}


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run the program in this process, in an empty folder: exit code and last line."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        lines = (said.err or said.out).strip().splitlines()
        return int(ended.value.code or 0), lines[-1] if lines else ""

    return call


@pytest.fixture
def fit(run, tmp_path):
    """Fit on a table by the program: a frame is written to a file first."""

    def call(table, *more, target="y", cv="0.25"):
        if isinstance(table, pd.DataFrame):
            table.to_csv("data.csv", index=False)
            table = "data.csv"
        search = (
            *("--grammar", "tiny", "--cv", cv),
            *("--max-evaluations", "1", "--theta-solver", "random"),
        )
        given = ("--target", target, *search, "--executor", "inline", "--quiet", "--out", "out")
        return run("fit", table, *given, *more)

    return call


def whole(**columns):
    return PLAIN.assign(y=TARGET, **columns)


def learn(X, y=TARGET, kind=AutoMLClassifier, **settings):
    return kind(**{**SEARCH, "random_state": 0, **settings}).fit(X, y)


@pytest.fixture(scope="module")
def plain():
    """The predictions of a model of the plain table, which names and types do not change."""
    return learn(PLAIN).predict(PLAIN)


@pytest.fixture(scope="module")
def of_numbers():
    """The same of plain numbers."""
    return learn(NUMBERS, SIGN).predict(NUMBERS)


def refusal(*arguments, **settings):
    """Return the line of the error that a fit or the like in Python ends with."""
    with warnings.catch_warnings():
        # scikit-learn has a look at the classes before we have.
        warnings.filterwarnings("ignore", "The number of unique classes")
        with pytest.raises((AutomlAdmmError, ValueError, TypeError)) as raised:
            learn(*arguments, **settings)
    return str(raised.value).splitlines()[0]


# --- F36, F37, F38: the target and the rows ---------------------------------------------------


@pytest.mark.fault("F36", injected="--target misspelt", expected="exit 3, the near name suggested")
def test_a_misspelt_target_is_suggested(fit, seen):
    code, said = fit(whole().rename(columns={"y": "outcome"}), target="outcmoe")
    assert (code, "'outcome'" in said) == (3, True)
    seen(f"exit {code}: {said}")


@pytest.mark.fault("F36", injected="the target's name stands twice", expected="never trained on")
def test_a_target_that_stands_twice_is_refused(fit, seen, tmp_path):
    Path("data.csv").write_text("a,y,y\n" + "1,no,yes\n2,yes,no\n" * 20)
    code, said = fit("data.csv")
    assert code == 3
    assert "'y'" in said
    seen(f"exit {code}: {said}")


@pytest.mark.fault(
    "F36", injected="the target is the sensitive column of a limit", expected="one line, or a run"
)
def test_the_target_as_sensitive_column(fit, seen):
    code, said = fit(whole(), "--constraint", "accuracy_gap[y] <= 0.9", "--positive", "yes")
    assert code in (2, 3)
    assert "y" in said
    seen(f"exit {code}: {said}")


@pytest.mark.parametrize(
    ("target", "kind", "said"),
    [
        pytest.param(["a"] * ROWS, AutoMLClassifier, "one class only", id="one class"),
        pytest.param(
            [f"k{n}" for n in range(ROWS)],
            AutoMLClassifier,
            "no two in one class",
            id="all distinct",
        ),
        pytest.param(PLAIN["a"], AutoMLClassifier, "continuous", id="a quantity as classes"),
        pytest.param(TARGET, AutoMLRegressor, "no plain number", id="text for regression"),
        pytest.param(
            ["7", "$1,234.50"] * (ROWS // 2),
            AutoMLRegressor,
            "the target holds '$1,234.50' in row 1 (from 0), which is no plain number",
            id="money",
        ),
        pytest.param(TARGET.where(PLAIN["a"] > 0), AutoMLClassifier, "is missing in", id="gaps"),
        pytest.param(
            PLAIN["a"].where(PLAIN["a"] > 0, np.inf), AutoMLRegressor, "inf", id="infinite"
        ),
    ],
)
@pytest.mark.fault(
    "F37",
    injected="one class; all values distinct; a quantity given as classes; text to a regressor; a "
    "missing or an infinite target",
    expected="a line that says it; never trained on",
)
def test_targets_to_learn_nothing_from(target, kind, said, seen, request):
    line = refusal(PLAIN, target, kind)
    assert said in line
    seen(f"{request.node.callspec.id}: {line[:110]}")


@pytest.mark.parametrize(
    ("rows", "code", "said"),
    [
        ("a,y\n" + "1,no\n2,yes\n" * 20 + "3,rare\n", 0, ""),
        ("a,y\n" + "1,no\n2,yes\n" * 3, 0, ""),
        ("a,y\n1,no\n2,yes\n", 3, "no row can be held out"),
        ("a,y\n", 3, "no rows"),
        ("", 3, "empty"),
        ("y\n" + "no\nyes\n" * 20, 3, "no column but the target"),
    ],
    ids=["a class of 1 row", "6 rows", "2 rows", "header only", "empty file", "only the target"],
)
@pytest.mark.fault(
    "F38",
    injected="a class of 1 row; 6 rows; 2 rows; a header only; an empty file; the target alone",
    expected="folds adapt, or exit 3 with the reason",
)
def test_tables_of_hardly_any_rows(rows, code, said, fit, seen, request):
    Path("data.csv").write_text(rows)
    found, line = fit("data.csv", "--metric", "accuracy")
    assert found == code
    assert said in line
    seen(f"{request.node.callspec.id}: exit {found} {line if code else ''}")


# --- F39, F40, F41: names, constants, levels --------------------------------------------------

NAMES = {
    "a comma, quotes, brackets": '{"[,]:"}',
    "HTML": "<script>alert(1)</script>",
    "a newline": "a\nb",
    "right to left": "\u202eabc",
    "an emoji": "😀",
    "10 kB": "x" * 10_000,
    "blanks": "   ",
    "empty": "",
    "like a made column": "c.year",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.fault(
    "F39",
    injected="names with JSON signs, HTML, newlines, an emoji, right-to-left, 10 kB, blank",
    expected="works, with the same predictions as under a plain name",
)
def test_odd_names_of_columns_change_nothing(name, plain, seen, request):
    odd = PLAIN.rename(columns={"a": name})
    assert (learn(odd).predict(odd) == plain).all()
    seen(f"{request.node.callspec.id}: as with a plain name")


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (PLAIN.set_axis([1, 1], axis=1), "two columns are named '1'"),
        (PLAIN.rename(columns={"a": 3}), "some column names are text and others are not"),
        (PLAIN.set_axis([("a", 1), ("c", 2)], axis=1).T.T, "levels"),
        (PLAIN.rename(columns={"a": "a\0b"}), "zero character"),
    ],
    ids=["twice one number", "text and numbers", "names of two levels", "NUL"],
)
@pytest.mark.fault(
    "F39",
    injected="two columns of one number; names of text and numbers; names of two levels",
    expected="a line with the name and the cure",
)
def test_names_that_no_table_can_have_are_told(frame, said, seen):
    if isinstance(frame.columns[0], tuple):
        frame.columns = pd.MultiIndex.from_tuples(frame.columns)
    line = refusal(frame)
    assert said in line
    seen(line[:120])


@pytest.mark.fault(
    "F40",
    injected="a constant column, one of missing values, one that is the target",
    expected="the first two left out and said, a warning of the third",
)
def test_columns_that_tell_nothing_or_everything(seen):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = learn(PLAIN.assign(same=7, none=np.nan, leak=TARGET))
    notes = {str(one.name): one.note for one in model._ingest.readings}
    assert notes["same"] == "left out: its only value is 7"
    assert notes["none"] == "left out: all its values are missing"
    assert any("'leak' tells the target" in str(warning.message) for warning in caught)
    seen(f"{notes['same']}; {notes['none']}; {caught[0].message}")


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        ([f"l{number % 1900}" for number in range(4000)], ""),
        ([f"user{number}" for number in range(4000)], "left out: an identifier"),
        ([f"the {n} words of row {n * 7}" for n in range(4000)], "free text"),
    ],
    ids=["1 900 levels", "a key for each row", "free text"],
)
@pytest.mark.fault(
    "F41",
    injected="1 900 levels; a key for each row; free text in each row; at predict all are new",
    expected="bounded width and memory; predictions for new levels",
)
def test_many_levels(cells, note, seen, request):
    frame = pd.DataFrame({"a": RNG.normal(size=4000), "q": cells})
    model = learn(frame, np.where(frame["a"] > 0, "yes", "no"))
    reading = model._ingest.by_name()["q"]
    assert reading.note.startswith(note)
    assert len(model.predict(frame.assign(q="never seen"))) == 4000
    seen(f"{request.node.callspec.id}: {reading.note or reading.kind}")


@pytest.mark.parametrize(
    "written", ["user{}@host{}.example", "{1}-{0}", "K{1}X{0}"], ids=["mail", "codes", "glued"]
)
@pytest.mark.fault(
    "F41",
    injected="the target hangs on a part of texts of which no two are alike",
    expected="learned, and applied to new texts",
)
def test_parts_of_texts_tell_the_target(written, seen, request):
    frame = pd.DataFrame({"q": [written.format(n, n * n % 11) for n in range(300)]})
    target = np.where(np.arange(300) ** 2 % 11 > 3, "yes", "no")
    model = learn(frame[:200], target[:200], max_evaluations=2)
    right = float(np.mean(model.predict(frame[200:]) == target[200:]))
    assert right > 0.9
    seen(f"{request.node.callspec.id}: {right:.0%} of new rows right")


@pytest.mark.fault(
    "F41", injected="the categories in another order at predict", expected="the same predictions"
)
def test_the_order_of_categories_is_that_of_training(seen):
    model = learn(PLAIN.assign(c=pd.Categorical(PLAIN["c"], list("uvw"))))
    others = PLAIN.assign(c=pd.Categorical(PLAIN["c"], list("wvux")))
    assert (model.predict(others) == model.predict(PLAIN)).all()
    seen("the same predictions")


# --- F42, F43: types --------------------------------------------------------------------------

TIMES = pd.date_range("2024-01-01", periods=ROWS, freq="37h")
COLUMNS = {
    "datetime": TIMES,
    "datetime with zone": TIMES.tz_localize("Europe/Berlin"),
    "timedelta": TIMES - TIMES[0],
    "Period": TIMES.to_period("D"),
    "Python dates": [moment.date() for moment in TIMES],
    "times of day": [moment.time() for moment in TIMES],
    "bool": [True, False, False] * 20,
    "nullable Int": pd.array([1, None, 3] * 20, "Int64"),
    "nullable boolean": pd.array([True, None, False] * 20, "boolean"),
    "Arrow numbers": pd.array([1.5, None, 3] * 20, "double[pyarrow]"),
    "Arrow text": pd.array(["x", None, "y"] * 20, "string[pyarrow]"),
    "Arrow times": pd.Series(TIMES).astype("timestamp[us][pyarrow]"),
    "Decimal": [Decimal(number) / 7 for number in range(ROWS)],
    "Interval": pd.cut(PLAIN["a"], 3),
    "lists": [["p"], ["p", "q"], ["q"]] * 20,
    "sets": [{"p"}, {"p", "q"}, {"q"}] * 20,
    "bytes": [b"p", b"q", b"r"] * 20,
    "mixed types": [1, "one", 2.5] * 20,
    "N/A words": ["N/A ?", "5", "7.5"] * 20,
    "numbers in text": ["1,234.5", "12", "7"] * 20,
    "dates in text": TIMES.strftime("%d.%m.%Y"),
}
REFUSED = {
    "complex": (PLAIN["a"] + 1j, "complex numbers"),
    "lists of floats": ([[1.5, 2.5], [2.5]] * 30, "list"),
    "dicts": ([{"p": 1}, {"q": 2}] * 30, "dict"),
}


@pytest.mark.parametrize("cells", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.fault(
    "F42",
    injected="dates, zones, durations, Periods, nullable, Arrow, Decimal, lists, bytes, mixed",
    expected="handled, and the predictions hang on no other type of the same rows",
)
def test_columns_of_every_type_are_learned_from(cells, seen, request):
    frame = PLAIN.assign(q=pd.Series(cells).set_axis(PLAIN.index))
    model = learn(frame)
    reading = model._ingest.by_name()["q"]
    assert len(model.predict(frame)) == ROWS
    assert (model.predict(frame[:7]) == model.predict(frame)[:7]).all()
    seen(f"{request.node.callspec.id}: {reading.kind}")


@pytest.mark.parametrize(("cells", "said"), REFUSED.values(), ids=REFUSED)
@pytest.mark.fault(
    "F42", injected="complex numbers; lists of floats; dicts", expected="a message with the column"
)
def test_columns_of_no_use_are_refused_by_name(cells, said, seen):
    line = refusal(PLAIN.assign(q=pd.Series(cells)))
    assert "column 'q' holds" in line
    assert said in line
    seen(line)


NUMBERS = RNG.normal(size=(ROWS, 3))
SIGN = NUMBERS[:, 0] > 0


def mapped(folder):
    found = np.memmap(folder / "numbers.bin", "f8", "w+", shape=NUMBERS.shape)
    found[:] = NUMBERS
    return found


def frozen():
    found = NUMBERS.copy()
    found.flags.writeable = False
    return found


ARRAYS = {
    "memmap": mapped,
    "read-only": lambda _: frozen(),
    "Fortran order": lambda _: np.asfortranarray(NUMBERS),
    "big-endian": lambda _: NUMBERS.astype(">f8"),
    "big-endian frame": lambda _: pd.DataFrame(NUMBERS.astype(">f8")),
    "sparse frame": lambda _: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(NUMBERS)),
    "Arrow table": lambda _: __import__("pyarrow").table(
        {str(place): NUMBERS[:, place] for place in range(3)}
    ),
    "list": lambda _: NUMBERS.tolist(),
}


@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.fault(
    "F43",
    injected="a memmap, read-only, Fortran, big-endian, sparse columns, an Arrow table, a list",
    expected="the predictions of the plain array",
)
def test_arrays_of_every_layout_are_one_table(make, of_numbers, seen, tmp_path, request):
    table = make(tmp_path)
    assert (learn(table, SIGN).predict(table) == of_numbers).all()
    seen(f"{request.node.callspec.id}: the same")


@pytest.mark.fault("F43", injected="float16", expected="works")
def test_half_precision(seen):
    table = NUMBERS.astype("f2")
    assert (learn(table, SIGN).predict(table) == SIGN).mean() > 0.8
    seen("works")


@pytest.mark.fault("F43", injected="masked cells", expected="missing, not the number beneath")
def test_a_masked_cell_is_missing(seen):
    beneath = np.where(SIGN[:, None], 1e6, NUMBERS)  # would tell the target
    masked = np.ma.masked_array(beneath, mask=beneath == 1e6)
    masked[:, 1:] = NUMBERS[:, 1:]
    gaps = np.where(masked.mask, np.nan, masked.data)
    assert (learn(masked, SIGN).predict(masked) == learn(gaps, SIGN).predict(gaps)).all()
    seen("as NaN")


@pytest.mark.parametrize(
    "table",
    [
        sparse.csr_matrix(NUMBERS),
        sparse.csc_array(NUMBERS),
        PLAIN["a"],
        NUMBERS[:, :, None],
        {"a": [1]},
    ],
    ids=["CSR", "CSC", "a Series", "three dimensions", "a dict"],
)
@pytest.mark.fault(
    "F43",
    injected="CSR, CSC, a Series, an array of three dimensions, a dict as X",
    expected="a clear TypeError or ValueError",
)
def test_what_is_no_table_is_told(table, seen, request):
    line = refusal(table, TARGET)
    assert any(word in line for word in ("dense", "one column", "dim 3", "no table"))
    seen(f"{request.node.callspec.id}: {line[:90]}")


# --- F44, F45: rows to predict, extreme numbers -----------------------------------------------

LATER = {
    "a missing column": (PLAIN[["c"]], 3, "missing: 'a'"),
    "another type": (PLAIN.assign(a="x"), 3, "line 2: column 'a' holds 'x'"),
    "no rows": (PLAIN[:0], 3, "no rows"),
    "a further column": (PLAIN.assign(z=1), 0, ""),
    "another order": (PLAIN[["c", "a"]], 0, ""),
    "one row": (PLAIN[:1], 0, ""),
}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with a run on the plain table, and what it predicts of that."""
    place = tmp_path_factory.mktemp("fitted")
    whole().to_csv(place / "data.csv", index=False)
    PLAIN.to_csv(place / "plain.csv", index=False)
    few = [f"--{name.replace('_', '-')}={value}" for name, value in SEARCH.items()]
    out = ["--out", str(place / "out"), "--quiet"]
    for words in (
        ["fit", str(place / "data.csv"), "--target", "y", *few, *out],
        ["predict", out[1], str(place / "plain.csv"), "-o", str(place / "plain_out.csv")],
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert not ended.value.code
    return place


@pytest.mark.parametrize(("rows", "code", "said"), LATER.values(), ids=LATER)
@pytest.mark.fault(
    "F44",
    injected="predict: a column missing, further, in another order, of another type; 1 row, 0 rows",
    expected="by name: the same predictions, or exit 3 with the place",
)
def test_rows_to_predict_are_known_by_names(rows, code, said, fitted, run, seen, request):
    rows.to_csv("new.csv", index=False)
    found, line = run("predict", fitted / "out", "new.csv", "-o", "new_out.csv")
    assert found == code
    assert said in line
    if not code:
        expected = (fitted / "plain_out.csv").read_text().splitlines()[: len(rows) + 1]
        assert Path("new_out.csv").read_text().splitlines() == expected
    seen(f"{request.node.callspec.id}: {'the same predictions' if not code else line}")


@pytest.mark.parametrize(
    ("numbers", "least"),
    [
        (PLAIN["a"].where(PLAIN["a"] < 1, np.inf), 0.8),
        (PLAIN["a"] * 1e307, 0.8),
        (PLAIN["a"] * 5e-324 * 1000, 0.8),
    ],
    ids=["infinite", "1e307", "denormal"],
)
@pytest.mark.fault(
    "F45",
    injected="infinite features; 1e307; denormal numbers",
    expected="missing and said, or a model all the same",
)
def test_extreme_numbers(numbers, least, seen, request):
    frame = PLAIN.assign(a=numbers)
    model = learn(frame, max_evaluations=8, scoring="accuracy")
    right = float((model.predict(frame) == TARGET).mean())
    assert right >= least
    note = model._ingest.by_name()["a"].note
    assert note
    seen(f"{request.node.callspec.id}: accuracy {right:.2f}, {note}")


# --- F46: files -------------------------------------------------------------------------------

CSV = whole().to_csv(index=False)


def lines(*changes):
    """Return the file with other lines in places, the header being line 1."""
    found = CSV.splitlines()
    for line, text in changes:
        found[line - 1] = text
    return ("\n".join(found) + "\n").encode()


READABLE = {
    "a byte order mark": b"\xef\xbb\xbf" + CSV.encode(),
    "semicolons": CSV.replace(",", ";").encode(),
    "UTF-16": CSV.encode("utf-16"),
    "Latin-1": CSV.replace("u", "ü").encode("latin-1"),
    "gz": gzip.compress(CSV.encode()),
    "Windows line ends": CSV.replace("\n", "\r\n").encode(),
}
UNREADABLE = {
    "a ragged row": (lines((7, "1.5,u")), "line 7"),
    "an unclosed quote": (lines((7, '1.5,"u,yes')), "line"),
    "NUL bytes": (lines((7, "1.5,u\0v,yes")), "is no text"),
    "half a gz": (gzip.compress(CSV.encode() * 50)[:500], "cut off"),
    "random bytes": (
        bytes(np.random.default_rng(1).integers(128, 256, 3000, np.uint8)),
        "data.csv",
    ),
}


@pytest.mark.parametrize("content", READABLE.values(), ids=READABLE)
@pytest.mark.fault(
    "F46",
    injected="a byte order mark, semicolons, UTF-16, Latin-1, gz, Windows line ends",
    expected="the table of the plain file",
)
def test_dialects_of_files(content, fit, seen, request):
    Path("data.csv").write_bytes(content)
    code, line = fit("data.csv")
    assert code == 0, line
    seen(f"{request.node.callspec.id}: read")


@pytest.mark.parametrize(("content", "said"), UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.fault(
    "F46",
    injected="a ragged row, an unclosed quote, NUL bytes, half a gz, random bytes",
    expected="exit 3, with the line where there is one",
)
def test_damaged_files(content, said, fit, seen, request):
    Path("data.csv").write_bytes(content)
    code, line = fit("data.csv")
    assert code == 3
    assert said in line
    seen(f"{request.node.callspec.id}: {line[line.find('data.csv') :][:110]}")


@pytest.mark.fault("F46", injected="/dev/zero, a folder, a FIFO as data", expected="exit 3 at once")
def test_only_files_are_read(fit, seen, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for place in ("/dev/zero", str(tmp_path), "pipe.csv"):
        code, line = fit(place)
        assert code == 3
        seen(line.replace(str(tmp_path), "…"))


@pytest.mark.fault("F46", injected="a symbolic link to a table", expected="the table")
def test_a_link_is_followed(fit, seen):
    Path("real.csv").write_text(CSV)
    Path("data.csv").symlink_to("real.csv")
    code, line = fit("data.csv")
    assert code == 0, line
    seen("read")


@pytest.mark.fault("F46", injected="a line of 30 MB", expected="read, or exit 3 with its line")
def test_a_line_without_end(fit, seen):
    Path("data.csv").write_bytes(lines((7, f"1.5,{'u' * 30_000_000},yes")))
    code, line = fit("data.csv")
    assert code == 3 or not line
    seen(f"exit {code}: {line[line.find('data.csv') :][:110]}")


# --- F47: groups of a limit -------------------------------------------------------------------

GROUPS = {
    "one group": (["m"] * ROWS, (2, 3)),
    "a group of 3 rows": (["m", "f"] * 28 + ["x"] * 3 + ["m"], (3,)),
    "missing values": (["m", None, "f"] * 20, (0, 3, 5)),
    "a group for each row": ([f"g{number}" for number in range(ROWS)], (2, 3, 4, 5)),
}


@pytest.mark.parametrize(("cells", "codes"), GROUPS.values(), ids=GROUPS)
@pytest.mark.fault(
    "F47",
    injected="a sensitive column of one group; of a group of 3 rows; with gaps; of 60 groups",
    expected="a line, or a limit that is met on all groups; never 0/0 taken for met",
)
def test_groups_too_small_for_a_limit(cells, codes, fit, seen, request):
    limit = ("--constraint", "fnr_gap[g] <= 0.05", "--positive", "yes")
    code, line = fit(whole(g=cells), *limit, cv="2")  # each group is to be in each of two parts
    assert code in codes, line
    seen(f"{request.node.callspec.id}: exit {code} {line[:130] if code else ''}")


@pytest.mark.fault(
    "F47", injected="a group without a positive row", expected="not taken for a limit that is met"
)
def test_a_group_without_positives_is_not_certified(fit, seen):
    group = np.where(TARGET == "yes", "m", RNG.choice(["m", "f"], ROWS))
    more = ("--constraint", "fnr_gap[g] <= 0.05", "--positive", "yes", "--certify", "0.95")
    code, line = fit(whole(g=group), *more)
    assert code != 0
    seen(f"exit {code}: {line[:160]}")
