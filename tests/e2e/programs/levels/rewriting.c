/*
 * rewriting LIBRARY out|checked|counted TOGGLES: threads run the library's functions, and are interrupted by signals
 * whose handler does so, too. Another thread changes the calls of the probes meanwhile. The program's own probes count.
 *
 * checked: the calls go to the probes or to a stub that calls them; all of them are counted.
 * counted: the same, and enters go to the stubs of counted functions as well. Here these call the probe, so all calls
 *          are counted.
 * out: some calls are taken out. The functions work, and the code is as before in the end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../signals/thread_timer.h"
#include "levels/level_records.h"
#include "levels/rewrite.h"
#include "toggled.h"

enum { THREADS = 4, ROUNDS = 60, INTERVAL = 70000 /* nanoseconds */ };

static const struct toggled_library *library;
static struct counted {
    unsigned long truth[TOGGLED_COUNT], probes[HOOKS][TOGGLED_COUNT];
} counted[THREADS + 1];
static __thread struct counted *counts;
static volatile int ended;
static unsigned long wrong;

static void count(enum hook hook, const void *function)
{
    for (int i = 0; counts && i < TOGGLED_COUNT; i++)
        if (library->functions[i] == function)
            __atomic_fetch_add(&counts->probes[hook][i], 1, __ATOMIC_RELAXED);
}

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

/* There is no session. */
void level_records_add_stubs(uint64_t begin, uint64_t end)
{
    (void)begin, (void)end;
}

void __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)call_site;
    count(HOOK_ENTER, function);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)call_site;
    count(HOOK_EXIT, function);
}

static void handle(int number)
{
    library->run(counts->truth, 3);
    next_signal(number);
}

static void *work(void *argument)
{
    counts = argument;
    unsigned long expected[TOGGLED_COUNT];
    const long sum = library->run(memset(expected, 0, sizeof expected), ROUNDS);
    for (int i = 0; i < TOGGLED_COUNT; i++)
        counts->truth[i] += expected[i];
    const timer_t timer = start_timer(SIGUSR1, INTERVAL);
    while (!ended)
        if (library->run(counts->truth, ROUNDS) != sum)
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    timer_delete(timer);
    return NULL;
}

static struct hook_places places;
static struct call_sites sites;
static uint64_t bias;

static int find_sites(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    if (info->dlpi_addr != bias)
        return 0;
    hook_places_find(&places, info);
    call_sites_find(&sites, &places, info, false);
    return 1;
}

static unsigned long number(const char *what, int hook, int jump, int known)
{
    unsigned long found = 0;
    for (uint32_t i = 0; i < sites.count; i++)
        found += sites.list[i].hook == hook && sites.list[i].jump == jump && !!sites.list[i].function == known;
    return printf("%s %lu\n", what, found), found;
}

static int function_of(const struct call_site *site)
{
    int which = 0;
    while (which < TOGGLED_COUNT && (uint64_t)library->functions[which] != site->function)
        which++;
    return which;
}

static void write_stub(void *at, uint32_t which)
{
    (void)which;
    machine_write_stub(at, places.probes[HOOK_ENTER]);
}

/* Returns the number of twins. */
static unsigned long give_stubs(struct rewriter *r)
{
    for (uint32_t i = 0; i < sites.count; i++) {
        struct call_site *site = &sites.list[i];
        if (site->hook == HOOK_ENTER && machine_needs_twin(site))
            site->stub = rewriter_counting_stub(r, site, (uint32_t)function_of(site), write_stub);
        else if (site->hook == HOOK_ENTER)
            site->stub = (uint64_t)r->stub_page + (1 + HOOK_ENTER) * MACHINE_STUB_BYTES;
    }
    return r->counting_count;
}

/* Each function is in one form at a time, as in the runtime. Those of `counted` have the form that counts, if they can.
 */
