/*
 * The fuzzer's target for the answers of a fleet's server: a byte that says which question is asked, then the answers,
 * with NEXT between them. The first one lists runs. The requests end here, as this file has the functions of
 * fleet/http.h. What is refused must have a message, and what is pulled must be a session.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "comparison/diff.h"
#include "fleet/file.h"
#include "fleet/schema.h"
#include "fleet/store_answer.h"
#include "fuzz/fuzz.h"
#include "profile/durations.h"
#include "report/table_formats.h"
#include "tables/views.h"

enum question {
    ASK_FUNCTIONS,
    ASK_MODULES,
    ASK_PATHS,
    ASK_DAYS,
    ASK_RUNS,
    ASK_FILES,
    ASK_PACKED,
    ASK_EXPIRE,
    COMPARE_FUNCTIONS,
    COMPARE_MODULES,
    COMPARE_PATHS,
    QUESTIONS
};

/* ---- instead of requests ---- */

static const char NEXT[] = "\n--NEXT--\n";
static const uint8_t *answers_data;
static size_t answers_size;
static bool answers_packed;

const char *http_missing(void)
{
    return NULL;
}

/* Takes all bytes up to the next separator. */
static size_t answers_take(const uint8_t **at)
{
    const size_t gap = sizeof NEXT - 1;
    *at = answers_data;
    const uint8_t *end = answers_size ? memmem(answers_data, answers_size, NEXT, gap) : NULL;
    const size_t length = end ? (size_t)(end - answers_data) : answers_size, taken = end ? length + gap : length;
    answers_data += taken;
    answers_size -= taken;
    return length;
}

/* The bytes as the only piece of a session's file, as no fuzzer finds what can be decompressed. */
static void answers_pack(const uint8_t *at, size_t length, FILE *answer)
{
    char path[FUZZ_PATH];
    struct binary_rows rows = { 0 };
    const struct session_file file = { .fd = fuzz_file(at, length, path) };
    fuzz_require(length == 0 || fleet_file_put(&rows, &file, 0));
    if (rows.length)
        fwrite(rows.bytes, 1, rows.length, answer);
    binary_drop(&rows);
    close(file.fd);
}

/* A change of the store names nothing but its tables and days, whatever the server said of them. */
static void answers_check_change(const char *sql)
{
    static const char begin[] = "ALTER TABLE d.", middle[] = " DROP PARTITION '";
    fuzz_require(strncmp(sql, begin, strlen(begin)) == 0);
    const char *table = sql + strlen(begin);
    const size_t length = strspn(table, "abcdefghijklmnopqrstuvwxyz_12");
    fuzz_require(length && strncmp(table + length, middle, strlen(middle)) == 0);
    const char *day = table + length + strlen(middle);
    const size_t digits = strspn(day, "0123456789-");
    fuzz_require(digits && strcmp(day + digits, "'") == 0);
}

enum http_end http_post(const struct http_request *request, FILE *answer, struct error *error)
{
    const uint8_t *at;
    fuzz_require(strlen(request->body) == request->length);
    if (strncmp(request->body, "SELECT ", 7) != 0) {
        answers_check_change(request->body);
        return HTTP_DONE;
    }
    if (!answers_size) {
        error_set(error, "there is no answer");
        return HTTP_REFUSED;
    }
    const size_t length = answers_take(&at);
    if (answers_packed && strstr(request->body, "FROM d.files_"))
        answers_pack(at, length, answer);
    else
        fwrite(at, 1, length, answer);
    return HTTP_DONE;
}

/* ---- the target ---- */

static volatile size_t answers_sum;

static void answers_touch(const char *text)
{
    answers_sum += strlen(text);
}

static void answers_touch_all(const struct fleet_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        answers_touch(texts->list[i]);
}

static void answers_touch_run(const struct fleet_run *run)
{
    answers_touch(run->host);
    answers_touch(run->program);
    answers_touch(run->file);
    answers_touch_all(&run->builds);
    answers_touch_all(&run->label_keys);
    answers_touch_all(&run->label_values);
    fuzz_require(run->label_keys.count == run->label_values.count && run->losses <= run->remarks.count);
}

static void answers_print(struct table t)
{
    FILE *out = fopen("/dev/null", "w");
    fuzz_require(out != NULL);
    table_print_text(&t, out);
    table_print_json(&t, out);
    table_drop(&t);
    fclose(out);
}

static bool answers_ask_sums(const struct fleet_store *store, const struct fleet_runs *runs, enum rollup_by by,
                             struct error *error)
{
    struct analysis analysis;
    if (!fleet_answer_sums(&analysis, store, runs->list, runs->count, by, by == BY_FUNCTION, error))
        return false;
    answers_print(view_rows(&analysis, by, &(struct sorting){ .key = "calls", .limit = 50 }));
    analysis_drop(&analysis);
    return true;
}

static bool answers_ask_paths(const struct fleet_store *store, const struct fleet_runs *runs, struct error *error)
{
    struct analysis analysis;
    if (!fleet_answer_paths(&analysis, store, runs->list, runs->count, &(struct analysis_options){ .durations = true },
                            error))
        return false;
    answers_print(view_tree(&analysis, &(struct tree_options){ .depth = 40 }));
    answers_print(view_rows(&analysis, BY_FUNCTION, &(struct sorting){ .key = "calls", .limit = 50 }));
    if (analysis.profile->function_count)
        answers_print(view_callers(&analysis, 0, false));
    analysis_drop(&analysis);
    return true;
}

