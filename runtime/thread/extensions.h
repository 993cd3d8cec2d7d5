/* The extension records before an event or control event, as docs/format.md has them, built word by word. */
#ifndef DWELL_EXTENSIONS_H
#define DWELL_EXTENSIONS_H

#include "common.h"
#include "record.h"

#pragma GCC visibility push(hidden)

struct thread;

enum {
    MAX_OPENED = 16,              /* calls that a control event finds open */
    MAX_OS_WORDS = 160,           /* on the OS's work before one event */
    OPEN_WORDS = 8,               /* of a call that is found open */
    OPEN_SITE_WORDS = 4,          /* of the call site of such a call */
    MAX_OBJECT_WORDS = 8 + 6 + 6, /* on what a call waited for and acted on */
    MAX_EVENT_WORDS =
        MAX_OS_WORDS + MAX_OBJECT_WORDS + 3 + 4 + 4 + 4 + 4, /* and what else comes before an enter or exit */
    MAX_CONTROL_WORDS = MAX_OS_WORDS + 160 + MAX_OPENED * (OPEN_WORDS + OPEN_SITE_WORDS),
};

/* A control event as docs/format.md has them: `count` words after its time, and before it the `opened` uppermost calls
 * of the shadow stack. `ended` calls are not open any more. */
struct control_event {
    enum dwell_extension type;
    uint64_t time; /* ticks; zero: the present time, whose interval has all that the OS did before it */
    const uint16_t *words;
    int count;
    uint32_t opened, ended;
};

/* The caller owns `words`: MAX_EVENT_WORDS before an event, MAX_CONTROL_WORDS for a control event. */
struct extensions {
    uint16_t *words;
    int length;
};

static inline void extensions_put(struct extensions *e, uint16_t word)
{
    e->words[e->length++] = word;
}

/* The first word of a record that is followed by `words` words. */
static inline void extensions_put_head(struct extensions *e, enum dwell_extension type, int words)
{
    extensions_put(e, extension_word(type, words));
}

static inline void extensions_put_number(struct extensions *e, uint64_t value, int words)
{
    for (int i = 0; i < words; i++)
        extensions_put(e, (uint16_t)(value >> 16 * i));
}

static inline uint32_t extensions_bytes(const struct extensions *e)
{
    return (uint32_t)e->length * 2;
}

/* `left` calls were left without an exit; nothing if zero. */
void extensions_put_unwind(struct extensions *e, uint64_t left);

/* The full time, if it does not follow from a word and the time before. */
void extensions_put_time(struct extensions *e, uint64_t now, uint64_t last);

/* Which of the thread's two upper halves names the address of an enter. If none does, a record that replaces one. */
unsigned extensions_put_upper(struct extensions *e, const struct thread *t, uint64_t function);

/* After the enter was claimed: the thread's upper halves are as its chunk has them. */
void extensions_take_upper(struct thread *t, unsigned half, uint64_t function);

/* Takes the OS's work since the last event, until that time or OS_NOW, and appends it. Signals need not be held back
 * for the latter. */
void extensions_read_os_events(struct thread *t, struct extensions *e, uint64_t until);

/* The same for an interval that ends now. Returns the time: the OS did all of it before. */
uint64_t extensions_end_interval(struct thread *t, struct extensions *e);

/* A control event, and the calls that it finds open. */
void extensions_put_control(struct extensions *e, const struct thread *t, const struct control_event *event);

/* The most bytes that extensions_put_control needs. */
uint32_t extensions_control_bytes(const struct control_event *event);

/* Stores the extensions and an event's word, and the address of an enter, in program order: a reader after a kill finds
 * whole extensions before an event, or no event after them. */
void extensions_store(const struct extensions *e, char *at, uint32_t word, bool enter, uint64_t function);

/* Appends a control event's extensions to the thread's chunk, or to a new one, after which the file knows the thread's
 * calls. Nothing if there is no room. Signals are held back. */
void extensions_append_control(struct thread *t, const struct extensions *e, const struct control_event *event);

#pragma GCC visibility pop

#endif
