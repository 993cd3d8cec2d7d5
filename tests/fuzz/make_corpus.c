/* Writes the sessions with which the fuzzer starts: make-corpus FOLDER. */
#include <stdio.h>
#include <string.h>

#include "support/example.h"
#include "support/site_session.h"

static void save(struct writer *w, const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    writer_save(w, path);
    writer_free(w);
}

/* A thread that was killed while it wrote a record. */
static struct writer *killed(void)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, 0x1000);
    write_enter(w, 20, 0x7f0000001000);
    write_words(w, (uint16_t[]){ 0, 0, 0, 1u << 14 | 25, 0, 0 }, 6);
    end_events(w, false);
    return w;
}

static struct writer *nothing_but_free_space(void)
{
    struct writer *w = writer_new();
    write_nothing(w);
    write_chunk_of_kind(w, 0);
    write_chunk_of_kind(w, 4);
    write_nothing(w);
    return w;
}

/* A report's values of functions: docs/format.md, REPORTED. */
static struct writer *imported(void)
{
    static const uint64_t functions[][2] = { { 0x1000, 0 }, { 0x2000, 0x1000 }, { 0x1000, 0x2000 } };
    const uint64_t values[] = { 50, 20, 40, 10, 3, 5, 30 };
    struct writer *w = writer_new();
    write_header(w, 148, 1 | 2, 4);
    write_process(w, 1, 100, "/bin/p");
    write_thread(w, 1, 1, 0, 3, "all threads");
    for (uint32_t kind = 1; kind <= 3; kind++) {
        uint8_t content[80] = { (uint8_t)kind };
        memcpy(content + 8, functions[kind - 1], 16);
        memcpy(content + 24, values, sizeof values);
        write_record(w, 1, 20, content, sizeof content);
    }
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, 0x1000);
    write_enter(w, 20, 0x2000);
    write_exit(w, 30);
    write_exit(w, 40);
    end_events(w, true);
    return w;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    save(example_session(SOURCE_PERF), argv[1], "example");
    save(example_small(), argv[1], "small");
    save(killed(), argv[1], "killed");
    save(nothing_but_free_space(), argv[1], "free");
    save(imported(), argv[1], "imported");
    save(writer_new(), argv[1], "header");
    save(site_session(SITES_WHOLE), argv[1], "sites");
    save(site_session(SITES_SPLIT), argv[1], "sites-split");
    save(site_session(SITES_SWITCHED), argv[1], "sites-switched");
    return 0;
}
