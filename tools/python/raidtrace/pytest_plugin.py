# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixture block_counters for tests of drivers and file systems (Documentation/client.rst). pip registers this plugin;
elsewhere: pytest -p raidtrace.pytest_plugin."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from raidtrace.client import Counters, Target


class Spent:
    """The counters of a disk since block_counters() named it."""

    def __init__(self, disk: Target) -> None:
        self._disk = disk
        self._before = disk.counters()

    def __call__(self) -> Counters:
        """The counters until now. Raises Refused, and ValueError if the counters were reset."""
        return self._disk.counters() - self._before


@pytest.fixture
def block_counters() -> Iterator[Callable[[str, Iterable[str] | None], Spent]]:
    """block_counters("vdb") counts a disk until the test ends. What it returns, called, gives the counters until then.

    Without the module or the privilege the test fails, because nothing was counted."""
    from raidtrace.client import Client  # here, because pytest loads this file for all tests

    with contextlib.ExitStack() as ends:
        clients: list[Client] = []

        def count(disk: str, groups: Iterable[str] | None = None) -> Spent:
            if not clients:
                clients.append(ends.enter_context(Client()))
            return Spent(ends.enter_context(clients[0].attached(disk, groups)))

        yield count
