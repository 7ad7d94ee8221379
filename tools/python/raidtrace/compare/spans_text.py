# SPDX-License-Identifier: GPL-2.0-or-later
"""Two recordings side by side, as text for a terminal."""

from collections.abc import Iterable, Iterator

from raidtrace.compare.differences import Difference
from raidtrace.compare.spans import Alone, Comparison, Pair, Row
from raidtrace.quantity import terminal, units
from raidtrace.quantity.shown import visible

LEAST, MOST = 20, 100  # columns; longer lines are hard to read
SUBMITTERS = 8  # more say little
VALUE = 21  # columns of a value; a longer one has a line of its own
MANY_TIMES = 100  # from this ratio on per cent say nothing more
OUTSIDE = "outside"  # around the phases that a program names it is enough to know of it


def _wrapped(label: str, text: str, width: int) -> list[str]:
    return terminal.wrapped(visible(text), width, len(label), label).splitlines()


def _difference(one: Difference, width: int) -> Iterator[str]:
    what = visible(f"{one.disk} {one.what}" if one.disk else one.what)
    if max(len(one.a), len(one.b)) <= VALUE:
        yield f"{what[:36]:36} {visible(one.a):>{VALUE}} {visible(one.b):>{VALUE}}"
    else:
        yield what
        yield from (
            line for letter, value in (("A", one.a), ("B", one.b)) for line in _wrapped(f"  {letter}: ", value, width)
        )
    if one.not_comparable:
        yield from _wrapped("  not comparable: ", one.not_comparable, width)


def _lacking(differences: Iterable[Difference], width: int) -> list[str]:
    """What a trace does not hold is no difference: names of facts, and how many settings."""
    lacking = [one for one in differences if one.not_recorded_in]
    names = [one.what for one in lacking if not one.disk]
    settings = len(lacking) - len(names)
    if settings:
        names.append(f"settings ({settings}; --json has them)")
    where = f"not recorded in {lacking[0].not_recorded_in}, an imported trace: " if lacking else ""
    return _wrapped("  ", where + ", ".join(names), width) if lacking else []


def differences(found: Comparison, width: int) -> Iterator[str]:
    """What differs between machines, commands and settings; words in lines of at most so many columns."""
    width = min(max(width, LEAST), MOST)
    if not found.differences:
        yield "Machine, command and settings are the same."
        return
    yield f"{'what differs':36} {'A':>{VALUE}} {'B':>{VALUE}}"
    for one in found.differences:
        if not one.not_recorded_in:
            yield from _difference(one, width)
    yield from _lacking(found.differences, width)


def _quantity(row: Row) -> str:
    line = f"    {row.quantity.label:22} " + " ".join(
        f"{units.text(row.quantity.shown, v):>14}" for v in (row.a, row.b)
    )
    why, ratio = row.not_comparable(), row.ratio()
    if why:
        return f"{line} {why}"
    if row.a == row.b and row.a:
        return f"{line} {'1.000':>10} {'equal':>12}"
    if ratio is None:
        return f"{line} {'A is 0':>10} {'equal' if row.a == row.b else 'n/a':>12}"
    times = f"{'~' if row.quantity.end else ''}{ratio:.{3 if ratio < 1000 else 0}f}"
    return f"{line} {times:>10}" + (f" {100 * (ratio - 1):+10.1f} %" if ratio < MANY_TIMES else "")


def _table(heading: str, rows: Iterable[Row]) -> list[str]:
    """Lines below a heading; nothing in both is not worth a line, and no line not worth a heading."""
    told = [_quantity(row) for row in rows if row.worth()]
    return [f"  {visible(heading)}", *told] if told else []


def _pair(pair: Pair | Alone) -> Iterator[str]:
    if isinstance(pair, Alone):
        yield visible(f"phase {pair.span.phase}  {pair.span.disk}: only in {pair.where}, nothing to compare with")
        return
    disks = " and ".join(dict.fromkeys((pair.a.disk, pair.b.disk)))
    yield visible(f"phase {pair.a.phase}  {disks}")
    yield f"    {'':22} {'A':>14} {'B':>14} {'B / A':>10} {'(B - A) / A':>12}"
    yield _quantity(pair.length())
    for direction, rows in pair.directions().items():
        yield f"  {direction}"
        yield from _table(direction, rows)[1:]
    yield from _table("disk", pair.disk())
    for name, rows in pair.classes().items():
        yield from _table(f"class {name}", rows)
    for of, to, row in pair.blame():
        yield from _table(f"from {of} to {to}", [row])
    for at, (comm, rows) in enumerate(pair.submitters().items()):
        if at == SUBMITTERS:
            yield "  further processes: --json has them"
            break
        yield visible(f"  submitter {'all others' if comm is None else comm}")
        yield from _table("", rows)[1:]
    for direction, apart in pair.elsewhere().items():
        if apart is not None:
            yield f"  by place  {direction}: {units.text('share', apart)} of the bytes lie elsewhere"


def counters(found: Comparison) -> Iterator[str]:
    """Every counter of each phase and disk of both."""
    for pair in found.pairs:
        if (pair.span if isinstance(pair, Alone) else pair.a).phase != OUTSIDE:
            yield ""
            yield from _pair(pair)


def lines(found: Comparison, width: int) -> list[str]:
    """All of it."""
    paths = (f"{letter}  {visible(path)}" for letter, path in (("A", found.a), ("B", found.b)))
    return [*paths, *differences(found, width), *counters(found)]
