/* Conditions of runs in SQL, and reading the table of runs. */
#include "fleet/runs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "fleet/binary.h"
#include "fleet/schema.h"

/* ---- conditions ---- */

static void runs_add_sql(struct fleet_conditions *c, char *more)
{
    char *all = need_text("%s AND %s", c->sql ? c->sql : "1", more);
    free(c->sql);
    free(more);
    c->sql = all;
}

/* Compares an expression with a text, or with the beginning of texts if it ends with a star. */
static char *runs_compare_text(const char *expression, const char *value, bool begins)
{
    const size_t length = strlen(value);
    const bool star = length && value[length - 1] == '*';
    char *text = need_copy(value, length - star), *sql = fleet_sql_text(text), *condition;
    if (star || begins)
        condition = need_text("substring(%s, 1, %zu) = %s", expression, strlen(text), sql);
    else
        condition = need_text("%s = %s", expression, sql);
    free(text);
    free(sql);
    return condition;
}

bool fleet_day_parse(const char *text, uint16_t *day)
{
    struct tm time = { 0 };
    int end = 0;
    if (sscanf(text, "%4d-%2d-%2d%n", &time.tm_year, &time.tm_mon, &time.tm_mday, &end) != 3 || text[end] ||
        time.tm_year < 1970 || time.tm_year > 2100 || time.tm_mon < 1 || time.tm_mon > 12 || time.tm_mday < 1 ||
        time.tm_mday > 31)
        return false;
    time.tm_year -= 1900;
    time.tm_mon -= 1;
    *day = (uint16_t)(timegm(&time) / 86400);
    return true;
}

static char *runs_of_day(const char *key, const char *value, struct error *error)
{
    uint16_t day;
    if (fleet_day_parse(value, &day))
        return need_text("day %s toDate(%u)",
                         strcmp(key, "since") == 0   ? ">="
                         : strcmp(key, "until") == 0 ? "<="
                                                     : "=",
                         day);
    error_set(error, "%s=%s: is not a day such as 2026-11-23", key, value);
    return NULL;
}

bool fleet_run_parse(const char *text, uint64_t *run)
{
    enum { DIGITS = 16 };
    *run = strtoull(text, NULL, 16);
    return strlen(text) == DIGITS && strspn(text, "0123456789abcdefABCDEF") == DIGITS;
}

