/* The rows of waits: callers that are not calls of the operating system, sums, and the names of threads. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/table_formats.h"
#include "support/load.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "support/session_writer.h"
#include "support/success.h"
#include "tables/row_filter.h"
#include "tables/wait_rows.h"

enum { MAIN = 0x401000, SAVE = 0x401100, FWRITE = 0x801000, WRITE = 0x801100, THREADS = 6 };

static struct writer *wait_rows_program(void)
{
    static const char *const names[THREADS] = { "main", "pool", "pool", "a", "b", "c" };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/p");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    for (uint32_t i = 0; i < THREADS; i++)
        write_thread(w, 1, i + 1, 100 + i, SOURCE_PERF, names[i]);
    write_symbol_module(w, 0, "/bin/p");
    write_symbol_module(w, 1, "/lib/libc.so.6");
    write_symbol_file(w, 1, "/src/p.c");
    write_symbol(w, 0, 1, 5, 0x1000, "main");
    write_symbol(w, 0, 1, 9, 0x1100, "save");
    write_symbol(w, 1, 0, 0, 0x1000, "fwrite");
    write_symbol(w, 1, 0, 0, 0x1100, "write");
    return w;
}

/* main (fwrite (write)), then main (save (write, write)): the first and the last write are blocked. */
static void wait_rows_write_main(struct writer *w)
{
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 10, FWRITE);
    write_enter(w, 20, WRITE);
    write_off_cpu(w, false, 30, 100);
    write_exit(w, 140);
    write_exit(w, 150);
    write_enter(w, 160, SAVE);
    write_enter(w, 170, WRITE);
    write_exit(w, 180);
    write_enter(w, 190, WRITE);
    write_off_cpu(w, false, 200, 300);
    write_exit(w, 510);
    write_exit(w, 520);
    write_exit(w, 1000);
    end_events(w, true);
}

/* A thread that begins with `function`, which is blocked for 400 of its 500 ticks. */
static void wait_rows_write_thread(struct writer *w, uint32_t thread, uint32_t sequence, uint64_t function)
{
    begin_events(w, 1, thread, sequence, sequence * 1000, NULL, 0);
    write_enter(w, sequence * 1000, function);
    write_off_cpu(w, false, sequence * 1000 + 50, 400);
    write_exit(w, sequence * 1000 + 500);
    end_events(w, true);
}

/* The rows with their blocked times as CSV, the longest wait first. The caller frees the text. */
static char *wait_rows_text(struct writer *w)
{
    struct analysis analysis;
    struct error error = { NULL };
    char *text = NULL;
    size_t length;
    writer_save(w, test_path("waits"));
    writer_free(w);
    load_whole(&analysis, test_path("waits"), 1);
    struct table t = sorted(wait_rows(&analysis), "blocked_exclusive");
    cr_assert(table_choose(&t, "blocked_exclusive,blocked_exclusive_percent,elapsed_inclusive,threads_percent,calls",
                           &error));
    FILE *out = open_memstream(&text, &length);
    table_print_csv(&t, out);
    fclose(out);
    table_drop(&t);
    analysis_drop(&analysis);
    return text;
}

#define TITLES                                                                                                         \
    "function,module,file,line,caller,threads,thread_titles,tid,blocked_exclusive_ns,blocked_exclusive_percent,"       \
    "elapsed_inclusive_ns,threads_percent,calls\r\n"

Test(unit_wait_rows, calls_have_the_caller_that_is_not_of_the_system)
{
    struct writer *w = wait_rows_program();
    wait_rows_write_main(w);
    char *text = wait_rows_text(w);
    cr_assert(eq(str, text,
                 (char *)TITLES "write,libc.so.6,/src/p.c,9,save,main,main,100,300,75.0000,330,30.0000,2\r\n"
                                "write,libc.so.6,/src/p.c,5,main,main,main,100,100,25.0000,120,10.0000,1\r\n"));
    free(text);
}

