/* A session that is read while it grows gives what it gives when it is read at its end. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/follow.h"
#include "support/example.h"
#include "support/grower.h"
#include "support/model.h"
#include "support/scenario.h"
#include "support/same_profile.h"

TestSuite(unit_growth, .timeout = 120);

static const uint64_t most = (uint64_t)1 << 40;

/* Read step by step, with looks in between, it is the same as when it is read at once. */
static void check_growth(const char *from, uint64_t seed)
{
    char to[4096];
    snprintf(to, sizeof to, "%s", test_path("growing"));
    struct grower *g = grower_new(from, to, seed);
    const char *error;
    struct follow *f = follow_open(to, &error);
    cr_assert(f != NULL, "%s", error);
    uint64_t calls = 0;
    for (bool more = true; more;) {
        more = grower_step(g, false);
        for (uint64_t i = 0; i < 1 + seed % 3; i++)
            cr_assert(eq(ptr, (void *)follow_read(f, seed % 2 ? 20000 : most, 2), NULL));
        follow_look(f);
        cr_assert(ge(u64, f->whole->counts.enters, calls));
        calls = f->whole->counts.enters;
    }
    f->alive = false;
    for (int i = 0; i < 2 || f->growth->left; i++)
        cr_assert(eq(ptr, (void *)follow_read(f, most, 1), NULL));
    follow_look(f);
    check_same_profile(f->whole, from);
    follow_close(f);
    grower_free(g);
}

Test(unit_growth, random_sessions)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct model *m = model_new(seed);
        struct writer *w = model_write(m, seed % 4 ? 100 : 0, 0);
        char path[4096];
        snprintf(path, sizeof path, "%s", test_path("model"));
        writer_save(w, path);
        check_growth(path, seed);
        writer_free(w);
        model_free(m);
    }
}

Test(unit_growth, an_example_of_everything)
{
    static const uint32_t sources[] = { 0, 1 };
    for (int i = 0; i < 2; i++) {
        struct writer *w = example_session(sources[i]);
        char path[4096];
        snprintf(path, sizeof path, "%s", test_path("example"));
        writer_save(w, path);
        for (uint64_t seed = 1; seed < 20; seed++)
            check_growth(path, seed);
        writer_free(w);
    }
}
