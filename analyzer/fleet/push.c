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

enum { ROWS_A_PART = 16384 }; /* about 5 MB */

struct push {
    const struct fleet_store *store;
    struct fleet_session session;
    struct fleet_pushed *pushed;
    struct error *error;
    uint16_t day;
    uint64_t *parts; /* that count */
    size_t part_count, part_room;
    struct binary_rows rows;
    size_t row_count;
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
    const size_t size = p->rows.length / p->row_count;
    (void)attempt;
    for (size_t i = 0; i < p->row_count; i++)
        for (unsigned byte = 0; byte < 8; byte++)
            p->rows.bytes[i * size + FLEET_PART_AT + byte] = (uint8_t)(part >> 8 * byte);
    p->parts[p->part_count] = part;
}

static bool push_send_part(struct push *p, const char *name)
{
    char table[32];
    if (!p->row_count)
        return true;
    GROW(p->parts, p->part_count, p->part_room);
    snprintf(table, sizeof table, "%s_%d", name, FLEET_VERSION);
    if (!fleet_insert(p->store, table, p->rows.bytes, p->rows.length, push_begin_try, p, p->error))
        return false;
    p->part_count++;
    p->row_count = p->rows.length = 0;
    return true;
}

/* All rows of parts begin with these columns. */
static void push_begin_row(struct push *p)
{
    binary_put(&p->rows, p->day, 2);
    binary_put(&p->rows, p->pushed->run, 8);
    binary_put(&p->rows, 0, 8); /* the part: push_begin_try */
}

static bool push_file(struct push *p)
{
    const struct session_file *file = p->session.analysis.file;
    const uint32_t pieces = fleet_file_pieces(file);
    for (uint32_t i = 0; i < pieces; i++) {
        push_begin_row(p);
        p->row_count = 1;
        if (!fleet_file_put(&p->rows, file, i))
            return error_set(p->error, "%s: cannot be read", file->path);
        if (!push_send_part(p, "files"))
            return false;
    }
    return true;
}

static bool push_add_row(void *context, const struct fleet_row *row)
{
    struct push *p = context;
    const struct fleet_place *at = &row->place;
    struct binary_rows *rows = &p->rows;
    push_begin_row(p);
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
    return ++p->row_count < ROWS_A_PART || push_send_part(p, "paths");
}

/* ---- the run ---- */

static bool push_is_known(struct push *p)
{
    FILE *answer = fleet_ask(p->store, p->error, "SELECT count() FROM %s.runs_%d WHERE run = %llu FORMAT RowBinary",
                             p->store->database, FLEET_VERSION, (unsigned long long)p->pushed->run);
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

static void push_put_summary(struct binary_rows *rows, const struct push *p)
{
    const struct summary *summary = &p->session.analysis.summary;
    const uint64_t numbers[] = {
        p->pushed->rows,      p->elapsed,         summary->threads,       summary->processes,        summary->events,
        summary->lost_events, summary->os_events, summary->stack_samples, summary->samples_in_probes
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        binary_put(rows, numbers[i], 8);
    binary_put(rows, summary_knows(summary), 4);
    binary_put(rows, summary->loss_count, 4);
    binary_put_length(rows, summary->remark_count);
    for (size_t i = 0; i < summary->remark_count; i++)
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
    snprintf(table, sizeof table, "runs_%d", FLEET_VERSION);
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

static bool push_session(struct push *p, const char *path, const struct fleet_labels *labels)
{
    if (!push_find_run(p))
        return false;
    if (p->pushed->known)
        return true;
    return fleet_push_names(p->store, &p->session, &p->pushed->names, p->error) &&
           fleet_follow_rows(&p->session, push_add_row, p, p->error) && push_send_part(p, "paths") && push_file(p) &&
           push_commit(p, path, labels);
}

bool fleet_push(const struct fleet_store *store, const char *path, const struct fleet_labels *labels,
                struct fleet_pushed *pushed, struct error *error)
{
    struct push p = { .store = store, .pushed = pushed, .error = error };
    *pushed = (struct fleet_pushed){ 0 };
    if (!push_ask_first(&p, path))
        return false;
    if (pushed->known)
        return true;
    if (!fleet_session_open(&p.session, path, error))
        return false;
    const bool good = push_session(&p, path, labels);
    binary_drop(&p.rows);
    free(p.parts);
    fleet_session_drop(&p.session);
    return good;
}
