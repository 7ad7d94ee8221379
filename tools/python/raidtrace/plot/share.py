# SPDX-License-Identifier: GPL-2.0-or-later
"""How depths and request sizes are distributed in the phases that moved most."""

import collections
from collections.abc import Callable, Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from raidtrace.plot import style as plot
from raidtrace.quantity import bins
from raidtrace.recording.spans import Recorded

MOST = 4  # phases beside each other that can still be told apart


# upper bounds, included
DEPTHS = ((0, "0"), (1, "1"), (2, "2"), (4, "3-4"), (8, "5-8"), (16, "9-16"), (32, "17-32"), (64, "33-64"),
          (128, "65-128"), (255, "129-255"), (bins.DEPTH_OPEN, "256 on"))  # fmt: skip
SIZES = ((7, "below 4"), (8, "4"), (15, "4 to 8"), (16, "8"), (31, "8 to 16"), (32, "16"), (63, "16 to 32"), (64, "32"),
         (127, "32 to 64"), (128, "64"), (255, "64 to 128"), (256, "128"), (1 << 40, "above"))  # fmt: skip


def depth(recorded: Recorded) -> Figure | None:
    """Share of time (percent) with so many requests in flight, a group of bars per range of depths, a bar per phase.

    Of each phase the direction that moved more bytes; disks together. None: the recording lacks the histogram.
    """
    return _bars(recorded, "depth_time", DEPTHS, lambda at: at, "requests in flight", "share of time")


def size(recorded: Recorded) -> Figure | None:
    """Share of requests (percent) of each size in KiB, a group of bars per size, a bar per phase. None: as depth()."""
    return _bars(recorded, "size", SIZES, lambda at: bins.size(at)[0], "size of request, KiB", "share of requests")


def _bars(
    recorded: Recorded, kind: str, classes: Sequence[tuple[int, str]], value: Callable[[int], int], across: str, up: str
) -> Figure | None:
    chosen = [(name, direction, found) for name, direction in busiest(recorded)
              if (found := _together(recorded, name, direction, kind))]  # fmt: skip
    if not chosen:
        return None
    shares = [_shares(found, classes, value) for _, _, found in chosen]
    used = [at for at in range(len(classes)) if any(share[at] > 0 for share in shares)]
    picture = plot.figure(2.9)
    panel = picture.subplots()
    width = 0.84 / len(chosen)
    for at, ((name, direction, _), share) in enumerate(zip(chosen, shares, strict=True)):
        style = plot.STYLES[at]
        places = [x - 0.42 + (at + 0.5) * width for x in range(len(used))]
        panel.bar(places, [share[one] for one in used], width, color=style.fill, hatch=style.hatch, edgecolor=plot.INK,
                  linewidth=0.6, label=f"{name[:24]} ({direction}s)")  # fmt: skip
    panel.set_xticks(range(len(used)), [classes[one][1] for one in used])
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    panel.set_ylim(0, 1.02 * max(max(share) for share in shares))
    panel.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return picture


def busiest(recorded: Recorded) -> list[tuple[str, str]]:
    """Names of the phases with most bytes, in order of time, each with the direction that moved more."""
    moved: dict[str, collections.Counter[str]] = {}
    for span in recorded.spans:
        sums = moved.setdefault(span.phase, collections.Counter())
        for direction in ("read", "write"):
            sums[direction] += span.flow.get(direction, {}).get("bytes_issued", 0)
    kept = sorted(moved, key=lambda name: -moved[name].most_common(1)[0][1])[:MOST]
    return [(name, sums.most_common(1)[0][0]) for name, sums in moved.items() if name in kept and any(sums.values())]


def _together(recorded: Recorded, name: str, direction: str, kind: str) -> collections.Counter[int]:
    found: collections.Counter[int] = collections.Counter()
    for span in recorded.spans:
        if span.phase == name:
            found.update(span.histogram(direction, kind))
    return found


def _shares(
    histogram: Mapping[int, int], classes: Sequence[tuple[int, str]], value: Callable[[int], int]
) -> list[float]:
    sums = [0.0] * len(classes)
    for at, count in histogram.items():
        sums[next(one for one, (most, _) in enumerate(classes) if value(at) <= most)] += count
    total = sum(sums) or 1.0
    return [one / total for one in sums]