/* The number of a session stands for its deltas, which have it as a label. */
static char *runs_of_numbers(const uint64_t *numbers, size_t count)
{
    char *sql, *label = fleet_sql_text(FLEET_LABEL_SESSION);
    size_t length;
    FILE *out = need_stream(&sql, &length);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%llu", i ? "," : "(run IN (", (unsigned long long)numbers[i]);
    fprintf(out, ") OR arrayExists((k, v) -> k = %s AND v IN (", label);
    for (size_t i = 0; i < count; i++) {
        char *number = need_text("%016llx", (unsigned long long)numbers[i]), *text = fleet_sql_text(number);
        fprintf(out, "%s%s", i ? "," : "", text);
        free(number);
        free(text);
    }
    fputs("), label_keys, label_values))", out);
    need_stream_end(out);
    free(label);
    return sql;
}

static char *runs_of_number(const char *value, struct error *error)
{
    uint64_t run;
    if (fleet_run_parse(value, &run))
        return runs_of_numbers(&run, 1);
    error_set(error, "run=%s: is not the number of a run, which has 16 hexadecimal digits", value);
    return NULL;
}

static char *runs_of_label(const char *key, const char *value)
{
    char *name = fleet_sql_text(key), *same = runs_compare_text("v", value, false);
    char *condition = need_text("arrayExists((k, v) -> k = %s AND %s, label_keys, label_values)", name, same);
    free(name);
    free(same);
    return condition;
}

static char *runs_of_build(const char *value)
{
    char *same = runs_compare_text("b", value, true);
    char *condition = need_text("arrayExists(b -> %s, builds)", same);
    free(same);
    return condition;
}

static char *runs_condition(const char *key, const char *value, struct error *error)
{
    static const char label[] = "label:";
    if (strcmp(key, "run") == 0)
        return runs_of_number(value, error);
    if (strcmp(key, "host") == 0 || strcmp(key, "program") == 0)
        return runs_compare_text(key, value, false);
    if (strcmp(key, "build") == 0)
        return runs_of_build(value);
    if (strcmp(key, "day") == 0 || strcmp(key, "since") == 0 || strcmp(key, "until") == 0)
        return runs_of_day(key, value, error);
    return runs_of_label(strncmp(key, label, strlen(label)) == 0 ? key + strlen(label) : key, value);
}

static void runs_add_number(struct fleet_conditions *c, uint64_t run)
{
    for (size_t i = 0; i < c->run_count; i++)
        if (c->runs[i] == run)
            return;
    GROW(c->runs, c->run_count, c->run_room);
    c->runs[c->run_count++] = run;
}

static char *runs_conditions_sql(const struct fleet_conditions *c)
{
    const char *all = c->sql ? c->sql : "1";
    if (!c->run_count)
        return need_text("%s", all);
    char *numbers = runs_of_numbers(c->runs, c->run_count), *sql = need_text("%s AND %s", all, numbers);
    free(numbers);
    return sql;
}

bool fleet_condition_add(struct fleet_conditions *conditions, const char *text, struct error *error)
{
    const char *equals = strchr(text, '=');
    uint64_t run;
    if (fleet_run_parse(text, &run)) {
        runs_add_number(conditions, run);
        return true;
    }
    if (!equals || equals == text)
        return error_set(
            error,
            "'%s' is neither a run's number nor a condition such as host=NAME, build=ID, day=2026-11-23 or "
            "LABEL=VALUE",
            text);
    char *key = need_copy(text, (size_t)(equals - text)), *sql = runs_condition(key, equals + 1, error);
    free(key);
    if (sql)
        runs_add_sql(conditions, sql);
    return sql != NULL;
}

void fleet_conditions_drop(struct fleet_conditions *conditions)
{
    free(conditions->sql);
    free(conditions->runs);
}

static bool runs_have_number(const struct fleet_runs *runs, uint64_t number)
{
    for (size_t i = 0; i < runs->count; i++)
        if (runs->list[i].run == number || fleet_run_session(&runs->list[i]) == number)
            return true;
    return false;
}

size_t fleet_conditions_found(const struct fleet_conditions *conditions, const struct fleet_runs *runs)
{
    size_t found = 0;
    for (size_t i = 0; i < conditions->run_count; i++)
        found += runs_have_number(runs, conditions->runs[i]);
    return found;
}

/* ---- runs ---- */

/* The user's labels come first. They can have these names as well. */
static const char *runs_last_label(const struct fleet_run *run, const char *key)
{
    for (size_t i = run->label_keys.count; i-- > 0;)
        if (strcmp(run->label_keys.list[i], key) == 0)
            return run->label_values.list[i];
    return NULL;
}

uint64_t fleet_run_session(const struct fleet_run *run)
{
    const char *number = runs_last_label(run, FLEET_LABEL_SESSION);
    uint64_t session = 0;
    return number && runs_last_label(run, FLEET_LABEL_DELTA) && fleet_run_parse(number, &session) ? session : 0;
}

static struct fleet_texts runs_read_texts(struct binary_reader *r)
{
    const size_t wanted = binary_get_length(r);
    struct fleet_texts texts = { 0 };
    size_t room = 0;
    while (texts.count < wanted && !r->broken) {
        GROW(texts.list, texts.count, room);
        texts.list[texts.count++] = binary_get_text(r, NULL);
    }
    return texts;
}

static void runs_read_parts(struct binary_reader *r, struct fleet_run *run)
{
    const size_t wanted = binary_get_length(r);
    size_t room = 0;
    while (run->part_count < wanted && !r->broken) {
        GROW(run->parts, run->part_count, room);
        run->parts[run->part_count++] = binary_get(r, 8);
    }
}

static void runs_read(struct binary_reader *r, struct fleet_run *run)
{
    uint64_t *const numbers[] = { &run->rows,      &run->elapsed,       &run->threads,
                                  &run->processes, &run->events,        &run->lost_events,
                                  &run->os_events, &run->stack_samples, &run->samples_in_probes };
    *run = (struct fleet_run){ .day = (uint16_t)binary_get(r, 2), .run = binary_get(r, 8) };
    run->at = (uint32_t)binary_get(r, 4);
    run->host = binary_get_text(r, NULL);
    run->program = binary_get_text(r, NULL);
    run->file = binary_get_text(r, NULL);
    run->builds = runs_read_texts(r);
    run->label_keys = runs_read_texts(r);
    run->label_values = runs_read_texts(r);
    r->broken |= run->label_values.count != run->label_keys.count;
    runs_read_parts(r, run);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = binary_get(r, 8);
    run->knows = (uint32_t)binary_get(r, 4);
    run->losses = (uint32_t)binary_get(r, 4);
    run->remarks = runs_read_texts(r);
    r->broken |= run->losses > run->remarks.count;
}

static FILE *runs_ask(const struct fleet_store *store, const struct fleet_conditions *conditions, struct error *error)
{
    char *sql = runs_conditions_sql(conditions);
    FILE *answer =
        fleet_ask(store, error,
                  "SELECT day, run, at, host, program, file, builds, label_keys, label_values, parts, rows, elapsed, "
                  "threads, processes, events, lost_events, os_events, stack_samples, samples_in_probes, knows, "
                  "losses, remarks FROM %s.runs_%d WHERE push GLOBAL IN (SELECT min(push) FROM %s.runs_%d "
                  "GROUP BY run) AND %s ORDER BY began, run LIMIT 1 BY run FORMAT RowBinary",
                  store->database, FLEET_TABLES, store->database, FLEET_TABLES, sql);
    free(sql);
    return answer;
}

bool fleet_runs_find(const struct fleet_store *store, const struct fleet_conditions *conditions,
                     struct fleet_runs *runs, struct error *error)
{
    *runs = (struct fleet_runs){ 0 };
    FILE *answer = runs_ask(store, conditions, error);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    while (binary_has_row(&r)) {
        GROW(runs->list, runs->count, runs->room);
        runs_read(&r, &runs->list[runs->count++]);
    }
    if (fleet_end_answer(store, &r, error))
        return true;
    fleet_runs_drop(runs);
    return false;
}

static void runs_free_texts(struct fleet_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->list[i]);
    free(texts->list);
}

void fleet_runs_drop(struct fleet_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct fleet_run *run = &runs->list[i];
        free(run->host);
        free(run->program);
        free(run->file);
        free(run->parts);
        runs_free_texts(&run->builds);
        runs_free_texts(&run->label_keys);
        runs_free_texts(&run->label_values);
        runs_free_texts(&run->remarks);
    }
    free(runs->list);
    *runs = (struct fleet_runs){ 0 };
}

