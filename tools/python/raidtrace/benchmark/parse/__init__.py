# SPDX-License-Identifier: GPL-2.0-or-later
"""What each benchmark printed, as figures: a module for each program."""