/* The first run is compared with all others. */
static bool answers_take_run(void *context, const struct analysis *run, struct error *error)
{
    struct diff *d = context;
    return diff_add(d, d->run_count ? DIFF_AFTER : DIFF_BEFORE, run, error);
}

static bool answers_compare(const struct fleet_store *store, const struct fleet_runs *runs, enum question question,
                            struct error *error)
{
    const enum fleet_rows rows = question == COMPARE_FUNCTIONS ? FLEET_FUNCTIONS
                                 : question == COMPARE_MODULES ? FLEET_MODULES
                                                               : FLEET_CALL_PATHS;
    struct diff *d = diff_new(question == COMPARE_FUNCTIONS ? DIFF_FUNCTIONS
                              : question == COMPARE_MODULES ? DIFF_MODULES
                                                            : DIFF_PATHS);
    const struct diff_options options = { .sort = DIFF_ELAPSED_EXCLUSIVE, .limit = 50 };
    const bool good = fleet_answer_runs(store, runs->list, runs->count, rows, &(struct analysis_options){ 0 },
                                        answers_take_run, d, error);
    fuzz_require(!good || d->run_count == runs->count);
    if (good && d->run_count > 1) {
        diff_judge(d, &options);
        answers_print(view_diff(d, &options, true));
    }
    diff_free(d);
    return good;
}

struct answers_parts {
    const struct analysis *analysis;
    const struct fleet_runs *runs;
    enum fleet_key key;
};

static void answers_take_part(void *context, const struct fleet_part *part)
{
    const struct answers_parts *p = context;
    size_t i = 0;
    fuzz_require(part->function < p->analysis->profile->function_count);
    answers_touch(p->analysis->names[part->function].name);
    if (p->key == FLEET_BY_DAY) {
        fuzz_require(part->key <= UINT16_MAX);
        return;
    }
    while (i < p->runs->count && p->runs->list[i].run != part->key)
        i++;
    fuzz_require(i < p->runs->count);
}

static void answers_take_durations(void *context, uint64_t key, uint32_t function, const struct durations *d)
{
    answers_take_part(context, &(struct fleet_part){ .key = key, .function = function });
    fuzz_require(durations_calls(d) > 0);
}

static bool answers_ask_parts(const struct fleet_store *store, const struct fleet_runs *runs, enum fleet_key key,
                              struct error *error)
{
    struct analysis analysis;
    struct answers_parts parts = { &analysis, runs, key };
    const struct fleet_wanted wanted = { .key = key, .durations = answers_take_durations };
    if (!fleet_answer_parts(&analysis, store, runs->list, runs->count, &wanted, answers_take_part, &parts, error))
        return false;
    analysis_drop(&analysis);
    return true;
}

static bool answers_ask_runs(const struct fleet_store *store, const struct fleet_runs *runs, struct error *error)
{
    uint64_t *times = need_memory(runs->count, sizeof *times);
    const bool good = answers_ask_parts(store, runs, FLEET_BY_RUN, error) &&
                      fleet_answer_run_times(store, runs->list, runs->count, FLEET_CPU, times, error);
    free(times);
    return good;
}

static char answers_folder[] = "/tmp/dwell-fuzz-XXXXXX";

static void answers_remove_folder(void)
{
    rmdir(answers_folder);
}

static bool answers_pull(const struct fleet_store *store, const struct fleet_runs *runs, struct error *error)
{
    static char *path;
    const char *wrong = NULL;
    if (!path) {
        fuzz_require(mkdtemp(answers_folder) != NULL);
        atexit(answers_remove_folder);
        path = need_text("%s/pulled", answers_folder);
    }
    if (!fleet_pull(store, runs, path, error)) {
        fuzz_require(access(path, F_OK) != 0);
        return false;
    }
    struct session_file *pulled = session_file_open(path, &wrong);
    fuzz_require(pulled != NULL);
    session_file_close(pulled);
    unlink(path);
    return true;
}

static bool answers_ask(struct fleet_store *store, enum question question, struct error *error)
{
    static const struct fleet_conditions all;
    struct fleet_runs runs;
    unsigned days;
    if (!fleet_check_version(store, error))
        return false;
    if (question == ASK_EXPIRE)
        return fleet_expire(store, 20000, true, &days, error);
    if (!fleet_runs_find(store, &all, &runs, error))
        return false;
    for (size_t i = 0; i < runs.count; i++)
        answers_touch_run(&runs.list[i]);
    answers_packed = question == ASK_PACKED;
    const bool good = question == ASK_FUNCTIONS ? answers_ask_sums(store, &runs, BY_FUNCTION, error)
                      : question == ASK_MODULES ? answers_ask_sums(store, &runs, BY_MODULE, error)
                      : question == ASK_PATHS   ? answers_ask_paths(store, &runs, error)
                      : question == ASK_DAYS    ? answers_ask_parts(store, &runs, FLEET_BY_DAY, error)
                      : question == ASK_RUNS    ? answers_ask_runs(store, &runs, error)
                      : question > ASK_EXPIRE   ? answers_compare(store, &runs, question, error)
                                                : answers_pull(store, &runs, error);
    fleet_runs_drop(&runs);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fleet_store store = { .url = (char *)"http://store", .database = (char *)"d", .tries = 1 };
    const enum question question = (enum question)(fuzz_byte(&data, &size) % QUESTIONS);
    struct error error = { NULL };
    answers_data = data;
    answers_size = size;
    const bool good = answers_ask(&store, question, &error);
    fuzz_require(good ? !error.text : error.text && error.text[0]);
    error_drop(&error);
    return 0;
}
