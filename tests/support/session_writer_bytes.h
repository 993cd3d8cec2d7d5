/* The parts of the session writer that its files share: bytes, chunks and records. */
#ifndef DWELL_TESTS_SESSION_WRITER_BYTES_H
#define DWELL_TESTS_SESSION_WRITER_BYTES_H

#include "support/session_writer.h"

enum { UNIT = 4096, HEADER = 64 }; /* sizes */
enum { KIND_EVENTS = 1, KIND_METADATA = 2, KIND_SYMBOLS = 3, KIND_TRACE_EVENTS = 7, KIND_SAMPLES = 8 };

/* Numbers have `size` bytes. bytes_put_at replaces bytes; the others append. */
void bytes_extend(struct bytes *b, size_t length);
void bytes_put_at(struct bytes *b, size_t offset, uint64_t value, unsigned size);
void writer_put(struct bytes *b, uint64_t value, unsigned size);
void writer_put_bytes(struct bytes *b, const void *data, size_t length);
void bytes_put_string(struct bytes *b, const char *text, size_t length);
void bytes_pad(struct bytes *b, size_t multiple);
void writer_begin_chunk(struct writer *w, uint32_t kind, uint32_t process);
void writer_end_chunk(struct writer *w);
void writer_begin_record(struct writer *w, uint32_t kind, uint32_t process, uint32_t type, struct bytes *record);
void writer_end_record(struct writer *w, struct bytes *record);

#endif
