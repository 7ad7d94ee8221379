# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows with names, and histograms, as objects for programs of others. Both become data frames of pandas."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raidtrace.quantity import bins


class Table(Sequence[Mapping[str, Any]]):
    """Rows as mappings from `names` to values. A value that is not available is None."""

    def __init__(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.names = tuple(names)
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return Table(self.names, self._rows[at])
        return dict(zip(self.names, self._rows[at], strict=True))

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (dict(zip(self.names, row, strict=True)) for row in self._rows)

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame. A value that is not available is <NA>, and whole numbers stay whole.

        Raises ModuleNotFoundError, with the command that installs pandas."""
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "to_pandas() needs pandas, which is not installed: apt-get install python3-pandas, or pip install pandas",
                name=error.name,
            ) from None
        columns = zip(*self._rows, strict=True) if self._rows else ((),) * len(self.names)
        arrays = (pandas.array(values, dtype=_dtype(values)) for values in columns)
        return pandas.DataFrame(dict(zip(self.names, arrays, strict=True)))


def _dtype(values: Sequence[Any]) -> str:
    """The type of pandas for a column. pandas itself would take numbers next to None for floats."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int} and all(abs(value) < 1 << 63 for value in values if value is not None):
        return "Int64"
    kind = (kinds - {int}).pop() if len(kinds - {int}) == 1 else object
    return {bool: "boolean", float: "Float64", str: "string"}.get(kind, "object")


@dataclasses.dataclass(frozen=True)
class Histogram:
    """Counts by value. `unit`: of the values; `counted`: of the counts; `counts`: by number of the bin, none is 0."""

    kind: str
    unit: str
    counted: str
    counts: Mapping[int, int]

    @classmethod
    def of(cls, kind: str, counts: Mapping[int, int]) -> Histogram:
        """A histogram of a kind, such as d2c. Raises KeyError for an unknown kind."""
        row = kind_of(kind)
        return cls(kind, row.unit, row.counted, counts)

    def bounds(self, at: int) -> tuple[int, int | None]:
        """The lowest value of a bin in units, and the lowest value above it. None: the bin has no upper end."""
        return kind_of(self.kind).bounds(at)

    def bins(self) -> list[tuple[int, int | None, int]]:
        """Bins that have counts, from the lowest value: bounds in units, and count."""
        return [(*self.bounds(at), self.counts[at]) for at in sorted(self.counts)]

    def total(self) -> int:
        """Sum of the counts."""
        return sum(self.counts.values())

    def quantile(self, part: float) -> tuple[int, int | None] | None:
        """Bounds in units of the bin of a quantile: the least bin that at least `part` of the counts do not exceed.

        None: nothing was counted. Raises ValueError for a `part` beyond 0 to 1, and for histograms of two dimensions.
        """
        if not 0 <= part <= 1:
            raise ValueError(f"{part} is not a part of 1")
        if kind_of(self.kind).columns():
            raise ValueError(f"{self.kind} has two dimensions, and no quantiles")
        at = bins.quantile_bin(self.counts, part)
        return None if at is None else self.bounds(at)

    def to_pandas(self) -> Any:
        """The bins as a pandas.DataFrame with the columns low, above and count. Raises as Table.to_pandas()."""
        return Table(("low", "above", "count"), self.bins()).to_pandas()

    def __sub__(self, earlier: Histogram) -> Histogram:
        """The counts between two readings."""
        return dataclasses.replace(self, counts=grown(self.counts, earlier.counts))


def kind_of(name: str) -> bins.Kind:
    """The kind of histograms with this name, with - or _. Raises KeyError: there is none."""
    return bins.KINDS[name.replace("-", "_")]


def grown(now: Mapping[int, int], before: Mapping[int, int]) -> dict[int, int]:
    """The bins that have more counts than before, and how many more."""
    return {at: count - before.get(at, 0) for at, count in now.items() if count != before.get(at, 0)}
