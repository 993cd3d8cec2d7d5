/* Sends the rows of a session in parts, and then the row of the run, which names the parts that count. */
#include "fleet/push.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "analysis/recorded_sessions.h"
#include "base/memory.h"
#include "fleet/binary.h"
#include "fleet/file.h"
#include "fleet/ids.h"
#include "fleet/push_names.h"
#include "fleet/runs.h"
#include "fleet/sum_rows.h"
#include "profile/durations.h"
#include "profile/path_probes.h"
#include "profile/tree_durations.h"

enum { ROWS_A_PART = 16384, DURATIONS_A_PART = 65536 }; /* about 5 MB each */

/* Rows on their way to a table. */
struct push_rows {
    const char *table;
    struct binary_rows rows;
    size_t count;
};

struct push {
    const struct fleet_store *store;
    struct fleet_session session;
    struct fleet_pushed *pushed;
    struct error *error;
    uint16_t day;
    uint64_t *parts; /* that count */
    size_t part_count, part_room;
    struct push_rows paths, durations, files;
    struct push_rows *sent; /* one of these */
    bool with_durations;    /* the session has those of all calls, and the store has their table */
    uint64_t elapsed;
};

bool fleet_labels_add(struct fleet_labels *labels, const char *text, struct error *error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return error_set(error, "'%s' is not KEY=VALUE", text);
    GROW(labels->list, labels->count, labels->room);
    labels->list[labels->count++] = (struct fleet_label){
        .key = need_copy(text, (size_t)(equals - text)),
        .value = need_copy(equals + 1, strlen(equals + 1)),
    };
    return true;
}

void fleet_labels_drop(struct fleet_labels *labels)
{
    for (size_t i = 0; i < labels->count; i++) {
        free(labels->list[i].key);
        free(labels->list[i].value);
    }
    free(labels->list);
}

static uint64_t push_random(void)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number || !number) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        number = fleet_id_of_two((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec);
    }
    return number;
}

/* ---- parts ---- */

/* Gives the rows the number of another part, as an earlier try may have left a part of them in the store. */
static void push_begin_try(void *context, unsigned attempt)
{
    struct push *p = context;
    const uint64_t part = push_random();
    const size_t size = p->sent->rows.length / p->sent->count;
    (void)attempt;
    for (size_t i = 0; i < p->sent->count; i++)
        for (unsigned byte = 0; byte < 8; byte++)
            p->sent->rows.bytes[i * size + FLEET_PART_AT + byte] = (uint8_t)(part >> 8 * byte);
    p->parts[p->part_count] = part;
}

static bool push_send_part(struct push *p, struct push_rows *rows)
{
    if (!rows->count)
        return true;
    GROW(p->parts, p->part_count, p->part_room);
    p->sent = rows;
    if (!fleet_insert(p->store, rows->table, rows->rows.bytes, rows->rows.length, push_begin_try, p, p->error))
        return false;
    p->part_count++;
    rows->count = rows->rows.length = 0;
    return true;
}

/* All rows of parts begin with these columns. */
static void push_begin_row(const struct push *p, struct push_rows *rows)
{
    binary_put(&rows->rows, p->day, 2);
    binary_put(&rows->rows, p->pushed->run, 8);
    binary_put(&rows->rows, 0, 8); /* the part: push_begin_try */
    rows->count++;
}

static bool push_file(struct push *p)
{
    const struct session_file *file = p->session.analysis.file;
    const uint32_t pieces = fleet_file_pieces(file);
    for (uint32_t i = 0; i < pieces; i++) {
        push_begin_row(p, &p->files);
        if (!fleet_file_put(&p->files.rows, file, i))
            return error_set(p->error, "%s: cannot be read", file->path);
        if (!push_send_part(p, &p->files))
            return false;
    }
    return true;
}

/* A row for each counter in use. The time of a single call is exact. */
static bool push_add_durations(struct push *p, const struct fleet_row *row)
{
    const bool one = durations_are_one(row->durations);
    size_t count;
    struct durations_counter *counters = durations_counters(row->durations, &count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t numbers[] = { row->place.module, row->place.address, row->place.function, row->place.path };
        push_begin_row(p, &p->durations);
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++)
            binary_put(&p->durations.rows, numbers[j], 8);
        binary_put(&p->durations.rows, counters[i].counter, 4);
        binary_put(&p->durations.rows, counters[i].calls, 8);
        binary_put(&p->durations.rows, one ? call_ticks(row->durations->sum) : 0, 8);
    }
    free(counters);
    return p->durations.count < DURATIONS_A_PART || push_send_part(p, &p->durations);
}

