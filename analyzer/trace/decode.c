/* Decodes the extensions of events, control events and call sites: the rare parts of an events chunk. */
#include "trace/decode.h"

#include "base/numbers.h"

enum {
    TIME_WORDS = 3,
    LONG_TIME_BITS = 48,
    SITE_WORDS = 3,
    OPEN_SITE_WORDS = 4,
    OPEN_WORDS = 7,
    OBJECT_WORDS = 5,
    HOLDER_WORDS = 2,
    ENTER_SIZE = 6,
    EXIT_SIZE = 2
};

/* Extensions belong to the event after them. They are valid only if that event was stored. */
struct pending {
    struct decoded_extras extras;
    struct decoded_site site;
    uint64_t time;
    uint64_t upper[2];
    const uint8_t *control; /* NULL, or the words of a control event after its time */
    unsigned type, length;
    bool bad;
};

static void decode_add_off_cpu_time(struct pending *p, const uint8_t *words, uint64_t *sum)
{
    *sum += decode_number(words + 2 * TIME_WORDS, TIME_WORDS);
    p->extras.flagged = true;
    p->extras.os_events++;
}

/* A number that has as many words as it needs. */
static uint64_t decode_short_number(const uint8_t *words, unsigned length)
{
    return decode_number(words, length < TIME_WORDS ? length : TIME_WORDS);
}

static bool decode_is_long_enough(unsigned type, unsigned length)
{
    static const uint8_t needed[] = {
        [DWELL_EXT_TIME] = TIME_WORDS,
        [DWELL_EXT_UPPER] = 3,
        [DWELL_EXT_BLOCKED] = 2 * TIME_WORDS,
        [DWELL_EXT_PREEMPTED] = 2 * TIME_WORDS,
        [DWELL_EXT_FAULTS] = 1,
        [DWELL_EXT_UNWIND] = 2,
        [DWELL_EXT_MARK] = 9,
        [DWELL_EXT_PAUSE] = TIME_WORDS,
        [DWELL_EXT_RESUME] = 5,
        [DWELL_EXT_OPEN] = 7,
        [DWELL_EXT_SWITCH] = 5,
        [DWELL_EXT_SITE] = 1,
        [DWELL_EXT_SITE_INLINED] = 1,
        [DWELL_EXT_RUNTIME] = 1,
        [DWELL_EXT_OBJECT] = OBJECT_WORDS,
        [DWELL_EXT_CPU] = 1,
    };
    return type >= sizeof needed || length >= needed[type];
}

static void decode_one_extension(const struct decoder *d, struct pending *p, unsigned type, unsigned length,
                                 const uint8_t *words)
{
    if (!decode_is_long_enough(type, length)) {
        p->bad = true;
        return;
    }
    if (decode_is_control(type) || (d->filtered && type == DECODED_EXT_INTERVAL)) {
        p->time = decode_time(d->time, decode_number(words, TIME_WORDS), LONG_TIME_BITS);
        p->control = words + 2 * TIME_WORDS;
        p->type = type;
        p->length = length - TIME_WORDS;
        return;
    }
    switch (type) {
    case DWELL_EXT_TIME:
        p->time = decode_time(d->time, decode_number(words, TIME_WORDS), LONG_TIME_BITS);
        break;
    case DWELL_EXT_UPPER:
        if (decode_word(words) < 2)
            p->upper[decode_word(words)] = decode_number(words + 2, 2) << 32;
        else
            p->bad = true;
        break;
    case DWELL_EXT_OS:
        p->extras.flagged = true;
        p->extras.os_events++;
        p->extras.flagged_part = decode_short_number(words, length);
        break;
    case DWELL_EXT_BLOCKED:
        decode_add_off_cpu_time(p, words, &p->extras.blocked);
        break;
    case DWELL_EXT_PREEMPTED:
        decode_add_off_cpu_time(p, words, &p->extras.preempted);
        break;
    case DWELL_EXT_RUNTIME:
        p->extras.runtime += decode_short_number(words, length);
        break;
    case DWELL_EXT_FAULTS:
        p->extras.flagged = true;
        p->extras.os_events += (uint32_t)decode_short_number(words, length);
        p->extras.page_faults += (uint32_t)decode_short_number(words, length);
        break;
    case DWELL_EXT_UNWIND:
        p->extras.unwound += (uint32_t)decode_number(words, 2);
        break;
    case DWELL_EXT_SITE:
    case DWELL_EXT_SITE_INLINED:
        p->site.words = length < SITE_WORDS ? (uint8_t)length : SITE_WORDS;
        p->site.value = decode_number(words, p->site.words);
        p->site.inlined = type == DWELL_EXT_SITE_INLINED;
        break;
    case DWELL_EXT_OBJECT:
        p->extras.objects++;
        break;
    case DWELL_EXT_CPU:
        p->extras.cpu = 1 + decode_word(words);
        break;
    default:
        break; /* of a later version, or without an effect on times */
    }
}

