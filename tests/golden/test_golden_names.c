/* C++ names and units in terminals of several widths, and in a pipe. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

/* The functions of the session, and how long each call takes. */
static const struct {
    const char *name;
    uint32_t line;
    uint64_t ns;
} functions[] = {
    { "leveldb::Table::InternalGet(leveldb::ReadOptions const&, leveldb::Slice const&, void*, void (*)(void*, "
      "leveldb::Slice const&, leveldb::Slice const&))",
      383, 10407537000 },
    { "std::map<" STRING ", std::vector<double, std::allocator<double> >, std::less<" STRING
      " >, std::allocator<std::pair<" STRING
      " const, std::vector<double, std::allocator<double> > > > >::operator[](" STRING " const&)",
      12, 843000000 },
    { "shop::price_of(shop::Item const&, " STRING " const&)", 98765, 31200000 },
    { "shop::price_of(shop::Item const&, std::vector<int, std::allocator<int> > const&)", 98799, 512000 },
    { "(anonymous namespace)::parse(char const*)", 7, 1600 },
    { "bool operator< <int>(shop::List<int> const&, shop::List<int> const&)", 8, 16 },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void names_save_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/shop");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "shop");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    uint64_t time = 1000;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        write_enter(w, time, 0x1000 + i * 0x100);
        time += functions[i].ns;
        write_exit(w, time);
    }
    end_events(w, true);
    write_symbol_module(w, 0, "");
    write_symbol_file(w, 1, "/home/me/networking_of_the_shop.cpp");
    for (size_t i = 0; i < FUNCTIONS; i++)
        write_symbol(w, 0, 1, functions[i].line, 0x1000 + i * 0x100, functions[i].name);
    writer_save(w, test_path("names.dwell"));
    writer_free(w);
}

/* A server: a deep path of work, and waits in functions of the standard library. */
static const char *const deep_path[] = {
    "main",
    "aeMain",
    "aeProcessEvents",
    "connSocketEventHandler",
    "callHandler",
    "readQueryFromClient",
    "processInputBuffer",
    "processCommandAndResetClient",
    "processCommand",
    "lrangeCommand",
    "addListRangeReply",
    "addReplyBulkLengthStringWithPrefix",
    "store::(anonymous namespace)::BytewiseComparator::compare(std::vector<int, std::allocator<int> > const&) const",
};
enum { DEEP = sizeof deep_path / sizeof *deep_path, WAITERS = 4 };

static void names_write_waiter(struct writer *w, uint32_t thread)
{
    begin_events(w, 1, thread, 0, 0, NULL, 0);
    write_enter(w, 1000, 0x402000);
    for (uint64_t i = 1; i < 4; i++)
        write_enter(w, 1000 * (i + 1), 0x402000 + i * 0x100);
    write_enter(w, 10000, 0x801000);
    write_off_cpu(w, false, 20000, 1800000000);
    for (uint64_t i = 0; i < 5; i++)
        write_exit(w, 1900000000 + i);
    end_events(w, true);
}

static void names_save_server(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/store");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x403000, 0, "/bin/store");
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "store");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t i = 0; i < DEEP; i++)
        write_enter(w, 1000 + i * 30000000, 0x401000 + i * 0x40);
    for (uint64_t i = 0; i < DEEP; i++)
        write_exit(w, 600000000 + i * 20000000);
    end_events(w, true);
    for (uint32_t i = 0; i < WAITERS; i++) {
        write_thread(w, 1, i + 2, 200 + i, SOURCE_PERF, i % 2 ? "compaction" : "background_io");
        names_write_waiter(w, i + 2);
    }
    write_process_end(w, 1, 100, END_EXIT, 0, 1900000004);
    write_symbol_module(w, 0, "/bin/store");
    write_symbol_module(w, 1, "/lib/libc.so.6");
    write_symbol_file(w, 1, "/home/me/store/comparators.cc");
    for (uint32_t i = 0; i < DEEP; i++)
        write_symbol(w, 0, 1, 10 * i + 5, 0x1000 + i * 0x40, deep_path[i]);
    write_symbol(w, 0, 1, 400, 0x2000, "store::(anonymous namespace)::BackgroundQueue::waitForWork(std::stop_token)");
    write_symbol(w, 0, 1, 401, 0x2100, "std::condition_variable::wait(std::unique_lock<std::mutex>&)");
    write_symbol(w, 0, 1, 402, 0x2200, "void std::__condvar::wait<int>(std::mutex&)");
    write_symbol(w, 0, 1, 403, 0x2300, "__gthread_cond_wait(pthread_cond_t*, pthread_mutex_t*)");
    write_symbol(w, 1, 0, 0, 0x1000, "pthread_cond_wait");
    writer_save(w, test_path("store.dwell"));
    writer_free(w);
}

static void names_save_sessions(void)
{
    names_save_session();
    names_save_server();
}

TestSuite(golden_names, .init = names_save_sessions, .timeout = 300);

Test(golden_names, on_terminals)
{
    static const int widths[] = { 80, 120, 200 };
    for (size_t i = 0; i < 3; i++) {
        char name[32],
            *text = run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols %d; $DWELL report "
                             "names.dwell\" /dev/null </dev/null | tr -d '\\r'",
                             widths[i]);
        snprintf(name, sizeof name, "names-%d.txt", widths[i]);
        check_text(text, name);
        free(text);
        text = run_well(
            "DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols %d; $DWELL report store.dwell -n 4; "
            "$DWELL tree store.dwell; $DWELL top --once -n 3 store.dwell\" /dev/null </dev/null | tr -d '\\r' | sed 's/ *$//'",
            widths[i]);
        snprintf(name, sizeof name, "names-store-%d.txt", widths[i]);
        check_text(text, name);
        free(text);
    }
}

