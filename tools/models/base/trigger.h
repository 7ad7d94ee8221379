/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a fault of a profile strikes: with a command, after a time, or at a sector. Each fault strikes once by each. */
#ifndef RL_TRIGGER_H
#define RL_TRIGGER_H

#include "keys.h"

/**
 * struct rl_trigger - when a fault strikes; what is 0 does not trigger it
 * @command: with the READ or WRITE of this number, from 1
 * @ms: this long after power-on
 * @lba: with the first READ or WRITE of this sector of 512 bytes
 */
struct rl_trigger {
	u32 command;
	u32 ms;
	u64 lba;
};

/* Its three keys; @member: the struct rl_trigger within the configuration @type. */
#define RL_AT_COMMAND(type, name, member) \
	RL_NUMBER(type, "fault." name "_command", member.command, 0, 0xffffffffU, 0)
#define RL_AT_MS(type, name, member) \
	RL_NUMBER(type, "fault." name "_ms", member.ms, 0, 0xffffffffU, 0)
#define RL_AT_LBA(type, name, member) \
	RL_WIDE(type, "fault." name "_lba", member.lba, 0, 1ULL << 40, 0)

/**
 * struct rl_armed - a trigger at work
 * @due_ns: when it strikes by time; RL_NEVER if not by time or not any more
 * @struck: it has struck by a sector
 */
struct rl_armed {
	u64 due_ns;
	bool struck;
};

/* At power-on. */
static inline void rl_trigger_arm(struct rl_armed *armed, const struct rl_trigger *trigger, u64 now)
{
	armed->struck = false;
	armed->due_ns = trigger->ms ? now + trigger->ms * 1000 * RL_NS_PER_US : RL_NEVER;
}

/* Return: when the first of @nr strikes by time, RL_NEVER if none does. */
static inline u64 rl_trigger_wake_ns(const struct rl_armed *armed, u32 nr)
{
	u64 wake = RL_NEVER;

	while (nr--)
		wake = rl_min(wake, armed[nr].due_ns);
	return wake;
}

/* Return: whether it strikes by time. */
static inline bool rl_trigger_is_due(struct rl_armed *armed, u64 now)
{
	if (armed->due_ns > now)
		return false;
	armed->due_ns = RL_NEVER;
	return true;
}

/**
 * rl_trigger_strikes() - whether a READ or WRITE triggers it
 * @armed: its state
 * @trigger: its configuration
 * @number: of the READ or WRITE, from 1
 * @lba: its first sector
 * @sectors: how many; 0 for a command at a place that has no trigger
 *
 * Return: whether it does.
 */
static inline bool rl_trigger_strikes(struct rl_armed *armed, const struct rl_trigger *trigger,
				      u64 number, u64 lba, u32 sectors)
{
	bool here = trigger->lba && trigger->lba >= lba && trigger->lba - lba < sectors &&
		    !armed->struck;

	if (!here && trigger->command != number)
		return false;
	armed->struck = true;
	return true;
}

#endif
