/* Reads the records about the machine, and about the sessions whose sums a file has. Finds these sessions. */
#include "base/numbers.h"
#include "base/sorted.h"
#include "trace/metadata_reader.h"

static void metadata_read_host_texts(struct metadata_reader *r, struct trace_host *host)
{
    char **const texts[] = { &host->system, &host->release, &host->version, &host->machine, &host->node };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        metadata_replace_text(texts[i], metadata_next_text(r));
    enum { MAX_PROCESSORS = 1 << 16 };
    if (r->next + sizeof(uint16_t) > r->size)
        return; /* an older session */
    char *processors = metadata_next_text(r);
    const unsigned long count = strtoul(processors, NULL, 10);
    host->processors = count <= MAX_PROCESSORS ? (unsigned)count : 0;
    free(processors);
}

void metadata_read_host(struct metadata_reader *r)
{
    struct dwell_rec_host record;
    if (TAKE(r, record))
        metadata_read_host_texts(r, &r->file->host);
}

void metadata_read_summed(struct metadata_reader *r)
{
    struct dwell_rec_summed record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    if (!session_rate_is_possible(record.header.ticks_per_second) || record.shards > DWELL_MOST_SHARDS) {
        r->bad = true;
        return;
    }
    GROW(f->sums.summed, f->sums.summed_count, f->sums.summed_room);
    struct trace_summed *s = &f->sums.summed[f->sums.summed_count++];
    const uint64_t before = f->sums.summed_count > 1 ? s[-1].process_end : 1, most = UINT32_MAX;
    *s = (struct trace_summed){ .record = record };
    s->process_end = (uint32_t)smaller(before + record.processes, most);
    const struct metadata_string held = metadata_next_string(r);
    s->held_length = record.shards ? (record.shards + 7) / 8 : held.length;
    s->held = need_memory(s->held_length + 1, 1);
    memcpy(s->held, held.at, held.length < s->held_length ? held.length : s->held_length);
    if (record.shards % 8)
        s->held[s->held_length - 1] &= (uint8_t)((1u << record.shards % 8) - 1);
    metadata_read_host_texts(r, &s->host);
    f->health.damaged_chunks += record.damaged_chunks;
    f->health.damaged_bytes += record.damaged_bytes;
    f->health.damaged_records += record.damaged_records;
}

void metadata_read_object_name(struct metadata_reader *r)
{
    struct dwell_rec_object_name record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    GROW(f->sums.object_names, f->sums.object_name_count, f->sums.object_name_room);
    f->sums.object_names[f->sums.object_name_count++] =
        (struct trace_object_name){ r->process, record.id, metadata_next_text(r) };
}

void metadata_read_label(struct metadata_reader *r)
{
    struct dwell_rec_label record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    GROW(f->labels.list, f->labels.count, f->labels.room);
    struct trace_label *label = &f->labels.list[f->labels.count++];
    label->key = metadata_next_text(r);
    label->value = metadata_next_text(r);
}

/* ---- finding ---- */

bool session_file_has_trees(const struct session_file *file)
{
    bool trees = file->header.mode == DWELL_MODE_PROFILE && !file->sums.summed_count;
    for (size_t i = 0; i < file->sums.summed_count; i++)
        trees |= file->sums.summed[i].record.header.mode == DWELL_MODE_PROFILE;
    return trees;
}

size_t session_file_count_durations(const struct session_file *file)
{
    size_t known = 0;
    for (size_t i = 0; i < file->sums.summed_count; i++)
        known += file->sums.summed[i].record.durations != 0;
    return known;
}

size_t session_file_summed_of(const struct session_file *file, uint32_t process)
{
    const size_t place =
        LOWER_BOUND(summed, file->sums.summed, file->sums.summed_count, summed->process_end <= process);
    return process ? place : file->sums.summed_count;
}

const char *session_file_object_name(const struct session_file *file, uint32_t process, uint64_t id)
{
    const struct trace_object_name *names = file->sums.object_names;
    const size_t count = file->sums.object_name_count;
    const size_t place =
        LOWER_BOUND(name, names, count, name->process < process || (name->process == process && name->id < id));
    return place < count && names[place].process == process && names[place].id == id ? names[place].name : NULL;
}
