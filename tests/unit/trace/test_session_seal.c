/* Checksums of sessions: that they find each damage, and leave the rest as it is. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checksum.h"
#include "session.h"
#include "support/scenario.h"
#include "trace/session_merge.h"
#include "trace/session_seal.h"

TestSuite(unit_seal, .timeout = 300);

enum { F = 0x1000, G = 0x2000, PAGE = 4096, CALLS = 3000, SEALED_BYTE = 6, SIZE_BYTE = 8 };

/* Two threads; two chunks of events of the first one, one of them of several units, with and without `used`. */
static void seal_write_events(struct writer *w)
{
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (int i = 0; i < CALLS; i++) {
        write_enter(w, 10 + 2 * (uint64_t)i, F);
        write_exit(w, 11 + 2 * (uint64_t)i);
    }
    write_enter(w, 8000, G);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 8000, (struct open_call[]){ { G, 8000 } }, 1);
    write_enter(w, 8100, F);
    write_exit(w, 8200);
    write_exit(w, 8300);
    end_events(w, false);
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 100, F);
    end_events(w, true);
}

/* A chunk of each kind that has data. */
static struct writer *seal_new(void)
{
    static const char guid[16] = "0123456789abcdef";
    static const uint64_t registers[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    write_thread(w, 1, 1, 10, SOURCE_PERF, "t");
    write_thread(w, 1, 2, 11, SOURCE_PERF, "u");
    write_thread_end(w, 1, 1, false, 9000);
    write_thread_end(w, 1, 2, false, 9000);
    end_records(w, true);
    seal_write_events(w);
    write_nothing(w);
    write_chunk_of_kind(w, 0);
    write_chunk_of_kind(w, 6); /* filters, which are not sealed */
    write_tree(w, 1, 3, (struct tree_node[]){ { .function = F, .calls = 1, .elapsed = 5 } }, 1);
    write_counts(w, 1, 1, 5, (const uint64_t[][2]){ { G, 7 } }, 1);
    write_wait_rows(w, 1, 3, (struct wait_row[]){ { .node = 1, .waits = 1, .blocked = 1 } }, 1);
    begin_trace_events(w, 1, 1, 0);
    write_trace_event(w, guid, &(struct written_event){ .time = 20, .type = 1 });
    end_trace_events(w, true);
    begin_samples(w, 1, 1, 10, 10, 30);
    write_sample(w, &(struct written_sample){ .time = 30, .registers = registers, .register_count = 8 });
    end_samples(w, true);
    write_symbol_module(w, 0, "/bin/p");
    write_symbol(w, 0, 0, 0, F, "f");
    return w;
}

enum { CHUNKS = 10, WHOLE = 19 * PAGE };

static void seal_file(const char *path)
{
    const int fd = open(path, O_RDWR);
    struct session session = { .header = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) };
    cr_assert(session.header != MAP_FAILED);
    seal_session(&session, fd);
    munmap(session.header, PAGE);
    close(fd);
}

static const char *seal_save(const char *name)
{
    const char *path = test_path(name);
    struct writer *w = seal_new();
    writer_save(w, path);
    writer_free(w);
    seal_file(path);
    return path;
}

static struct session_file *seal_open(const char *path)
{
    const char *error = NULL;
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL, "%s", error ? error : "");
    return file;
}

static void seal_flip(int fd, uint64_t offset, unsigned bit)
{
    uint8_t byte;
    cr_assert(eq(sz, (size_t)pread(fd, &byte, 1, (off_t)offset), 1));
    byte ^= (uint8_t)(1u << bit);
    cr_assert(eq(sz, (size_t)pwrite(fd, &byte, 1, (off_t)offset), 1));
}

Test(unit_seal, the_checksum_is_xxh64)
{
    struct checksum c;
    uint8_t bytes[64];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    checksum_begin(&c);
    cr_assert(eq(u64, checksum_of(&c), 0xef46db3751d8e999));
    checksum_add(&c, bytes, 32);
    checksum_add(&c, bytes + 32, 32);
    cr_assert(eq(u64, checksum_of(&c), 0xf7c67301db6713f0));
}

Test(unit_seal, a_whole_session)
{
    struct session_file *f = seal_open(seal_save("whole"));
    cr_assert(f->health.is_sealed);
    cr_assert(not(f->health.lacks_parts));
    cr_assert(eq(u64, f->health.whole_chunks, CHUNKS));
    cr_assert(eq(u64, f->health.sealed_chunks, CHUNKS));
    cr_assert(eq(u64, f->health.whole_size, WHOLE));
    cr_assert(not(session_file_is_damaged(f)));
    session_file_close(f);
}

