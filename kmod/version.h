/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The version, which module, raidctl, library and packages take from here; see
 * Documentation/release.rst.
 */
#ifndef RAIDTRACE_VERSION_H
#define RAIDTRACE_VERSION_H

#define RAIDTRACE_VERSION "1.1.0"

#endif /* RAIDTRACE_VERSION_H */
