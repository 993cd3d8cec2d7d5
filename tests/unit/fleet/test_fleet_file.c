/* Sessions in the store: pieces of files, and what becomes of a server's answers that are wrong. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "fleet/file.h"
#include "fleet/session_sums.h"
#include "support/http_stub.h"
#include "support/scenario.h"

TestSuite(unit_fleet_file, .timeout = 300);

struct text {
    char *bytes;
    size_t length;
};

static struct text file_read(const char *path)
{
    struct text text = { 0 };
    FILE *in = fopen(path, "r"), *out = need_stream(&text.bytes, &text.length);
    cr_assert(in != NULL);
    for (int c; (c = getc(in)) != EOF;)
        putc(c, out);
    fclose(in);
    need_stream_end(out);
    return text;
}

static struct binary_rows file_pieces_of(int fd)
{
    const struct session_file file = { .fd = fd };
    struct binary_rows rows = { 0 };
    for (uint32_t i = 0; i < fleet_file_pieces(&file); i++)
        cr_assert(fleet_file_put(&rows, &file, i));
    return rows;
}

static bool file_unpack(const void *bytes, size_t length, const char *path)
{
    FILE *in = length ? fmemopen((void *)bytes, length, "r") : fopen("/dev/null", "r"), *out = fopen(path, "w");
    const bool good = fleet_file_unpack(in, out);
    fclose(in);
    fclose(out);
    return good;
}

/* Two whole pieces and one byte, of numbers that do not repeat. */
Test(unit_fleet_file, pieces_make_the_file_again)
{
    char *path = need_text("%s", test_path("long")), *other = need_text("%s", test_path("again"));
    FILE *out = fopen(path, "w");
    for (uint32_t i = 0; i < FLEET_FILE_PIECE / 2; i++)
        fwrite(&i, 1, 4, out);
    putc('x', out);
    fclose(out);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct binary_rows rows = file_pieces_of(fd);
    cr_assert(eq(u32, fleet_file_pieces(&(struct session_file){ .fd = fd }), 3));
    cr_assert(file_unpack(rows.bytes, rows.length, other));
    struct text a = file_read(path), b = file_read(other);
    cr_assert(eq(sz, a.length, (size_t)2 * FLEET_FILE_PIECE + 1));
    cr_assert(eq(sz, b.length, a.length));
    cr_assert(memcmp(a.bytes, b.bytes, a.length) == 0);
    free(a.bytes);
    free(b.bytes);
    binary_drop(&rows);
    close(fd);
    free(path);
    free(other);
}

/* Rows with a number, a count and a text that are not what fleet_file_put makes. */
static void file_put_row(struct binary_rows *rows, uint32_t number, uint32_t count, const struct text *compressed)
{
    binary_put(rows, number, 4);
    binary_put(rows, count, 4);
    binary_put_length(rows, compressed->length);
    binary_put_bytes(rows, compressed->bytes, compressed->length);
}

static struct text file_compress(size_t length)
{
    struct text made = { 0 };
    uint8_t *zeros = need_memory(length, 1);
    FILE *out = need_stream(&made.bytes, &made.length);
    FILE *plain = tmpfile();
    struct binary_rows rows = { 0 };
    fwrite(zeros, 1, length, plain);
    fflush(plain);
    /* the row's text begins after two numbers and its length */
    cr_assert(fleet_file_put(&rows, &(struct session_file){ .fd = fileno(plain) }, 0));
    const struct binary_reader head = { .in = fmemopen(rows.bytes, rows.length, "r") };
    struct binary_reader r = head;
    binary_get(&r, 8);
    size_t compressed;
    char *text = binary_get_text(&r, &compressed);
    fwrite(text, 1, compressed, out);
    need_stream_end(out);
    fclose(head.in);
    fclose(plain);
    free(text);
    free(zeros);
    binary_drop(&rows);
    return made;
}