static unsigned long toggle(struct rewriter *r, enum call_form form, unsigned long functions,
                            unsigned long counted_ones)
{
    unsigned long changed = 0;
    for (int hook = 0; hook < HOOKS; hook++) {
        for (uint32_t i = 0; i < sites.count; i++) {
            struct call_site *site = &sites.list[i];
            const int which = function_of(site);
            const enum call_form before = site->form;
            const bool counts_now = site->hook == HOOK_ENTER && site->stub && counted_ones >> which & 1;
            site->wanted = functions >> which & 1 ? counts_now ? CALL_COUNTED : form : CALL_ORIGINAL;
            changed += site->wanted != before;
        }
        if (!rewriter_apply(r, &sites, (enum hook)hook))
            wrong++;
        for (uint32_t i = 0; i < sites.count; i++) /* what has a twin is never stuck */
            wrong += r->counting_count && sites.list[i].hook == hook && machine_call_target(&sites.list[i]) &&
                     machine_needs_twin(&sites.list[i]) && sites.list[i].form != sites.list[i].wanted;
    }
    return changed;
}

static void check_counts(const char *how, int exactly)
{
    for (int i = 0; i < TOGGLED_COUNT; i++) {
        unsigned long truth = 0, probes[HOOKS] = { 0, 0 };
        for (int t = 0; t <= THREADS; t++) {
            truth += counted[t].truth[i];
            for (int hook = 0; hook < HOOKS; hook++)
                probes[hook] += counted[t].probes[hook][i];
        }
        if (exactly ? truth != probes[0] || truth != probes[1] : truth < probes[0] || truth < probes[1])
            wrong++, printf("%s: function %d: %lu calls, %lu enters, %lu exits\n", how, i, truth, probes[0], probes[1]);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const int out = strcmp(argv[2], "out") == 0;
    void *handle_of_library = dlopen(argv[1], RTLD_NOW);
    if (!handle_of_library)
        return puts(dlerror()), 2;
    library = dlsym(handle_of_library, "toggled_library");
    Dl_info info;
    dladdr(library, &info);
    bias = (uint64_t)info.dli_fbase;
    places.probes[HOOK_ENTER] = (uint64_t)__cyg_profile_func_enter;
    places.probes[HOOK_EXIT] = (uint64_t)__cyg_profile_func_exit;
    dl_iterate_phdr(find_sites, NULL);
    number("enters", HOOK_ENTER, 0, 1);
    number("unknown enters", HOOK_ENTER, 0, 0);
    number("exits", HOOK_EXIT, 0, 1);
    number("unknown exits", HOOK_EXIT, 0, 0);
    number("last calls", HOOK_EXIT, 1, 1);
    struct rewriter r;
    const struct rewriter_checks checks = { .of = { places.probes[HOOK_ENTER], places.probes[HOOK_EXIT] } };
    if (!sites.complete || !rewriter_begin(&r, &places, &checks))
        return puts("no rewriter"), 1;
    const bool twins = strcmp(argv[2], "counted") == 0;
    if (twins) {
        rewriter_make_twins(&r, &sites, &checks);
        printf("twins %lu\n", give_stubs(&r));
    }
    signal(SIGUSR1, handle);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &counted[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    unsigned long changed = 0, random = 1;
    for (long i = atol(argv[3]); i > 0; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        changed += toggle(&r, out ? CALL_OUT : CALL_CHECKED, random >> 33, twins ? random >> 40 : 0);
    }
    toggle(&r, CALL_ORIGINAL, 0, 0);
    ended = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check_counts(argv[2], !out);
    memset(counted, 0, sizeof counted);
    counts = &counted[THREADS];
    library->run(counts->truth, 1000);
    check_counts("in the end", 1);
    for (uint32_t i = 0; i < sites.count; i++)
        wrong += sites.list[i].strange || sites.list[i].form != CALL_ORIGINAL ||
                 memcmp((void *)sites.list[i].address, sites.list[i].original, sites.list[i].length) != 0;
    printf("%s\nwrong %lu\n", changed ? "changed" : "unchanged", wrong);
    return wrong != 0;
}
