/* owners.so: preloaded in place of the runtime. It finds the calls of the probes as the runtime does, and compares
 * the function of each with the one that the probe is called with. At the end it appends a line to the file
 * OWNERS: calls of probes that were run, how many of these had a known function, how many a wrong one, and how many
 * were not found. Jumps to a probe are not looked at, as their place is not known. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "levels/probe_calls.h"

#define QUIET __attribute__((no_instrument_function))

enum { PART = 256, MAX_PLACES = 1 << 22, CALLED = 1, WRONG = 2 };

struct owner {
    uint64_t end, function; /* of the call */
    uint32_t seen;          /* bits */
};

static struct owner *owners;
static struct hook_code owned[64]; /* code of the modules that were looked at */
static uint32_t owned_count, jumps;
static unsigned long missed;

void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from);

QUIET static struct owner *owner_at(uint64_t end)
{
    uint64_t i = (end * 0x9e3779b97f4a7c15u >> 32) % MAX_PLACES;
    while (owners[i].end && owners[i].end != end)
        i = (i + 1) % MAX_PLACES;
    return &owners[i];
}

QUIET static int owners_find(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    struct hook_places places = {
        .probes = { (uint64_t)__cyg_profile_func_enter, (uint64_t)__cyg_profile_func_exit },
    };
    struct call_sites sites;
    hook_places_find(&places, info);
    if (!places.slot_count[HOOK_ENTER] && !places.slot_count[HOOK_EXIT])
        return 0;
    call_sites_find_first(&sites, false);
    while (call_sites_find_more(&sites, &places, info, PART))
        continue;
    for (uint32_t i = 0; i < sites.count; i++) {
        const struct call_site *site = &sites.list[i];
        jumps += site->jump;
        if (!site->jump)
            *owner_at(site->address + site->length) =
                (struct owner){ .end = site->address + site->length, .function = site->function };
    }
    for (uint32_t i = 0; i < places.code_count && owned_count < 64; i++)
        owned[owned_count++] = places.code[i];
    call_sites_drop(&sites);
    return 0;
}

QUIET static __attribute__((constructor)) void owners_begin(void)
{
    owners = calloc(MAX_PLACES, sizeof *owners);
    dl_iterate_phdr(owners_find, NULL);
}

QUIET static bool owners_has_looked(uint64_t address)
{
    for (uint32_t i = 0; i < owned_count; i++)
        if (address - owned[i].begin < owned[i].end - owned[i].begin)
            return true;
    return false;
}

QUIET static void owner_check(uint64_t function, uint64_t end)
{
    if (!owners)
        return;
    struct owner *owner = owner_at(end);
    if (owner->end && owner->function && owner->function != function && !(owner->seen & WRONG))
        fprintf(stderr, "owners: the call that ends at %lx is of %lx, not of %lx\n", (unsigned long)end,
                (unsigned long)function, (unsigned long)owner->function);
    if (owner->end)
        owner->seen |= CALLED | (owner->function && owner->function != function ? (uint32_t)WRONG : 0);
    else
        missed += owners_has_looked(end);
}

QUIET void __cyg_profile_func_enter(void *function, void *from)
{
    (void)from;
    owner_check((uint64_t)function, (uint64_t)__builtin_return_address(0));
}

/* A jump leads here with the return address of the function that ends: that is no call of a probe. */
QUIET void __cyg_profile_func_exit(void *function, void *from)
{
    const uint64_t end = (uint64_t)__builtin_return_address(0);
    if (owners && end != (uint64_t)from)
        owner_check((uint64_t)function, end);
}

QUIET static __attribute__((destructor)) void owners_end(void)
{
    unsigned long called = 0, known = 0, wrong = 0;
    for (uint32_t i = 0; i < MAX_PLACES; i++) {
        called += owners[i].seen & CALLED;
        known += (owners[i].seen & CALLED) && owners[i].function;
        wrong += (owners[i].seen & WRONG) != 0;
    }
    char line[256];
    const char *path = getenv("OWNERS");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    const int length = snprintf(line, sizeof line, "called %lu known %lu wrong %lu missed %lu jumps %u\n", called,
                                known, wrong, missed, jumps);
    if (fd >= 0 && write(fd, line, (size_t)length) == length)
        close(fd);
}
