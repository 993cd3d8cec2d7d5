/* The sites of a module for other processes: copies of code at other addresses, in which everything may be damaged. */
#if defined(__x86_64__)

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "levels/site_key.h"
#include "levels/site_list.h"

TestSuite(unit_site_list);

enum { SLOTS = 8, MOST = 512, MODULE_SIZE = 8192, CONSTANTS = 4096, SITES = 7, SET = 3 };

extern const char listed_code[] __asm__("listed_code"), listed_enter[] __asm__("listed_enter"),
    listed_exit[] __asm__("listed_exit"), listed_first[] __asm__("listed_first"),
    listed_second[] __asm__("listed_second"), listed_third[] __asm__("listed_third"),
    listed_end[] __asm__("listed_end");

/* The second function has an inlined one, whose address is in a constant slot. Both leave by one call. The third one
 * loads a number, has another slot's function, and jumps to the exit. */
__asm__(".pushsection .text\n"
        ".balign 64\n"
        "listed_code:\n"
        "listed_enter: ret\n"
        "listed_exit: ret\n"
        ".balign 16\n"
        "listed_first: lea listed_first(%rip), %rbx\n"
        "mov %rbx, %rdi\n"
        "call listed_enter\n"
        "mov %rbx, %rdi\n"
        "call listed_exit\n"
        "ret\n"
        ".balign 16\n"
        "listed_second: lea listed_second(%rip), %rbx\n"
        "mov %rbx, %rdi\n"
        "call listed_enter\n"
        "test %rax, %rax\n"
        "je 1f\n"
        "mov listed_code+4096(%rip), %rbx\n"
        "mov %rbx, %rdi\n"
        "call listed_enter\n"
        "1: mov %rbx, %rdi\n"
        "call listed_exit\n"
        "ret\n"
        ".balign 16\n"
        "listed_third: mov listed_code+4112(%rip), %rax\n"
        "mov listed_code+4104(%rip), %rdi\n"
        "call listed_enter\n"
        "mov listed_code+4104(%rip), %rdi\n"
        "jmp.d32 listed_exit\n"
        "listed_end: ret\n"
        ".popsection");

/* A module: its code, and behind it a page of constants. */
struct listed {
    char *at;
    ElfW(Phdr) segment;
    struct dl_phdr_info info;
    struct hook_places places;
};

static uint64_t listed_place(const struct listed *m, const char *label)
{
    return (uint64_t)m->at + (uint64_t)(label - listed_code);
}

static void listed_set(const struct listed *m, uint32_t slot, uint64_t value)
{
    memcpy(m->at + CONSTANTS + 8 * (size_t)slot, &value, sizeof value);
}

