/* Builds sessions of a program in different versions. */
#include "support/versions.h"

#include <stdio.h>

enum { BASE = 0x400000, MAIN = 0x1000, LOG = 0x1200, LOOKUP = 0x100, CACHED = 0x200 };
static const uint64_t library = 0x7f0000000000;

static void version_write_names(struct writer *w, const struct version *v, const char *path)
{
    write_symbol_module(w, 0, path);
    write_symbol_module(w, 1, "/opt/lib/libprice.so");
    write_symbol(w, 0, 0, 0, MAIN + v->shift, "main");
    if (v->logged)
        write_symbol(w, 0, 0, 0, LOG + v->shift, "log_line");
    write_symbol(w, 1, 0, 0, LOOKUP + v->shift, "_ZN5price6lookupEi");
    if (v->cached)
        write_symbol(w, 1, 0, 0, CACHED + v->shift, "_ZN5price6cachedEi");
}

static void version_write_calls(struct writer *w, const struct version *v)
{
    const uint64_t unit = v->ticks_per_ns ? v->ticks_per_ns : 1, program = BASE + v->shift, prices = library + v->shift;
    uint64_t t = 1000 * unit;
    begin_events(w, 1, 1, 0, t, NULL, 0);
    write_enter(w, t, program + MAIN);
    t += (v->main_time + v->noise) * unit;
    for (unsigned i = 0; i < v->lookups; i++) {
        write_enter(w, t, prices + LOOKUP);
        t += ((v->time ? v->time : 100) + v->noise + (i % 50 == 49 ? v->slow : 0)) * unit;
        if (v->cached && i == 0) {
            write_enter(w, t, prices + CACHED);
            write_exit(w, t += 50 * unit);
        }
        write_exit(w, t);
    }
    if (v->logged) {
        write_enter(w, t, program + LOG);
        write_exit(w, t += 30 * unit);
    }
    write_exit(w, t);
    end_events(w, true);
}

struct writer *version_session(const struct version *v)
{
    char path[256];
    snprintf(path, sizeof path, "/opt/%s", v->program ? v->program : "shop");
    struct writer *w = writer_new();
    if (v->ticks_per_ns)
        write_header(w, 64, v->ticks_per_ns * 1000000000, 8);
    write_process(w, 1, 100, path);
    write_thread(w, 1, 1, 100, v->source, "main");
    write_module(w, 1, 1, BASE, BASE, BASE + 0x10000, 0, path);
    write_module(w, 1, 2, library, library, library + 0x10000, 0, "/opt/lib/libprice.so");
    version_write_names(w, v, path);
    version_write_calls(w, v);
    return w;
}

void version_save(const struct version *v, const char *path)
{
    struct writer *w = version_session(v);
    writer_save(w, path);
    writer_free(w);
}
