# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl exporter: the counters of disks over HTTP, for Prometheus: attached ones, or those that it counts by BPF."""

import argparse
import errno
import os
import pathlib
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterable, Sequence

from raidtrace.quantity import shown, usage
from raidtrace.recording import live, spans

DEFAULT = "127.0.0.1:9809"
DESCRIPTION = f"""Serve the counters of disks to Prometheus at http://{DEFAULT}/metrics, until Ctrl-C: those of all attached
disks, or each DISK by BPF programs where the module is not loaded. The exporter changes nothing. With the module and
without CAP_PERFMON it serves only the counter group flow."""
EPILOG = "There is no password: anyone who can reach the address can read the names of the disks and their counters."
STATUS = pathlib.Path("/proc/self/status")
CAP_PERFMON, CAP_SYS_ADMIN = 1 << 38, 1 << 21
ENDS = (signal.SIGINT, signal.SIGTERM)


def parser() -> argparse.ArgumentParser:
    top = usage.Parser("raidctl exporter", description=DESCRIPTION, epilog=EPILOG)
    top.add_argument("disks", metavar="DISK", nargs="*", help="a disk to count by BPF programs")
    top.add_argument(
        "-l", "--listen", metavar="ADDRESS:PORT", default=DEFAULT, help=f"listen at this address (default {DEFAULT})"
    )
    top.add_argument("-g", "--cgroups", action="store_true",
                     help="also serve the I/O of each cgroup; needs CAP_PERFMON and CAP_DAC_READ_SEARCH")  # fmt: skip
    usage.add_source(top)
    return top


def main(arguments: Sequence[str]) -> int:
    """Run raidctl exporter. Exit status: 0 ended by a signal, 1 failed, 2 usage."""
    top = parser()
    options = top.parse_args(arguments)
    family, address = _address(options.listen) or (None, None)
    if family is None or address is None:
        top.error(f"--listen {options.listen}: not an ADDRESS:PORT of numbers, as {DEFAULT}")
    from raidtrace.exporter import server

    # Without the privilege the module gives one row for all processes.
    if options.cgroups and not _may_observe():
        raise shown.UserError("--cgroups needs CAP_PERFMON: others may not read the processes and their bios")
    with live.Live("exporter", options.disks, options.source) as rows:
        exporter = Exporter(rows, options.cgroups)
        try:
            exporter.text()  # the first sample shows whether the disks can be counted
        except live.Ended as ended:
            return ended.status
        except server.Unavailable:
            pass  # the module may be replaced by the next scrape
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # threads inherit this
        try:
            serving = server.Server(family, address, exporter.answer)
        except OSError as error:
            more = (
                "; another exporter may be running; to use another port: --listen"
                if error.errno == errno.EADDRINUSE
                else ""
            )
            raise shown.UserError(f"{options.listen}: {error.strerror}{more}") from error
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        _announce(f"http://{options.listen}{server.PATH}")
        signal.sigwait(ENDS)
        return exporter.status


def _address(listen: str) -> tuple[socket.AddressFamily, tuple[object, ...]] | None:
    """ADDRESS:PORT or [ADDRESS]:PORT of numbers; the address of a name may change. None: it is none."""
    match = re.fullmatch(r"(?:\[([^\]]+)\]|([^:\[]+)):([0-9]{1,5})", listen)
    if not match or not 0 < int(match[3]) < 1 << 16:
        return None
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    try:
        found = socket.getaddrinfo(match[1] or match[2], match[3], type=socket.SOCK_STREAM, flags=flags)
    except socket.gaierror:
        return None
    return found[0][0], found[0][4]


def _may_observe() -> bool:
    """Whether this process may read the counters of others."""
    held = re.search("^CapEff:\t([0-9a-f]+)$", STATUS.read_text(encoding="ascii"), re.MULTILINE)
    return bool(held and int(held[1], 16) & (CAP_PERFMON | CAP_SYS_ADMIN))


def _announce(text: str) -> None:
    """Print where the metrics are. It is only information: without it the exporter continues."""
    try:
        print(text, flush=True)
    except OSError as error:
        _fail(f"standard output: {error.strerror}; the exporter continues")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _fail(text: str) -> None:
    print(f"raidctl exporter: {text}", file=sys.stderr, flush=True)


class Exporter:
    """The metrics of live rows. status: of this program, when a signal ends it."""

    def __init__(self, rows: live.Live, with_cgroups: bool) -> None:
        from raidtrace.exporter import cgroups

        self._rows = rows
        self._cgroups = cgroups.Cgroups() if with_cgroups else None
        self.status = 0

    def text(self) -> bytes:
        """The metrics of a new sample. Raises Unavailable, and live.Ended: nothing is counted any more."""
        from prometheus_client.openmetrics.exposition import generate_latest

        from raidtrace.exporter import metrics, server

        try:
            with self._rows.rows(live.TOTAL) as rows:
                recorded = spans.read(live.NO_PATH, rows)
                charged = self._cgroups.follow(rows) if self._cgroups else {}
        except live.LiveError as error:
            raise server.Unavailable(str(error)) from error
        return bytes(generate_latest(_Families(metrics.families(recorded, True, charged))))

    def answer(self) -> bytes:
        """The same for a scrape: failures are also printed, and the end of the rows ends the exporter. Raises Unavailable."""
        from raidtrace.exporter import server

        try:
            return self.text()
        except server.Unavailable as error:
            _fail(str(error))
            raise
        except live.Ended as ended:
            self.status = 1
            raise server.Ended("the exporter ends") from ended


class _Families:
    """Families in place of a registry of prometheus_client."""

    def __init__(self, families: Iterable[object]) -> None:
        self._families = families

    def collect(self) -> Iterable[object]:
        """The families."""
        return self._families