/* Skips words that were claimed and not written. Many of them follow the last event of a killed thread. */
static const uint8_t *decode_skip_zeros(const uint8_t *at, const uint8_t *end)
{
    static const uint8_t zeros[64];
    while (end - at >= (long)sizeof zeros && memcmp(at, zeros, sizeof zeros) == 0)
        at += sizeof zeros;
    while (at < end && decode_word(at) == 0)
        at += 2;
    return at < end ? at : end;
}

/* Member by member, so that they stay in registers: whoever loads several at once waits for their stores. */
static void decode_copy_extras(struct decoded_extras *into, const struct decoded_extras *from)
{
    into->flagged = from->flagged;
    into->flagged_part = from->flagged_part;
    into->unwound = from->unwound;
    into->os_events = from->os_events;
    into->page_faults = from->page_faults;
    into->blocked = from->blocked;
    into->preempted = from->preempted;
    into->runtime = from->runtime;
    into->cpu = from->cpu;
    into->objects = from->objects;
}

static void decode_begin_pending(const struct decoder *d, struct pending *p)
{
    *p = (struct pending){ .upper = { d->upper[0], d->upper[1] } };
    decode_copy_extras(&p->extras, &d->extras);
}

/* Stops before extensions without an event. If the chunk has more bytes, they are read again with the next ones. */
static void decode_stop(struct decoder *d, bool bad)
{
    d->damaged |= bad;
    d->more &= !bad;
    d->at = d->more ? d->run : d->end;
}

/* Whether the whole record of the event has been read. Zeros follow the end of a chunk. */
static bool decode_record_is_whole(const struct decoder *d, const uint8_t *at)
{
    return !d->more || at + ENTER_SIZE <= d->limit;
}

/* An enter whose address was not stored, with events after it. */
static bool decode_is_half_enter(const struct decoder *d, const uint8_t *at, uint32_t word)
{
    const uint32_t kind = word >> DWELL_WORD_KIND_SHIFT;
    return (kind == DWELL_WORD_ENTER_0 || kind == DWELL_WORD_ENTER_1) && decode_record_is_whole(d, at) &&
           decode_number(at + 2, 2) == 0;
}

/* The event was stored: its extensions are valid. */
static void decode_commit_pending(struct decoder *d, const struct pending *p, const uint8_t *end, uint64_t *time)
{
    decode_copy_extras(&d->extras, &p->extras);
    d->site.value = p->site.value;
    d->site.words = p->site.words;
    d->site.inlined = p->site.inlined;
    d->extras.run = d->run;
    d->extras.run_end = end;
    d->has_extras = true;
    d->upper[0] = p->upper[0];
    d->upper[1] = p->upper[1];
    d->control = p->control;
    d->control_type = p->type;
    d->control_length = p->length;
    *time = p->time;
}

/*
 * A probe that was interrupted between its claim and its stores leaves zeros. If a handler never returns to the probe,
 * the runtime stores the record later (runtime/thread/holes.c). It cannot do so for exits that no later event shows to
 * be missing. So a few zeros are exits, at the time of the previous event. As many zeros as an enter has are an enter
 * whose probe was still interrupted when the process was killed.
 */
