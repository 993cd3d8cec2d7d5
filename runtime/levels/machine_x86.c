/* Rewriting calls on x86-64. Threads may run the code meanwhile, so the bytes change by one store, or else in three
 * steps. The first one makes the call a jump over its own rest, by a store of two bytes. The second changes the rest,
 * which nobody runs now. The third changes the first two bytes. All processors synchronize before the second and the
 * third step. No step makes an instruction begin or end where none did before. */
#if defined(__x86_64__)

#include <asm/prctl.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "levels/hook_places.h"
#include "levels/machine.h"
#include "sys.h"

enum {
    LINE = 64,
    HEAD = 2,
    NEAR = 64, /* bytes before a system call, for its arguments */
    MACHINE_PLAIN_STUB_BYTES = 16,
    OP_JUMP_SHORT = 0xeb,
    OP_PREFIX = 0x67, /* for addresses of 32 bits */
    OP_CALL = 0xe8,
    OP_JUMP = 0xe9,
    OP_RETURN = 0xc3,
    OP_NOP = 0x90
};

void machine_write_stub(void *at, uint64_t target)
{
    static const uint8_t jump[] = { 0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc }; /* through the eight bytes behind it */
    uint8_t *bytes = at;
    memset(bytes, 0xcc, MACHINE_PLAIN_STUB_BYTES);
    if (!target) {
        bytes[0] = OP_RETURN;
        return;
    }
    memcpy(bytes, jump, sizeof jump);
    memcpy(bytes + sizeof jump, &target, sizeof target);
}

void machine_write_filtering_stub(void *at, uint64_t target, const uint8_t *filter)
{
    static const uint8_t load[] = { 0x49, 0xbb };                               /* mov $FILTER, %r11 */
    static const uint8_t look[] = { 0x89, 0xf8, 0xc1, 0xe8, 4,                  /* mov %edi, %eax; shr $4, %eax */
                                    0x25, 0xff, 0x0f, 0,    0,                  /* and $0xfff, %eax */
                                    0x41, 0x80, 0x3c, 0x03, 0, 0x75, 1, 0xc3 }; /* cmpb $0, (%r11, %rax); jne; ret */
    char *bytes = at;
    if (!filter) {
        machine_write_stub(at, target);
        return;
    }
    enum { AHEAD = sizeof load + sizeof filter + sizeof look };
    machine_write_stub(bytes + AHEAD, target);
    memcpy(bytes, load, sizeof load);
    memcpy(bytes + sizeof load, &filter, sizeof filter);
    memcpy(bytes + sizeof load + sizeof filter, look, sizeof look);
}

uint64_t machine_stub_slot(uint64_t target, uint64_t end)
{
    static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */
    const uint8_t *code = (const uint8_t *)target;
    if (end - target < 12)
        return 0;
    if (memcmp(code, landing, sizeof landing) == 0)
        code += sizeof landing;
    if (*code == 0xf2)
        code++;
    if (code[0] != 0xff || code[1] != 0x25)
        return 0;
    int32_t distance;
    memcpy(&distance, code + 2, sizeof distance);
    return (uint64_t)code + 6 + (uint64_t)(int64_t)distance;
}

uint64_t machine_call_target(const struct call_site *site)
{
    if (site->length != 5)
        return 0;
    int32_t distance;
    memcpy(&distance, site->original + 1, sizeof distance);
    return site->address + 5 + (uint64_t)(int64_t)distance;
}

/* A call may have a prefix without effect, where the linker has made it out of a longer one. */
bool machine_read_call(struct call_site *site, uint64_t end, uint64_t *target)
{
    const uint8_t *at = (const uint8_t *)site->address;
    const uint64_t room = end - site->address;
    const bool longer = room && *at == OP_PREFIX;
    int32_t distance;
    if (room < (longer ? 6u : 5u) || (at[longer] != OP_CALL && at[longer] != OP_JUMP))
        return false;
    site->length = (uint8_t)(5 + longer);
    site->jump = at[longer] == OP_JUMP;
    memcpy(site->original, at, site->length);
    memcpy(&distance, at + longer + 1, sizeof distance);
    *target = site->address + site->length + (uint64_t)(int64_t)distance;
    return !longer || !site->jump;
}

/* Where a direct call begins in the site's bytes. A longer call keeps its length by a prefix without effect, a longer
 * jump by a byte behind it. */
static int x86_first(const struct call_site *site)
{
    return site->jump ? 0 : site->length - 5;
}

