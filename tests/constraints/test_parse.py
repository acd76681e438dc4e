from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.constraints.parse import columns_in, read_text
from automl_admm.constraints.syntax import ClassOption, GroupColumn, MeasureOption, WrittenLimit
from automl_admm.core.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("fpr <= 0.05", WrittenLimit("fpr", (), at_least=False, bound=0.05)),
        ("  recall>=80% ", WrittenLimit("recall", (), at_least=True, bound=0.8)),
        (
            "latency_us <= 50 % * baseline",
            WrittenLimit("latency_us", (), at_least=False, bound=0.5, of_baseline=True),
        ),
        ("x <= -1e-3", WrittenLimit("x", (), at_least=False, bound=-0.001)),
        (
            "auc_gap[age:20,30.5, sex] <= 5 %",
            WrittenLimit(
                "auc_gap",
                (GroupColumn("age", (20.0, 30.5)), GroupColumn("sex")),
                at_least=False,
                bound=0.05,
            ),
        ),
        (
            'confusion{ predicted = -1 , true="a ""b""" }[sex] >= 1 %',
            WrittenLimit(
                "confusion",
                (GroupColumn("sex"),),
                at_least=True,
                bound=0.01,
                classes=(ClassOption("true", 'a "b"'), ClassOption("predicted", "-1")),
            ),
        ),
        (
            'f{size=3, name="a ""b""", class=c, at=1e-2} <= 1',
            WrittenLimit(
                "f",
                (),
                at_least=False,
                bound=1.0,
                classes=(ClassOption("class", "c"),),
                options=(
                    MeasureOption("size", "3"),
                    MeasureOption("name", 'a "b"'),
                    MeasureOption("at", "1e-2"),
                ),
            ),
        ),
        ("f{class} >= 0", WrittenLimit("f", (), True, 0.0, classes=(ClassOption("class"),))),
        (
            'fpr_gap["marital status", \'say "a"\', pay-0.x] <= 1',
            WrittenLimit(
                "fpr_gap",
                (GroupColumn("marital status"), GroupColumn('say "a"'), GroupColumn("pay-0.x")),
                at_least=False,
                bound=1.0,
            ),
        ),
    ],
)
def test_what_a_limit_says(text: str, written: WrittenLimit) -> None:
    assert read_text(text) == written


