// SPDX-License-Identifier: GPL-2.0-or-later

/* A blktrace trace, divided into samples of its disks. */

#include "import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

static int sample_one(struct blktrace_import *import,
		      struct blktrace_device *device, uint64_t start_ns,
		      uint64_t end_ns)
{
	struct rt_counters span;
	int err;

	err = blktrace_device_sample(device, start_ns, end_ns, &span);
	if (!err)
		err = import->sample(import->data, device, &span);
	rt_counters_free(&span);
	return err;
}

/* Get the disk of an event. A new disk was idle until now, in one sample. */
static int device_of(struct blktrace_import *import, uint32_t number,
		     struct blktrace_device **ret)
{
	uint64_t sectors = 0;
	size_t i;

	for (i = 0; i < import->nr; i++) {
		if (import->devices[i]->device == number) {
			*ret = import->devices[i];
			return 0;
		}
	}
	if (i == BLKTRACE_DEVICES)
		return -E2BIG;
	if (import->capacity)
		sectors = import->capacity(import->data, number);
	*ret = blktrace_device_new(number, (uint16_t)i, sectors,
				   import->start_ns);
	if (!*ret)
		return -ENOMEM;
	import->devices[import->nr++] = *ret;
	if (import->sampled_ns == import->start_ns)
		return 0;
	return sample_one(import, *ret, import->start_ns, import->sampled_ns);
}

static int sample_to(struct blktrace_import *import, uint64_t end_ns)
{
	for (size_t i = 0; i < import->nr; i++) {
		int err = sample_one(import, import->devices[i],
				     import->sampled_ns, end_ns);

		if (err)
			return err;
	}
	import->sampled_ns = end_ns;
	return 0;
}

/* End the sample before an event, and one for the time without events. */
static int sample_before(struct blktrace_import *import, uint64_t time_ns)
{
	uint64_t passed = (time_ns - import->sampled_ns - 1) /
			  import->interval_ns * import->interval_ns;
	int err = sample_to(import, import->sampled_ns + import->interval_ns);

	if (!err && passed > import->interval_ns)
		err = sample_to(import, import->sampled_ns + passed -
						import->interval_ns);
	return err;
}

static int take(struct blktrace_import *import, struct blktrace_event *event)
{
	struct blktrace_device *device;
	int err = 0;

	if (!import->started) {
		import->started = true;
		import->start_ns = event->time_ns;
		if (import->begun_ns && import->begun_ns < event->time_ns)
			import->start_ns = import->begun_ns;
		import->sampled_ns = import->start_ns;
		import->now_ns = import->start_ns;
	}
	/* A late event counts at the present time. */
	if (event->time_ns < import->now_ns)
		event->time_ns = import->now_ns;
	import->now_ns = event->time_ns;
	if (event->time_ns - import->sampled_ns > import->interval_ns)
		err = sample_before(import, event->time_ns);
	if (!err)
		err = device_of(import, event->device, &device);
	if (err)
		return err;
	import->events++;
	return blktrace_device_event(device, event);
}

/*
 * The trace lacks the completion of a request that is in flight for this long at its end, and for longer than each
 * request that completed. A shorter one may complete after the trace.
 */
#define LOST_NS	NS_PER_S

static bool is_lost(const struct blktrace_import *import, const struct blktrace_device *device, uint64_t since_ns)
{
	uint64_t age_ns = import->now_ns - since_ns;

	return age_ns > LOST_NS && age_ns > device->longest_ns;
}

static void count_lost(const struct blktrace_import *import, struct blktrace_device *device)
{
	for (uint32_t place = 1; place <= blktrace_pool_used(device->requests); place++) {
		const struct blktrace_item *request = blktrace_pool_at(device->requests, place);

		device->lost += request->stage == BLKTRACE_ISSUED && is_lost(import, device, request->since_ns);
	}
}

int blktrace_import_run(struct blktrace_import *import)
{
	struct blktrace_event event;
	int err;

	while ((err = blktrace_merge_next(import->merge, &event)) > 0) {
		err = take(import, &event);
		if (!err && import->tick && !(import->events % BLKTRACE_TICK))
			err = import->tick(import->tick_data);
		if (err)
			return err;
	}
	if (err || !import->started)
		return err;
	for (size_t i = 0; i < import->nr; i++)
		count_lost(import, import->devices[i]);
	return sample_to(import, import->now_ns);
}

/* Whether the sums of a disk agree; else @text says why not, or why that is not known. */
static bool check(const struct blktrace_import *import, const struct blktrace_device *device, char *text, size_t size)
{
	static const uint32_t none[RT_DIRECTIONS];
	struct rt_counters total;
	bool holds = false;

	if (blktrace_device_unknown(device) & (RT_COUNTER_BIT(ISSUED) | RT_COUNTER_BIT(COMPLETED))) {
		snprintf(text, size, "not known: the trace lacks issues or completions");
		return false;
	}
	if (device->given_up) {
		snprintf(text, size, "do not hold: %" PRIu64 " requests never completed", device->given_up);
		return false;
	}
	if (blktrace_device_total(device, import->start_ns, import->now_ns, &total))
		snprintf(text, size, "not known: not enough memory");
	else
		holds = rt_counters_check(&total, none, text, size);
	rt_counters_free(&total);
	return holds;
}

void blktrace_import_check(const struct blktrace_import *import, char *text, size_t size)
{
	for (size_t i = 0; i < import->nr; i++)
		if (!check(import, import->devices[i], text, size))
			return;
	snprintf(text, size, "hold");
}

void blktrace_import_free(struct blktrace_import *import)
{
	for (size_t i = 0; i < import->nr; i++)
		blktrace_device_free(import->devices[i]);
	import->nr = 0;
}
