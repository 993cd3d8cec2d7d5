/*
 * The fuzzer's target for `dwell merge --with-values`: a byte, and two sessions. If the byte is zero, the second one is
 * the first one once more. Otherwise a word says where it begins. The merged session has the values of both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "trace/recorded_values.h"
#include "trace/session_file.h"
#include "trace/session_merge.h"

enum { SESSIONS = 2 };

/* What is known of the values of a session. */
struct merge_values {
    uint64_t functions, calls, damaged;
};

static struct merge_values merge_count(const struct session_file *file)
{
    struct recorded_values v = recorded_values_list(file);
    struct merge_values counted = { v.function_count, 0, v.damaged_chunks + v.later_calls };
    for (size_t i = 0; i < v.function_count; i++)
        counted.calls += v.functions[i].rows;
    recorded_values_free(&v);
    return counted;
}

/* A name in a folder of this process, which is there until it ends. */
static const char *merge_path(void)
{
    static char path[64];
    if (!*path) {
        char folder[] = "/tmp/fuzz-merge-XXXXXX";
        fuzz_require(mkdtemp(folder) != NULL);
        snprintf(path, sizeof path, "%s/merged.data", folder);
    }
    return path;
}

/* Sessions that are whole lose nothing. */
static void merge_check(struct session_file *const *sessions, const char *path)
{
    const char *error = NULL;
    struct merge_values of[SESSIONS];
    struct session_file *merged = session_file_open(path, &error);
    fuzz_require(merged != NULL);
    const struct merge_values both = merge_count(merged);
    bool whole = true;
    for (int i = 0; i < SESSIONS; i++) {
        of[i] = merge_count(sessions[i]);
        whole &= !of[i].damaged && sessions[i]->header.state == DWELL_COMPLETE &&
                 sessions[i]->header.mode == merged->header.mode;
    }
    if (whole) {
        fuzz_require(!both.damaged);
        fuzz_require(both.functions <= of[0].functions + of[1].functions);
        fuzz_require(both.calls == of[0].calls + of[1].calls);
    }
    session_file_close(merged);
}

static void merge_sessions(struct session_file *const *sessions)
{
    const char *path = merge_path();
    if (session_merge_check(sessions[0], sessions[1]))
        return;
    const char *error = session_merge(sessions, SESSIONS, true, path);
    if (error)
        fuzz_require(error[0]);
    else
        merge_check(sessions, path);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool twice = fuzz_byte(&data, &size) == 0;
    const size_t split = twice ? size : fuzz_word(&data, &size), first = split < size ? split : size;
    const uint8_t *begin[SESSIONS] = { data, twice ? data : data + first };
    const size_t length[SESSIONS] = { first, twice ? size : size - first };
    struct session_file *sessions[SESSIONS] = { NULL };
    int files[SESSIONS];
    for (int i = 0; i < SESSIONS; i++) {
        char path[FUZZ_PATH];
        const char *error = NULL;
        files[i] = fuzz_file(begin[i], length[i], path);
        sessions[i] = session_file_open(path, &error);
    }
    if (sessions[0] && sessions[1])
        merge_sessions(sessions);
    for (int i = 0; i < SESSIONS; i++) {
        if (sessions[i])
            session_file_close(sessions[i]);
        close(files[i]);
    }
    return 0;
}
