/* Reads the rows of sums and of call paths into an analysis. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "fleet/answer_part.h"
#include "fleet/ids.h"
#include "profile/counted.h"

#define COLUMN(name, add) ", " #name
#define OWN_COLUMNS FLEET_OWN_COLUMNS(COLUMN) ", error_squares"
#define ADD_UP(name, add) ", " #add "(" #name ")"
#define OWN_SUMS FLEET_OWN_COLUMNS(ADD_UP) ", sum(error_squares)"
#define INCLUSIVE_SUMS(of) FLEET_INCLUSIVE_COLUMNS(ADD_UP, of) ", sum(" #of "error_squares)"

/* ---- amounts ---- */

static void answer_read_own(struct binary_reader *r, struct fleet_amounts *amounts)
{
#define READ_NUMBER(name, add) amounts->name = binary_get(r, 8);
    FLEET_OWN_COLUMNS(READ_NUMBER)
    amounts->error_squares = binary_get_double(r);
}

static void answer_read_amounts(struct binary_reader *r, enum rollup_by by, struct fleet_amounts *amounts)
{
    answer_read_own(r, amounts);
    if (by == BY_FUNCTION) {
        FLEET_INCLUSIVE_COLUMNS(READ_NUMBER, function_)
        amounts->function_error_squares = binary_get_double(r);
    } else {
        FLEET_INCLUSIVE_COLUMNS(READ_NUMBER, module_)
        amounts->module_error_squares = binary_get_double(r);
    }
}

static double answer_squares(double squares)
{
    const double most = 1e36; /* that of any time, whose root is a number of 64 bits */
    return squares > 0 ? fmin(squares, most) : 0;
}

static uint64_t answer_root(double squares)
{
    return (uint64_t)llround(sqrt(answer_squares(squares)));
}