static bool x86_aim(const struct call_site *site, uint8_t op, uint64_t target, uint8_t *bytes)
{
    const int first = x86_first(site);
    const int64_t distance = (int64_t)(target - (site->address + (uint64_t)first + 5));
    const int32_t word = (int32_t)distance;
    if (word != distance)
        return false;
    memset(bytes, site->jump ? OP_NOP : 0x67, site->length);
    bytes[first] = op;
    memcpy(bytes + first + 1, &word, sizeof word);
    return true;
}

static bool x86_crosses_line(uint64_t address, uint64_t size)
{
    return address / LINE != (address + size - 1) / LINE;
}

bool machine_needs_twin(const struct call_site *site)
{
    return x86_crosses_line(site->address + (uint64_t)x86_first(site) + 1, sizeof(int32_t));
}

static bool x86_form_out(const struct call_site *site, const struct machine_stubs *stubs, bool synchronizes,
                         uint8_t *bytes)
{
    static const uint8_t nops[2][6] = { { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, { 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 } };
    if (site->jump) {
        bytes[0] = OP_RETURN;
    } else if (x86_crosses_line(site->address, HEAD)) {
        return x86_aim(site, OP_CALL, stubs->at[CALL_OUT], bytes);
    } else if (synchronizes) {
        memcpy(bytes, nops[site->length - 5], site->length);
    } else {
        bytes[0] = OP_JUMP_SHORT;
        bytes[1] = site->length - HEAD;
    }
    return true;
}

static const uint8_t x86_count[COUNT_IN_PLACE_BYTES] = { 0x65, 0x48, 0xff, 0x47, 0x00 }; /* incq %gs:0(%rdi) */

/* A store of eight bytes within a line changes the whole instruction. */
bool machine_counts_in_place(const struct call_site *site)
{
    return !site->jump && site->length == sizeof x86_count && !x86_crosses_line(site->address, sizeof x86_count);
}

bool machine_has_gs(void)
{
    enum { HWCAP2_GS = 2 };
    return getauxval(AT_HWCAP2) & HWCAP2_GS;
}

/* Some sandboxes have no such call. */
bool machine_lets_set_gs(void)
{
    uint64_t base = 0;
    return SYS2(arch_prctl, ARCH_GET_GS, &base) == 0 && SYS2(arch_prctl, ARCH_SET_GS, base) == 0;
}

/* `at`: the second byte of 0f ae /3 in the form for a register, behind a prefix for it. */
static bool x86_is_wrgsbase(const uint8_t *at, const uint8_t *begin, const uint8_t *end)
{
    const uint8_t *before = at - 2;
    if (at - begin < 2 || end - at < 2 || at[-1] != 0x0f || (at[1] & 0xf8) != 0xd8)
        return false;
    if ((*before & 0xf0) == 0x40 && before > begin) /* REX */
        before--;
    return *before == 0xf3;
}

static bool x86_is_call_for_gs(const uint8_t *at, const uint8_t *begin)
{
    static const uint8_t loads_code[] = { 0xbf, 0x01, 0x10, 0, 0 }; /* mov $ARCH_SET_GS, %edi */
    const uint8_t *before = at - begin > NEAR ? at - NEAR : begin;
    if (at == begin || at[-1] != 0x0f)
        return false;
    for (; at - before > (ptrdiff_t)sizeof loads_code; before++)
        if (memcmp(before, loads_code, sizeof loads_code) == 0)
            return true;
    return false;
}

bool machine_code_sets_gs(const uint8_t *begin, const uint8_t *end)
{
    for (const uint8_t *at = begin; at < end; at++)
        if ((*at == 0xae && x86_is_wrgsbase(at, begin, end)) || (*at == 0x05 && x86_is_call_for_gs(at, begin)))
            return true;
    return false;
}

bool machine_form(const struct call_site *site, enum call_form form, const struct machine_stubs *stubs,
                  bool synchronizes, uint8_t bytes[MAX_CALL_BYTES])
{
    memcpy(bytes, site->original, MAX_CALL_BYTES);
    switch (form) {
    case CALL_OUT:
        return x86_form_out(site, stubs, synchronizes, bytes);
    case CALL_CHECKED:
        return x86_aim(site, site->jump ? OP_JUMP : OP_CALL, stubs->at[CALL_CHECKED], bytes);
    case CALL_COUNTED:
        return x86_aim(site, site->jump ? OP_JUMP : OP_CALL, site->stub, bytes);
    case CALL_VALUES:
        return !site->jump && x86_aim(site, OP_CALL, stubs->at[CALL_VALUES], bytes);
    case CALL_IN_PLACE:
        memcpy(bytes, x86_count, sizeof x86_count);
        return machine_counts_in_place(site);
    default:
        return true;
    }
}

/* The bytes that a single store has to change: from *first on, and how many. */
static int x86_difference(const struct call_site *site, const uint8_t *wanted, int *first)
{
    const uint8_t *code = (const uint8_t *)site->address;
    int last = site->length - 1;
    *first = 0;
    while (*first < site->length && code[*first] == wanted[*first])
        ++*first;
    while (last >= *first && code[last] == wanted[last])
        last--;
    int size = 1;
    while (size < last - *first + 1)
        size *= 2;
    if (last >= *first && *first + size > site->length)
        *first = site->length - size;
    return last < *first ? 0 : size;
}

/* Whether the call is, or becomes, an instruction that counts it. Such calls cannot be skipped meanwhile. */
static bool x86_changes_count(const struct call_site *site, const uint8_t *wanted)
{
    return memcmp((const void *)site->address, x86_count, sizeof x86_count) == 0 ||
           memcmp(wanted, x86_count, sizeof x86_count) == 0;
}

/* Stores of two bytes are enough to skip a call, and one byte to return instead of a jump; stores of four have to
 * change what a call leads to. */
enum machine_change machine_change_of(const struct call_site *site, const uint8_t *wanted, bool skippable)
{
    int first;
    const int size = x86_difference(site, wanted, &first);
    if (size == 0)
        return MACHINE_SAME;
    if (size <= 4 && first >= 0 && !x86_crosses_line(site->address + (uint64_t)first, (uint64_t)size))
        return MACHINE_AT_ONCE;
    if (machine_counts_in_place(site) && x86_changes_count(site, wanted))
        return MACHINE_AT_ONCE;
    if (skippable && (site->jump || !x86_crosses_line(site->address, HEAD)))
        return MACHINE_IN_STEPS;
    return MACHINE_NEVER;
}

static void x86_store(uint64_t address, const uint8_t *bytes, int size)
{
    uint16_t half;
    uint32_t word;
    switch (size) {
    case 1:
        __atomic_store_n((uint8_t *)address, *bytes, __ATOMIC_RELEASE);
        break;
    case 2:
        memcpy(&half, bytes, sizeof half);
        __asm__ volatile("movw %1, %0" : "=m"(*(uint16_t *)address) : "r"(half) : "memory");
        break;
    default:
        memcpy(&word, bytes, sizeof word);
        __asm__ volatile("movl %1, %0" : "=m"(*(uint32_t *)address) : "r"(word) : "memory");
    }
}

/* The bytes beside the site stay as they are, whoever changes them at the same time. */
static void x86_store_in_line(const struct call_site *site, const uint8_t *wanted)
{
    const uint64_t last = site->address / LINE * LINE + LINE - sizeof(uint64_t);
    const uint64_t at = site->address < last ? site->address : last;
    uint64_t before, after;
    bool done;
    do { // NOLINT(bugprone-infinite-loop): the instruction sets `done`
        memcpy(&before, (const void *)at, sizeof before);
        after = before;
        memcpy((char *)&after + (site->address - at), wanted, site->length);
        __asm__ volatile("lock cmpxchgq %[after], %[word]"
                         : "=@cce"(done), [word] "+m"(*(uint64_t *)at), "+a"(before)
                         : [after] "r"(after)
                         : "memory");
    } while (!done);
}

void machine_step(const struct call_site *site, const uint8_t *wanted, enum machine_change change, int step)
{
    if (change == MACHINE_AT_ONCE && step == 0) {
        int first;
        const int size = x86_difference(site, wanted, &first);
        if (size > 4)
            x86_store_in_line(site, wanted);
        else
            x86_store(site->address + (uint64_t)first, wanted + first, size);
    }
    if (change != MACHINE_IN_STEPS)
        return;
    const uint8_t skip[HEAD] = { OP_JUMP_SHORT, (uint8_t)(site->length - HEAD) }, end[] = { OP_RETURN };
    const int head = site->jump ? 1 : HEAD;
    if (step == 0)
        x86_store(site->address, site->jump ? end : skip, head);
    else if (step == 1)
        for (int i = head; i < site->length; i++)
            x86_store(site->address + (uint64_t)i, wanted + i, 1);
    else
        x86_store(site->address, wanted, head);
}

int machine_guard(const struct dl_phdr_info *info)
{
    (void)info;
    return 0;
}

void machine_flush(uint64_t begin, uint64_t end)
{
    (void)begin, (void)end; /* the processor sees its own stores */
}

#endif