Test(unit_fleet_file, rows_that_are_no_pieces_are_refused)
{
    char *path = need_text("%s", test_path("unpacked"));
    const struct text whole = file_compress(FLEET_FILE_PIECE), small = file_compress(100), none = { "", 0 };
    const struct text junk = { "junk that is not compressed", 27 }, cut = { whole.bytes, whole.length - 1 };
    char *more = need_memory(small.length + 1, 1);
    memcpy(more, small.bytes, small.length);
    const struct text longer = { more, small.length + 1 };
    const struct {
        struct {
            uint32_t number, count;
            const struct text *text;
        } rows[3];
        size_t count;
        bool good;
    } cases[] = {
        { { { 0, 1, &small } }, 1, true },
        { { { 0, 2, &whole }, { 1, 2, &small } }, 2, true },
        { { { 0, 1, &small } }, 0, false },
        { { { 0, 2, &whole } }, 1, false },
        { { { 1, 2, &small } }, 1, false },
        { { { 0, 2, &whole }, { 0, 2, &whole }, { 1, 2, &small } }, 3, false },
        { { { 0, 2, &small }, { 1, 2, &small } }, 2, false },
        { { { 0, 2, &whole }, { 1, 3, &small } }, 2, false },
        { { { 0, 1, &whole }, { 1, 1, &small } }, 2, false },
        { { { 0, 0, &small } }, 1, false },
        { { { 0, 1, &junk } }, 1, false },
        { { { 0, 1, &cut } }, 1, false },
        { { { 0, 1, &longer } }, 1, false },
        { { { 0, 1, &none } }, 1, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct binary_rows rows = { 0 };
        for (size_t j = 0; j < cases[i].count; j++)
            file_put_row(&rows, cases[i].rows[j].number, cases[i].rows[j].count, cases[i].rows[j].text);
        cr_assert(eq(int, file_unpack(rows.bytes, rows.length, path), cases[i].good), "case %zu", i);
        if (cases[i].good)
            cr_assert(file_unpack(rows.bytes, rows.length - 1, path) == false);
        binary_drop(&rows);
    }
    free(whole.bytes);
    free(small.bytes);
    free(more);
    free(path);
}

/* A piece that becomes larger than any piece is no piece: a small answer costs little room. */
Test(unit_fleet_file, pieces_do_not_become_large)
{
    char *path = need_text("%s", test_path("bomb"));
    const struct text whole = file_compress(FLEET_FILE_PIECE);
    struct binary_rows rows = { 0 };
    char *twice = need_memory(2 * whole.length, 1);
    memcpy(twice, whole.bytes, whole.length);
    memcpy(twice + whole.length, whole.bytes, whole.length);
    file_put_row(&rows, 0, 1, &(struct text){ twice, 2 * whole.length });
    cr_assert(file_unpack(rows.bytes, rows.length, path) == false);
    binary_drop(&rows);
    free(whole.bytes);
    free(twice);
    free(path);
}

/* ---- pull ---- */

static void file_make_session(const char *path, uint64_t id)
{
    const struct tree_node nodes[] = {
        { .function = 0x400100, .calls = 1, .elapsed = 100 },
        { .function = 0x400200, .parent = 1, .calls = 3, .elapsed = 20 },
    };
    struct writer *w = writer_new();
    write_header(w, 24, id, 8);
    write_header(w, 32, id, 8);
    write_header(w, 96, 1, 4); /* mode profile */
    write_process(w, 1, 70, "/bin/p");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "one");
    write_tree(w, 1, 1, nodes, 2);
    writer_save(w, path);
    writer_free(w);
}

/* The columns of a session's file, and the number of its run. */
static struct binary_rows file_rows_of(uint64_t id, uint64_t *run)
{
    struct fleet_session session;
    struct error error = { NULL };
    file_make_session(test_path("made"), id);
    cr_assert(fleet_session_open(&session, test_path("made"), &error), "%s", error.text);
    *run = fleet_session_number(session.analysis.file);
    struct binary_rows rows = file_pieces_of(session.analysis.file->fd);
    fleet_session_drop(&session);
    return rows;
}

