/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A recording as bytes in memory, as of its last commit.
 *
 * Whose file it is and what lies beside it is not known.  SQLite itself would
 * play back a journal that it finds there, and delete that and each file that
 * the journal names.  So it is never shown the file: the bytes are read here,
 * and a journal is played back on copies of both that nobody else can reach.
 */

#ifndef STORE_IMAGE_H
#define STORE_IMAGE_H

#include <stddef.h>

/**
 * struct store_image - a whole recording
 * @bytes: from sqlite3_malloc64()
 * @size: of it, at least that of a header
 * @error: why there is none
 */
struct store_image {
	unsigned char *bytes;
	size_t size;
	char error[256];
};

/**
 * store_image_read - read a recording, finished, being written or left by a
 *	recorder that was killed
 * @path: of the file; neither it nor what lies beside is changed
 * @image: to be filled in; @error on failure
 *
 * Return: 0; -EINVAL: it is no recording, or damaged; -EPROTO: of another
 * version; -EBUSY: locked for 10 s; -EFBIG: larger than half the memory;
 * otherwise -errno.
 */
int store_image_read(const char *path, struct store_image *image);

#endif