/* What waits is the program's function, not std::mutex or the functions that it calls. */
Test(unit_wait_rows, functions_of_the_standard_library_are_no_callers)
{
    struct writer *w = wait_rows_program();
    write_symbol(w, 0, 1, 50, 0x1200, "std::unique_lock<std::mutex>::lock()");
    write_symbol(w, 0, 1, 60, 0x1300, "__gthread_mutex_lock(pthread_mutex_t*)");
    write_symbol(w, 0, 1, 70, 0x1400, "void std::thread::_M_run<int>()");
    write_symbol(w, 1, 0, 0, 0x1200, "pthread_mutex_lock");
    static const uint64_t paths[][3] = { { SAVE, 0x401200, 0x401300 }, { 0x401400, 0x401200, 0x401300 } };
    for (uint32_t i = 0; i < 2; i++) {
        begin_events(w, 1, i + 1, 0, 0, NULL, 0);
        for (uint32_t k = 0; k < 3; k++)
            write_enter(w, 10 * (k + 1), paths[i][k]);
        write_enter(w, 50, 0x801200);
        write_off_cpu(w, false, 60, 100 * (i + 1));
        for (uint64_t k = 0; k < 4; k++)
            write_exit(w, 500 + 10 * k);
        end_events(w, true);
    }
    char *text = wait_rows_text(w);
    cr_assert(eq(str, text,
                 (char *)TITLES
                 "pthread_mutex_lock,libc.so.6,,,(start of thread),pool,pool#1,101,200,66.6667,450,38.4615,1\r\n"
                 "pthread_mutex_lock,libc.so.6,/src/p.c,9,save,main,main,100,100,33.3333,450,19.2308,1\r\n"));
    free(text);
}

/* A name in a condition is that of the function or that of the caller. */
Test(unit_wait_rows, conditions_accept_both_names)
{
    static const struct {
        const char *condition;
        size_t rows;
    } conditions[] = { { "write", 2 },       { "save", 1 },          { "name=main", 1 }, { "name!~sa*", 1 },
                       { "name!=write", 0 }, { "function=main", 0 }, { "caller~m*", 1 }, { "write@libc.so*", 2 } };
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        struct writer *w = wait_rows_program();
        wait_rows_write_main(w);
        writer_save(w, test_path("waits"));
        writer_free(w);
        struct analysis analysis;
        load_whole(&analysis, test_path("waits"), 1);
        struct table t = wait_rows(&analysis);
        struct row_filters f = { 0 };
        EXPECT_SUCCESS(row_filters_add(&f, conditions[i].condition, &error));
        EXPECT_SUCCESS(table_filter(&t, &f, &error));
        cr_expect(eq(sz, t.row_count, conditions[i].rows), "%s: %zu", conditions[i].condition, t.row_count);
        row_filters_drop(&f);
        table_drop(&t);
        analysis_drop(&analysis);
    }
}

#define MANY "\"a, b, c, ... (6 threads)\""

/* Names of threads occur once; of more than three, the first three. */
Test(unit_wait_rows, threads_and_functions_that_wait_themselves)
{
    struct writer *w = wait_rows_program();
    for (uint32_t i = 1; i <= THREADS; i++)
        wait_rows_write_thread(w, i, 0, SAVE);
    wait_rows_write_thread(w, 2, 1, MAIN);
    wait_rows_write_thread(w, 3, 1, MAIN);
    char *text = wait_rows_text(w);
    cr_assert(
        eq(str, text,
           (char *)TITLES
           "save,p,/src/p.c,9,(start of thread)," MANY "," MANY ",,2400,75.0000,3000,60.0000,6\r\n"
           "main,p,/src/p.c,5,(start of thread),pool (2 threads),pool (2 threads),,800,25.0000,1000,40.0000,2\r\n"));
    free(text);
}

Test(unit_wait_rows, none_without_blocked_time)
{
    struct writer *w = wait_rows_program();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 10, WRITE);
    write_off_cpu(w, true, 12, 5);
    write_exit(w, 20);
    write_exit(w, 30);
    end_events(w, true);
    char *text = wait_rows_text(w);
    cr_assert(eq(str, text, (char *)TITLES));
    free(text);
}