/* Pulls runs from a server that gives these answers. Returns the error, or NULL. */
static char *file_pull(const struct binary_rows *answers, const uint64_t *numbers, size_t count, const char *path)
{
    char *texts[4];
    size_t lengths[4];
    struct fleet_run list[4] = { 0 };
    uint64_t part = 1;
    for (size_t i = 0; i < count; i++) {
        FILE *out = need_stream(&texts[i], &lengths[i]);
        fprintf(out, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", answers[i].length);
        if (answers[i].length)
            fwrite(answers[i].bytes, 1, answers[i].length, out);
        need_stream_end(out);
        list[i] = (struct fleet_run){ .run = numbers[i], .parts = &part, .part_count = 1 };
    }
    struct http_stub *stub = http_stub_start_bytes((const char *const *)texts, lengths, count);
    const struct fleet_store store = { .url = (char *)http_stub_url(stub), .database = "somewhere", .tries = 1 };
    const struct fleet_runs runs = { .list = list, .count = count };
    struct error error = { NULL };
    const bool good = fleet_pull(&store, &runs, path, &error);
    cr_assert(eq(int, good, error.text == NULL));
    http_stub_stop(stub);
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    return error.text;
}

static void file_check_refused(const struct binary_rows *answers, const uint64_t *numbers, size_t count,
                               const char *expected)
{
    char *wrong = file_pull(answers, numbers, count, test_path("out"));
    struct stat status;
    cr_assert(wrong && strstr(wrong, expected), "'%s' has no '%s'", wrong, expected);
    cr_assert(strchr(wrong, '\n') == NULL);
    cr_assert(stat(test_path("out"), &status) != 0);
    free(wrong);
}

/* Without a run there is nothing to write, and no server is asked. */
Test(unit_fleet_file, no_runs)
{
    const struct fleet_store store = { .url = (char *)"http://nowhere", .database = "somewhere", .tries = 1 };
    const struct fleet_runs runs = { .count = 0 };
    struct error error = { NULL };
    struct stat status;
    cr_assert(not(fleet_pull(&store, &runs, test_path("out"), &error)));
    cr_assert(eq(str, error.text, "http://nowhere: there is no such run"));
    cr_assert(stat(test_path("out"), &status) != 0);
    error_drop(&error);
}

static void file_begin(void)
{
    if (http_missing())
        cr_skip_test("%s", http_missing());
}

Test(unit_fleet_file, runs_come_back_as_one_session, .init = file_begin)
{
    uint64_t runs[2];
    struct binary_rows answers[] = { file_rows_of(11, &runs[0]), file_rows_of(12, &runs[1]) };
    cr_assert(ne(u64, runs[0], runs[1]));
    cr_assert(file_pull(answers, runs, 2, test_path("both")) == NULL);
    const char *wrong;
    struct session_file *file = session_file_open(test_path("both"), &wrong);
    cr_assert(file != NULL);
    cr_assert(eq(sz, file->sums.summed_count, 2));
    cr_assert(eq(sz, file->thread_count, 2));
    session_file_close(file);
    const struct binary_rows twice[] = { answers[0], answers[0] };
    const uint64_t same[] = { runs[0], runs[0] };
    file_check_refused(twice, same, 2, "count twice");
    file_check_refused(answers, &runs[1], 1, "is another one, or damaged");
    binary_drop(&answers[0]);
    binary_drop(&answers[1]);
}

Test(unit_fleet_file, a_server_cannot_make_it_read_what_is_no_session, .init = file_begin)
{
    uint64_t run;
    struct binary_rows answer = file_rows_of(11, &run), none = { 0 };
    file_check_refused(&none, &run, 1, "is not there, or damaged");
    for (size_t length = 1; length < answer.length; length = length * 3 / 2 + 1) {
        const struct binary_rows part = { .bytes = answer.bytes, .length = length };
        file_check_refused(&part, &run, 1, "is not there, or damaged");
    }
    FILE *plain = tmpfile();
    fputs("no session", plain);
    fflush(plain);
    struct binary_rows other = file_pieces_of(fileno(plain));
    file_check_refused(&other, &run, 1, "is another one, or damaged: ");
    file_make_session(test_path("recorded"), 11);
    const int fd = open(test_path("recorded"), O_RDONLY | O_CLOEXEC);
    struct binary_rows recorded = file_pieces_of(fd);
    file_check_refused(&recorded, &run, 1, "is another one, or damaged");
    close(fd);
    fclose(plain);
    binary_drop(&answer);
    binary_drop(&other);
    binary_drop(&recorded);
}
