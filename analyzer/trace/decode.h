/*
 * Decodes an events chunk, event by event. The usual path is inline: the compiler makes one loop of the decoder and its
 * consumer, and keeps the decoder's state in registers.
 */
#ifndef DWELL_TRACE_DECODE_H
#define DWELL_TRACE_DECODE_H

#include <string.h>

#include "trace/session_file.h"

enum { /* the first words of short sites */
       DECODED_SITE_HEAD = DWELL_EXT_SITE << DWELL_EXTENSION_LENGTH_BITS | 1,
       DECODED_SITE_INLINED_HEAD = DWELL_EXT_SITE_INLINED << DWELL_EXTENSION_LENGTH_BITS | 1,
};

/* A control event that only ends an interval. Session files do not have it: dwell writes it into temporary chunks when
 * it leaves calls out (filtered_thread.h). */
enum { DECODED_EXT_INTERVAL = 63 };

#define DECODE_INLINE static inline __attribute__((always_inline))

enum decoded { DECODED_END = 0, DECODED_ENTER, DECODED_EXIT, DECODED_CONTROL };

/* The extensions of an event. The consumer resets them after each event (stack_apply does). */
struct decoded_extras {
    bool flagged;          /* the OS intervened in the interval that ends at the event */
    uint64_t flagged_part; /* ticks of it in which it did, if a filter hides the rest; zero: the whole interval */
    uint32_t unwound;      /* frames that were left without an exit at the event */
    uint32_t os_events;
    uint32_t page_faults;
    uint64_t blocked, preempted;  /* ticks */
    uint64_t runtime;             /* ticks of the interval in which the runtime worked: see decode_runtime */
    uint32_t cpu;                 /* 1 + the number of the CPU that the thread came to; zero if unknown */
    uint32_t objects;             /* number of OBJECT extensions: for decode_object */
    const uint8_t *run, *run_end; /* the extensions themselves, in the chunk: for decode_off_cpu */
};

/* The flagged ticks of an interval. */
static inline uint64_t decode_flagged(const struct decoded_extras *extras, uint64_t interval)
{
    if (!extras->flagged)
        return 0;
    return extras->flagged_part && extras->flagged_part < interval ? extras->flagged_part : interval;
}

/* The ticks of an interval in which the runtime worked. It did so on the CPU; in older recordings, they contain times
 * off the CPU. */
static inline uint64_t decode_runtime(const struct decoded_extras *extras, uint64_t interval)
{
    const uint64_t blocked = extras->blocked < interval ? extras->blocked : interval;
    const uint64_t preempted = extras->preempted < interval - blocked ? extras->preempted : interval - blocked;
    const uint64_t on_cpu = interval - blocked - preempted;
    return extras->runtime < on_cpu ? extras->runtime : on_cpu;
}

/* The call site of an enter, as it is recorded. */
struct decoded_site {
    uint64_t value;
    uint8_t words; /* of the value; zero if the site was not recorded */
    bool inlined;
};

struct decoder {
    const uint8_t *at, *end; /* events that begin before the end are decoded */
    const uint8_t *limit;    /* end of the bytes that have been read */
    bool more;               /* the chunk has more bytes after them: an incomplete event is decoded later */
    uint64_t time;           /* of the last decoded event */
    uint64_t function;
    uint64_t upper[2];       /* upper halves of addresses, shifted to their place */
    const uint8_t *run;      /* beginning of the event's extensions, if it has any */
    const uint8_t *control;  /* the words of a control event after its time */
    unsigned control_type;   /* its enum dwell_extension */
    unsigned control_length; /* number of these words */
    struct decoded_extras extras;
    struct decoded_site site; /* of an enter; the consumer resets it */
    bool has_extras;
    bool missing_exit; /* decode_extensions found an exit that was not stored */
    bool damaged;      /* decoding stopped at a record that no runtime writes */
    bool filtered;     /* the chunk can have DECODED_EXT_INTERVAL */
};

/* Whether the chunk is as large as its number of open frames says. */
static inline bool decode_has_frames(const struct trace_chunk *chunk)
{
    return sizeof(struct dwell_chunk_header) + (uint64_t)chunk->depth * sizeof(struct dwell_frame) <= chunk->size;
}

