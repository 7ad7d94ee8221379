-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Tables of a recording.  Documentation/recording.rst says what each column
-- means and which promises hold; columns.c carries the same words for export.
-- The counters of flow are those of RT_FLOW_COUNTERS, in its order.

CREATE TABLE meta (
	key TEXT PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE target (
	target INTEGER PRIMARY KEY,
	disk TEXT NOT NULL,
	driver TEXT NOT NULL,
	pci TEXT NOT NULL,
	hctl TEXT NOT NULL,
	unit_3ware INTEGER NOT NULL,
	bio_based INTEGER NOT NULL,
	rotational INTEGER NOT NULL,
	capacity_sectors INTEGER NOT NULL,
	max_sectors INTEGER NOT NULL,
	max_hw_sectors INTEGER NOT NULL,
	max_segments INTEGER NOT NULL,
	nr_requests INTEGER NOT NULL,
	nr_hw_queues INTEGER NOT NULL,
	nr_tags INTEGER NOT NULL,
	attached_ns INTEGER NOT NULL
);

CREATE TABLE setting (
	time_ns INTEGER NOT NULL,
	target INTEGER NOT NULL REFERENCES target,
	name TEXT NOT NULL,
	value TEXT NOT NULL
);

CREATE TABLE phase (
	phase INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER
);

CREATE TABLE sample (
	sample INTEGER PRIMARY KEY,
	target INTEGER NOT NULL REFERENCES target,
	phase INTEGER NOT NULL REFERENCES phase,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL
);

CREATE TABLE flow (
	sample INTEGER NOT NULL REFERENCES sample,
	direction TEXT NOT NULL,
	queued INTEGER NOT NULL,
	got INTEGER NOT NULL,
	back_merges INTEGER NOT NULL,
	front_merges INTEGER NOT NULL,
	request_merges INTEGER NOT NULL,
	splits INTEGER NOT NULL,
	inserted INTEGER NOT NULL,
	issued INTEGER NOT NULL,
	requeued INTEGER NOT NULL,
	requeued_unissued INTEGER NOT NULL,
	completed INTEGER NOT NULL,
	partial INTEGER NOT NULL,
	errors INTEGER NOT NULL,
	unmatched INTEGER NOT NULL,
	bytes_queued INTEGER NOT NULL,
	bytes_issued INTEGER NOT NULL,
	bytes_completed INTEGER NOT NULL,
	sequential INTEGER NOT NULL,
	seek_forward_sectors INTEGER NOT NULL,
	seek_backward_sectors INTEGER NOT NULL,
	d2c_sum_ns INTEGER NOT NULL,
	in_flight INTEGER NOT NULL,
	in_flight_max INTEGER NOT NULL,
	PRIMARY KEY (sample, direction)
) WITHOUT ROWID;

CREATE TABLE bin (
	sample INTEGER NOT NULL REFERENCES sample,
	direction TEXT NOT NULL,
	kind TEXT NOT NULL,
	bin INTEGER NOT NULL,
	count INTEGER NOT NULL,
	PRIMARY KEY (sample, direction, kind, bin)
) WITHOUT ROWID;

CREATE TABLE output (
	time_ns INTEGER NOT NULL,
	stream TEXT NOT NULL,
	text TEXT NOT NULL
);

CREATE INDEX sample_of_phase ON sample (phase, target);
