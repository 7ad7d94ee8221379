# SPDX-License-Identifier: GPL-2.0-or-later
"""AMCC's white paper of 2004, done again in the lab: its 28 tests and its eight misconceptions.

Research: it may use the product, which uses nothing of it.
"""
