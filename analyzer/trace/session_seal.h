/* Checksums of a session: made when it has ended, and checked when it is read. The recorded processes have made those
 * of their finished chunks before (retired.h of the runtime). docs/format.md describes them. */
#ifndef DWELL_TRACE_SESSION_SEAL_H
#define DWELL_TRACE_SESSION_SEAL_H

#include "session.h"
#include "trace/session_file.h"

/* Gives all chunks their checksums, and page 0 the number of chunks and bytes. Nothing may be written to the session
 * after that. Does nothing if a process may still write to it. If the disk fails, returns false and sets errno:
 * the session stays without, which `dwell info` says. */
bool seal_session(const struct session *session, int fd);

/* The same for a copy that a program has made of its running session, if the file is one of that session. */
bool seal_dump(const char *path, const struct dwell_file_header *session);

/* Whether chunks of that kind have checksums. The others hold nothing that was recorded. A process that joins the
 * session late reads their lists. */
bool seal_is_for(uint16_t kind);

/* Reads what page 0 says, and finds out whether the end of the file is missing. */
void seal_read(struct session_file *file);

/* Whether the chunk is as it was when it was sealed, or need not be sealed. Thread-safe. */
bool seal_holds(const struct session_file *file, const struct trace_chunk *chunk);

/* The same for a chunk with a checksum whose bytes up to its end are in memory. */
bool seal_holds_bytes(const struct trace_chunk *chunk, const uint8_t *bytes);

/* Whether the chunk's checksum is compared when the chunk is read (session_file_open_late). */
bool seal_is_late(const struct session_file *file, const struct trace_chunk *chunk);

/* Removes the chunks that are not from the index, and counts them and the missing ones. Chunks that a damaged header
 * hides are found. */
void seal_check(struct session_file *file);

/* The number of threads that make and check the sums; zero: one a CPU. */
void seal_use_jobs(unsigned jobs);

#endif
