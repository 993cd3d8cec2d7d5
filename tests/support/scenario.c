/* Profiles sessions for tests, looks up their times, and checks the identities of the time model. */
#include "support/scenario.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/dwell-test-XXXXXX";
static bool made;

static int scenario_remove_file(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status, (void)type, (void)ftw;
    return remove(path);
}

static void scenario_remove_folder(void)
{
    nftw(folder, scenario_remove_file, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_folder(void)
{
    if (!made) {
        made = mkdtemp(folder) != NULL;
        cr_assert(made);
        atexit(scenario_remove_folder);
    }
    return folder;
}

const char *test_path(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

struct outcome outcome_of(struct writer *w, unsigned jobs)
{
    const char *path = test_path("session.dwell"), *error = NULL;
    writer_save(w, path);
    writer_free(w);
    struct outcome o;
    o.file = session_file_open(path, &error);
    cr_assert(o.file != NULL, "%s", error ? error : "");
    o.profile = collect_profile(o.file, jobs);
    o.rollup = rollup_new(o.profile);
    return o;
}

void outcome_drop(struct outcome *o)
{
    rollup_free(o->rollup);
    profile_free(o->profile);
    session_file_close(o->file);
}

static uint32_t scenario_function_at(const struct outcome *o, uint64_t address)
{
    for (uint32_t i = 0; i < o->profile->function_count; i++)
        if (o->profile->functions[i].offset == address)
            return i;
    return PROFILE_NONE;
}

static struct times scenario_group_times(const struct outcome *o, enum rollup_by by, size_t index)
{
    struct times *sums = rollup_groups(o->rollup, by);
    cr_assert(lt(sz, index, rollup_group_count(o->rollup, by)));
    struct times found = sums[index];
    free(sums);
    return found;
}

struct times function_times(const struct outcome *o, uint64_t address)
{
    uint32_t function = scenario_function_at(o, address);
    cr_assert(ne(u32, function, PROFILE_NONE), "no function at 0x%lx", (unsigned long)address);
    return scenario_group_times(o, BY_FUNCTION, function);
}

struct times thread_times(const struct outcome *o, uint32_t thread)
{
    size_t i = 0;
    while (i < o->profile->thread_count && o->profile->threads[i].thread != thread)
        i++;
    return scenario_group_times(o, BY_THREAD, i);
}

struct times process_times(const struct outcome *o, uint32_t serial)
{
    size_t count, i = 0;
    uint32_t *list = rollup_process_list(o->profile, &count);
    while (i < count && list[i] != serial)
        i++;
    free(list);
    return scenario_group_times(o, BY_PROCESS, i);
}

struct times path_times(const struct outcome *o, uint32_t thread, const uint64_t *path)
{
    const struct profile *p = o->profile;
    uint32_t node = PROFILE_NONE;
    for (size_t i = 0; i < p->thread_count; i++)
        if (p->threads[i].thread == thread)
            node = p->threads[i].root;
    for (; *path; path++) {
        cr_assert(ne(u32, node, PROFILE_NONE), "no such path");
        uint32_t child = o->rollup->first_child[node];
        while (child != PROFILE_NONE && p->functions[p->nodes[child].function].offset != *path)
            child = o->rollup->sibling[child];
        node = child;
    }
    cr_assert(ne(u32, node, PROFILE_NONE), "no such path");
    return o->rollup->nodes[node];
}

static void scenario_check_rows(const struct outcome *o, enum rollup_by by)
{
    struct times *sums = rollup_groups(o->rollup, by);
    uint64_t elapsed = 0, application = 0, flagged_on_cpu = 0;
    for (size_t i = 0; i < rollup_group_count(o->rollup, by); i++) {
        elapsed += sums[i].elapsed_exclusive;
        application += sums[i].application_exclusive;
        flagged_on_cpu += sums[i].flagged_on_cpu_exclusive;
        cr_assert(ge(u64, sums[i].flagged_on_cpu_inclusive, sums[i].flagged_on_cpu_exclusive));
        cr_assert(ge(u64, sums[i].elapsed_inclusive, sums[i].elapsed_exclusive));
        cr_assert(ge(u64, sums[i].application_inclusive, sums[i].application_exclusive));
        cr_assert(ge(u64, sums[i].elapsed_inclusive, sums[i].application_inclusive));
        cr_assert(ge(u64, sums[i].elapsed_exclusive, sums[i].application_exclusive));
    }
    cr_assert(eq(u64, elapsed, o->rollup->session.elapsed_inclusive));
    cr_assert(eq(u64, application, o->rollup->session.application_inclusive));
    cr_assert(eq(u64, flagged_on_cpu, o->rollup->session.flagged_on_cpu_inclusive));
    free(sums);
}

static void scenario_check_paths(const struct outcome *o)
{
    const struct rollup *r = o->rollup;
    for (uint32_t i = 0; i < o->profile->node_count; i++) {
        uint64_t elapsed = r->nodes[i].elapsed_exclusive, application = r->nodes[i].application_exclusive;
        uint64_t flagged_on_cpu = r->nodes[i].flagged_on_cpu_exclusive;
        for (uint32_t child = r->first_child[i]; child != PROFILE_NONE; child = r->sibling[child]) {
            elapsed += r->nodes[child].elapsed_inclusive;
            application += r->nodes[child].application_inclusive;
            flagged_on_cpu += r->nodes[child].flagged_on_cpu_inclusive;
        }
        cr_assert(eq(u64, elapsed, r->nodes[i].elapsed_inclusive));
        cr_assert(eq(u64, application, r->nodes[i].application_inclusive));
        cr_assert(eq(u64, flagged_on_cpu, r->nodes[i].flagged_on_cpu_inclusive));
    }
}

void check_identities(const struct outcome *o)
{
    scenario_check_rows(o, BY_FUNCTION);
    scenario_check_rows(o, BY_MODULE);
    scenario_check_rows(o, BY_THREAD);
    scenario_check_rows(o, BY_PROCESS);
    scenario_check_paths(o);
}
