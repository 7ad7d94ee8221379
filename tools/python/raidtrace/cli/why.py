# SPDX-License-Identifier: GPL-2.0-or-later
"""raidctl why: find the cause of a command's speed by one change at a time, in the lab or on a disk."""

import argparse
import os
import pathlib
import signal
import sys
import textwrap
from collections.abc import Sequence
from types import FrameType

from raidtrace.explain import runs
from raidtrace.quantity import patience, usage
from raidtrace.quantity.shown import UserError
from raidtrace.recording import source
from raidtrace.sweep import device, journal
from raidtrace.why import chance
from raidtrace.why import disk as why_disk
from raidtrace.why import experiment, figures
from raidtrace.why import lab as why_lab
from raidtrace.why import verdict

RAIDCTL = pathlib.Path(__file__).resolve().parents[3] / "bin" / "raidctl"
DESCRIPTION = """Run a command unchanged and with one change at a time, and report which change makes it faster."""
EPILOG = """After a kill, raidctl why restore restores the settings."""
RESTORE = """Restore the settings that a killed raidctl why or sweep changed. The next raidctl why also does this."""
PROFILE = "9500s-12-raid0"
MIN_RUNS, MAX_RUNS = 5, 25  # the least: three runs of the unchanged command, and one pair
BUDGET_S = 600  # on a real disk, because others use the machine


