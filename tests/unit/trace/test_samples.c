/* Samples are read as written, belong to the thread of their tid and time, and damage does no harm. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "support/scenario.h"
#include "trace/samples.h"
#include "trace/session_merge.h"

enum { WORDS = 130 };

static const uint64_t registers[] = { 0x401234, 0x7ffe0000, 0x7ffe0100, 5 };

/* Process 1 with PID 70 has thread 1 up to 5,000 and thread 2 from 6,000, both with TID 71. */
static struct writer *samples_writer(void)
{
    struct writer *w = writer_new();
    write_header(w, 240, 1000000, 4);
    write_process(w, 1, 70, "/p");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "first");
    write_thread_end(w, 1, 1, false, 5000);
    write_thread(w, 1, 2, 71, SOURCE_PERF, "second");
    return w;
}

static void samples_write(struct writer *w, uint64_t time, uint32_t word_count)
{
    uint64_t words[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i % 3 ? 0x400000 + i : 0;
    write_sample(w, &(struct written_sample){ time, registers, words, 4, word_count });
}

static struct session_file *samples_open(struct writer *w)
{
    const char *error = NULL;
    const char *path = test_path("samples.data");
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL, "%s", error);
    return file;
}

static const struct trace_chunk *samples_chunk(const struct session_file *file, size_t number)
{
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_SAMPLES && number-- == 0)
            return &file->chunks[i];
    cr_fatal("no such chunk");
}

Test(unit_samples, are_read_as_written)
{
    for (int with_used = 0; with_used < 2; with_used++) {
        struct writer *w = samples_writer();
        begin_samples(w, 1, 2, 70, 71, 100);
        for (uint32_t i = 0; i < 3; i++)
            samples_write(w, 100 + i, i * 65);
        end_samples(w, with_used);
        struct session_file *file = samples_open(w);
        const struct trace_chunk *chunk = samples_chunk(file, 0);
        cr_assert(eq(u64, samples_count(file), 3));
        uint8_t *bytes = malloc(chunk->size + TRACE_PADDING);
        cr_assert(session_file_read_chunk(file, chunk, bytes));
        uint32_t at = sizeof(struct dwell_chunk_header);
        struct stack_sample s;
        bool damaged;
        for (uint32_t i = 0; i < 3; i++) {
            cr_assert(samples_next(bytes, chunk->size, &at, &s, &damaged));
            cr_assert(eq(u64, s.time, 100 + i));
            cr_assert(eq(u32, s.register_count, 4));
            cr_assert(eq(u32, s.words, i * 65));
            for (int r = 0; r < 4; r++)
                cr_assert(eq(u64, s.registers[r], registers[r]));
            for (uint32_t word = 0; word < WORDS + 100; word++)
                cr_assert(eq(u64, sample_stack_word(&s, word), word < i * 65 && word % 3 ? 0x400000 + word : 0));
        }
        cr_assert(not(samples_next(bytes, chunk->size, &at, &s, &damaged)));
        cr_assert(not(damaged));
        free(bytes);
        session_file_close(file);
    }
}

/* By the time of the chunk if the writer did not know the thread. */
Test(unit_samples, belong_to_the_thread_of_that_time)
{
    static const struct {
        uint32_t pid, tid;
        uint64_t start;
        uint32_t thread;
    } cases[] = { { 70, 71, 0, 1 }, { 70, 71, 5000, 1 }, { 70, 71, 5001, 2 }, { 70, 72, 100, 0 }, { 71, 71, 100, 0 } };
    struct writer *w = samples_writer();
    for (int i = 0; i < 5; i++) {
        begin_samples(w, 0, 0, cases[i].pid, cases[i].tid, cases[i].start);
        samples_write(w, cases[i].start, 1);
        end_samples(w, true);
    }
    begin_samples(w, 1, 2, 70, 71, 0); /* the writer knew */
    samples_write(w, 0, 1);
    end_samples(w, true);
    struct session_file *file = samples_open(w);
    for (size_t i = 0; i < 5; i++) {
        cr_assert(eq(u32, samples_chunk(file, i)->thread, cases[i].thread), "case %zu", i);
        cr_assert(eq(u32, samples_chunk(file, i)->process, cases[i].thread ? 1 : 0), "case %zu", i);
    }
    cr_assert(eq(u32, samples_chunk(file, 5)->thread, 2));
    cr_assert(eq(u64, samples_count(file), 4));
    session_file_close(file);
}

