# SPDX-License-Identifier: GPL-2.0-or-later
"""What a disk that is made of others gave to them."""

import dataclasses
from collections.abc import Sequence

from raidtrace.recording.spans import Recorded, Span


@dataclasses.dataclass(frozen=True)
class Given:
    """Bios, bytes and splits of a disk in one direction, and bios and bytes of its members together."""

    own_bios: int
    own_bytes: int
    splits: int
    bios: int
    bytes: int

    def any(self) -> bool:
        """Whether there was any bio."""
        return bool(self.own_bios or self.bios)

    def fan_out(self) -> float | None:
        """Bios of the members for each bio."""
        return self.bios / self.own_bios if self.own_bios else None

    def bytes_ratio(self) -> float | None:
        """Bytes of the members for each byte."""
        return self.bytes / self.own_bytes if self.own_bytes else None

    def split_share(self) -> float | None:
        """Splits for each bio."""
        return self.splits / self.own_bios if self.own_bios else None


def given(span: Span, members: Sequence[Span], direction: str) -> Given:
    """Of one direction."""
    return Given(
        span.count(direction, "queued"), span.count(direction, "bytes_queued"), span.count(direction, "splits"),
        sum(member.count(direction, "queued") for member in members),
        sum(member.count(direction, "bytes_queued") for member in members),
    )  # fmt: skip


def readahead(found: Recorded, span: Span) -> int | None:
    """Sectors of readahead where the span began. None: not known."""
    text = found.setting(span.target, "readahead_sectors", span.start_ns)
    return int(text) if text is not None and text.isdecimal() and text.isascii() else None