/* Offsets of the beginning and the end of its records. */
static inline size_t decode_skip(const struct trace_chunk *chunk)
{
    const uint64_t skip = sizeof(struct dwell_chunk_header) + (uint64_t)chunk->depth * sizeof(struct dwell_frame);
    return skip < chunk->size ? skip : chunk->size;
}

static inline size_t decode_end(const struct trace_chunk *chunk)
{
    const size_t end = trace_chunk_end(chunk), skip = decode_skip(chunk);
    return end > skip ? end : skip;
}

/* Starts at the first record of a chunk, at `at`. The records end at `end`. */
static inline void decode_begin_at(struct decoder *d, const struct trace_chunk *chunk, const uint8_t *at,
                                   const uint8_t *end)
{
    memset(d, 0, sizeof *d);
    d->at = at;
    d->end = d->limit = end;
    d->filtered = chunk->filtered;
    d->time = chunk->start_time;
    d->upper[0] = (uint64_t)chunk->upper[0] << 32;
    d->upper[1] = (uint64_t)chunk->upper[1] << 32;
}

/* The same for a chunk that session_file_read_chunk has read into `buffer`. */
static inline void decode_begin(struct decoder *d, const struct trace_chunk *chunk, const uint8_t *buffer)
{
    decode_begin_at(d, chunk, buffer + decode_skip(chunk), buffer + decode_end(chunk));
}

/* The i-th open frame at the chunk's start, outermost first. */
static inline struct dwell_frame decode_frame(const uint8_t *buffer, uint32_t i)
{
    struct dwell_frame frame;
    memcpy(&frame, buffer + sizeof(struct dwell_chunk_header) + (size_t)i * sizeof frame, sizeof frame);
    return frame;
}

static inline uint32_t decode_word(const uint8_t *at)
{
    uint16_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint64_t decode_number(const uint8_t *at, unsigned words)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < words; i++)
        value |= (uint64_t)decode_word(at + 2 * i) << 16 * i;
    return value;
}

/* The earliest time not before `last` whose low bits are these. */
static inline uint64_t decode_time(uint64_t last, uint64_t low, unsigned bits)
{
    return last + ((low - last) & ((1ull << bits) - 1));
}

/* A mark that the program set. */
struct decoded_mark {
    uint64_t time; /* the moment that it marks */
    uint32_t number;
    const char *text; /* in the chunk, without a terminating zero */
    size_t length;
};

/* A time that the thread was off its CPU. */
struct decoded_off_cpu {
    uint64_t begin, length; /* ticks */
    bool preempted;
};

/* Finds the next off-CPU time in the extras of an event at `time`. *at is extras->run at first. Returns false if there
 * is no other. */
bool decode_off_cpu(const struct decoded_extras *extras, uint64_t time, const uint8_t **at,
                    struct decoded_off_cpu *off_cpu);

/* The same for readers that need one after the other: cut where an earlier one ends, and without those that it covers.
 * They overlap where one stands for several, which had no room, or whose own times were lost. *last is zero at first.
 * The interval before a thread's end has amounts alone: they are at its `begin`, the blocked one first. */
bool decode_next_off_cpu(const struct decoded_extras *extras, uint64_t begin, uint64_t time, const uint8_t **at,
                         uint64_t *last, struct decoded_off_cpu *off_cpu);

/* What the call that ends waited for, or acted on. */
struct decoded_object {
    unsigned kind, role; /* enum dwell_object, enum dwell_object_role; of a later version if unknown */
    uint64_t id;
    uint32_t holder;  /* tid; zero if there was none or it is unknown */
    uint64_t blocked; /* ticks that the thread was blocked, as recorded before the object */
};

/* Finds the next object in the extras of an event. *at is extras->run at first. Returns false if there is no other. */
bool decode_object(const struct decoded_extras *extras, const uint8_t **at, struct decoded_object *object);

/* The mark that was just decoded as a control event. */
struct decoded_mark decode_mark(const struct decoder *d);

/* Finds the next call, outermost first, that is open at the control event just decoded. `at` is d->run at first, and
 * then the value returned before. Returns NULL if there is no other. */
const uint8_t *decode_opened(const struct decoder *d, const uint8_t *at, struct dwell_frame *frame);

/* The same with the call's site, which is zero if unknown. */
const uint8_t *decode_opened_from(const struct decoder *d, const uint8_t *at, struct dwell_frame *frame,
                                  uint64_t *site);

/* The site of an enter as a number, as in DWELL_EXT_OPEN_SITES; zero if unknown. `caller` is the address of the
 * innermost open call's function, or zero. */
