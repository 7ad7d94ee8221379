// SPDX-License-Identifier: GPL-2.0-or-later
/* The kinds of devices there are, and what a host says of those that it has. */
#include "kinds.h"

#include "3w-9xxx/controller/controller.h"
#include "ahci/ahci.h"
#include "media/media.h"
#include "nvme/model.h"
#include "virtio-blk/virtio.h"

const struct rl_kind *const rl_kinds[] = { &tw_kind, &ah_kind, &nv_kind, &vb_kind, NULL };

const struct rl_kind *rl_kind_of(const char *text)
{
	static const char key[] = "device=";
	size_t length = 0, i = 0;

	while (*text) {
		length = 0;
		while (text[length] && text[length] != ',')
			length++;
		if (length >= sizeof(key) - 1 && rl_keys_equal(text, sizeof(key) - 1, key))
			break;
		text += length;
		if (*text)
			text++;
	}
	if (!*text)
		return rl_kinds[0];
	for (i = 0; rl_kinds[i]; i++)
		if (rl_keys_equal(text + sizeof(key) - 1, length - (sizeof(key) - 1), rl_kinds[i]->keys->driver))
			break;
	return rl_kinds[i];
}

void rl_sums_add(struct rl_sums *sums, const struct rl_device *device)
{
	const struct rl_store *contents = device->kind->contents(device);

	sums->devices++;
	sums->commands += device->nr_commands;
	sums->refused += device->nr_refused;
	sums->log_entries += device->log.count;
	sums->log_capacity += device->log.capacity;
	sums->log_lost += device->log.lost;
	sums->store_used += rl_store_used_bytes(contents);
	sums->store_limit += rl_store_limit_bytes(contents);
	sums->exhausted |= contents->exhausted;
}

void rl_sums_show(const struct rl_sums *sums, const char *profile, struct rl_text *text)
{
	rl_text_add(text, "simulated: yes\nprofile: ");
	rl_text_add(text, profile);
	rl_text_add(text, "\n");
	rl_text_pair(text, "", "devices", sums->devices);
	rl_text_pair(text, "", "commands", sums->commands);
	rl_text_pair(text, "", "refused_packets", sums->refused);
	rl_text_pair(text, "", "log_entries", sums->log_entries);
	rl_text_pair(text, "", "log_capacity", sums->log_capacity);
	rl_text_pair(text, "", "log_lost", sums->log_lost);
	rl_text_pair(text, "", "store_bytes_used", sums->store_used);
	rl_text_pair(text, "", "store_bytes_limit", sums->store_limit);
	rl_text_add(text, "store_exhausted: ");
	rl_text_add(text, sums->exhausted ? "yes\n" : "no\n");
}

void rl_device_show(const struct rl_device *device, u32 number, struct rl_text *text)
{
	char prefix[32];
	struct rl_text begin;

	rl_text_init(&begin, prefix, sizeof(prefix));
	if (number) {
		rl_text_add(&begin, "device_");
		rl_text_number(&begin, number);
		rl_text_add(&begin, "_");
	}
	rl_text_add(text, prefix);
	rl_text_add(text, "driver: ");
	rl_text_add(text, device->kind->keys->driver);
	rl_text_add(text, "\n");
	device->kind->status(device, text, prefix);
}
