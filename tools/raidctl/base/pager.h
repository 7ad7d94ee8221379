/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Long texts through the program that PAGER names. */

#ifndef BASE_PAGER_H
#define BASE_PAGER_H

/*
 * pager_begin - let standard output go through PAGER, if that is set and
 * standard output is a terminal; without it nothing changes
 */
void pager_begin(void);

/* pager_end - wait until the pager has been left */
void pager_end(void);

#endif
