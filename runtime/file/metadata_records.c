/* Appends metadata records to the process' current metadata chunk, under its lock. */
#include <string.h>

#include "chunk.h"
#include "guard.h"
#include "helper.h"
#include "metadata_records.h"
#include "process.h"
#include "process_lock.h"
#include "runtime.h"
#include "session.h"
#include "thread.h"

enum { METADATA_CHUNK = 16 << 10, SMALL_CHUNK = 8 << 10, MAX_TEXT = 8000 };

/* For a record of `size` bytes. */
static bool metadata_next_chunk(struct process *p, size_t size)
{
    process_unlock();
    struct area area = chunk_take(METADATA_CHUNK, METADATA_CHUNK);
    if (!area.at && runtime.makes_room && size <= SMALL_CHUNK / 2) /* a window may have a smaller one */
        area = chunk_take(SMALL_CHUNK, SMALL_CHUNK);
    process_lock();
    if (!area.at)
        return false;
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    chunk->process = p->serial;
    chunk->sequence = p->metadata.chunks++;
    __atomic_store_n(&chunk->kind, DWELL_CHUNK_METADATA, __ATOMIC_RELEASE);
    p->metadata.chunk = chunk;
    p->metadata.used = sizeof *chunk;
    return true;
}

static size_t metadata_capped(size_t length)
{
    return length < MAX_TEXT ? length : MAX_TEXT;
}

struct dwell_record *metadata_append(const struct dwell_record *record, size_t size, const struct text *texts,
                                     int count)
{
    struct process *p = runtime.process;
    size_t total = size;
    for (int i = 0; i < count; i++)
        total += 2 + metadata_capped(texts[i].length);
    total = (total + 7) & ~(size_t)7;
    process_lock();
    while (!p->metadata.chunk || p->metadata.used + total > guard_size(p->metadata.chunk)) {
        if (!metadata_next_chunk(p, total)) {
            process_unlock();
            return NULL;
        }
    }
    char *begin = (char *)p->metadata.chunk + p->metadata.used;
    char *at = begin + size;
    memcpy(begin + sizeof *record, record + 1, size - sizeof *record);
    for (int i = 0; i < count; i++) {
        uint16_t length = (uint16_t)metadata_capped(texts[i].length);
        memcpy(at, &length, sizeof length);
        memcpy(at + sizeof length, texts[i].at, length);
        at += sizeof length + length;
    }
    struct dwell_record *head = (struct dwell_record *)begin;
    head->size = (uint32_t)total;
    __atomic_store_n(&head->type, record->type, __ATOMIC_RELEASE);
    p->metadata.used += (uint32_t)total;
    process_unlock();
    return head;
}

static bool metadata_next_helper_chunk(struct process *p)
{
    struct area area = chunk_prepare(p->helper.fd, METADATA_CHUNK);
    if (!area.at)
        return false;
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    chunk->process = p->serial;
    process_lock();
    chunk->sequence = p->metadata.chunks++;
    process_unlock();
    __atomic_store_n(&chunk->kind, DWELL_CHUNK_METADATA, __ATOMIC_RELEASE);
    if (p->metadata.helper_chunk)
        session_unmap(p->metadata.helper_chunk, guard_size(p->metadata.helper_chunk));
    p->metadata.helper_chunk = chunk;
    p->metadata.helper_used = sizeof *chunk;
    return true;
}

bool metadata_append_in_helper(const struct dwell_record *record, size_t size)
{
    struct process *p = runtime.process;
    const struct dwell_chunk_header *chunk = p->metadata.helper_chunk;
    if ((!chunk || p->metadata.helper_used + size > guard_size(chunk)) && !metadata_next_helper_chunk(p))
        return false;
    struct dwell_record *at = (struct dwell_record *)((char *)p->metadata.helper_chunk + p->metadata.helper_used);
    memcpy(at + 1, record + 1, size - sizeof *record);
    at->size = (uint32_t)size;
    __atomic_store_n(&at->type, record->type, __ATOMIC_RELEASE);
    p->metadata.helper_used += (uint32_t)size;
    return true;
}

void metadata_take_back(struct dwell_record *record)
{
    if (record)
        __atomic_store_n(&record->type, DWELL_REC_VOID, __ATOMIC_RELEASE);
}

void metadata_note(const char *text)
{
    struct dwell_rec_note record = { .record.type = DWELL_REC_NOTE };
    metadata_append(&record.record, sizeof record, &(struct text){ text, strlen(text) }, 1);
}

void metadata_name_thread(const struct thread *t, const char *name, size_t length)
{
    struct dwell_rec_thread_name record = { .record.type = DWELL_REC_THREAD_NAME, .thread = t->serial };
    metadata_append(&record.record, sizeof record, &(struct text){ name, length }, 1);
}

void metadata_thread_name(struct thread *t, const char *name)
{
    strncpy(t->name, name, sizeof t->name - 1);
    if (!t->named)
        metadata_name_thread(t, t->name, strlen(t->name));
}