/* `inlined` and `other` are what the two slots hold. */
static struct listed *listed_load(uint64_t inlined, uint64_t other)
{
    static struct listed modules[8];
    static int count;
    struct listed *m = &modules[count++];
    m->at = mmap(NULL, MODULE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(m->at != MAP_FAILED && count <= 8);
    const uint64_t size = (uint64_t)(listed_end - listed_code) + 1;
    memcpy(m->at, listed_code, size);
    m->segment = (ElfW(Phdr)){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size, .p_memsz = MODULE_SIZE };
    m->info = (struct dl_phdr_info){ .dlpi_addr = (uint64_t)m->at, .dlpi_phdr = &m->segment, .dlpi_phnum = 1 };
    m->places = (struct hook_places){
        .probes = { listed_place(m, listed_enter), listed_place(m, listed_exit) },
        .constant_begin = (uint64_t)m->at + CONSTANTS,
        .constant_end = (uint64_t)m->at + CONSTANTS + 8 * SLOTS,
    };
    hook_places_find_code(&m->places, &m->info);
    listed_set(m, 0, inlined);
    listed_set(m, 1, other);
    return m;
}

static struct call_sites listed_find(const struct listed *m)
{
    const char *const bounds[] = { listed_first, listed_second, listed_third, listed_end };
    struct call_sites sites;
    call_sites_find_first(&sites, false);
    for (int i = 0; i < 3; i++) {
        const struct unwind_range range = { listed_place(m, bounds[i]), listed_place(m, bounds[i + 1]), 0, 0 };
        const uint32_t first = sites.count;
        cr_assert(call_sites_in_range(&sites, &m->places, &range));
        sites.list[first].first = true;
        sites.list[first].partial = i == 2;
    }
    cr_assert(eq(u32, sites.count, SITES));
    return sites;
}

static struct site_list listed_write(const struct listed *m, uint8_t bytes[MOST])
{
    struct call_sites sites = listed_find(m);
    struct site_list list = { .bytes = bytes, .size = MOST };
    cr_assert(site_list_write(&list, &sites, &m->places, &m->info));
    call_sites_drop(&sites);
    return list;
}

static bool listed_read(const struct site_list *list, const struct listed *m)
{
    struct call_sites sites;
    call_sites_find_first(&sites, false);
    const bool read = site_list_read(list, &sites, &m->places, &m->info);
    call_sites_drop(&sites);
    return read;
}

/* What another process takes is what it would have found. */
static void listed_check_same(const struct listed *from, const struct listed *to)
{
    uint8_t bytes[MOST];
    const struct site_list list = listed_write(from, bytes);
    struct call_sites found = listed_find(to), taken;
    call_sites_find_first(&taken, false);
    cr_assert(site_list_read(&list, &taken, &to->places, &to->info));
    cr_assert(eq(u32, taken.count, found.count));
    for (uint32_t i = 0; i < found.count; i++)
        cr_assert(memcmp(&taken.list[i], &found.list[i], sizeof found.list[i]) == 0, "call %u", i);
    call_sites_drop(&found);
    call_sites_drop(&taken);
}

enum { ELSEWHERE = 0x7f0000001000, ELSEWHERE_TOO = 0x7f0000002000 };

Test(unit_site_list, functions_are_found_at_another_place)
{
    const struct listed *one = listed_load(0, 0), *two = listed_load(0, 0);
    listed_check_same(one, two);
    listed_set(one, 0, listed_place(one, listed_first));
    listed_set(two, 0, listed_place(two, listed_first));
    listed_set(one, 1, ELSEWHERE);
    listed_set(two, 1, ELSEWHERE_TOO);
    listed_check_same(one, two);
    listed_set(one, 0, ELSEWHERE);
    listed_set(two, 0, ELSEWHERE_TOO);
    listed_check_same(one, two);
}

/* Each set of values that one process has is followed by one that another has. */
Test(unit_site_list, slots_that_hold_something_else_do_not_fit)
{
    const struct listed *one = listed_load(0, 0), *two = listed_load(0, 0);
    const uint64_t inside = listed_place(one, listed_first), there = listed_place(two, listed_first);
    const uint64_t cases[][2][SET] = {
        { { inside, 0, 0 }, { there + 16, 0, 0 } }, { { inside, 0, 0 }, { 0, 0, 0 } },
        { { inside, 0, 0 }, { ELSEWHERE, 0, 0 } },  { { ELSEWHERE, ELSEWHERE, 0 }, { ELSEWHERE, ELSEWHERE_TOO, 0 } },
        { { ELSEWHERE, 0, 0 }, { 0, 0, 0 } },       { { 0, ELSEWHERE, 0 }, { ELSEWHERE, ELSEWHERE, 0 } },
        { { 0, 17, 17 }, { 0, 17, 18 } },           { { 0, 17, 0 }, { 0, 17, 17 } },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[MOST];
        for (uint32_t slot = 0; slot < SET; slot++) {
            listed_set(one, slot, cases[i][0][slot]);
            listed_set(two, slot, cases[i][1][slot]);
        }
        const struct site_list list = listed_write(one, bytes);
        cr_assert(listed_read(&list, one), "case %u", i);
        cr_assert(not(listed_read(&list, two)), "case %u", i);
    }
}

/* Whatever the bytes are: what is taken are calls of the probes. */
Test(unit_site_list, damaged_lists_have_only_real_calls)
{
    const struct listed *m = listed_load(0, ELSEWHERE);
    struct call_sites real = listed_find(m);
    uint8_t bytes[MOST];
    const struct site_list list = listed_write(m, bytes);
    for (uint64_t at = 0; at < list.size; at++) {
        const uint8_t whole = bytes[at];
        for (unsigned byte = 0; byte < 256; byte++) {
            struct call_sites taken;
            bytes[at] = (uint8_t)byte;
            call_sites_find_first(&taken, false);
            site_list_read(&list, &taken, &m->places, &m->info);
            for (uint32_t i = 0; i < taken.count; i++) {
                uint32_t j = 0;
                while (j < real.count && real.list[j].address != taken.list[i].address)
                    j++;
                cr_assert(lt(u32, j, real.count), "byte %u at %u", byte, (unsigned)at);
                cr_assert(eq(int, memcmp(taken.list[i].original, real.list[j].original, MAX_CALL_BYTES), 0));
            }
            call_sites_drop(&taken);
        }
        bytes[at] = whole;
    }
    cr_assert(listed_read(&list, m));
    call_sites_drop(&real);
}

Test(unit_site_list, cut_lists_do_not_fit)
{
    const struct listed *m = listed_load(0, 0);
    uint8_t bytes[MOST];
    const struct site_list list = listed_write(m, bytes);
    for (uint64_t size = 0; size < list.size; size++) {
        struct site_list cut = list;
        cut.size = size;
        cr_assert(not(listed_read(&cut, m)), "%u bytes", (unsigned)size);
    }
    struct site_list more = list;
    more.sites = UINT32_MAX;
    cr_assert(not(listed_read(&more, m)));
    more = list;
    more.loads = UINT32_MAX;
    cr_assert(not(listed_read(&more, m)));
}

/* What others cannot have is not written, nor is what has no room. */
Test(unit_site_list, lists_that_are_not_written)
{
    const struct listed *m = listed_load(0, 0);
    uint8_t bytes[MOST];
    struct call_sites sites = listed_find(m);
    struct site_list list = { .bytes = bytes, .size = SITES };
    cr_assert(not(site_list_write(&list, &sites, &m->places, &m->info)));
    list.size = MOST;
    sites.lonely = true;
    cr_assert(not(site_list_write(&list, &sites, &m->places, &m->info)));
    sites.lonely = false;
    sites.list[1].function = ELSEWHERE; /* no slot holds it */
    cr_assert(not(site_list_write(&list, &sites, &m->places, &m->info)));
    call_sites_drop(&sites);
}

static uint64_t listed_key(const struct listed *m)
{
    struct site_key key = { .begun = false };
    while (site_key_more(&key, &m->places, &m->info))
        ;
    return site_key_value(&key);
}

/* The key is that of the code, wherever it is. Each byte counts, and so do the places of the probes and constants. */
Test(unit_site_list, keys_are_of_the_code)
{
    struct listed *one = listed_load(0, ELSEWHERE), *two = listed_load(ELSEWHERE, 0);
    const uint64_t key = listed_key(one);
    cr_assert(eq(u64, listed_key(two), key));
    for (uint64_t i = 0; i < two->segment.p_filesz; i++) {
        two->at[i] ^= 1;
        cr_assert(ne(u64, listed_key(two), key), "byte %u", (unsigned)i);
        two->at[i] ^= 1;
    }
    cr_assert(eq(u64, listed_key(two), key));
    two->places.probes[HOOK_ENTER] += 1;
    cr_assert(ne(u64, listed_key(two), key));
    two->places.probes[HOOK_ENTER] -= 1;
    two->places.constant_end += 8;
    cr_assert(ne(u64, listed_key(two), key));
    two->places.constant_end -= 8;
    two->places.slots[HOOK_EXIT][two->places.slot_count[HOOK_EXIT]++] = two->places.constant_begin;
    cr_assert(ne(u64, listed_key(two), key));
}

#endif