/* By the words of docs/format.md: each unit that is not zero, behind its number. */
Test(unit_seal, the_checksum_of_a_chunk)
{
    struct session_file *f = seal_open(seal_save("sum"));
    const struct trace_chunk *chunk = &f->chunks[1];
    uint8_t bytes[8 * PAGE] = { 0 };
    struct checksum c;
    cr_assert(chunk->size > 2 * PAGE && chunk->size <= sizeof bytes);
    cr_assert(session_file_read_some(f, chunk->offset, bytes, chunk->used) == (long)chunk->used);
    memset(bytes + SEALED_BYTE, 0, 2);
    memset(bytes + 56, 0, 8);
    checksum_begin(&c);
    for (uint64_t unit = 0; unit * PAGE < chunk->used; unit++) {
        const uint64_t number[4] = { unit };
        checksum_add(&c, number, sizeof number);
        checksum_add(&c, bytes + unit * PAGE, PAGE);
    }
    cr_assert(eq(u64, chunk->checksum, checksum_of(&c)));
    session_file_close(f);
}

/* A bit of each byte, and all bits of each header. The chunk is gone, all others are there, and it is counted. */
static void seal_check_flip(const char *path, int fd, uint64_t offset, unsigned bit)
{
    seal_flip(fd, offset, bit);
    struct session_file *f = seal_open(path);
    cr_assert(f->health.lacks_parts, "%llu", (unsigned long long)offset);
    cr_assert(eq(u64, f->health.whole_chunks, CHUNKS - 1), "%llu", (unsigned long long)offset);
    cr_assert(eq(u64, f->health.missing_chunks + f->health.damaged_chunks, 1), "%llu", (unsigned long long)offset);
    cr_assert(eq(u64, f->health.missing_bytes, 0));
    session_file_close(f);
    seal_flip(fd, offset, bit);
}

Test(unit_seal, each_bit_of_a_header)
{
    const char *path = seal_save("headers");
    struct session_file *f = seal_open(path);
    const int fd = open(path, O_RDWR);
    for (size_t i = 0; i < f->chunk_count; i++)
        for (unsigned bit = 0; bit < 64 * 8 && f->chunks[i].sealed; bit++)
            seal_check_flip(path, fd, f->chunks[i].offset + bit / 8, bit % 8);
    close(fd);
    session_file_close(f);
}

Test(unit_seal, each_byte_of_the_data)
{
    const char *path = seal_save("data");
    struct session_file *f = seal_open(path);
    const int fd = open(path, O_RDWR);
    for (size_t i = 0; i < f->chunk_count; i++) {
        const struct trace_chunk *chunk = &f->chunks[i];
        if (!chunk->sealed)
            continue;
        for (uint32_t at = 64; at < chunk->size; at++) {
            seal_flip(fd, chunk->offset + at, at % 8);
            cr_assert(eq(int, seal_holds(f, chunk), at >= trace_chunk_end(chunk)), "chunk %zu, byte %u", i, at);
            seal_flip(fd, chunk->offset + at, at % 8);
        }
        seal_check_flip(path, fd, chunk->offset + 64, 3);
    }
    close(fd);
    session_file_close(f);
}

/* A reader that compares checksums while it collects events finds as much as one that does so before. */
static void seal_check_late(const char *path)
{
    const char *error = NULL;
    struct session_file *late = session_file_open_late(path, &error), *f = seal_open(path);
    cr_assert(late != NULL, "%s", error ? error : "");
    struct profile *p = collect_profile(late, 1);
    if (session_file_end_late_checks(late)) {
        cr_assert(eq(u64, late->health.whole_chunks, f->health.whole_chunks));
        cr_assert(eq(u64, late->health.damaged_chunks, f->health.damaged_chunks));
        cr_assert(eq(sz, late->chunk_count, f->chunk_count));
    } else {
        cr_assert(eq(u64, f->health.whole_chunks, CHUNKS - 1));
    }
    cr_assert(late->health.found_bad == NULL);
    profile_free(p);
    session_file_close(late);
    session_file_close(f);
}

Test(unit_seal, checksums_while_events_are_read)
{
    const char *path = seal_save("while");
    struct session_file *f = seal_open(path);
    const int fd = open(path, O_RDWR);
    seal_check_late(path);
    for (size_t i = 0; i < f->chunk_count; i++) {
        const struct trace_chunk *chunk = &f->chunks[i];
        for (uint32_t at = 0; at < trace_chunk_end(chunk); at += at < 64 ? 1 : 7) {
            seal_flip(fd, chunk->offset + at, at % 8);
            seal_check_late(path);
            seal_flip(fd, chunk->offset + at, at % 8);
        }
    }
    close(fd);
    session_file_close(f);
    cr_assert(eq(int, truncate(path, WHOLE - 9 * PAGE), 0));
    seal_check_late(path);
}

