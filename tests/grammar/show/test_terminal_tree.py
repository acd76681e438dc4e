"""The structure of a space as a tree and as a picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from rich.console import Console

from automl_admm.core.structure.pipeline_space import NOTHING, Module, Sequence, Shape
from automl_admm.grammar import compile_text
from automl_admm.grammar.expand.unfolding import unfold
from automl_admm.grammar.read.reader import read
from automl_admm.grammar.show.svg import draw_svg
from automl_admm.grammar.show.terminal_tree import draw_tree

SVG = "{http://www.w3.org/2000/svg}"
TEXT = """\
start: by_type{numbers, none} any_order{scaler, reducer} union{kept, pca} stack{linear}? model
numbers: impute scale
scaler: scale?
reducer: none | pca
kept: select
linear: ridge
model: forest | svm
"""


@pytest.fixture(scope="module")
def shape(components) -> Shape:
    return unfold(read(TEXT).bodies(), components).shape


def test_the_tree_says_what_stands_where(shape):
    console = Console(width=100, highlight=False)
    with console.capture() as captured:
        console.print(draw_tree(shape, "all of it [bold]"))
    assert (
        captured.get()
        == """\
all of it [bold]
├── by type of column (by_type)
│   ├── numbers: one after another
│   │   ├── impute(strategy)
│   │   └── scale()
│   └── categories: none
├── in any order: start.order
│   ├── one of: scaler
│   │   ├── scale()
│   │   └── none
│   └── one of: reducer
│       ├── none
│       └── pca(n_components, whiten)
├── side by side (union)
│   ├── select(percentile)
│   └── pca(n_components, whiten)
├── one of: start.1
│   ├── stack{linear}: predictions as features (stack)
│   │   └── ridge(alpha)
│   └── none
└── one of: model
    ├── forest(n_estimators)
    └── svm(kernel, degree)
"""
    )


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own text


def texts(svg: str) -> list[str]:
    return [item.text or "" for item in parsed(svg).iter(f"{SVG}text")]


def test_the_picture_names_every_component_and_every_frame(shape):
    shown = texts(draw_svg(shape, "all of it"))
    assert shown[0] == "all of it"
    assert shown[1:] == [
        "by type of column (by_type)",
        "numbers",
        "impute",
        "scale",
        "categories",
        "in any order: start.order",
        "scaler",
        "scale",
        "reducer",
        "pca",
        "side by side (union)",
        "select",
        "pca",
        "start.1",
        "predictions as features (stack)",
        "ridge",
        "model",
        "forest",
        "svm",
    ]


def test_no_module_lies_on_another_and_all_lie_inside(shape):
    root = parsed(draw_svg(shape, "all of it"))
    places = []
    for group in root.iter(f"{SVG}g"):
        x, y = map(float, group.get("transform", "")[len("translate(") : -1].split())
        for item in group.iter(f"{SVG}rect"):
            if item.get("class") == "module":
                left, top = x + float(item.get("x", "")), y + float(item.get("y", ""))
                width, height = float(item.get("width", "")), float(item.get("height", ""))
                places.append((left, top, left + width, top + height))
    assert len(places) == 9
    for number, one in enumerate(places):
        assert 0 <= one[0] < one[2] <= float(root.get("width", ""))
        assert 0 <= one[1] < one[3] <= float(root.get("height", ""))
        for other in places[:number]:
            apart = one[2] <= other[0] or other[2] <= one[0]
            assert apart or one[3] <= other[1] or other[3] <= one[1]


def test_text_is_escaped():
    svg = draw_svg(Module("</text><script>"), "<&>\x07")
    assert "<script>" not in svg
    assert texts(svg) == ["<&>\N{REPLACEMENT CHARACTER}", "</text><script>"]


def test_nothing_is_a_line():
    for shape in (NOTHING, Sequence((NOTHING, NOTHING))):
        root = parsed(draw_svg(shape, "x"))
        assert list(root.iter(f"{SVG}path"))
        assert [item.get("class") for item in root.iter(f"{SVG}rect")] == [None]


def test_the_largest_grammar_is_drawn(components):
    text = "%import components (pca, ridge)\nstart: " + "pca? " * 300 + "ridge\n"
    pipelines = compile_text(text, "long", components).pipelines
    assert texts(draw_svg(pipelines.shape, "long")).count("pca") == 300