static bool push_add_row(void *context, const struct fleet_row *row)
{
    struct push *p = context;
    const struct fleet_place *at = &row->place;
    struct binary_rows *rows = &p->paths.rows;
    push_begin_row(p, &p->paths);
    binary_put(rows, at->process, 4);
    binary_put(rows, at->thread, 4);
    binary_put(rows, at->kind, 1);
    const uint64_t ids[] = { at->module, at->address, at->function, at->parent, at->path };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        binary_put(rows, ids[i], 8);
    binary_put(rows, at->depth, 4);
#define PUT_NUMBER(name, add) binary_put(rows, row->amounts.name, 8);
#define PUT_REAL(name, add) binary_put_double(rows, row->amounts.name);
    FLEET_COLUMNS(PUT_NUMBER)
    FLEET_SQUARES(PUT_REAL)
    p->elapsed += row->amounts.elapsed;
    p->pushed->rows++;
    return (p->paths.count < ROWS_A_PART || push_send_part(p, &p->paths)) &&
           (!p->with_durations || push_add_durations(p, row));
}

/* ---- the run ---- */

static bool push_is_known(struct push *p)
{
    FILE *answer = fleet_ask(p->store, p->error, "SELECT count() FROM %s.runs_%d WHERE run = %llu FORMAT RowBinary",
                             p->store->database, FLEET_TABLES, (unsigned long long)p->pushed->run);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    p->pushed->known = binary_get(&r, 8) > 0;
    return fleet_end_answer(p->store, &r, p->error);
}

/* The build-ids of the programs that ran. */
static void push_put_builds(struct binary_rows *rows, const struct analysis *analysis)
{
    const struct profile *profile = analysis->profile;
    bool *programs = need_memory(profile->module_count, sizeof *programs);
    size_t count = 0;
    for (size_t i = 0; i < profile->module_count; i++) {
        for (size_t j = 0; j < analysis->file->process_count && !programs[i]; j++)
            programs[i] = strcmp(profile->modules[i].path, analysis->file->processes[j].path) == 0;
        programs[i] = programs[i] && profile->modules[i].build_id_length;
        count += programs[i];
    }
    binary_put_length(rows, count);
    for (size_t i = 0; i < profile->module_count; i++)
        if (programs[i]) {
            char *build = need_hex(profile->modules[i].build_id, profile->modules[i].build_id_length);
            binary_put_text(rows, build);
            free(build);
        }
    free(programs);
}

static void push_add_label(struct fleet_labels *labels, const char *key, char *value)
{
    GROW(labels->list, labels->count, labels->room);
    labels->list[labels->count++] = (struct fleet_label){ need_copy(key, strlen(key)), value };
}

/* Those of the user, then those of the file. Deltas have the number of their session and their own one. */
static struct fleet_labels push_gather_labels(const struct session_file *file, const struct fleet_labels *given)
{
    struct fleet_labels all = { NULL, 0, 0 };
    for (size_t i = 0; i < given->count; i++)
        push_add_label(&all, given->list[i].key, need_copy(given->list[i].value, strlen(given->list[i].value)));
    for (size_t i = 0; i < file->labels.count; i++)
        push_add_label(&all, file->labels.list[i].key,
                       need_copy(file->labels.list[i].value, strlen(file->labels.list[i].value)));
    if (file->sums.summed_count == 1 && !file->sums.summed[0].record.shards) {
        const uint64_t *id = file->sums.summed[0].record.header.session_id;
        push_add_label(&all, FLEET_LABEL_SESSION,
                       need_text("%016llx", (unsigned long long)fleet_id_of_two(id[0], id[1])));
        push_add_label(&all, FLEET_LABEL_DELTA, need_text("%u", recorded_sessions_last(&file->sums.summed[0])));
    }
    return all;
}

static void push_put_labels(struct binary_rows *rows, const struct session_file *file, const struct fleet_labels *given)
{
    struct fleet_labels all = push_gather_labels(file, given);
    binary_put_length(rows, all.count);
    for (size_t i = 0; i < all.count; i++)
        binary_put_text(rows, all.list[i].key);
    binary_put_length(rows, all.count);
    for (size_t i = 0; i < all.count; i++)
        binary_put_text(rows, all.list[i].value);
    fleet_labels_drop(&all);
}

static uint32_t push_knows_durations(const struct push *p)
{
    const unsigned kinds = tree_durations_kinds(p->session.analysis.file);
    if (!p->with_durations)
        return 0;
    return FLEET_KNOWS_DURATIONS |
           (kinds & tree_durations_kind_bit(DWELL_DURATIONS_RAW) ? FLEET_KNOWS_CHOSEN_DURATIONS : 0);
}

