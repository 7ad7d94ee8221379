# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of Documentation that programs read: in this package if pip installed it, else in the tree above it."""

import pathlib

_PLACES = (
    pathlib.Path(__file__).resolve().parents[1] / "pages",
    pathlib.Path(__file__).resolve().parents[4] / "Documentation",
)
DIRECTORY = next((place for place in _PLACES if place.is_dir()), _PLACES[-1])
