/* Reads the code of all functions that the unwind table lists. */
#include "symbols/short_code.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "symbols/image.h"
#include "symbols/probe_targets.h"

enum {
    MOST_INSTRUCTIONS = 100, /* of a nanosecond or less each, with those that call the probes */
    MOST_BYTES = 8 * MOST_INSTRUCTIONS,
    FEW = 256, /* functions between two looks at `stop` */
};

struct short_file {
    struct image image;
    struct probe_targets targets;
};

/* Instructions on strings that repeat themselves. */
static bool short_repeats(const uint8_t *code, size_t length)
{
    bool repeats = false;
    size_t at = 0;
    for (; at < length && (code[at] == 0xf2 || code[at] == 0xf3 || code[at] == 0x66 || (code[at] & 0xf0) == 0x40); at++)
        repeats |= code[at] == 0xf2 || code[at] == 0xf3;
    return repeats && at < length && ((code[at] >= 0xa4 && code[at] <= 0xa7) || (code[at] >= 0xaa && code[at] <= 0xaf));
}

/* A branch to code elsewhere leads to what the compiler takes for unlikely. */
static bool short_is(const struct short_file *f, uint64_t begin, uint64_t end)
{
    uint8_t code[MOST_BYTES];
    const size_t size = (size_t)(end - begin);
    bool enters = false;
    if (end <= begin || end - begin > MOST_BYTES || !image_read(&f->image, begin, code, size))
        return false;
    size_t at = 0;
    for (int count = 0; at < size; count++) {
        struct code_insn insn;
        const uint64_t here = begin + at;
        if (count == MOST_INSTRUCTIONS || !code_machine_x86.decode(code + at, size - at, here, &insn) ||
            insn.length == 0 || short_repeats(code + at, insn.length))
            return false;
        at += insn.length;
        const bool inside = insn.value >= begin && insn.value < end;
        if ((insn.kind == CODE_BRANCH || insn.kind == CODE_JUMP) && inside) {
            if (insn.value <= here)
                return false; /* a loop */
            continue;
        }
        bool other = false;
        enters |= probe_target_of(&f->targets, &f->image, &insn, &other) == PROBE_ENTER;
        if (other)
            return false;
    }
    return enters;
}

static void short_find(struct short_code *found, const struct short_file *f, const uint32_t *stop)
{
    uint64_t begin, end;
    for (uint32_t i = 0; i + 1 < f->image.table_count; i++) {
        if (stop && i % FEW == 0 && __atomic_load_n(stop, __ATOMIC_RELAXED))
            return;
        if (!image_table_entry(&f->image, i, &begin) || !image_table_entry(&f->image, i + 1, &end) ||
            !short_is(f, begin, end))
            continue;
        GROW(found->functions, found->count, found->room);
        found->functions[found->count++] = begin;
    }
}

struct short_code short_code_find(const char *path, const uint32_t *stop)
{
    struct short_code found = { .functions = NULL };
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return found;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr header;
    if (elf && gelf_getehdr(elf, &header) && header.e_machine == EM_X86_64) {
        struct short_file f = { .image = image_of(elf) };
        if (f.image.table_header && probe_targets_find(&f.targets, elf))
            short_find(&found, &f, stop);
        image_drop(&f.image);
    }
    elf_end(elf);
    close(fd);
    return found;
}