static const uint8_t *decode_extensions(struct decoder *d, uint64_t *time)
{
    const uint8_t *at = d->run = d->at;
    struct pending p;
    decode_begin_pending(d, &p);
    while (at < d->limit && !p.bad) {
        uint32_t word = decode_word(at);
        if (word == 0 || decode_is_half_enter(d, at, word)) {
            const uint8_t *begin = at;
            at = decode_skip_zeros(word ? at + ENTER_SIZE : at, d->limit);
            decode_begin_pending(d, &p); /* the event that they belong to is missing */
            d->run = at;
            if (at >= d->limit || (at - begin) % ENTER_SIZE == 0)
                continue;
            d->missing_exit = true;
            return begin + EXIT_SIZE;
        }
        if (word >> DWELL_WORD_KIND_SHIFT != DWELL_WORD_EXTENSION) {
            if (!decode_record_is_whole(d, at))
                break;
            decode_commit_pending(d, &p, at, time);
            return at;
        }
        unsigned length = word & ((1u << DWELL_EXTENSION_LENGTH_BITS) - 1);
        if (at + 2 + 2 * length > d->limit)
            break;
        decode_one_extension(d, &p, word >> DWELL_EXTENSION_LENGTH_BITS, length, at + 2);
        at += 2 + 2 * length;
        if (p.control && !p.bad) {
            decode_commit_pending(d, &p, at, time);
            return at;
        }
    }
    decode_stop(d, p.bad);
    return NULL;
}

enum decoded decode_rare(struct decoder *d)
{
    enum decoded event = DECODED_END;
    while (event == DECODED_END && d->at < d->end) {
        uint64_t time = 0;
        const uint8_t *at = decode_extensions(d, &time);
        if (!at)
            return DECODED_END;
        if (d->missing_exit) {
            d->missing_exit = false;
            d->at = at;
            return DECODED_EXIT;
        }
        if (d->control) {
            d->time = time;
            d->at = at;
            return DECODED_CONTROL;
        }
        event = decode_call(d, at, time);
    }
    return event;
}

/* The latest moment not after `now` whose low bits are these. */
static uint64_t decode_past_moment(uint64_t now, uint64_t low)
{
    const uint64_t time = decode_time(now, low, LONG_TIME_BITS);
    return time > now ? time - (1ull << LONG_TIME_BITS) : time;
}

bool decode_off_cpu(const struct decoded_extras *extras, uint64_t time, const uint8_t **at,
                    struct decoded_off_cpu *off_cpu)
{
    while (*at < extras->run_end) {
        const uint32_t word = decode_word(*at), type = word >> DWELL_EXTENSION_LENGTH_BITS;
        const uint8_t *words = *at + 2;
        *at = words + 2 * (word & ((1u << DWELL_EXTENSION_LENGTH_BITS) - 1));
        if (type != DWELL_EXT_BLOCKED && type != DWELL_EXT_PREEMPTED)
            continue;
        off_cpu->begin = decode_past_moment(time, decode_number(words, TIME_WORDS));
        off_cpu->length = decode_number(words + 2 * TIME_WORDS, TIME_WORDS);
        off_cpu->preempted = type == DWELL_EXT_PREEMPTED;
        return true;
    }
    return false;
}

/* The amounts of an interval, one after the other. */
static bool decode_next_amount(const struct decoded_extras *extras, uint64_t begin, uint64_t time, uint64_t *last,
                               struct decoded_off_cpu *off_cpu)
{
    const uint64_t interval = time > begin ? time - begin : 0, blocked = smaller(extras->blocked, interval);
    const struct decoded_off_cpu amounts[] = {
        { .begin = begin, .length = blocked },
        { .begin = begin + blocked, .length = smaller(extras->preempted, interval - blocked), .preempted = true },
    };
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        *off_cpu = amounts[i];
        if (!off_cpu->length || off_cpu->begin < *last)
            continue;
        *last = off_cpu->begin + off_cpu->length;
        return true;
    }
    return false;
}

bool decode_next_off_cpu(const struct decoded_extras *extras, uint64_t begin, uint64_t time, const uint8_t **at,
                         uint64_t *last, struct decoded_off_cpu *off_cpu)
{
    if (!extras->run)
        return decode_next_amount(extras, begin, time, last, off_cpu);
    while (decode_off_cpu(extras, time, at, off_cpu)) {
        const uint64_t end = off_cpu->begin + off_cpu->length;
        if (end <= *last)
            continue;
        off_cpu->begin = larger(off_cpu->begin, *last);
        off_cpu->length = end - off_cpu->begin;
        *last = end;
        return true;
    }
    return false;
}

