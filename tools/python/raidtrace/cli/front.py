# SPDX-License-Identifier: GPL-2.0-or-later
"""The common entry of the verbs in Python. Each error that a verb does not handle itself is printed here,
in one line."""

import gc
import importlib
import os
import pathlib
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from raidtrace.quantity import patience, shown
from raidtrace.quantity.shown import UserError

DEBUG = "RAIDCTL_DEBUG"  # raidctl --debug VERB sets it
# Modules that a verb may need beyond the standard library, and their Debian packages.
PACKAGES = {
    "jinja2": "apt-get install python3-jinja2",
    "markupsafe": "apt-get install python3-jinja2",
    "matplotlib": "apt-get install python3-matplotlib",
    "pandas": "apt-get install python3-pandas",
    "numpy": "apt-get install python3-numpy",
    "prometheus_client": "apt-get install python3-prometheus-client",
    "pytest": "apt-get install python3-pytest",
    "pyroute2": "apt-get install python3-pyroute2",
    "yaml": "apt-get install python3-yaml",
    "pyarrow": "Debian has no package of it; install it with: pip install pyarrow",
}


# Verbs that may print nothing for seconds, and what they do until then.
SLOW = {
    "check": "observing this machine",
    "compare": "reading the recordings",
    "explain": "reading the recording",
    "report": "reading the recording",
    "sweep": "preparing the sweep",
    "why": "preparing and measuring the unchanged command",
}
NAMELESS = ("export", "report")  # messages of these verbs do not contain the verb
COLUMNS = 80  # if the output is not a terminal


def run(verb: str) -> int | None:
    """Run a verb with the arguments of the command line. Returns its exit status; 1: an error ended it."""
    words = sys.argv[1:]
    own = words.index("--") if "--" in words else len(words)
    debug = bool(os.environ.get(DEBUG)) or "--debug" in words[:own]
    sys.argv[1:] = [word for word in words[:own] if word != "--debug"] + words[own:]
    name = f"raidctl {verb.partition('-')[0]}"
    if sys.stdout is None or sys.stderr is None:
        if sys.stderr is not None:
            print(f"{name}: standard output is closed", file=sys.stderr)
        return 1
    if verb in SLOW and not {"-q", "--quiet"} & set(words[:own]):
        patience.begin(f"{name}: {SLOW[verb]} ...")
    try:
        main = importlib.import_module(f"raidtrace.cli.{verb}").main
        # why prints the output of its command unchanged
        return int(main(sys.argv[1:]) or 0) if verb == "why" else shown.run(main)
    except KeyboardInterrupt:
        message, status = "interrupted", 128 + signal.SIGINT
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        if isinstance(error, OSError | UserError):
            return complain(error, verb)
        message, status = sentence(error, f"raidctl --debug {verb.partition('-')[0]}"), 1
    finally:
        patience.end()
    print(f"{name}: {shown.visible(message)}", file=sys.stderr)
    return status


def complain(error: OSError | UserError, verb: str) -> int:
    """Print an error that the user can correct. Returns the exit status."""
    print(f"raidctl{'' if verb in NAMELESS else f' {verb}'}: {shown.lines(shown.failure(error))}", file=sys.stderr)
    return 1


class Printable(Protocol):
    """A result that can be printed as JSON."""

    def to_json(self) -> str:
        ...


F = TypeVar("F", bound=Printable)


def answer(find: Callable[[], F], lines: Callable[[F, int], Sequence[str]], as_json: bool) -> int:
    """Print the result of `find`. Returns the exit status 0. lines: makes text of at most so many columns."""
    gc.disable()  # short-lived process; scanning for reference cycles would dominate its run time
    result = find()
    width = shutil.get_terminal_size((COLUMNS, 24)).columns
    print(result.to_json() if as_json else "\n".join(lines(result, width)), flush=True)
    return 0


def sentence(error: Exception, again: str) -> str:
    """The message of an error that ended a verb, with advice. again: the command that shows the traceback."""
    if isinstance(error, ModuleNotFoundError):
        module = (error.name or "").partition(".")[0]
        how = "apt-get install python3" if module in sys.stdlib_module_names else PACKAGES.get(module)
        if how:
            return f"this needs the Python module {module}, which is not installed: {how}"
    if isinstance(error, MemoryError):
        return "out of memory"
    import traceback  # here, because most runs do not need it

    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{pathlib.Path(place.filename).name}:{place.lineno}"
    words = " ".join(str(error).split())
    return (
        f"defect in raidctl: {type(error).__name__}{': ' if words else ''}{words} ({where}). "
        f"To see the traceback: {again}; to report it: raidctl(8), BUGS"
    )
