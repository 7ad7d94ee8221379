/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data between the store and the scatter-gather list of a command. */
#ifndef TW_TRANSFER_H
#define TW_TRANSFER_H

#include "controller.h"

/**
 * struct tw_sg_list - a command's list and how far it has been used
 * @entry: as the driver gave it
 * @count: entries, at most TW_SG_MAX
 * @at: entry in use
 * @offset: bytes of it that have been used
 */
struct tw_sg_list {
	struct tw_sg_entry entry[TW_SG_MAX];
	u32 count;
	u32 at;
	u32 offset;
};

/* Return: TW_ERROR_NONE if every entry is usable and all together hold @bytes. */
u16 tw_sg_check(const struct tw_sg_list *list, u64 bytes);

/* Each returns false when the host's memory is not there; @lba counts over all units. */
bool tw_transfer_answer(struct tw_model *model, struct tw_sg_list *list, const void *data,
			u32 bytes);
bool tw_transfer_read(struct tw_model *model, struct tw_sg_list *list, u64 lba, u32 sectors);

/* As above, and false as well when the store is exhausted (then store.exhausted is set). */
bool tw_transfer_write(struct tw_model *model, struct tw_sg_list *list, u64 lba, u32 sectors);

#endif
