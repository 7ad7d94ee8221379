/* SPDX-License-Identifier: GPL-2.0-only */
/* The generic netlink family: the only interface to user space. */
#ifndef RAIDTRACE_NETLINK_H
#define RAIDTRACE_NETLINK_H

struct raidtrace_target;

int raidtrace_netlink_init(void);
void raidtrace_netlink_exit(void);
void raidtrace_netlink_gone(struct raidtrace_target *target);
void raidtrace_netlink_readahead(struct raidtrace_target *target);

#endif /* RAIDTRACE_NETLINK_H */