Test(unit_seal, each_bit_of_page_0)
{
    const char *path = seal_save("page"), *error;
    const int fd = open(path, O_RDWR);
    for (unsigned bit = 0; bit < PAGE * 8; bit += bit < 512 * 8 || bit >= 4060 * 8 ? 1 : 61) {
        seal_flip(fd, bit / 8, bit % 8);
        struct session_file *f = session_file_open(path, &error);
        /* the magic, the version, the byte order, the unit, and an impossible clock rate */
        const unsigned byte = bit / 8;
        const bool refused = byte < 16 || (byte >= 20 && byte < 24) || (byte >= 69 && byte < 72);
        cr_assert(eq(int, f == NULL, refused), "bit %u", bit);
        if (f) {
            cr_assert(f->health.damaged_page && f->health.lacks_parts, "bit %u", bit);
            cr_assert(eq(u64, f->health.whole_chunks, CHUNKS), "bit %u", bit);
        }
        session_file_close(f);
        seal_flip(fd, bit / 8, bit % 8);
    }
    close(fd);
}

/* The end of what the first chunks hold: where it is cut off behind that, they are whole. */
static size_t seal_whole_before(const struct session_file *f, uint64_t cut, const uint64_t *ends)
{
    size_t whole = 0;
    for (size_t i = 0; i < f->chunk_count; i++)
        whole += f->chunks[i].sealed && ends[i] <= cut;
    return whole;
}

Test(unit_seal, cuts_at_each_boundary)
{
    const char *path = seal_save("cuts");
    struct session_file *f = seal_open(path);
    uint64_t ends[CHUNKS + 1];
    for (size_t i = 0; i < f->chunk_count; i++) {
        uint8_t bytes[8 * PAGE];
        uint32_t end = trace_chunk_end(&f->chunks[i]);
        cr_assert(session_file_read_some(f, f->chunks[i].offset, bytes, end) == (long)end);
        while (bytes[end - 1] == 0)
            end--;
        ends[i] = f->chunks[i].offset + end;
    }
    for (uint64_t unit = WHOLE; unit >= PAGE; unit -= PAGE)
        for (int at = 0; at < 6; at++) {
            static const int distances[] = { 200, 64, 63, 1, 0, -1 };
            const uint64_t cut = unit + (uint64_t)distances[at];
            if (cut >= WHOLE || cut < PAGE)
                continue;
            seal_save("cuts");
            cr_assert(eq(int, truncate(path, (off_t)cut), 0));
            struct session_file *rest = seal_open(path);
            cr_assert(rest->health.is_sealed && rest->health.lacks_parts);
            cr_assert(eq(u64, rest->health.missing_bytes, WHOLE - cut));
            cr_assert(eq(u64, rest->health.whole_chunks, seal_whole_before(f, cut, ends)), "cut at %llu",
                      (unsigned long long)cut);
            cr_assert(
                eq(u64, rest->health.missing_chunks + rest->health.damaged_chunks, CHUNKS - rest->health.whole_chunks));
            cr_assert(rest->health.damaged_chunks <= 1);
            session_file_close(rest);
        }
    session_file_close(f);
}

Test(unit_seal, chunks_that_became_zero)
{
    static const uint8_t zeros[8 * PAGE];
    const char *path = seal_save("zeros");
    struct session_file *f = seal_open(path);
    for (size_t i = 0; i < f->chunk_count; i++) {
        if (!f->chunks[i].sealed)
            continue;
        seal_save("zeros");
        const int fd = open(path, O_RDWR);
        cr_assert(pwrite(fd, zeros, f->chunks[i].size, (off_t)f->chunks[i].offset) == (ssize_t)f->chunks[i].size);
        close(fd);
        struct session_file *rest = seal_open(path);
        cr_assert(eq(u64, rest->health.whole_chunks, CHUNKS - 1));
        cr_assert(eq(u64, rest->health.missing_chunks, 1));
        cr_assert(eq(u64, rest->health.damaged_chunks + rest->health.damaged_bytes + rest->health.missing_bytes, 0));
        session_file_close(rest);
    }
    session_file_close(f);
}

/* The header of the first chunk of events says that it covers all others. */
Test(unit_seal, chunks_behind_a_wrong_size)
{
    const char *path = seal_save("size");
    const uint32_t size = WHOLE - 2 * PAGE;
    const int fd = open(path, O_RDWR);
    cr_assert(pwrite(fd, &size, sizeof size, 2 * PAGE + SIZE_BYTE) == sizeof size);
    close(fd);
    struct session_file *f = seal_open(path);
    cr_assert(eq(u64, f->health.whole_chunks, CHUNKS - 1));
    cr_assert(eq(u64, f->health.damaged_chunks, 1));
    cr_assert(eq(u64, f->health.missing_chunks, 0));
    session_file_close(f);
}

