/* A session read while it grows gives the same profile as the finished session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#include "support/example.h"
#include "support/growth.h"
#include "support/model.h"
#include "support/scenario.h"

TestSuite(unit_growth, .timeout = 300);

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

Test(unit_growth, the_example_session)
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