/* Each name that a table of 80 or 50 columns shows is accepted by a command, though parts of it are dots. */
Test(golden_names, what_is_shown_is_accepted)
{
    static const char *const shown[] = {
        "leveldb::Table::InternalGet(…)",
        "std::map<…>::operator[](…)",
        "price_of(shop::Item const&, std::string c…",
        "price_of(shop::Item const&, std::vector<i…",
        "(anon)::parse(…)",
        "operator< <int>(…)",
    };
    for (size_t i = 0; i < FUNCTIONS; i++) {
        char *text = run_well("$DWELL callers names.dwell '%s' --format json | jq -r '.rows[] | "
                              "select(.role == \"function\") | .function'",
                              shown[i]);
        text[strcspn(text, "\n")] = 0;
        cr_assert(eq(str, text, (char *)functions[i].name), "%s", shown[i]);
        free(text);
    }
    struct ran r = run("$DWELL callers names.dwell 'price_of(…)'");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "'price_of(…)' names 2 functions; type one of:"), "%s", r.err);
    ran_drop(&r);
}

Test(golden_names, in_a_pipe)
{
    check_golden("report names.dwell", "names-pipe.txt");
    check_golden("report names.dwell --full-names --columns calls", "names-full.txt");
    check_golden("report names.dwell --units auto --columns elapsed_exclusive", "names-auto.txt");
    check_golden("report names.dwell --units ms --columns elapsed_exclusive", "names-ms.txt");
    char *csv = run_well("$DWELL report names.dwell --format csv --units s | grep -c -F '" STRING "'");
    cr_assert(eq(str, csv, "2\n"));
    free(csv);
}

/* A pipe has the width that COLUMNS says. Without it, or if it is no number, text has any width. */
Test(golden_names, width_of_a_pipe)
{
    static const char *const wide[] = { "", "COLUMNS=", "COLUMNS=wide", "COLUMNS=0" };
    char *usual = run_well("$DWELL report names.dwell");
    char *text = run_well("export LC_ALL=C.UTF-8; test $(COLUMNS=80 $DWELL report names.dwell | wc -L) -le 80 && "
                          "test $($DWELL report names.dwell | wc -L) -gt 80 && echo fits");
    cr_assert(eq(str, text, "fits\n"));
    free(text);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        text = run_well("%s $DWELL report names.dwell", wide[i]);
        cr_assert(eq(str, text, usual), "%s", wide[i]);
        free(text);
    }
    free(usual);
}

Test(golden_names, units_of_the_config_file)
{
    char *text =
        run_well("mkdir -p dwell && echo 'report.units = us' >dwell/config && XDG_CONFIG_HOME=$PWD $DWELL report "
                 "names.dwell --columns elapsed_exclusive");
    cr_assert(has(text, "elapsed 11282250.616 us") && has(text, "EL.EXCL us"), "%s", text);
    free(text);
    struct ran r = run("$DWELL report names.dwell --units hours");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "--units: 'hours' is none of column, auto, s, ms, us, ns"), "%s", r.err);
    ran_drop(&r);
}

/* Threads that have the program's name are shown by the function that they began with, whatever its name is. */
Test(golden_names, threads_by_their_first_functions)
{
    static const struct {
        const char *function, *title;
    } starts[] = {
        { "main", "main#1" },
        { "db::(anonymous namespace)::start(void*)", "db::start#2" },
        { "Pool::worker::operator()()", "Pool::worker::operator()#3" },
        { "void run<std::vector<int, std::allocator<int> > >(Job (*)(int))", "run<...>#4" },
    };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/db");
    write_symbol_module(w, 0, "");
    for (uint32_t i = 0; i < 4; i++) {
        write_thread(w, 1, i + 1, 100 + i, SOURCE_PERF, "db");
        begin_events(w, 1, i + 1, 0, 0, NULL, 0);
        write_enter(w, 1000, 0x1000 + i * 0x100);
        write_exit(w, 2000);
        end_events(w, true);
    }
    for (uint32_t i = 0; i < 4; i++)
        write_symbol(w, 0, 0, 0, 0x1000 + i * 0x100, starts[i].function);
    writer_save(w, test_path("starts.dwell"));
    writer_free(w);
    char *text = run_well("$DWELL info starts.dwell | sed '1,/^THREAD/d'");
    for (size_t i = 0; i < 4; i++)
        cr_assert(has(text, starts[i].title), "%s: %s", starts[i].title, text);
    free(text);
    text = run_well("LC_ALL=C $DWELL replay starts.dwell | cut -c 27-53 | sed 's/ *$//'");
    cr_assert(
        eq(str, text, (char *)" THREAD\n 100 main#1\n>101 db::start#2\n>102 Pool::wo...rator()#3\n>103 run<...>#4\n"),
        "%s", text);
    free(text);
    text = run_well("$DWELL report starts.dwell --thread db::start --by thread --format json | jq -c '[.rows[].tid]'");
    cr_assert(eq(str, text, "[101]\n"));
    free(text);
}
