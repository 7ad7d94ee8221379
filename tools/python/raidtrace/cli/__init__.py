# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines: a module for each program."""
