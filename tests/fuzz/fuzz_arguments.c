/*
 * The fuzzer's target for arguments: bytes are read as an ELF file, and all arguments of its functions are looked for.
 * Programs that are found are run, on registers and memory that are made up.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments/arguments.h"
#include "fuzz/fuzz.h"
#include "symbols/elf_facts.h"

enum { FUNCTIONS = 64, MAX_ID = 64, TEXT = 64 };

static bool arguments_read_memory(void *data, uint64_t address, void *into, size_t size)
{
    (void)data;
    memset(into, (int)(address >> 3), size);
    return address % 7 != 0;
}

static void arguments_try(const struct argument_use *use, const struct load_names *names)
{
    const struct load_state state = { .general = { 1, 2, 3, 4 }, .module = 5, .read = arguments_read_memory };
    char text[TEXT];
    struct load_result result = { .text = text, .text_room = sizeof text };
    fuzz_require(load_check(&use->program));
    if (load_can_run(&use->program))
        load_run(&use->program, &state, &result);
    fuzz_require(result.text_length <= sizeof text);
    free(load_describe(&use->program, names));
}

static void arguments_ask(struct argument_reader *r, uint64_t function, char *const *what, size_t count)
{
    struct function_arguments f;
    struct error error = { NULL };
    if (!arguments_find(r, function, what, count, &f, &error))
        fuzz_require(error.text && !strchr(error.text, '\n'));
    for (size_t i = 0; i < f.site_count; i++)
        for (size_t j = 0; j < f.count; j++) {
            const struct argument_use *use = &f.sites[i].uses[j];
            fuzz_require(use->missing < MISSING_KINDS);
            if (!use->missing && use->program.count)
                arguments_try(use, f.registers);
        }
    error_drop(&error);
    function_arguments_drop(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char next[] = "p->next->x", result[] = "return->x", second[] = "p[1].low";
    static char *const parts[] = { next, result, second };
    char path[FUZZ_PATH];
    uint8_t id[MAX_ID];
    const int fd = fuzz_file(data, size, path);
    const struct symbol_module module = { path, id, elf_build_id_of(path, id, sizeof id) };
    struct binaries *b = binaries_new_quiet();
    struct error error = { NULL };
    struct argument_reader *r = arguments_open(b, &module, &error);
    uint64_t function;
    size_t place = 0;
    fuzz_require(!r == (error.text != NULL));
    for (int i = 0; r && i < FUNCTIONS && arguments_next_function(r, &place, &function); i++) {
        arguments_ask(r, function, NULL, 0);
        for (size_t j = 0; j < sizeof parts / sizeof *parts; j++)
            arguments_ask(r, function, &parts[j], 1);
    }
    if (r)
        arguments_close(r);
    error_drop(&error);
    binaries_free(b);
    close(fd);
    return 0;
}
