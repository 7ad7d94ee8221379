# SPDX-License-Identifier: GPL-2.0-or-later
"""The front door of the verbs in Python: every error that a verb does not handle itself ends here, in one line."""

import importlib
import os
import pathlib
import signal
import sys

from raidtrace.quantity import shown

DEBUG = "RAIDCTL_DEBUG"  # raidctl --debug VERB sets it
# What a verb can need beyond the standard library, and the Debian package that has it.
PACKAGES = {
    "jinja2": "apt-get install python3-jinja2",
    "markupsafe": "apt-get install python3-jinja2",
    "matplotlib": "apt-get install python3-matplotlib",
    "numpy": "apt-get install python3-numpy",
    "pyarrow": "Debian has no package of it; pip install pyarrow",
}


def run(verb: str) -> int | None:
    """Run a verb with the words of the command line. Returns its exit status; 1: an error ended it."""
    words = sys.argv[1:]
    own = words.index("--") if "--" in words else len(words)
    debug = bool(os.environ.get(DEBUG)) or "--debug" in words[:own]
    sys.argv[1:] = [word for word in words[:own] if word != "--debug"] + words[own:]
    name = f"raidctl {verb.partition('-')[0]}"
    if sys.stdout is None or sys.stderr is None:
        if sys.stderr is not None:
            print(f"{name}: standard output is closed", file=sys.stderr)
        return 1
    try:
        main = importlib.import_module(f"raidtrace.cli.{verb}").main
        # why shows what its command wrote as it is
        return int(main(sys.argv[1:]) or 0) if verb == "why" else shown.run(main)
    except KeyboardInterrupt:
        message, status = "interrupted", 128 + signal.SIGINT
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        message, status = sentence(error, f"raidctl --debug {verb.partition('-')[0]}"), 1
    print(f"{name}: {shown.visible(message)}", file=sys.stderr)
    return status


def sentence(error: Exception, again: str) -> str:
    """What ended a verb, and what to do about it. again: the command that shows the traceback."""
    if isinstance(error, ModuleNotFoundError):
        module = (error.name or "").partition(".")[0]
        how = "apt-get install python3" if module in sys.stdlib_module_names else PACKAGES.get(module)
        if how:
            return f"this needs the Python module {module}, which is not installed: {how}"
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, OSError):
        return shown.failure(error)
    import traceback  # here, because most runs need none of it

    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{pathlib.Path(place.filename).name}:{place.lineno}"
    words = " ".join(str(error).split())
    return (
        f"defect in raidctl: {type(error).__name__}{': ' if words else ''}{words} ({where}). "
        f"To see the traceback: {again}; to report it: raidctl(8), BUGS"
    )
