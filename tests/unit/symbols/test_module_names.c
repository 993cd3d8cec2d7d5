/* Names of the functions of modules, found step by step. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/run.h"
#include "support/scenario.h"
#include "symbols/elf_facts.h"
#include "symbols/module_names.h"

TestSuite(unit_module_names, .timeout = 120);

static struct symbol_module names_of_copy(uint8_t id[64])
{
    free(run_well("cp $SAMPLES/fib copy"));
    const char *path = test_path("copy");
    return (struct symbol_module){ path, id, elf_build_id_of(path, id, 64) };
}

static void names_check_all(struct module_names *n, const struct symbol_module *m, size_t expected)
{
    size_t count;
    const struct found_function *all = module_names_all(n, m, &count);
    bool main_found = false;
    cr_assert(eq(sz, count, expected));
    for (size_t i = 0; i < count; i++) {
        cr_expect(i == 0 || all[i].offset > all[i - 1].offset);
        const struct symbol again = module_names_find(n, m, all[i].offset);
        cr_expect(eq(ptr, (void *)again.linkage_name, (void *)all[i].symbol.linkage_name));
        if (strcmp(all[i].symbol.linkage_name, "main") == 0)
            main_found = all[i].symbol.file && all[i].symbol.line > 0;
    }
    cr_expect(main_found);
}

/* What was found while the program ran needs no file any more, and is what is found at the end. */
Test(unit_module_names, steps_find_the_same_as_the_end)
{
    uint8_t id[64];
    const struct symbol_module m = names_of_copy(id);
    struct module_names *late = module_names_new(), *early = module_names_new();
    size_t count;
    module_names_all(late, &m, &count);
    cr_assert(gt(sz, count, 2));
    module_names_add(early, &m);
    module_names_add(early, &m);
    cr_expect(module_names_step(early));
    while (module_names_step(early))
        continue;
    cr_assert(eq(int, unlink(m.path), 0));
    cr_expect(eq(sz, module_names_count(early, &m), module_names_count(late, &m)));
    names_check_all(early, &m, count);
    names_check_all(late, &m, count);
    module_names_free(early);
    module_names_free(late);
}

/* The end may come between two steps. */
Test(unit_module_names, the_end_completes_what_steps_began)
{
    uint8_t id[64], other_id[64];
    const char *other = DWELL_SAMPLES "/threads";
    const struct symbol_module m = names_of_copy(id),
                               o = { other, other_id, elf_build_id_of(other, other_id, sizeof other_id) };
    struct module_names *n = module_names_new(), *whole = module_names_new();
    size_t count, other_count;
    module_names_all(whole, &m, &count);
    module_names_all(whole, &o, &other_count);
    module_names_add(n, &o);
    module_names_add(n, &m);
    cr_expect(module_names_step(n));
    names_check_all(n, &m, count);
    names_check_all(n, &o, other_count);
    module_names_free(whole);
    module_names_free(n);
}

/* It is reported once, when the names are needed. */
Test(unit_module_names, a_file_that_is_missing)
{
    uint8_t id[] = { 1, 2, 3, 4 };
    const struct symbol_module m = { "/nowhere/at-all", id, sizeof id };
    struct module_names *n = module_names_new();
    size_t count;
    module_names_add(n, &m);
    while (module_names_step(n))
        continue;
    const struct found_function *all = module_names_all(n, &m, &count);
    cr_expect(eq(sz, count, 0));
    cr_expect(eq(ptr, (void *)all, NULL));
    cr_expect(eq(sz, module_names_count(n, &m), 0));
    module_names_free(n);
}

/* ---- code of no function ---- */

static const char parts_source[] = ".text\n"
                                   ".globl first\n.type first, %function\n"
                                   "first: .cfi_startproc\n.skip 16\n.cfi_endproc\n.size first, .-first\n"
                                   ".skip 48\n"
                                   ".globl bare\n.type bare, %function\n"
                                   "bare: .skip 16\n"
                                   ".globl last\n.type last, %function\n"
                                   "last: .cfi_startproc\n.skip 16\n.cfi_endproc\n.size last, .-last\n"
                                   ".section .note.GNU-stack, \"\", %progbits\n";

static void parts_expect(struct binaries *b, const struct symbol_module *m, uint64_t at, uint64_t begin,
                         const char *name)
{
    uint64_t found = 0;
    cr_assert(eq(int, (int)binaries_function(b, m, at, &found), CODE_OF_FUNCTION));
    cr_assert(eq(u64, found, begin));
    const char *linkage = binaries_find_name(b, m, found).linkage_name;
    cr_assert(eq(str, (char *)(linkage ? linkage : ""), (char *)name));
}

/* 48 bytes behind `first` belong to no symbol and no entry of the unwind table. The size of `bare` is unknown. */
Test(unit_module_names, code_of_no_function_has_not_the_name_of_the_one_before)
{
    free(run_well(
        "cat >parts.s <<'END'\n%sEND\ncc -shared -nostdlib -Wl,--build-id=none,--eh-frame-hdr -o parts.so parts.s",
        parts_source));
    struct binaries *b = binaries_new();
    const struct symbol_module m = { .path = test_path("parts.so") };
    uint64_t first = 0;
    for (const char *name = NULL; !name || strcmp(name, "first") != 0;
         name = binaries_find_name(b, &m, first).linkage_name)
        cr_assert(lt(u64, ++first, 1 << 20));
    parts_expect(b, &m, first, first, "first");
    parts_expect(b, &m, first + 15, first, "first");
    parts_expect(b, &m, first + 16, first + 16, "");
    parts_expect(b, &m, first + 63, first + 16, "");
    parts_expect(b, &m, first + 64, first + 64, "bare");
    parts_expect(b, &m, first + 79, first + 64, "bare");
    parts_expect(b, &m, first + 95, first + 80, "last");
    binaries_free(b);
}