/* A thread's last chunk may be missing. So the time up to its end, which is known, is nobody's. */
Test(unit_seal, the_time_behind_the_last_event)
{
    for (int damaged = 0; damaged < 2; damaged++) {
        struct writer *w = writer_new();
        write_process(w, 1, 10, "/bin/p");
        write_thread(w, 1, 1, 10, SOURCE_PERF, "t");
        write_thread_end(w, 1, 1, false, 1000);
        end_records(w, true);
        begin_events(w, 1, 1, 0, 0, NULL, 0);
        write_enter(w, 10, F);
        write_enter(w, 20, G);
        end_events(w, true);
        begin_events(w, 1, 1, 1, 20, (struct open_call[]){ { F, 10 }, { G, 20 } }, 2);
        write_exit(w, 30);
        end_events(w, true);
        const char *path = test_path("tail");
        writer_save(w, path);
        writer_free(w);
        seal_file(path);
        const int fd = open(path, O_RDWR);
        if (damaged)
            seal_flip(fd, 3 * PAGE + 70, 0);
        close(fd);
        struct session_file *file = seal_open(path);
        struct profile *p = collect_profile(file, 1);
        struct rollup *rollup = rollup_new(p);
        struct outcome o = { file, p, rollup };
        cr_assert(eq(u64, function_times(&o, F).elapsed_exclusive, damaged ? 10 : 10 + 970));
        cr_assert(eq(u64, function_times(&o, G).elapsed_exclusive, damaged ? 0 : 10));
        outcome_drop(&o);
    }
}

/* Older sessions and those whose recorder was killed. */
Test(unit_seal, sessions_without_checksums)
{
    const char *path = test_path("old");
    struct writer *w = seal_new();
    writer_save(w, path);
    writer_free(w);
    struct session_file *f = seal_open(path);
    cr_assert(not(f->health.is_sealed));
    cr_assert(not(session_file_is_damaged(f)));
    cr_assert(eq(sz, f->chunk_count, CHUNKS + 1));
    session_file_close(f);
    cr_assert(eq(int, truncate(path, 5 * PAGE + 100), 0));
    f = seal_open(path); /* the rest of a chunk is read, as nobody knows whether it was whole */
    cr_assert(eq(u64, f->health.missing_bytes, WHOLE - 5 * PAGE - 100));
    cr_assert(eq(u64, f->health.whole_size, WHOLE));
    cr_assert(f->health.lacks_parts);
    session_file_close(f);
}

/* A chunk without a checksum in a session that has them is no chunk of it. */
Test(unit_seal, a_chunk_that_lost_its_checksum)
{
    static const uint8_t none[2];
    const char *path = seal_save("lost");
    const int fd = open(path, O_RDWR);
    cr_assert(pwrite(fd, none, sizeof none, 2 * PAGE + SEALED_BYTE) == sizeof none);
    close(fd);
    struct session_file *f = seal_open(path);
    cr_assert(eq(u64, f->health.whole_chunks, CHUNKS - 1));
    cr_assert(eq(u64, f->health.damaged_chunks, 1));
    session_file_close(f);
}

/* A process of which the recorder did not know claims a chunk. */
Test(unit_seal, a_late_writer_breaks_the_seal)
{
    const char *path = seal_save("late");
    const int fd = open(path, O_RDWR);
    struct session session = { .header = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) };
    memcpy(session.id, session.header->session_id, sizeof session.id);
    cr_assert(eq(u64, session_claim(&session, fd, PAGE), WHOLE));
    munmap(session.header, PAGE);
    close(fd);
    struct session_file *f = seal_open(path);
    cr_assert(not(f->health.is_sealed));
    cr_assert(not(session_file_is_damaged(f)));
    cr_assert(eq(sz, f->chunk_count, CHUNKS + 1));
    session_file_close(f);
}

Test(unit_seal, a_merge_of_damaged_sessions_says_so)
{
    const char *path = seal_save("damaged");
    const int fd = open(path, O_RDWR);
    seal_flip(fd, 2 * PAGE + 100, 0);
    close(fd);
    struct session_file *f = seal_open(path);
    const char *merged = test_path("merged");
    cr_assert(session_merge(&f, 1, false, merged) == NULL);
    session_file_close(f);
    f = seal_open(merged);
    cr_assert(f->health.is_sealed);
    cr_assert(f->health.lacks_parts);
    cr_assert(eq(u32, f->header.trouble, DWELL_TROUBLE_DAMAGED));
    cr_assert(eq(u64, f->health.damaged_chunks + f->health.missing_chunks + f->health.missing_bytes, 0));
    session_file_close(f);
}
