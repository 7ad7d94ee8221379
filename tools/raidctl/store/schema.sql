-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Tables of a recording.  Documentation/recording.rst says what each column
-- means and which promises hold; recording/columns.txt of Python has the same words for export.
-- @flow_counters@ stands for a column of each of RT_FLOW_COUNTERS, others
-- likewise.  setting.target is 0 for what belongs to the machine, so it refers to
-- no row.  What a source cannot tell is NULL: raidctl import has no more than
-- its trace.
--
-- Adding a table or a column needs nothing else: a recording without it is
-- read as if it were empty.

CREATE TABLE meta (
	key TEXT PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;

-- The dictionary of the counters in the tables sample, flow, origin, submitter and hwq (owner), from the rows of their macros.
CREATE TABLE counter (
	owner TEXT NOT NULL,
	name TEXT NOT NULL,
	unit TEXT NOT NULL,
	meaning TEXT NOT NULL,
	PRIMARY KEY (owner, name)
) WITHOUT ROWID;

CREATE TABLE target (
	target INTEGER PRIMARY KEY,
	disk TEXT NOT NULL,
	driver TEXT,
	pci TEXT,
	hctl TEXT,
	unit_3ware INTEGER,
	bio_based INTEGER,
	rotational INTEGER,
	capacity_sectors INTEGER,
	max_sectors INTEGER,
	max_hw_sectors INTEGER,
	max_segments INTEGER,
	nr_requests INTEGER,
	nr_hw_queues INTEGER,
	nr_tags INTEGER,
	attached_ns INTEGER NOT NULL,
	groups TEXT,
	streams INTEGER,
	place_sectors INTEGER
);

CREATE TABLE setting (
	time_ns INTEGER NOT NULL,
	target INTEGER NOT NULL,
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
	end_ns INTEGER NOT NULL,
	@disk_counters@
	streams_alive INTEGER,
	streams_alive_queued INTEGER,
	histograms TEXT
);

CREATE TABLE flow (
	sample INTEGER NOT NULL REFERENCES sample,
	direction TEXT NOT NULL,
	@flow_counters@
	in_flight INTEGER,
	in_flight_max INTEGER,
	PRIMARY KEY (sample, direction)
) WITHOUT ROWID;

CREATE VIEW bin AS
	SELECT sample, direction.key AS direction, kind.key AS kind,
	       CAST(bin.key AS INTEGER) AS bin, bin.value AS count
	FROM sample, json_each(sample.histograms) AS direction,
	     json_each(direction.value) AS kind, json_each(kind.value) AS bin;

CREATE TABLE origin (
	sample INTEGER NOT NULL REFERENCES sample,
	class TEXT NOT NULL,
	@origin_counters@
	PRIMARY KEY (sample, class)
) WITHOUT ROWID;

CREATE TABLE submitter (
	sample INTEGER NOT NULL REFERENCES sample,
	submitter INTEGER NOT NULL,
	pid INTEGER,
	comm TEXT,
	cgroup TEXT,
	@submitter_counters@
	PRIMARY KEY (sample, submitter)
) WITHOUT ROWID;

CREATE TABLE hwq (
	sample INTEGER NOT NULL REFERENCES sample,
	hwq INTEGER NOT NULL,
	@hwq_counters@
	in_flight INTEGER,
	in_flight_max INTEGER,
	PRIMARY KEY (sample, hwq)
) WITHOUT ROWID;

CREATE TABLE request (
	target INTEGER NOT NULL REFERENCES target,
	number INTEGER NOT NULL,
	queued_ns INTEGER,
	inserted_ns INTEGER,
	issued_ns INTEGER NOT NULL,
	completed_ns INTEGER NOT NULL,
	sector INTEGER,
	bytes INTEGER NOT NULL,
	direction TEXT NOT NULL,
	class TEXT NOT NULL,
	depth INTEGER NOT NULL,
	pid INTEGER,
	comm TEXT,
	error INTEGER NOT NULL,
	again INTEGER NOT NULL,
	PRIMARY KEY (target, number)
) WITHOUT ROWID;

CREATE TABLE stack (
	target INTEGER NOT NULL REFERENCES target,
	parent INTEGER NOT NULL REFERENCES target,
	PRIMARY KEY (target, parent)
) WITHOUT ROWID;

CREATE TABLE note (
	time_ns INTEGER NOT NULL,
	text TEXT NOT NULL
);

CREATE TABLE host (
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	source TEXT NOT NULL,
	subject TEXT NOT NULL,
	name TEXT NOT NULL,
	unit TEXT NOT NULL,
	value INTEGER NOT NULL
);

CREATE TABLE disturbance (
	disturbance INTEGER PRIMARY KEY,
	kind TEXT NOT NULL,
	subject TEXT NOT NULL,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	unit TEXT NOT NULL,
	value INTEGER NOT NULL,
	text TEXT NOT NULL
);

CREATE TABLE output (
	time_ns INTEGER NOT NULL,
	stream TEXT NOT NULL,
	text TEXT NOT NULL
);
