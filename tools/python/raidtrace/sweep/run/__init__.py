# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the cells of a sweep: in guests of the lab, or on disks that were named for destruction."""