/* The parts themselves, so that all questions about these runs are about the same rows, whatever is pushed meanwhile.
 */
char *fleet_runs_sql(const struct fleet_run *runs, size_t count)
{
    char *sql;
    size_t length, parts = 0;
    FILE *out = need_stream(&sql, &length);
    uint16_t first = UINT16_MAX, last = 0;
    for (size_t i = 0; i < count; i++) {
        first = runs[i].day < first ? runs[i].day : first;
        last = runs[i].day > last ? runs[i].day : last;
    }
    fprintf(out, "day >= toDate(%u) AND day <= toDate(%u) AND part IN (", count ? first : 0, last);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < runs[i].part_count; j++)
            fprintf(out, "%s%llu", parts++ ? "," : "", (unsigned long long)runs[i].parts[j]);
    fputs(parts ? ")" : "0)", out);
    need_stream_end(out);
    return sql;
}

/* A number for each run, in SQL; `other` for rows of no run. */
static char *runs_number_sql(const struct fleet_run *runs, size_t count, const uint64_t *numbers, unsigned other)
{
    char *sql;
    size_t length;
    FILE *out = need_stream(&sql, &length);
    fputs("transform(run, [", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)runs[i].run);
    fputs("], [", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)numbers[i]);
    fprintf(out, "], %u)", other);
    need_stream_end(out);
    return sql;
}

char *fleet_runs_divisor_sql(const struct fleet_run *runs, size_t count, const uint64_t *numbers)
{
    uint64_t *divisors = need_memory(count, sizeof *divisors);
    for (size_t i = 0; i < count; i++)
        divisors[i] = numbers[i] ? numbers[i] : 1;
    char *sql = runs_number_sql(runs, count, divisors, 1);
    free(divisors);
    return sql;
}

char *fleet_runs_place_sql(const struct fleet_run *runs, size_t count)
{
    uint64_t *places = need_memory(count, sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[i] = i + 1;
    char *number = runs_number_sql(runs, count, places, 0), *sql = need_text("toUInt64(%s)", number);
    free(number);
    free(places);
    return sql;
}
