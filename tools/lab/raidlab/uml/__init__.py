# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest of User Mode Linux: its modules, its run in simulated time, and how that is judged."""
