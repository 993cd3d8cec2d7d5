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
