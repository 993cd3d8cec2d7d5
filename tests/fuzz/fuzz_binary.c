/*
 * The fuzzer's target for binaries: bytes are read as an ELF file, whose build-id is asked for first. All that dwell
 * asks a binary is asked at several addresses, and a stack is unwound by its tables.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "symbols/elf_facts.h"
#include "symbols/image.h"
#include "symbols/instrumentation.h"
#include "symbols/symbols.h"
#include "symbols/unwind.h"

enum { FRAMES = 32, REGISTERS = 14, WORDS = 64, MAX_ID = 64, PLACES = 24 };

static void binary_ask_file(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        elf_has_segment(elf, PT_INTERP);
        elf_needs_musl(elf);
        elf_has_runtime(elf);
        const struct instrumentation calls = instrumentation_count(elf);
        fuzz_require(calls.functions <= calls.calls);
        struct image image = image_of(elf);
        uint64_t begin, end;
        for (uint64_t at = 0; at < 4096; at += 64)
            if (image_function(&image, at, &begin, &end))
                fuzz_require(begin <= at);
        image_drop(&image);
    }
    elf_end(elf);
    close(fd);
}

static void binary_ask_place(struct binaries *b, const struct symbol_module *module, uint64_t offset)
{
    uint64_t value, inside;
    binaries_find(b, module, offset);
    binaries_function(b, module, offset, &value);
    binaries_site(b, module, offset, false);
    binaries_site(b, module, offset, true);
    binaries_variable(b, module, offset, &inside);
    binaries_read(b, module, offset, &value, sizeof value);
}

static const struct symbol_module *binary_module;

static uint64_t binary_word(const void *context, uint32_t number)
{
    const uint64_t *first = context;
    return *first + number * 24;
}

static bool binary_find(const void *context, uint64_t address, struct unwind_module *module)
{
    (void)context;
    *module = (struct unwind_module){ *binary_module, 0, 0, UINT64_MAX };
    return address < 1 << 24;
}

static void binary_unwind(struct binaries *b, uint64_t first)
{
    uint64_t registers[REGISTERS] = { first, 0x7000000, 0x7000080 }, frames[FRAMES];
    struct unwinder *u = unwinder_new(b);
    const struct unwind_copy copy = { registers, REGISTERS, WORDS, binary_word, binary_find, &first };
    if (!u)
        return;
    const size_t count = unwinder_run(u, &copy, frames, FRAMES);
    fuzz_require(count >= 1 && count <= FRAMES && frames[0] == first);
    unwinder_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    uint8_t id[MAX_ID];
    const int fd = fuzz_file(data, size, path);
    const struct symbol_module module = { path, id, elf_build_id_of(path, id, sizeof id) };
    struct binaries *b = binaries_new_quiet();
    binary_module = &module;
    binary_ask_file(path);
    const size_t count = binaries_count(b, &module);
    for (size_t i = 0; i < PLACES; i++) {
        const uint64_t offset = i < count ? binaries_offset(b, &module, i) : i * 0x203;
        binary_ask_place(b, &module, offset);
        binary_unwind(b, offset + 5);
    }
    binaries_free(b);
    close(fd);
    return 0;
}
