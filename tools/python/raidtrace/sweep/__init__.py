# SPDX-License-Identifier: GPL-2.0-or-later
"""Sweeps: plans, the steps of a cell, the index of what was found, and what was changed on this machine."""
