/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What this process may do. */

#ifndef MACHINE_ADMIN_H
#define MACHINE_ADMIN_H

/* is_admin - does this process have CAP_SYS_ADMIN? */
int is_admin(void);

#endif
