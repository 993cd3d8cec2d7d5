/*
 * Guards the mappings of the session file. A store into a mapped file raises SIGBUS if the file was truncated, or if
 * its disk is full and copies on write. The guard then puts memory in place of the page, and the store succeeds.
 *
 * A table holds the file offset of each mapped page. It also holds the sizes of the chunks in memory, because the
 * headers of a file that somebody overwrites cannot be trusted. A forked child finds the table empty, as it does not
 * inherit the mappings.
 */
#ifndef DWELL_FORMAT_GUARD_H
#define DWELL_FORMAT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "dwell/format.h"

/* Guards the pages of a mapping, which begins a chunk. False if there is no memory for the table. */
bool guard_add(const void *at, uint32_t size, uint64_t offset);

/* The pages are about to be unmapped. */
void guard_remove(const void *at, uint32_t size);

/* Another chunk begins at this page of a guarded mapping. */
void guard_split(const void *at);

/* Returns the bytes from `at` to the next chunk or the end of the guarded pages; zero if no chunk begins there. */
uint32_t guard_size(const void *at);

/* Returns the file offset of a guarded page. */
uint64_t guard_offset(const void *page);

/* A pointer for each chunk that begins on a guarded page, NULL at first: to link chunks. */
void *guard_link(const void *at);
void guard_set_link(const void *at, void *link);

/* Guards the header's page. A forked child inherits its mapping. `contents` replace a page that cannot be read, without
 * their magic. */
void guard_header(struct dwell_file_header *header, const struct dwell_file_header *contents);

/* Whether memory has taken the place of the header. */
bool guard_header_is_lost(void);

/* Puts memory in place of the page that holds `address`, with the page's contents if they can be read. False if
 * the address is not guarded, or if the system refuses. Safe in signal handlers. */
bool guard_replace(const void *address);

/* Bits of enum dwell_trouble: why memory has taken the place of pages, and what guard_note has added. Zero: of none. */
uint32_t guard_trouble(void);
void guard_note(enum dwell_trouble trouble);

/* Returns the offset within a chunk of its first page whose place memory has taken, or `size` if there is none. */
uint32_t guard_first_lost(const void *at, uint32_t size);

/* Writes such pages of a chunk to the file, `fd`. False if a page could not be written. */
bool guard_save(const void *at, uint32_t size, int fd);

/* From now on, memory that has taken the place of pages of a chunk is not written to the file; or it is again. */
void guard_keep(const void *at, uint32_t size, bool kept);

/* The same as guard_save for all guarded pages but the header. */
bool guard_save_all(int fd);

#endif
