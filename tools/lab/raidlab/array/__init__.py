# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles: the simulated arrays that there are, checked against the model's own list of keys."""
