/* Sends the rows of a session in parts, and then the row of the run, which names the parts that count. */
#include "fleet/push.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/memory.h"
#include "fleet/binary.h"
#include "fleet/ids.h"
#include "fleet/push_names.h"
#include "fleet/rows.h"

enum { ROWS_A_PART = 16384 }; /* about 5 MB */

struct push {
    const struct fleet_store *store;
    const struct analysis *session;
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
    p->pushed->sent += p->row_count;
}

static bool push_send_part(struct push *p)
{
    char table[32];
    if (!p->row_count)
        return true;
    GROW(p->parts, p->part_count, p->part_room);
    snprintf(table, sizeof table, "paths_%d", FLEET_VERSION);
    if (!fleet_insert(p->store, table, p->rows.bytes, p->rows.length, push_begin_try, p, p->error))
        return false;
    p->part_count++;
    p->pushed->rows += p->row_count;
    p->row_count = p->rows.length = 0;
    return true;
}

static bool push_add_row(void *context, const struct fleet_row *row)
{
    struct push *p = context;
    const struct fleet_place *at = &row->place;
    struct binary_rows *rows = &p->rows;
    binary_put(rows, p->day, 2);
    binary_put(rows, p->pushed->run, 8);
    binary_put(rows, 0, 8); /* the part: push_begin_try */
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
    return ++p->row_count < ROWS_A_PART || push_send_part(p);
}

/* ---- the run ---- */

/* A session without a number of its own has that of its rows. */
static bool push_add_to_number(void *context, const struct fleet_row *row)
{
    uint64_t *number = context;
    const struct fleet_place *at = &row->place;
    *number = fleet_id_of_two(*number, fleet_id_of_two(at->path, at->function));
    *number = fleet_id_of_two(*number, fleet_id_of_two(row->amounts.elapsed, row->amounts.calls));
    return true;
}

static uint64_t push_run_number(const struct analysis *l, const struct fleet_numbers *numbers)
{
    const struct dwell_file_header *h = &l->file->header;
    uint64_t number = fleet_id_of_two(h->session_id[0], h->session_id[1]);
    if (!h->session_id[0] && !h->session_id[1])
        fleet_follow_rows(l, numbers, push_add_to_number, &number);
    return number;
}

static bool push_is_known(struct push *p)
{
    FILE *answer = fleet_ask(p->store, p->error, "SELECT count() FROM %s.runs_%d WHERE run = %llu FORMAT RowBinary",
                             p->store->database, FLEET_VERSION, (unsigned long long)p->pushed->run);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    p->pushed->known = binary_get(&r, 8) > 0;
    fclose(answer);
    return !r.broken || error_set(p->error, "%s: its answer is incomplete", p->store->url);
}

/* The build-ids of the programs that ran. */
static void push_put_builds(struct binary_rows *rows, const struct analysis *l)
{
    const struct profile *profile = l->profile;
    bool *programs = need_memory(profile->module_count, sizeof *programs);
    size_t count = 0;
    for (size_t i = 0; i < profile->module_count; i++) {
        for (size_t j = 0; j < l->file->process_count && !programs[i]; j++)
            programs[i] = strcmp(profile->modules[i].path, l->file->processes[j].path) == 0;
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

static void push_put_labels(struct binary_rows *rows, const struct fleet_labels *labels)
{
    binary_put_length(rows, labels->count);
    for (size_t i = 0; i < labels->count; i++)
        binary_put_text(rows, labels->list[i].key);
    binary_put_length(rows, labels->count);
    for (size_t i = 0; i < labels->count; i++)
        binary_put_text(rows, labels->list[i].value);
}

static void push_put_summary(struct binary_rows *rows, const struct push *p)
{
    const struct summary *s = &p->session->summary;
    const uint64_t numbers[] = { p->pushed->rows, p->elapsed,   s->threads,       s->processes,        s->events,
                                 s->lost_events,  s->os_events, s->stack_samples, s->samples_in_probes };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        binary_put(rows, numbers[i], 8);
    binary_put(rows, summary_knows(s), 4);
    binary_put(rows, s->loss_count, 4);
    binary_put_length(rows, s->remark_count);
    for (size_t i = 0; i < s->remark_count; i++)
        binary_put_text(rows, s->remarks[i]);
}

/* One row, so it is there as a whole or not at all. If it is there several times after retries, it counts once. */
static bool push_commit(struct push *p, const char *path, const struct fleet_labels *labels)
{
    const struct session_file *file = p->session->file;
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
    push_put_builds(&rows, p->session);
    push_put_labels(&rows, labels);
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

static bool push_session(struct push *p, const struct fleet_numbers *numbers, const char *path,
                         const struct fleet_labels *labels)
{
    p->pushed->run = push_run_number(p->session, numbers);
    if (!push_is_known(p))
        return false;
    if (p->pushed->known)
        return true;
    return fleet_push_names(p->store, p->session, numbers, &p->pushed->names, p->error) &&
           fleet_follow_rows(p->session, numbers, push_add_row, p) && push_send_part(p) && push_commit(p, path, labels);
}

bool fleet_push(const struct fleet_store *store, const char *path, const struct fleet_labels *labels,
                struct fleet_pushed *pushed, struct error *error)
{
    const uint64_t ns_a_day = UINT64_C(86400000000000);
    struct analysis session;
    *pushed = (struct fleet_pushed){ 0 };
    if (!fleet_load_session(&session, path, error))
        return false;
    struct fleet_numbers numbers = fleet_number(&session);
    struct push p = { .store = store, .session = &session, .pushed = pushed, .error = error };
    p.day = (uint16_t)(session.file->header.start_realtime / ns_a_day);
    const bool good = push_session(&p, &numbers, path, labels);
    binary_drop(&p.rows);
    free(p.parts);
    fleet_numbers_drop(&numbers);
    analysis_drop(&session);
    return good;
}
