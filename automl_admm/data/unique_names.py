"""Names of columns made unique: a table may have two columns of one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from automl_admm.core.errors import DataError

MOST_SHOWN = 4


@dataclass(frozen=True, slots=True)
class UniqueNames:
    """The `names` of all columns, none twice; `copies` has those made of each doubled one."""

    names: tuple[str, ...]
    copies: Mapping[str, tuple[str, ...]]

    def tell(self) -> str:
        """Say how columns of one name are called."""
        name, made = next(iter(self.copies.items()))
        shown = [f"'{one}'" for one in made[:MOST_SHOWN]]
        cut = ", …" if len(made) > MOST_SHOWN else ""
        rest = len(self.copies) - 1
        more = f"; more such names: {rest}" if rest else ""
        return f"{len(made)} columns named '{name}' (read as {', '.join(shown)}{cut}){more}"

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
