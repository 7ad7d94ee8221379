/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The version of all that is in the tree: module, raidctl, packages. The one
 * place; Documentation/release.rst says what follows it.
 */
#ifndef RAIDTRACE_VERSION_H
#define RAIDTRACE_VERSION_H

#define RAIDTRACE_VERSION "1.0.0"

#endif /* RAIDTRACE_VERSION_H */