#define INCLUSIVE_TIMES(a, of)                                                                                         \
    .elapsed_inclusive = (a)->of##elapsed, .application_inclusive = (a)->of##application,                              \
    .blocked_inclusive = (a)->of##blocked, .preempted_inclusive = (a)->of##preempted,                                  \
    .flagged_on_cpu_inclusive = (a)->of##flagged_on_cpu, .page_faults_inclusive = (a)->of##page_faults,                \
    .overhead_inclusive = (a)->of##overhead, .pooled_inclusive = (a)->of##error_pooled,                                \
    .error_squares_inclusive = answer_squares((a)->of##error_squares)
#define OWN_TIMES(a)                                                                                                   \
    .calls = (a)->calls, .counted = (a)->counted, .shortest = (a)->shortest, .longest = (a)->longest,                  \
    .elapsed_exclusive = (a)->elapsed, .application_exclusive = (a)->elapsed - (a)->flagged,                           \
    .blocked_exclusive = (a)->blocked, .preempted_exclusive = (a)->preempted,                                          \
    .flagged_on_cpu_exclusive = (a)->flagged_on_cpu, .page_faults_exclusive = (a)->page_faults,                        \
    .overhead_exclusive = (a)->overhead, .samples = (a)->samples, .pooled_exclusive = (a)->error_pooled,               \
    .error_squares_exclusive = answer_squares((a)->error_squares)

static struct times answer_times(const struct fleet_amounts *a, enum rollup_by by)
{
    return by == BY_FUNCTION ? (struct times){ OWN_TIMES(a), INCLUSIVE_TIMES(a, function_) }
                             : (struct times){ OWN_TIMES(a), INCLUSIVE_TIMES(a, module_) };
}

/* ---- sums of functions and modules ---- */

static void answer_add_reported(struct profile *p, enum rollup_by by, uint32_t entry, const struct times *times)
{
    GROW(p->reported, p->reported_count, p->reported_room);
    p->reported[p->reported_count++] = (struct profile_reported){
        .kind = by == BY_FUNCTION ? DWELL_REPORTED_FUNCTION : DWELL_REPORTED_MODULE,
        .function = entry,
        .other = PROFILE_NONE,
        .times = *times,
    };
}

/* The sums of a session are those of its exclusive values. */
static void answer_add_session(struct times *session, struct times times)
{
    times.elapsed_inclusive = times.elapsed_exclusive;
    times.application_inclusive = times.application_exclusive;
    times.blocked_inclusive = times.blocked_exclusive;
    times.preempted_inclusive = times.preempted_exclusive;
    times.flagged_on_cpu_inclusive = times.flagged_on_cpu_exclusive;
    times.page_faults_inclusive = times.page_faults_exclusive;
    times.overhead_inclusive = times.overhead_exclusive;
    times_set_measured(&times);
    times_add(session, &times);
}

/* Only the columns that the rows need: the server reads each from its disk. */
FILE *answer_ask_sums(const struct answer *a, enum rollup_by by)
{
    const char *key = by == BY_FUNCTION ? "function" : "module", *first = a->place ? "place, " : "";
    const char *inclusive = by == BY_FUNCTION ? INCLUSIVE_SUMS(function_) : INCLUSIVE_SUMS(module_);
    char *place = a->place ? need_text("%s AS place, ", a->place) : need_text("%s", "");
    FILE *answer =
        fleet_ask(a->store, a->error,
                  "SELECT %smodule, %s" OWN_SUMS "%s FROM %s.sums_%d WHERE %s GROUP BY %smodule, %s ORDER BY %smodule, "
                  "%s FORMAT RowBinary",
                  place, key, inclusive, a->store->database, FLEET_TABLES, a->rows, first, key, first, key);
    free(place);
    return answer;
}

struct answer_sum answer_get_sum(struct binary_reader *r, enum rollup_by by)
{
    struct answer_sum sum = { .module = binary_get(r, 8), .amounts = { 0 } };
    sum.function = binary_get(r, 8);
    answer_read_amounts(r, by, &sum.amounts);
    return sum;
}

void answer_add_sum(struct answer *a, const struct answer_sum *sum, enum rollup_by by, struct times *session)
{
    const struct times times = answer_times(&sum->amounts, by);
    answer_add_session(session, times);
    if (!sum->module)
        return; /* of threads */
    const uint32_t entry =
        by == BY_FUNCTION ? answer_numbered(a, sum->module, sum->function) : answer_module(a, sum->module);
    answer_add_reported(a->analysis->profile, by, entry, &times);
}

/* The root has the sums of the session. */
void answer_close_sums(struct analysis *analysis, const struct times *session)
{
    const uint32_t number = profile_root(analysis->profile, 0, 0);
    struct profile_node *root = &analysis->profile->nodes[number];
    root->calls = session->calls;
    root->elapsed = session->elapsed_exclusive;
    root->flagged = session->elapsed_exclusive - session->application_exclusive;
    root->blocked = session->blocked_exclusive;
    root->preempted = session->preempted_exclusive;
    analysis->rollup = rollup_new(analysis->profile);
    analysis->rollup->session = *session;
}

/* ---- call paths ---- */

/* The server adds up all runs. It does not add up the threads of single runs: that takes it longer than to sort them.
 */
FILE *answer_ask_paths(const struct answer *a)
{
    static const char columns[] = "depth, kind, path, parent, module, address";
    if (!a->place)
        return fleet_ask(a->store, a->error,
                         "SELECT %s" OWN_SUMS " FROM %s.paths_%d WHERE %s GROUP BY %s ORDER BY depth, path, module, "
                         "address FORMAT RowBinary",
                         columns, a->store->database, FLEET_TABLES, a->rows, columns);
    return fleet_ask(a->store, a->error,
                     "SELECT %s AS place, %s" OWN_COLUMNS " FROM %s.paths_%d WHERE %s ORDER BY place, depth, path, "
                     "module, address, process, thread FORMAT RowBinary",
                     a->place, columns, a->store->database, FLEET_TABLES, a->rows);
}

static void answer_set_node(struct profile_node *node, const struct fleet_amounts *a)
{
    struct profile_node own = *node;
    amounts_clear(&own);
    own.calls = a->calls;
    own.elapsed = a->elapsed;
    own.flagged = a->flagged;
    own.blocked = a->blocked;
    own.preempted = a->preempted;
    own.page_faults = a->page_faults;
    own.overhead = a->overhead;
    own.samples = a->samples;
    own.error = answer_root(a->error_squares);
    own.error_pooled = a->error_pooled;
    own.shortest = a->shortest;
    own.longest = a->longest;
    profile_add_values(node, &own);
}

bool answer_read_path(struct answer *a, struct binary_reader *r, uint32_t root, struct number_index *nodes)
{
    struct profile *p = a->analysis->profile;
    struct fleet_amounts amounts = { 0 };
    binary_get(r, 4); /* the depth */
    const enum fleet_kind kind = (enum fleet_kind)binary_get(r, 1);
    const uint64_t path = binary_get(r, 8), parent = binary_get(r, 8), module = binary_get(r, 8),
                   address = binary_get(r, 8);
    answer_read_own(r, &amounts);
    r->broken |= kind > FLEET_THREAD;
    if (r->broken)
        return false;
    if (kind == FLEET_THREAD) {
        answer_set_node(&p->nodes[root], &amounts);
        return true;
    }
    const uint32_t function = answer_function(a, module, address);
    if (kind == FLEET_COUNTED_CALLS) {
        counted_add(p, 0, function, amounts.calls);
        return true;
    }
    const uint32_t caller = parent == FLEET_NO_ID ? root : answer_find(nodes, parent);
    if (caller == PROFILE_NONE)
        return error_set(a->error, "%s: lacks the caller of a path: a part of a run is missing", a->store->url);
    const uint32_t node =
        profile_child_from(p, caller, function, kind == FLEET_SAMPLED_PATH ? PROFILE_SAMPLED : PROFILE_NONE);
    answer_keep(nodes, path, node);
    answer_set_node(&p->nodes[node], &amounts);
    return true;
}
