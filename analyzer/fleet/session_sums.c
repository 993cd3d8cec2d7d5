/* Opens the sums of a session. Memory holds its functions, and its call paths only where they depend on each other. */
#include "fleet/session_sums.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/leftovers.h"
#include "base/memory.h"
#include "fleet/ids.h"
#include "fleet/thread_tree.h"
#include "profile/collect.h"
#include "profile/tree_durations.h"
#include "sums/sums.h"
#include "trace/counted_calls.h"

uint64_t fleet_session_number(const struct session_file *file)
{
    const bool one = file->sums.summed_count == 1 && file->sums.summed[0].record.shards == 1;
    const struct dwell_file_header *h = one ? &file->sums.summed[0].record.header : &file->header;
    return h->session_id[0] || h->session_id[1] ? fleet_id_of_two(h->session_id[0], h->session_id[1]) : 0;
}

static struct session_file *session_open(const char *path, struct error *error)
{
    const char *wrong;
    struct session_file *file = session_file_open(path, &wrong);
    if (!file)
        error_set(error, "%s: %s", path, wrong);
    return file;
}

/* ---- sums of recorded sessions ---- */

static char *session_temporary_path(void)
{
    const char *folder = getenv("TMPDIR");
    uint64_t number[2] = { (uint64_t)getpid(), 0 };
    if (getrandom(number, sizeof number, 0) != (ssize_t)sizeof number)
        number[1]++;
    return need_text("%s/dwell-sums-%016llx%016llx.data", folder && *folder ? folder : "/var/tmp",
                     (unsigned long long)number[0], (unsigned long long)number[1]);
}

/* The file loses its name as soon as it is open, so that it vanishes with the program. */
static struct session_file *session_open_unnamed(const char *path, struct error *error)
{
    struct session_file *file = session_open(path, error);
    unlink(path);
    return file;
}

static struct session_file *session_make_sums(const char *path, struct error *error)
{
    struct sums *sums = sums_new();
    struct session_file *file = NULL;
    if (sums_add_recorded(sums, path, (struct sums_shard){ 0, 1 }, 0, error)) {
        char *made = session_temporary_path();
        leftover_add(made);
        const char *wrong = sums_write(sums, made);
        if (wrong)
            error_set(error, "%s: %s", made, wrong);
        sums_free(sums);
        sums = NULL;
        if (!wrong)
            file = session_open_unnamed(made, error);
        leftover_forget(made);
        free(made);
    }
    if (sums)
        sums_free(sums);
    return file;
}

/* ---- numbers ---- */

static struct fleet_numbers session_number_functions(const struct analysis *analysis)
{
    const struct profile *p = analysis->profile;
    struct fleet_numbers n = {
        .modules = need_memory(p->module_count + 1, sizeof *n.modules),
        .functions = need_memory(p->function_count + 1, sizeof *n.functions),
    };
    for (size_t i = 0; i < p->module_count; i++)
        n.modules[i] = fleet_module_id(&p->modules[i]);
    for (size_t i = 0; i < p->function_count; i++)
        n.functions[i] =
            fleet_function_id(n.modules[p->functions[i].module], p->functions[i].offset, &analysis->names[i]);
    return n;
}

/* ---- opening ---- */

/* Samples divide the time of a function among its paths. Counted calls make times of their functions uncertain. From
 * durations of mode profile, the probes are taken by what was subtracted from paths and those below. */
static bool session_must_be_whole(const struct session_file *file)
{
    return counts_any(file) || tree_sums_counts(file).samples > 0 ||
           tree_durations_kinds(file) & tree_durations_kind_bit(DWELL_DURATIONS_RAW);
}

/* The file may have no name any more. */
static bool session_load_whole(struct fleet_session *session, struct session_file *file, struct error *error)
{
    const struct analysis_options options = { .no_merge = true, .limits = true, .durations = true };
    char *path = need_text("/proc/self/fd/%d", file->fd);
    const bool good = analysis_load(&session->analysis, path, &options, error);
    free(path);
    session_file_close(file);
    if (!good)
        return false;
    for (size_t i = 0; i < session->analysis.profile->node_count; i++)
        amounts_scale(&session->analysis.profile->nodes[i], session->analysis.summary.ticks_per_second);
    return true;
}

static void session_load_functions(struct fleet_session *session, struct session_file *file)
{
    struct analysis *analysis = &session->analysis;
    *analysis = (struct analysis){ .file = file, .profile = profile_new(), .limits = true };
    thread_trees_identify(file, analysis->profile);
    analysis->profile->counts = tree_sums_counts(file);
    analysis->names = names_find(file, analysis->profile);
    analysis->rollup = rollup_new(analysis->profile);
    analysis_summarize(analysis);
}

bool fleet_durations_are_damaged(const struct fleet_session *session, struct error *error)
{
    return error_set(error, "%s: is damaged: it has durations of calls that cannot be", session->analysis.file->path);
}

bool fleet_session_open(struct fleet_session *session, const char *path, struct error *error)
{
    struct session_file *file = session_open(path, error);
    if (!file)
        return false;
    if (!(file->header.origin & DWELL_ORIGIN_SUMS)) {
        session_file_close(file);
        file = session_make_sums(path, error);
        if (!file)
            return false;
    }
    *session = (struct fleet_session){ .whole = session_must_be_whole(file) };
    if (session->whole && !thread_trees_check_durations(file)) {
        session->analysis.file = file;
        fleet_durations_are_damaged(session, error);
        session_file_close(file);
        return false;
    }
    if (!session->whole)
        session_load_functions(session, file);
    else if (!session_load_whole(session, file, error))
        return false;
    session->numbers = session_number_functions(&session->analysis);
    return true;
}

void fleet_session_drop(struct fleet_session *session)
{
    free(session->numbers.modules);
    free(session->numbers.functions);
    analysis_drop(&session->analysis);
}