static inline uint64_t decode_site(const struct decoded_site *site, uint64_t caller)
{
    const uint64_t mark = site->inlined ? DWELL_SITE_INLINED : 0;
    if (site->words == 0)
        return 0;
    if (site->words == 1)
        return ((caller + site->value) & ~DWELL_SITE_INLINED) | mark;
    if (site->words == 2)
        return ((caller + (uint64_t)(int64_t)(int32_t)site->value) & ~DWELL_SITE_INLINED) | mark;
    return site->value | mark;
}

/* The sites of the calls that are open at a chunk's start, outermost first, one after the other. */
struct open_sites {
    const uint8_t *at, *end;
    unsigned left; /* in the current record */
};
void decode_open_sites(struct open_sites *sites, const struct decoder *d); /* right after decode_begin */
uint64_t decode_next_open_site(struct open_sites *sites);                  /* zero if unknown */

/* Whether an extension of that type is an event, as an enter or exit is. */
static inline bool decode_is_control(unsigned type)
{
    return type == DWELL_EXT_MARK || type == DWELL_EXT_PAUSE || type == DWELL_EXT_RESUME || type == DWELL_EXT_SWITCH;
}

/* An enter with a short site and no other extension: the usual event where sites are recorded. */
DECODE_INLINE bool decode_begins_with_site(const struct decoder *d, const uint8_t *at, uint32_t word)
{
    if (word != DECODED_SITE_HEAD && word != DECODED_SITE_INLINED_HEAD)
        return false;
    const uint32_t next = at + 4 < d->end ? decode_word(at + 4) >> DWELL_WORD_KIND_SHIFT : DWELL_WORD_EXTENSION;
    return next == DWELL_WORD_ENTER_0 || next == DWELL_WORD_ENTER_1;
}

/* Decodes the enter or exit at `at`. Without a time, it has the one in its word. Returns DECODED_END if the address of
 * an enter was not stored: such a record does not count. */
DECODE_INLINE enum decoded decode_call(struct decoder *d, const uint8_t *at, uint64_t time)
{
    const uint32_t word = decode_word(at), kind = word >> DWELL_WORD_KIND_SHIFT;
    if (__builtin_expect(!time, 1))
        time = decode_time(d->time, word, DWELL_TIME_BITS);
    if (kind == DWELL_WORD_EXIT) {
        d->time = time;
        d->at = at + 2;
        return DECODED_EXIT;
    }
    uint32_t lower;
    memcpy(&lower, at + 2, sizeof lower); /* at the buffer's end, this reads its padding */
    if (__builtin_expect(lower == 0, 0)) {
        d->at = at;
        d->site = (struct decoded_site){ 0 };
        return DECODED_END;
    }
    d->time = time;
    d->at = at + 6;
    d->function = (kind == DWELL_WORD_ENTER_0 ? d->upper[0] : d->upper[1]) | lower;
    return DECODED_ENTER;
}

/* The next event, if it is an enter or exit without extensions, or with a short site only. Else DECODED_END. */
DECODE_INLINE enum decoded decode_plain(struct decoder *d)
{
    const uint8_t *at = d->at;
    if (__builtin_expect(at >= d->end, 0))
        return DECODED_END;
    const uint32_t word = decode_word(at);
    if (__builtin_expect(word >> DWELL_WORD_KIND_SHIFT == DWELL_WORD_EXTENSION, 0)) {
        if (!decode_begins_with_site(d, at, word))
            return DECODED_END;
        d->site = (struct decoded_site){ decode_word(at + 2), 1, word == DECODED_SITE_INLINED_HEAD };
        at += 4;
    }
    return decode_call(d, at, 0);
}

/* Whether the next event is an exit without extensions. */
DECODE_INLINE bool decode_exit_follows(const struct decoder *d)
{
    return d->at < d->end && decode_word(d->at) >> DWELL_WORD_KIND_SHIFT == DWELL_WORD_EXIT;
}

/* The next event after decode_plain has found none. */
enum decoded decode_rare(struct decoder *d);

/* The next event. Its time, function (of an enter) and extras are in the decoder. */
static inline enum decoded decode_next(struct decoder *d)
{
    const enum decoded event = decode_plain(d);
    return __builtin_expect(event != DECODED_END, 1) ? event : decode_rare(d);
}

#endif
