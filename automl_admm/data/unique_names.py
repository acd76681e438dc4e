"""Names of columns made unique: a table may have two columns of one name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from automl_admm.core.errors import DataError

MOST_SHOWN = 4
# As pandas calls a column without a name.
UNNAMED = re.compile(r"Unnamed: \d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class UniqueNames:
    """The `names` of all columns, none twice; `copies` has those made of each doubled one.

    Names of columns without one are under "" there.
    """

    names: tuple[str, ...]
    copies: Mapping[str, tuple[str, ...]]

    def tell(self) -> str:
        """Say how columns of one name are called."""
        name, made = next(iter(self.copies.items()))
        shown = [f"'{one}'" for one in made[:MOST_SHOWN]]
        cut = ", …" if len(made) > MOST_SHOWN else ""
        rest = len(self.copies) - 1
        more = f"; more such names: {rest}" if rest else ""
        count = "a column" if len(made) == 1 else f"{len(made)} columns"
        called = f"named '{name}'" if name else "without a name"
        return f"{count} {called} (read as {', '.join(shown)}{cut}){more}"

    def check(self, title: str, sole: Collection[str], known: Collection[str] | None) -> None:
        """Raise if nobody can tell which of the columns of one name is meant.

        `sole` are the names that the user gave: each means one column. `known` are the columns of
        training: of the columns of one name it must have as many as there are, or none.
        """
        for name, made in self.copies.items():
            if name in sole:
                raise DataError(
                    f"{title}: {_count(made)} columns are named '{name}', and one is meant.",
                    hint=f"Rename the first if you mean it; '{made[1]}' is the second.",
                )
            found = None if known is None else sum(one in known for one in made)
            if found not in (None, 0, len(made)):
                raise DataError(
                    f"{title}: {_count(made)} columns are named '{name}', and in training there "
                    f"{'was' if found == 1 else 'were'} {found}.",
                    hint="Rename or delete the others.",
                )


def _count(made: Sequence[str]) -> str:
    return "two" if len(made) == 2 else str(len(made))


def unique_names(names: Sequence[str]) -> UniqueNames | None:
    """Return names with a number behind each copy, such as a.1; None if there are no copies.

    A name made is never one that is there already. It depends on the order of the columns of one
    name alone: others may stand anywhere between them.
    """
    counts = Counter(names)  # `names.count` for each name is quadratic: minutes for wide tables
    if len(counts) == len(names):
        return None
    copies: dict[str, list[str]] = {}
    numbers: dict[str, int] = {}
    found = []
    for name in names:
        made = name
        if name in copies:
            number = numbers.get(name, 0) + 1
            while f"{name}.{number}" in counts:
                number += 1
            numbers[name], made = number, f"{name}.{number}"
        if counts[name] > 1:
            copies.setdefault(name, []).append(made)
        found.append(made)
    return UniqueNames(tuple(found), {name: tuple(made) for name, made in copies.items()})


def unique_header(
    header: Sequence[str], known: Collection[str] | None = None
) -> UniqueNames | None:
    """Return unique names for the header of a file, in which columns may have none.

    The latter are called as by pandas; among the columns of training, `known`, their order counts.
    """
    blanks = [place for place, name in enumerate(header) if not name]
    # Runs of earlier releases have "" and ".1" for two of them.
    if not blanks or (known is not None and "" in known):
        return unique_names(header)
    made = _known_blanks(header, len(blanks), known or ()) or [
        _free_name(f"Unnamed: {place}", header) for place in blanks
    ]
    names = list(header)
    for place, name in zip(blanks, made, strict=True):
        names[place] = name
    found = unique_names(names) or UniqueNames(tuple(names), {})
    return UniqueNames(found.names, {"": tuple(made), **found.copies})


def _known_blanks(header: Sequence[str], count: int, known: Collection[str]) -> list[str]:
    """Return the names in training of as many columns without one, or none if it had no such."""
    absent = [name for name in known if UNNAMED.fullmatch(name) and name not in header]
    if len(absent) not in (0, count):
        raise DataError(
            f"columns without a name: {count}; in training there were {len(absent)}.",
            hint=f"Name them as in training: {', '.join(map(repr, absent[:MOST_SHOWN]))}.",
        )
    return sorted(absent, key=lambda name: int(re.split(r"[ .]", name)[1]))


def _free_name(name: str, header: Sequence[str]) -> str:
    number, found = 0, name
    while found in header:
        number, found = number + 1, f"{name}.{number + 1}"
    return found


def with_unique_names(
    X: Any, sole: Iterable[Any] = (), known: Iterable[Any] | None = None
) -> tuple[Any, str | None]:
    """Return a frame from Python with unique names, and a line on them if any were not.

    Arrays, and frames with names other than text, stay as they are.
    """
    names = list(getattr(X, "columns", ()))
    if not all(isinstance(name, str) for name in names):
        return X, None
    found = unique_names(names)
    if found is None:
        return X, None
    found.check("X", set(map(str, sole)), None if known is None else set(map(str, known)))
    return X.set_axis(list(found.names), axis=1), f"X has {found.tell()}"