bool decode_object(const struct decoded_extras *extras, const uint8_t **at, struct decoded_object *object)
{
    object->blocked = 0;
    while (*at < extras->run_end) {
        const uint32_t word = decode_word(*at), type = word >> DWELL_EXTENSION_LENGTH_BITS;
        const unsigned length = word & ((1u << DWELL_EXTENSION_LENGTH_BITS) - 1);
        const uint8_t *words = *at + 2;
        *at = words + 2 * length;
        if (type == DWELL_EXT_BLOCKED)
            object->blocked += decode_number(words + 2 * TIME_WORDS, TIME_WORDS);
        if (type != DWELL_EXT_OBJECT)
            continue;
        object->kind = decode_word(words) & DWELL_OBJECT_KIND_MASK;
        object->role = decode_word(words) >> DWELL_OBJECT_ROLE_SHIFT;
        object->id = decode_number(words + 2, 4);
        object->holder =
            length >= OBJECT_WORDS + HOLDER_WORDS ? (uint32_t)decode_number(words + 2 * OBJECT_WORDS, HOLDER_WORDS) : 0;
        return true;
    }
    return false;
}

struct decoded_mark decode_mark(const struct decoder *d)
{
    enum { NUMBER = TIME_WORDS, LENGTH = NUMBER + 2, TEXT = LENGTH + 1 };
    const size_t room = (d->control_length - TEXT) * sizeof(uint16_t), length = decode_word(d->control + 2 * LENGTH);
    return (struct decoded_mark){
        .time = decode_past_moment(d->time, decode_number(d->control, TIME_WORDS)),
        .number = (uint32_t)decode_number(d->control + 2 * NUMBER, 2),
        .text = (const char *)d->control + 2 * TEXT,
        .length = length < room ? length : room,
    };
}

const uint8_t *decode_opened(const struct decoder *d, const uint8_t *at, struct dwell_frame *frame)
{
    uint64_t site;
    return decode_opened_from(d, at, frame, &site);
}

const uint8_t *decode_opened_from(const struct decoder *d, const uint8_t *at, struct dwell_frame *frame, uint64_t *site)
{
    while (at < d->control) {
        const uint32_t word = decode_word(at);
        const uint8_t *words = at + 2;
        const unsigned length = word & ((1u << DWELL_EXTENSION_LENGTH_BITS) - 1);
        at = words + 2 * length;
        if (word >> DWELL_EXTENSION_LENGTH_BITS != DWELL_EXT_OPEN)
            continue;
        frame->function = decode_number(words, 4);
        frame->enter_time = decode_past_moment(d->time, decode_number(words + 8, TIME_WORDS));
        *site = length >= OPEN_WORDS + OPEN_SITE_WORDS ? decode_number(words + 2 * OPEN_WORDS, OPEN_SITE_WORDS) : 0;
        return at;
    }
    return NULL;
}

/* OPEN_SITES records that were decoded are long enough, and an event follows them. */

void decode_open_sites(struct open_sites *sites, const struct decoder *d)
{
    *sites = (struct open_sites){ d->at, d->limit, 0 };
}

uint64_t decode_next_open_site(struct open_sites *s)
{
    if (s->left == 0 && s->end - s->at >= 2) {
        const uint32_t word = decode_word(s->at);
        const unsigned length = word & ((1u << DWELL_EXTENSION_LENGTH_BITS) - 1);
        if (word >> DWELL_EXTENSION_LENGTH_BITS == DWELL_EXT_OPEN_SITES && s->end - s->at >= 2 + 2 * (long)length) {
            s->left = length / OPEN_SITE_WORDS;
            s->at += 2;
        }
    }
    if (s->left == 0)
        return 0;
    const uint64_t site = decode_number(s->at, OPEN_SITE_WORDS);
    s->at += sizeof(uint16_t) * OPEN_SITE_WORDS;
    s->left--;
    return site;
}