Test(unit_samples, are_merged_with_their_threads)
{
    struct session_file *files[2];
    for (int i = 0; i < 2; i++) {
        struct writer *w = samples_writer();
        write_header(w, 24, (uint64_t)i + 1, 8);
        write_header(w, 240, i ? 1000000 : 500000, 4);
        write_header(w, 246, i ? 190 : 210, 2);
        write_header(w, 248, 3, 4);
        write_header(w, 252, i ? 30000 : 20000, 4);
        begin_samples(w, 0, 0, 70, 71, 10);
        samples_write(w, 10, 5);
        end_samples(w, i);
        begin_samples(w, 0, 0, 99, 99, 10); /* of nobody */
        set_sample_period(w, 3);
        samples_write(w, 10, 5);
        end_samples(w, i);
        begin_samples(w, 0, 0, 70, 71, 20);
        set_sample_period(w, 400000);
        samples_write(w, 20, 5);
        end_samples(w, i);
        files[i] = samples_open(w);
    }
    const char *path = test_path("merged.data");
    const char *error = session_merge(files, 2, false, path);
    cr_assert(error == NULL, "%s", error);
    session_file_close(files[0]);
    session_file_close(files[1]);
    struct session_file *merged = session_file_open(path, &error);
    cr_assert(eq(u64, samples_count(merged), 4));
    cr_assert(eq(u32, merged->header.lost_samples, 6));
    cr_assert(eq(u32, merged->header.sample_period, 1000000));
    cr_assert(eq(u32, merged->header.sample_cost, 20000)); /* the smaller one */
    cr_assert(eq(u32, merged->header.count_cost, 190));
    cr_assert(eq(i32, merged->header.sample_error, 0));
    cr_assert(eq(u32, samples_chunk(merged, 0)->thread, 1));
    cr_assert(eq(u32, samples_chunk(merged, 2)->thread, 3));
    static const uint32_t periods[] = { 500000, 400000, 1000000, 400000 };
    for (size_t i = 0; i < 4; i++)
        cr_assert(eq(u32, samples_period(merged, samples_chunk(merged, i)), periods[i]), "%zu", i);
    session_file_close(merged);
}

/* Samples stand for the chunk's period, or for that of the header. */
Test(unit_samples, have_the_period_of_their_chunk)
{
    static const struct {
        uint32_t header, chunk, period;
    } cases[] = { { 1000, 0, 1000 }, { 1000, 700, 700 }, { 0, 700, 700 }, { 0, 0, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct writer *w = samples_writer();
        write_header(w, 240, cases[i].header, 4);
        begin_samples(w, 0, 0, 99, 99, 10); /* of nobody */
        set_sample_period(w, 1);
        samples_write(w, 10, 5);
        end_samples(w, true);
        begin_samples(w, 1, 1, 70, 71, 10);
        set_sample_period(w, cases[i].chunk);
        samples_write(w, 10, 5);
        end_samples(w, true);
        begin_samples(w, 1, 1, 70, 71, 10);
        set_sample_period(w, 5000);
        samples_write(w, 10, 5);
        end_samples(w, true);
        struct session_file *file = samples_open(w);
        cr_assert(eq(u32, samples_period(file, samples_chunk(file, 1)), cases[i].period), "%zu", i);
        uint32_t shortest, longest;
        cr_assert(samples_periods(file, &shortest, &longest));
        cr_assert(eq(u32, shortest, cases[i].period), "%zu", i);
        cr_assert(eq(u32, longest, 5000));
        session_file_close(file);
    }
}

/* Every byte of a sample's head, with several values. */
Test(unit_samples, that_are_damaged_end_the_chunk)
{
    enum { HEAD = sizeof(struct dwell_chunk_header), ROOM = 4096 };
    struct writer *w = samples_writer();
    begin_samples(w, 1, 1, 70, 71, 10);
    const size_t begin = w->chunk;
    samples_write(w, 10, WORDS);
    samples_write(w, 11, WORDS);
    const uint32_t size = (uint32_t)(w->file.length - begin);
    static const uint8_t values[] = { 0, 1, 7, 8, 0x7f, 0x80, 0xff };
    for (uint32_t byte = 0; byte < 8; byte++)
        for (size_t v = 0; v < sizeof values; v++) {
            _Alignas(8) uint8_t bytes[ROOM] = { 0 };
            memcpy(bytes, w->file.at + begin, size);
            bytes[HEAD + byte] = values[v];
            uint32_t at = HEAD, count = 0;
            struct stack_sample s;
            bool damaged;
            while (samples_next(bytes, size, &at, &s, &damaged)) {
                for (uint32_t word = 0; word < s.words; word++)
                    sample_stack_word(&s, word);
                cr_assert(le(u32, ++count, size / 16));
            }
            cr_assert(le(u32, at, size));
        }
    writer_free(w);
}

/* Each limit is exact. The samples have room for what their heads say. */
Test(unit_samples, numbers_of_registers_and_words_have_limits)
{
    enum { ROOM = 1024, MOST_REGISTERS = DWELL_SAMPLE_REGISTERS, MOST_WORDS = DWELL_SAMPLE_WORDS };
    static const struct {
        uint16_t registers, words;
        uint32_t size;
        bool valid;
    } cases[] = {
        { 0, 0, ROOM, false },
        { 1, 0, 24, true },
        { 1, 0, 16, false },
        { MOST_REGISTERS, 0, ROOM, true },
        { MOST_REGISTERS + 1, 0, ROOM, false },
        { 1, MOST_WORDS, ROOM, true },
        { 1, MOST_WORDS + 1, ROOM, false },
        { 1, 65, 40, true },
        { 1, 65, 32, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        _Alignas(8) uint8_t bytes[ROOM] = { 0 };
        const struct dwell_stack_sample head = { cases[i].size, cases[i].registers, cases[i].words, 10 };
        memcpy(bytes, &head, sizeof head);
        uint32_t at = 0;
        struct stack_sample s;
        bool damaged;
        cr_assert(eq(int, samples_next(bytes, ROOM, &at, &s, &damaged), cases[i].valid), "case %zu", i);
        cr_assert(eq(int, damaged, !cases[i].valid), "case %zu", i);
        cr_assert(eq(u32, at, cases[i].valid ? cases[i].size : 0), "case %zu", i);
    }
}
