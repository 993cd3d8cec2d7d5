/* Compares a session that is read while it grows with the same session read at once. */
#include "support/growth.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#include "profile/follow.h"
#include "support/grower.h"
#include "support/same_profile.h"
#include "support/scenario.h"

static const uint64_t most = (uint64_t)1 << 40;

static uint64_t growth_calls(const struct profile *p)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < p->node_count; i++)
        calls += p->nodes[i].calls;
    return calls;
}

/* The calls since the previous look and the calls before it add up to the whole. */
static void growth_check_recent(const struct follow *f)
{
    if (f->recent)
        cr_assert(
            eq(u64, growth_calls(f->looks[f->look_count - 1].whole) + growth_calls(f->recent), growth_calls(f->whole)));
}

void check_growth(const char *path, uint64_t seed)
{
    char to[4096];
    snprintf(to, sizeof to, "%s", test_path("growing"));
    struct grower *g = grower_new(path, to, seed);
    const char *error;
    struct follow *f = follow_open(to, &error);
    cr_assert(f != NULL, "%s", error);
    uint64_t calls = 0;
    for (bool more = true; more;) {
        more = grower_step(g, false);
        for (uint64_t i = 0; i < (grower_is_in_parts(g) ? 1 : 1 + seed % 3); i++)
            cr_assert(eq(ptr, (void *)follow_read(f, seed % 2 ? 20000 : most, 2), NULL));
        follow_look(f);
        growth_check_recent(f);
        cr_assert(ge(u64, f->whole->counts.enters, calls));
        calls = f->whole->counts.enters;
    }
    f->alive = false;
    for (int i = 0; i < 2 || f->growth->left; i++)
        cr_assert(eq(ptr, (void *)follow_read(f, most, 1), NULL));
    follow_look(f);
    check_same_profile(f->whole, path);
    follow_close(f);
    grower_free(g);
}