@pytest.mark.parametrize(
    ("text", "place", "code", "says"),
    [
        ("fpr < 0.05", 5, "L002", "help: Write '<='."),
        ("fpr = 0.05", 5, "L002", "'<=' for at most"),
        ("recall => 0.05", 8, "L002", "help: Write '>='."),
        ("recall ≥ 0.05", 8, "L002", "help: Write '>='."),
        ("latency_us", 11, "L001", "ends too early"),
        ("<= 3", 1, "L001", "'<=' is not expected here"),
        ("f <= soon", 6, "L001", "'soon' is not expected here"),
        ("f <= 1 2", 8, "L001", "'2' is not expected here"),
        ("f_mb <= 300 MB", 13, "L001", "number alone, in the unit of the name: f_mb <= 300"),
        ("f_mb<=1.5e3MB", 12, "L001", "number alone, in the unit of the name: f_mb<=1.5e3"),
        ("f[a <= 1", 5, "L001", "'<=' is not expected here"),
        ("f[] <= 1", 3, "L001", "']' is not expected here"),
        ("f[a;b] <= 1", 4, "L001", "';' is not expected here"),
        ("f{klass} <= 1", 3, "L006", "the option 'klass' needs a value"),
        ("f{van} <= 1", 3, "L006", 'Write {van=…}, or {class="van"} for a class'),
        ("f{a=1,class=b,a=2} <= 1", 15, "L006", "the option 'a' stands twice"),
        ("f:a=0.1,b=x[g] <= 1", 2, "L001", "stand in braces: f{a=0.1,b=x}[g] <= 1"),
        ("f{true=a,true=b} <= 1", 10, "L006", "{true,true} names no class of a limit"),
        ("f{true=a} <= 1", 3, "L006", "{true} names no class of a limit"),
        ("f{true} <= 1", 3, "L006", "'true' needs a class"),
        ("f{class=} <= 1", 9, "L001", "'}' is not expected here"),
        ("f(a) <= 1", 2, "L001", "'(' is not expected here"),
        ("f[a:2,1] <= 1", 7, "L003", "1 does not come after 2"),
        ("f <= 2 * base", 10, "L005", "0.5 * baseline"),
        ("f <= 1 @", 9, "L001", "ends too early"),
        ("f <= 1 @ @ 0.9", 10, "L001", "'@' is not expected here"),
        ("f <= 1 @ baseline", 10, "L001", "'baseline' is not expected here"),
        ("f @ 0.9 <= 1", 3, "L001", "'@' is not expected here"),
        ("f <= baseline", 6, "L001", "'baseline' is not expected here"),
        ("f[7,a] <= 1", 3, "L003", "quote a name like this"),
        ("f[a,b,a] <= 1", 7, "L004", "'a' stands twice"),
        ("x" * 1001 + " <= 1", 1, "L001", "more than 1000 characters"),
    ],
)
def test_a_mistake_is_shown_where_it_is(text: str, place: int, code: str, says: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_text(text)
    message = str(caught.value)
    assert message.startswith(f"limit:1:{place}: error[{code}]: ")
    assert says in message


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("fpr <= 0.1", None),
        ("fpr <= 0.1 @ 0.99", 0.99),
        ("fpr<=10%@99.9%", 0.999),
        ("fpr_gap[sex] <= 0.1 @ 90 %", 0.9),
        ("latency_us <= 0.5 * baseline @ 0.9", 0.9),
    ],
)
def test_a_limit_may_have_a_confidence_of_its_own(text: str, confidence: float | None) -> None:
    assert read_text(text).confidence == confidence


NAMES = st.text(min_size=1, max_size=12).filter(
    lambda name: not ('"' in name and "'" in name)  # such a name cannot be quoted
)
CUTS = st.lists(st.integers(-99, 99), max_size=3, unique=True).map(lambda cuts: tuple(sorted(cuts)))


@given(st.dictionaries(NAMES, CUTS, min_size=1, max_size=3), st.booleans())
def test_the_canonical_text_reads_back(columns: dict[str, tuple[int, ...]], at_least: bool) -> None:
    groups = tuple(GroupColumn(name, tuple(map(float, cuts))) for name, cuts in columns.items())
    written = WrittenLimit("fpr_gap", groups, at_least, 0.25)
    assert read_text(f"{written.name} {'>=' if at_least else '<='} 25%") == written


@given(st.dictionaries(st.sampled_from("abc"), st.text(max_size=9), min_size=1))
def test_options_read_back(values: dict[str, str]) -> None:
    options = tuple(MeasureOption(name, value) for name, value in sorted(values.items()))
    written = WrittenLimit("f", (), False, 1.0, options=options)
    assert read_text(f"{written.name} <= 1") == written


@given(st.text(max_size=40))
def test_no_text_brings_it_down(text: str) -> None:
    try:
        name = read_text(text).name
    except ConfigurationError as problem:
        name = str(problem)
    assert name


def test_the_columns_of_limits_are_known_before_the_data() -> None:
    limits = ["fpr_gap[sex, age:30] <= 0.1", "size_mb <= 3", "fpr_gap[a <= 1", len]
    assert columns_in(limits) == {"sex", "age"}


@pytest.mark.parametrize("column", ["<i>grp</i>", "my column!", "2nd, half"])
def test_a_column_with_odd_signs_is_told_to_be_quoted(column: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read_text(f"fpr_gap[{column}] <= 0.2")
    cure = f'fpr_gap["{column}"] <= 0.2'
    assert cure in str(raised.value)
    assert read_text(cure).columns == (GroupColumn(column),)