static void push_put_summary(struct binary_rows *rows, const struct push *p)
{
    const struct summary *summary = &p->session.analysis.summary;
    const uint64_t numbers[] = {
        p->pushed->rows,      p->elapsed,         summary->threads,       summary->processes,        summary->events,
        summary->lost_events, summary->os_events, summary->stack_samples, summary->samples_in_probes
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        binary_put(rows, numbers[i], 8);
    binary_put(rows, summary_knows(summary) | push_knows_durations(p), 4);
    binary_put(rows, summary->loss_count, 4);
    binary_put_length(rows, summary_count_special(summary));
    for (size_t i = 0; i < summary->remark_count; i++)
        if (!summary_is_caveat(summary, i))
            binary_put_text(rows, summary->remarks[i]);
}

/* One row, so it is there as a whole or not at all. If it is there several times after retries, it counts once. */
static bool push_commit(struct push *p, const char *path, const struct fleet_labels *labels)
{
    const struct session_file *file = p->session.analysis.file;
    struct binary_rows rows = { 0 };
    char table[32];
    binary_put(&rows, p->day, 2);
    binary_put(&rows, p->pushed->run, 8);
    binary_put(&rows, push_random(), 8);
    binary_put(&rows, file->header.start_realtime / 1000000000, 4);
    binary_put(&rows, file->header.start_realtime, 8);
    binary_put_text(&rows, file->host.node);
    char *program = names_module(file->process_count ? file->processes[0].path : "");
    binary_put_text(&rows, program);
    binary_put_text(&rows, path);
    push_put_builds(&rows, &p->session.analysis);
    push_put_labels(&rows, file, labels);
    binary_put_length(&rows, p->part_count);
    for (size_t i = 0; i < p->part_count; i++)
        binary_put(&rows, p->parts[i], 8);
    push_put_summary(&rows, p);
    snprintf(table, sizeof table, "runs_%d", FLEET_TABLES);
    const bool good = fleet_insert(p->store, table, rows.bytes, rows.length, NULL, NULL, p->error);
    free(program);
    binary_drop(&rows);
    return good;
}

/* Whether the store has the session, by the number that the file has before it is read. */
static bool push_ask_first(struct push *p, const char *path)
{
    const char *wrong;
    struct session_file *file = session_file_open(path, &wrong);
    if (!file)
        return error_set(p->error, "%s: %s", path, wrong);
    p->pushed->run = fleet_session_number(file);
    session_file_close(file);
    return !p->pushed->run || push_is_known(p);
}

/* A session without a number of its own has one as soon as it is one of sums. */
static bool push_find_run(struct push *p)
{
    const uint64_t ns_a_day = UINT64_C(86400000000000);
    const struct session_file *file = p->session.analysis.file;
    p->day = (uint16_t)(file->header.start_realtime / ns_a_day);
    if (p->pushed->run)
        return true;
    p->pushed->run = fleet_session_number(file);
    return push_is_known(p);
}

/* A store of version 1 has no table for them. */
static bool push_find_durations(struct push *p)
{
    const struct session_file *file = p->session.analysis.file;
    const bool known = session_file_count_durations(file) == file->sums.summed_count;
    if (known && !fleet_find_durations(p->store, &p->with_durations, p->error))
        return false;
    p->pushed->older_store = known && !p->with_durations;
    return true;
}

static bool push_session(struct push *p, const char *path, const struct fleet_labels *labels)
{
    if (!push_find_run(p))
        return false;
    if (p->pushed->known)
        return true;
    return fleet_push_names(p->store, &p->session, &p->pushed->names, p->error) && push_find_durations(p) &&
           fleet_follow_rows(&p->session, push_add_row, p, p->error) && push_send_part(p, &p->paths) &&
           push_send_part(p, &p->durations) && push_file(p) && push_commit(p, path, labels);
}

bool fleet_push(const struct fleet_store *store, const char *path, const struct fleet_labels *labels,
                struct fleet_pushed *pushed, struct error *error)
{
    char paths[32], files[32];
    snprintf(paths, sizeof paths, "paths_%d", FLEET_TABLES);
    snprintf(files, sizeof files, "files_%d", FLEET_TABLES);
    struct push p = { .store = store,
                      .pushed = pushed,
                      .error = error,
                      .paths.table = paths,
                      .durations.table = FLEET_DURATIONS,
                      .files.table = files };
    *pushed = (struct fleet_pushed){ 0 };
    if (!push_ask_first(&p, path))
        return false;
    if (pushed->known)
        return true;
    if (!fleet_session_open(&p.session, path, error))
        return false;
    const bool good = push_session(&p, path, labels);
    binary_drop(&p.paths.rows);
    binary_drop(&p.durations.rows);
    binary_drop(&p.files.rows);
    free(p.parts);
    fleet_session_drop(&p.session);
    return good;
}
