/* Hostile input: a file with any content gives an error, or is read as far as possible. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/scenario.h"
#include "trace/scan.h"

static uint8_t *whole;
static size_t whole_length;

/* A session with every kind of record. */
static void garbage_make_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_module(w, 1, 1, 0x10000, 0x11000, 0x12000, 0, "/lib/x.so");
    write_module_unload(w, 1, 1, 5000);
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_thread_name(w, 1, 1, "renamed");
    write_note(w, 1, "a note");
    begin_events(w, 1, 1, 0, 0, (struct open_call[]){ { 0x11000, 0 }, { 0x9000, 0 } }, 2);
    for (uint64_t i = 1; i < 60; i++) {
        if (i % 7 == 0)
            write_off_cpu(w, i % 2, i * 1000, 10);
        if (i % 11 == 0)
            write_unwind(w, 1);
        if (i % 3)
            write_enter(w, i * 20000, i % 5 ? 0x11000 + i * 16 : 0x700000001000 + i);
        else
            write_exit(w, i * 20000);
    }
    end_events(w, true);
    write_thread_end(w, 1, 1, true, 2000000);
    write_process_end(w, 1, 100, END_SIGNAL, 11, 2100000);
    write_symbol_module(w, 0, "/lib/x.so");
    write_symbol_file(w, 1, "x.c");
    write_symbol(w, 0, 1, 12, 0x1000, "_Z3foov");
    writer_save(w, test_path("whole"));
    whole_length = w->file.length;
    whole = malloc(whole_length);
    memcpy(whole, w->file.at, whole_length);
    writer_free(w);
}

static void garbage_drop_session(void)
{
    free(whole);
}

static void garbage_put_file(const char *path, const uint8_t *bytes, size_t length)
{
    FILE *out = fopen(path, "wb");
    cr_assert(out != NULL);
    cr_assert(eq(sz, fwrite(bytes, 1, length, out), length));
    cr_assert(eq(int, fclose(out), 0));
}

/* Opens the file and reads everything; true if it could be opened. */
static bool garbage_swallow_file(const char *path)
{
    const char *error = NULL;
    struct session_file *file = session_file_open(path, &error);
    if (!file) {
        cr_assert(error != NULL && error[0] != '\0' && strchr(error, '\n') == NULL);
        return false;
    }
    struct profile *profile = collect_profile(file, 1);
    struct rollup *rollup = rollup_new(profile);
    free(rollup_groups(rollup, BY_FUNCTION));
    free(rollup_groups(rollup, BY_MODULE));
    free(rollup_groups(rollup, BY_THREAD));
    free(rollup_groups(rollup, BY_PROCESS));
    struct scan scan = scan_session(file, 1);
    scan_free(&scan);
    rollup_free(rollup);
    profile_free(profile);
    session_file_close(file);
    return true;
}

TestSuite(unit_garbage, .init = garbage_make_session, .fini = garbage_drop_session, .timeout = 900);

Test(unit_garbage, the_whole_is_read)
{
    cr_assert(garbage_swallow_file(test_path("whole")));
}

Test(unit_garbage, cut_off_at_every_length)
{
    const char *path = test_path("cut");
    garbage_put_file(path, whole, whole_length);
    for (size_t length = whole_length; length-- > 0;) {
        cr_assert(eq(int, truncate(path, (off_t)length), 0));
        bool opened = garbage_swallow_file(path);
        cr_assert(eq(int, opened, length >= sizeof(struct dwell_file_header)), "cut to %zu bytes", length);
    }
}

Test(unit_garbage, flipped_bytes)
{
    const char *path = test_path("flipped");
    uint64_t state = 42;
    for (int round = 0; round < 4000; round++) {
        uint8_t *copy = malloc(whole_length);
        memcpy(copy, whole, whole_length);
        for (int i = 0; i < 1 + round % 8; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            size_t chunk = (state >> 20) % (whole_length / 4096); /* most of each page is zero */
            copy[chunk * 4096 + (state >> 40) % 256] ^= (uint8_t)(state >> 56 | 1);
        }
        garbage_put_file(path, copy, whole_length);
        garbage_swallow_file(path);
        free(copy);
    }
}

Test(unit_garbage, random_bytes_after_a_good_header)
{
    const char *path = test_path("random");
    uint64_t state = 7;
    for (int round = 0; round < 300; round++) {
        uint8_t *copy = malloc(whole_length);
        memcpy(copy, whole, whole_length);
        for (size_t i = 4096; i < whole_length; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bool header = i % 4096 < 64;
            if (!header)
                copy[i] = (uint8_t)(state >> 40);
        }
        garbage_put_file(path, copy, whole_length);
        garbage_swallow_file(path);
        free(copy);
    }
}

static const char *garbage_error_of(const char *path)
{
    const char *error = NULL;
    cr_assert(session_file_open(path, &error) == NULL);
    return error;
}

Test(unit_garbage, errors_name_the_problem)
{
    const char *path = test_path("wrong");
    garbage_put_file(path, whole, 0);
    cr_assert(eq(str, (char *)garbage_error_of(path), "the file is empty"));
    garbage_put_file(path, (const uint8_t *)"#!/bin/sh\necho hello, world\n", 28);
    cr_assert(eq(str, (char *)garbage_error_of(path), "not a dwell session"));
    garbage_put_file(path, whole, 100);
    cr_assert(eq(str, (char *)garbage_error_of(path), "truncated within its header"));
    whole[8] = 2;
    garbage_put_file(path, whole, whole_length);
    cr_assert(eq(str, (char *)garbage_error_of(path), "written by a newer version of dwell"));
    cr_assert(eq(str, (char *)garbage_error_of(test_folder()), "is a directory"));
    cr_assert(eq(str, (char *)garbage_error_of("/dev/null"), "not a regular file"));
    cr_assert(eq(str, (char *)garbage_error_of(test_path("missing")), "No such file or directory"));
}

Test(unit_garbage, a_damaged_chunk_is_reported_and_the_rest_is_used)
{
    const char *path = test_path("damaged"), *error;
    size_t events = 0;
    for (size_t at = 4096; at < whole_length; at += 4096)
        if (whole[at + 4] == 1)
            events = at;
    cr_assert(ne(sz, events, 0));
    whole[events + 9] = 0x01; /* its size is not a multiple of the unit any more */
    garbage_put_file(path, whole, whole_length);
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL);
    cr_assert(eq(u64, file->health.damaged_chunks, 1));
    cr_assert(eq(sz, file->thread_count, 1));
    cr_assert(eq(str, file->threads[0].name, "renamed"));
    cr_assert(eq(sz, file->labels.note_count, 1));
    session_file_close(file);
}
