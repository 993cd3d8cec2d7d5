/* The changes of functions' levels on their way into the session. A function may change again before a thread comes to
 * write, so each change waits by itself. */
#include "levels/level_records.h"

#include <string.h>
#include <time.h>

#include "helper.h"
#include "lock.h"
#include "metadata_records.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"

enum {
    FIRST_CHANGES = 256,
    RECORDS_AT_ONCE = 32,
    PATIENCE = 400, /* milliseconds, for other threads to write records */
    MAX_NOTES = 12,
};

union level_record {
    struct dwell_record record;
    struct dwell_rec_level level;
    struct dwell_rec_stubs stubs;
};

static struct {
    union level_record *list;
    uint32_t count, room;
} level_changes;

static const char *level_notes[MAX_NOTES];
static uint32_t level_note_count, level_notes_written;

static struct process_level_records *level_records_process(void)
{
    return &runtime.process->levels.records;
}

void level_note(const char *text)
{
    uint32_t i = 0;
    while (i < level_note_count && level_notes[i] != text)
        i++;
    if (i == level_note_count && i < MAX_NOTES)
        level_notes[level_note_count++] = text;
}

/* Zero where a sandbox forbids the call. */
uint64_t level_cost_begins(void)
{
    struct timespec time = { 0 };
    SYS2(clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void level_cost_ends(uint64_t begin)
{
    struct dwell_file_more *more = session_more(&runtime.session);
    const uint64_t end = level_cost_begins();
    __atomic_fetch_add(&more->code_changes, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&more->change_time, begin && end > begin ? end - begin : 0, __ATOMIC_RELAXED);
}

static bool level_records_make_room(void)
{
    if (level_changes.count < level_changes.room)
        return true;
    union level_record *list = sys_grow(level_changes.list, &level_changes.room, sizeof *list, FIRST_CHANGES);
    if (list)
        level_changes.list = list;
    return list;
}

static void level_records_keep(const union level_record *record)
{
    lock_take(&level_records_process()->lock);
    if (level_records_make_room())
        level_changes.list[level_changes.count++] = *record;
    else
        level_note("no memory: some changes of levels are not recorded");
    lock_release(&level_records_process()->lock);
}

void level_records_add(uint64_t function, enum level level, uint64_t time)
{
    const struct dwell_rec_level made = {
        .record.type = DWELL_REC_LEVEL, .time = time, .function = function, .level = (uint32_t)level
    };
    level_records_keep(&(union level_record){ .level = made });
}

void level_records_add_stubs(uint64_t begin, uint64_t end)
{
    const struct dwell_rec_stubs made = { .record.type = DWELL_REC_STUBS, .begin = begin, .end = end };
    level_records_keep(&(union level_record){ .stubs = made });
}

static size_t level_record_size(const union level_record *record)
{
    return record->record.type == DWELL_REC_STUBS ? sizeof record->stubs : sizeof record->level;
}

static uint32_t level_records_take(union level_record *records)
{
    lock_take(&level_records_process()->lock);
    const uint32_t count = level_changes.count < RECORDS_AT_ONCE ? level_changes.count : RECORDS_AT_ONCE;
    if (count) {
        level_changes.count -= count;
        memcpy(records, level_changes.list, count * sizeof *records);
        memmove(level_changes.list, level_changes.list + count, level_changes.count * sizeof *records);
        __atomic_fetch_add(&level_records_process()->writing, 1, __ATOMIC_RELAXED);
    }
    lock_release(&level_records_process()->lock);
    return count;
}

static void level_notes_write(void)
{
    while (level_notes_written < level_note_count) {
        const uint32_t i = __atomic_fetch_add(&level_notes_written, 1, __ATOMIC_RELAXED);
        if (i < level_note_count)
            metadata_note(level_notes[i]);
    }
}

void level_records_write(void)
{
    union level_record records[RECORDS_AT_ONCE];
    for (uint32_t count; (count = level_records_take(records)) > 0;) {
        for (uint32_t i = 0; i < count; i++)
            if (helper_is_here())
                metadata_append_in_helper(&records[i].record, level_record_size(&records[i]));
            else
                metadata_append(&records[i].record, level_record_size(&records[i]), NULL, 0);
        __atomic_fetch_sub(&level_records_process()->writing, 1, __ATOMIC_RELEASE);
    }
    if (!helper_is_here())
        level_notes_write();
}

void level_records_finish(void)
{
    level_records_write();
    for (int i = 0; i < PATIENCE && __atomic_load_n(&level_records_process()->writing, __ATOMIC_ACQUIRE); i++)
        sys_sleep_a_millisecond();
}
