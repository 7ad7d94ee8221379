// SPDX-License-Identifier: GPL-2.0-only
/* Memory in whole pages. kvmalloc() would round large sizes up to a power of two. */
#include "probe.h"

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

/*
 * Allocate zeroed memory, in one piece on @node if there is one, and in single pages otherwise.
 * Returns NULL when there is none; the log does not report that. Context: may sleep.
 */
void *raidtrace_pages_alloc(size_t size, int node)
{
	unsigned int order = get_order(size), nr;
	struct page *page;

	page = alloc_pages_node(node, RAIDTRACE_GFP | __GFP_ZERO | __GFP_NORETRY, order);
	if (!page)
		return __vmalloc(size, RAIDTRACE_GFP | __GFP_ZERO);
	split_page(page, order);
	for (nr = PFN_UP(size); nr < 1U << order; nr++)
		__free_page(page + nr);
	return page_address(page);
}

/* Free memory of raidtrace_pages_alloc() with this size; NULL is allowed. Context: may sleep. */
void raidtrace_pages_free(void *memory, size_t size)
{
	unsigned int nr;

	if (is_vmalloc_addr(memory)) {
		vfree(memory);
		return;
	}
	for (nr = 0; memory && nr < PFN_UP(size); nr++)
		free_page((unsigned long)memory + nr * PAGE_SIZE);
}
