/* Unwinds with libunwind, which reads memory and registers by the functions below: from the copy of the stack, or from
 * the binaries. */
#include "symbols/unwind.h"

#include <libunwind.h>
#include <stdlib.h>

#include "base/memory.h"

enum { WORD = sizeof(uint64_t), TABLE_AT = 12 };

extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t address, unw_dyn_info_t *table,
                                              unw_proc_info_t *found, int need_info, void *context);

struct unwinder {
    struct binaries *binaries;
    unw_addr_space_t space;
    const struct unwind_copy *copy; /* that is being unwound */
    struct unwind_module module;    /* whose table was searched last; its path is NULL at first */
};

/* The places of the registers in a copy, in the order of docs/format.md. */
#if defined(__x86_64__)
static const int register_numbers[] = { UNW_X86_64_RIP, UNW_X86_64_RSP, UNW_X86_64_RBP, UNW_X86_64_RBX,
                                        UNW_X86_64_R12, UNW_X86_64_R13, UNW_X86_64_R14, UNW_X86_64_R15 };
#else
static const int register_numbers[] = { UNW_AARCH64_PC,  UNW_AARCH64_SP,  UNW_AARCH64_X29, UNW_AARCH64_X30,
                                        UNW_AARCH64_X19, UNW_AARCH64_X20, UNW_AARCH64_X21, UNW_AARCH64_X22,
                                        UNW_AARCH64_X23, UNW_AARCH64_X24, UNW_AARCH64_X25, UNW_AARCH64_X26,
                                        UNW_AARCH64_X27, UNW_AARCH64_X28 };
#endif
enum { REGISTERS = sizeof register_numbers / sizeof *register_numbers, STACK_POINTER = 1 };

static int unwind_find_table(unw_addr_space_t space, unw_word_t address, unw_proc_info_t *found, int need_info,
                             void *context)
{
    struct unwinder *u = context;
    struct unwind_module m;
    uint64_t header;
    uint32_t count;
    if (!u->copy->find(u->copy->context, address, &m) ||
        !binaries_unwind_table(u->binaries, &m.module, &header, &count))
        return -UNW_ENOINFO;
    u->module = m;
    unw_dyn_info_t table = { .start_ip = m.begin, .end_ip = m.end, .format = UNW_INFO_FORMAT_REMOTE_TABLE };
    table.u.rti.segbase = header + m.bias;
    table.u.rti.table_data = header + m.bias + TABLE_AT;
    table.u.rti.table_len = count; /* in words, which entries are as large as */
    return UNW_OBJ(dwarf_search_unwind_table)(space, address, &table, found, need_info, context);
}

static void unwind_put_info(unw_addr_space_t space, unw_proc_info_t *info, void *context)
{
    (void)space;
    (void)info;
    (void)context;
}

static int unwind_find_dynamic(unw_addr_space_t space, unw_word_t *list, void *context)
{
    (void)space;
    (void)list;
    (void)context;
    return -UNW_ENOINFO;
}

/* The stack has aligned words. Other memory is that of the module whose table is searched: its constant parts. */
static int unwind_read(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *context)
{
    const struct unwinder *u = context;
    const struct unwind_copy *copy = u->copy;
    const uint64_t top = copy->registers[STACK_POINTER];
    (void)space;
    if (write)
        return -UNW_EINVAL;
    if (address >= top && address - top < (uint64_t)copy->words * WORD && (address - top) % WORD == 0) {
        *value = copy->word(copy->context, (uint32_t)((address - top) / WORD));
        return 0;
    }
    const struct unwind_module *m = &u->module;
    if (m->module.path && binaries_read(u->binaries, &m->module, address - m->bias, value, sizeof *value))
        return 0;
    return -UNW_EINVAL;
}

static int unwind_read_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
                                void *context)
{
    const struct unwind_copy *copy = ((const struct unwinder *)context)->copy;
    (void)space;
    if (write)
        return -UNW_EREADONLYREG;
    *value = 0;
    for (uint32_t i = 0; i < REGISTERS && i < copy->register_count; i++)
        if (register_numbers[i] == number)
            *value = copy->registers[i];
    return 0;
}

static int unwind_read_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write, void *context)
{
    (void)space;
    (void)number;
    (void)value;
    (void)write;
    (void)context;
    return -UNW_EBADREG;
}

static int unwind_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *context)
{
    (void)space;
    (void)cursor;
    (void)context;
    return -UNW_EINVAL;
}

static int unwind_name(unw_addr_space_t space, unw_word_t address, char *name, size_t size, unw_word_t *offset,
                       void *context)
{
    (void)space;
    (void)address;
    (void)name;
    (void)size;
    (void)offset;
    (void)context;
    return -UNW_ENOINFO;
}

struct unwinder *unwinder_new(struct binaries *binaries)
{
    static unw_accessors_t accessors = {
        .find_proc_info = unwind_find_table,
        .put_unwind_info = unwind_put_info,
        .get_dyn_info_list_addr = unwind_find_dynamic,
        .access_mem = unwind_read,
        .access_reg = unwind_read_register,
        .access_fpreg = unwind_read_float,
        .resume = unwind_resume,
        .get_proc_name = unwind_name,
    };
    const unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
    if (!space)
        return NULL;
    unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
    struct unwinder *u = need_memory(1, sizeof *u);
    *u = (struct unwinder){ .binaries = binaries, .space = space };
    return u;
}

void unwinder_free(struct unwinder *u)
{
    if (u)
        unw_destroy_addr_space(u->space);
    free(u);
}

void unwinder_forget(struct unwinder *u)
{
    unw_flush_cache(u->space, 0, 0);
    u->module.module.path = NULL;
}

size_t unwinder_run(struct unwinder *u, const struct unwind_copy *copy, uint64_t *addresses, size_t most)
{
    unw_cursor_t cursor;
    unw_word_t address;
    size_t count = 1;
    addresses[0] = copy->registers[0];
    u->copy = copy;
    if (copy->register_count < REGISTERS || unw_init_remote(&cursor, u->space, u) != 0)
        return count;
    while (count < most && unw_step(&cursor) > 0 && unw_get_reg(&cursor, UNW_REG_IP, &address) == 0 && address)
        addresses[count++] = address;
    return count;
}