def main(arguments: Sequence[str]) -> int:
    """Run raidctl why. Exit status: 0 done, 1 failed, 2 usage."""
    words, command = list(arguments), []
    if "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1 :]
    if words[:1] == ["restore"]:
        usage.Parser("raidctl why restore", description=RESTORE).parse_args(words[1:])
        print(journal.restore_now())
        return 0
    top = parser()
    options = top.parse_args(words)
    if not command:
        top.error("the command is missing; put it after --, as in: -- dd if=/dev/sdb of=/dev/null bs=1M count=1000")
    if options.lab and (options.destroy_data or options.freeze or options.in_use or options.force_signature):
        top.error("--destroy-data, --force-signature, --freeze and --in-use are for real disks; --lab destroys nothing")
    if not options.lab and not (options.disk or options.destroy_data):
        top.error(
            "name the disk: --lab [PROFILE], --disk DISK (not written), or --destroy-data DISK (may be overwritten)"
        )
    if options.lab and options.source:
        top.error("--source is for real disks; in the lab the module counts")
    if not options.lab and (options.set or options.lab_option or options.other_kernel):
        top.error("--set, --lab-option and --other-kernel are for --lab")

    def stop(number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        return _lab(options, command) if options.lab else _disk(options, command)
    except KeyboardInterrupt:
        restored = "" if options.lab else "; all settings are restored"
        print(
            f"raidctl why: stopped before the first run was complete; nothing was measured{restored}", file=sys.stderr
        )
        return 1


def _metric(text: str) -> str:
    try:
        return figures.checked_metric(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _runs(text: str) -> int:
    if not text.isdigit() or int(text) < MIN_RUNS:
        raise argparse.ArgumentTypeError(
            f"{text}: give a whole number of at least {MIN_RUNS}: three runs of the unchanged command, and two "
            "to test a change"
        )
    return int(text)


def _duration(text: str) -> float:
    """The seconds of a duration: a number of at least 1, followed by s, m, min, h or nothing."""
    number = text.rstrip("sminh")
    unit = {"": 1, "s": 1, "min": 60, "m": 60, "h": 3600}.get(text[len(number) :])
    try:
        value = float(number)
    except ValueError:
        value = 0.0
    if unit is None or not 1 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: not a time; give one such as 300, 300s, 5min or 1h")
    return unit * value


def parser() -> argparse.ArgumentParser:
    """The parser of the command line. The command is not part of it."""
    top = usage.Parser("raidctl why", description=DESCRIPTION, epilog=EPILOG,
                       usage="raidctl why [options]\n"
                       "       (--lab [PROFILE] [--disk DISK] | --disk DISK | --destroy-data DISK)\n"
                       "       -- CMD...")  # fmt: skip
    top.add_argument("-l", "--lab", nargs="?", const=PROFILE, metavar="PROFILE",
                     help=f"in guests with these simulated disks (default {PROFILE}); this machine is not changed")  # fmt: skip
    top.add_argument(
        "-d",
        "--disk",
        metavar="DISK",
        help="disk to test; it is made read-only, unless --in-use is given (default in the lab: the first disk)",
    )
    top.add_argument("-p", "--prepare", default="", metavar="CMD", help="shell command before each run, not measured")
    top.add_argument(
        "-b",
        "--beside",
        default="",
        metavar="CMD",
        help="shell command that runs concurrently, as the load of other programs",
    )
    top.add_argument("-m", "--metric", type=_metric, default=figures.SECONDS, metavar="METRIC",
                     help="figure to compare: seconds (the default); p99; rate, for a command that runs for a fixed time; or "
                     f"an expression that is smaller for a better run, such as 'seconds + read_p99_ms / 100'. Names: "
                     f"{', '.join(figures.FIGURES)}")  # fmt: skip
    top.add_argument("--phase", default="", help="compare only this phase of the recording")
    top.add_argument(
        "-t",
        "--budget",
        type=_duration,
        metavar="TIME",
        help=f"start no run after this time, such as 300 (s) or 5min (default {BUDGET_S // 60}min on a disk; in the lab none)",
    )
    top.add_argument(
        "--runs",
        type=_runs,
        help=f"largest number of runs, at least {MIN_RUNS} (default {MAX_RUNS})",
    )
    top.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("why-out"),
                     help="directory of recordings and table (default %(default)s)")  # fmt: skip
    top.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    top.add_argument("-q", "--quiet", action="store_true", help="print no progress")
    lab = top.add_argument_group("in the lab")
    lab.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a key of the profile")
    lab.add_argument(
        "--lab-option",
        action="append",
        default=[],
        metavar="WORD",
        help="pass WORD to raidctl lab run as an option; write it as --lab-option=WORD",
    )
    lab.add_argument("--other-kernel", default="", metavar="SERIES", help="also test this kernel")
    real = top.add_argument_group("on a real disk")
    real.add_argument("--destroy-data", metavar="DISK", help="disk to test; all of it may be overwritten")
    real.add_argument(
        "--force-signature",
        action="store_true",
        help="overwrite the disk even if it has a signature, such as an unused file system",
    )
    real.add_argument(
        "--in-use", action="store_true", help="allow a disk that is in use; the command may write files there"
    )
    usage.add_source(real)
    real.add_argument("--freeze", action="append", default=[], metavar="CGROUP",
                      help="control group that may be frozen during a run, to measure its cost, such as "
                      "system.slice/backup.service")  # fmt: skip
    return top


class Progress:
    """Prints the progress of an experiment on standard error, a line before each batch of runs."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    def __call__(self, what: str, done: int, most: int, seconds: float) -> None:
        patience.end()
        if self.quiet:
            return
        line = f"{done:3} of at most {most} runs, at most {seconds:.0f} s left: {what}"
        print(textwrap.shorten(line, verdict.COLUMNS, placeholder=" ..."), file=sys.stderr, flush=True)


def _lab(options: argparse.Namespace, command: Sequence[str]) -> int:
    sets = {}
    for setting in options.set:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UserError(f"--set {setting}: give KEY=VALUE, such as fault.lose_command=500")
        sets[name] = value
    path = why_lab.profile_path(options.lab)
    if not path.is_file():
        raise UserError(f"unknown profile {options.lab}; to list the profiles: raidctl lab profiles")
    disk = options.disk or why_lab.first_disk(options.lab)
    setup = why_lab.Setup(RAIDCTL, options.out.absolute(), options.lab, tuple(command), disk, options.prepare,
                          options.beside, options.phase, sets, tuple(options.lab_option), options.other_kernel)  # fmt: skip
    place = why_lab.Lab(setup, options.runs or MAX_RUNS, options.budget or float("inf"))
    return _experiment(options, command, place, setup.disk)


def _disk(options: argparse.Namespace, command: Sequence[str]) -> int:
    if options.disk and options.destroy_data:
        raise UserError("name only one disk, with --disk or --destroy-data")
    if os.geteuid():
        raise UserError("only root may change settings of disks; use sudo, or the lab (--lab)")
    machine = device.Machine()
    name = machine.whole(options.destroy_data or options.disk)
    with journal.alone():
        for line in journal.recover():
            print(f"restored after a killed run: {line}", file=sys.stderr)
        setup = why_disk.Setup(RAIDCTL, options.out.absolute(), name, tuple(command), options.prepare, options.beside,
                               options.phase, bool(options.destroy_data), options.in_use,
                               tuple(options.freeze), usage.source_words(options.source))  # fmt: skip
        force = options.force_signature
        with why_disk.Disk.opened(setup, machine, force, options.runs or MAX_RUNS, options.budget or BUDGET_S) as place:
            return _experiment(options, command, place, name)


def _experiment(
    options: argparse.Namespace, command: Sequence[str], place: why_lab.Lab | why_disk.Disk, disk: str
) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    say = Progress(options.quiet)

    def forecast(table: experiment.Table) -> None:
        """Print the duration and the smallest detectable effect, before any change. Raises UserError: the disk was
        idle."""
        if table.baseline.idle:
            raise UserError(_idle(command, disk, bool(options.lab)))
        pairs = min(place.most_pairs, chance.MAX_PAIRS)
        least = chance.smallest_detectable(table.noise, pairs, experiment.CONFIRMED, place.looks)
        if not options.quiet:
            estimate = f"Unchanged: {table.baseline.seconds:.3g} s, deviation {100 * table.noise:.2g} %."
            most = min(place.most_runs - place.runs, place.left() * place.each)
            estimate += f" At most {most} more runs, {place.seconds_left():.0f} s."
            estimate += f" Smallest effect that can be detected: {100 * (least - 1):.0f} %."
            print(textwrap.fill(estimate, verdict.COLUMNS), file=sys.stderr, flush=True)

    table = experiment.Experiment(place, options.metric, say, forecast).run()
    table.runs, table.source = place.runs, source.total(place.sources)
    judgement = verdict.judge(table, disk, command, str(RAIDCTL.parent / "why-preload.so"))
    simulated = table.baseline.simulated  # also if raidctl runs in a guest
    about = {"command": list(command), "disk": disk, "simulated": simulated, "profile": options.lab}
    as_json = verdict.as_json(table, judgement, about)
    runs.write_experiment(options.out, as_json)
    print(as_json if options.json else "\n".join(verdict.lines(table, judgement, simulated)), flush=True)
    return 1 if table.stopped else 0


def _idle(command: Sequence[str], disk: str, in_lab: bool) -> str:
    """The message that the command does not use the disk, with the disk that it uses."""
    text = f"{disk} received no request while the command ran, so this disk does not limit the command. "
    others = [] if in_lab else [name for name in why_disk.of_files(device.Machine(), command) if name != disk]
    if others:
        return f"{text}The files of the command are on {' and '.join(others)}. To test that disk: --disk {others[0]}"
    return f"{text}Name the disk of its files. To find it: df FILE"
