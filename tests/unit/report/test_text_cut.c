/* Names, sources and other texts in narrow columns. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "report/text_cut.h"

static void text_cut_use_utf8(void)
{
    cr_assert(setlocale(LC_ALL, "C.UTF-8") != NULL);
}

TestSuite(unit_text_cut, .init = text_cut_use_utf8);

static void expect_middle(const char *text, size_t width, const char *wanted)
{
    char *cut = text_cut_middle(text, width);
    cr_assert(eq(str, cut, (char *)wanted), "%zu", width);
    free(cut);
}

Test(unit_text_cut, middle)
{
    expect_middle("redis-server", 12, "redis-server");
    expect_middle("redis-server", 11, "redis…erver");
    expect_middle("redis-server", 4, "r…er");
    expect_middle("redis-server", 1, "r");
    expect_middle("redis-server", 0, "");
    expect_middle("中中中中", 8, "中中中中");
    expect_middle("中中中中", 7, "中…中"); /* each is two cells wide */
    expect_middle("GrößeGröße", 7, "Grö…öße");
}

static void expect_source(const char *text, size_t width, const char *wanted)
{
    char *cut = text_cut_source(text, width);
    cr_assert(eq(str, cut, (char *)wanted), "%zu", width);
    free(cut);
}

Test(unit_text_cut, the_line_of_a_source_is_never_cut)
{
    expect_source("networking.c:383", 16, "networking.c:383");
    expect_source("networking.c:383", 15, "netwo…ing.c:383");
    expect_source("networking.c:383", 10, "ne…g.c:383");
    expect_source("networking.c:383", 3, "…:383");
    expect_source("networking.c:383", 0, "…:383");
    expect_source("src/net/networking.c:383", 20, "…/networking.c:383");
    expect_source("libcrypto.so.3+0x1f2e3d", 18, "libc…so.3+0x1f2e3d");
    expect_source("(unknown)", 5, "(u…n)");
    char source[64];
    for (unsigned line = 1; line < 100000; line = line * 3 + 1)
        for (size_t width = 0; width < 30; width++) {
            snprintf(source, sizeof source, "some_long_file_name.cpp:%u", line);
            char *cut = text_cut_source(source, width), number[16];
            snprintf(number, sizeof number, ":%u", line);
            cr_assert(eq(str, cut + strlen(cut) - strlen(number), number), "%s", cut);
            free(cut);
        }
}

static void expect_name(const char *name, size_t width, const char *wanted)
{
    char *names[] = { need_copy(name, strlen(name)) };
    text_cut_names(names, &width, 1);
    cr_assert(eq(str, names[0], (char *)wanted), "%zu", width);
    free(names[0]);
}

Test(unit_text_cut, names_lose_the_least_important_first)
{
    static const char name[] = "void leveldb::Table<std::vector<long>>::Insert(std::string const&)";
    expect_name(name, 80, name);
    expect_name(name, 64, "leveldb::Table<std::vector<long>>::Insert(std::string const&)");
    expect_name(name, 59, "leveldb::Table<std::vector<…>>::Insert(std::string const&)");
    expect_name(name, 50, "leveldb::Table<…>::Insert(std::string const&)");
    expect_name(name, 44, "leveldb::Table<…>::Insert(…)");
    expect_name(name, 24, "leveldb::Tab…::Insert(…)");
    expect_name(name, 16, "leve…::Insert(…)");
    expect_name("thread worker_with_a_long_name (10015)", 24, "thread …ong_name (10015)");
    expect_name("(start of thread)", 12, "(st… thread)");
    expect_name("a_function_of_c_with_a_very_long_name", 24, "a_funct…a_very_long_name");
    expect_name("main > handle(Request const&) > parse(int)", 30, "main > handle(…) > parse(int)");
}

static void expect_object(const char *text, size_t width, const char *expected)
{
    char *cut = text_cut_object(text, width);
    cr_expect(eq(str, cut, (char *)expected), "%zu", width);
    free(cut);
}

/* Who made an object says more than its address. Another name says more than its maker. */
Test(unit_text_cut, objects)
{
    const char *condition = "condition 0x562e80bcbaa8 made in POOL_create_advanced";
    expect_object(condition, 53, condition);
    expect_object(condition, 52, "condition …baa8 made in POOL_create_advanced");
    expect_object(condition, 43, "condition made in POOL_create_advanced");
    expect_object(condition, 37, "condition of POOL_create_advanced");
    expect_object(condition, 26, "condition of POOL…advanced");
    expect_object(condition, 19, "condition of PO…ced");
    expect_object(condition, 18, "conditio…_advanced");
    expect_object("mutex 0x40 made in leveldb::port::Mutex::Mutex()", 30, "mutex of leve…::Mutex::Mutex()");
    expect_object("socket stream 127.0.0.1:33446 made in accept", 43, "socket stream 127.0.0.1:33446");
    expect_object("socket stream 127.0.0.1:33446 made in accept", 28, "socket …ream 127.0.0.1:33446");
    expect_object("socket made in anetGenericAccept", 31, "socket of anetGenericAccept");
    expect_object("file /tmp/lv/000009.ldb", 20, "file …/lv/000009.ldb");
    expect_object("condition 0x556407418b50", 20, "condition …407418b50");
    expect_object("pthread_cond_wait", 10, "pthr…_wait");
    expect_object("", 10, "");
}

static void expect_threads(const char *text, size_t width, const char *expected)
{
    char *cut = text_cut_threads(text, width);
    cr_expect(eq(str, cut, (char *)expected));
    free(cut);
}

Test(unit_text_cut, threads)
{
    expect_threads("zstd (4 threads)", 16, "zstd (4 threads)");
    expect_threads("zstd (4 threads)", 15, "zstd (4)");
    expect_threads("bio_aof, bio_close, bio_free", 27, "bio_aof, bio_close,…");
    expect_threads("bio_aof, bio_close, bio_free", 12, "bio_aof,…");
    expect_threads("a, b, c, ... (6 threads)", 23, "a, b, c, ... (6)");
    expect_threads("a, b, c, ... (6 threads)", 12, "a, b,… (6)");
    expect_threads("background_io, compaction (4 threads)", 13, "backgrou… (4)");
    expect_threads("a_long_name_of_a_thread", 10, "a_long_na…");
    expect_threads("a_long_name (4 threads)", 8, "a_l…ads)");
    expect_threads("", 10, "");
}

Test(unit_text_cut, scopes_are_not_cut_in_parentheses)
{
    expect_name("leveldb::(anonymous namespace)::BytewiseComparator::Compare(Slice const&) const", 33,
                "leveldb::…::Compare(…) const");
}

Test(unit_text_cut, different_names_stay_different)
{
    char *names[] = { need_text("shop::price_of(shop::Item const&, std::string const&)"),
                      need_text("shop::price_of(shop::Item const&, std::vector<int> const&)"),
                      need_text("shop::price_of(shop::Item const&, std::string const&)"), need_text("main") };
    text_cut_names(names, (const size_t[]){ 30, 30, 30, 30 }, 4);
    cr_assert(ne(str, names[0], names[1]));
    cr_assert(eq(str, names[0], names[2]));
    cr_assert(eq(str, names[0], "price_of(…std::string const&)"));
    cr_assert(eq(str, names[1], "price_of(…std::vector<int> con"));
    cr_assert(eq(str, names[3], "main"));
    for (int i = 0; i < 4; i++) {
        cr_assert(le(sz, text_width(names[i]), 30), "%s", names[i]);
        free(names[i]);
    }
}

/* Functions of different classes have the ends of their names. */
Test(unit_text_cut, methods_of_different_classes)
{
    char *names[] = { need_text("leveldb::InternalKeyComparator::Compare(leveldb::Slice const&) const"),
                      need_text(
                          "leveldb::(anonymous namespace)::BytewiseComparatorImpl::Compare(leveldb::Slice const&) "
                          "const"),
                      need_text("leveldb::Slice::Slice(char const*, unsigned long)"),
                      need_text("leveldb::Slice::Slice(std::string const&)") };
    text_cut_names(names, (const size_t[]){ 26, 26, 20, 20 }, 4);
    cr_assert(ne(str, names[0], names[1]));
    cr_assert(strstr(names[0], "Comparator::Compare(") && strstr(names[1], "Impl::Compare("));
    cr_assert(strstr(names[2], "Slice(char const*") && strstr(names[3], "Slice(std::string"));
    for (int i = 0; i < 4; i++)
        free(names[i]);
}

Test(unit_text_cut, names_with_one_short_form_are_shown_whole)
{
    char *names[] = { need_text("f(std::__cxx11::string)"), need_text("f(std::__1::string)"), need_text("g()") };
    text_cut_display(names, 3);
    cr_assert(eq(str, names[0], "f(std::__cxx11::string)"));
    cr_assert(eq(str, names[1], "f(std::__1::string)"));
    for (int i = 0; i < 3; i++)
        free(names[i]);
}

static bool is_utf8(const char *text)
{
    while (*text) {
        const size_t length = utf8_character_length(text);
        if (!length)
            return false;
        text += length;
    }
    return true;
}

/* No text is wider than asked for, and none ends in half a character. */
Test(unit_text_cut, random_texts_fit, .timeout = 300)
{
    static const char *const pieces[] = { "std::", "vector<", "int",    ">",  "(",   ")", " ",
                                          ", ",    "\u00f6",  "\u4e2d", "::", " > ", ";", "operator<" };
    uint64_t random = 362436069;
    for (int round = 0; round < 3000; round++) {
        char *names[4];
        size_t widths[4];
        for (int k = 0; k < 4; k++) {
            char name[512] = "";
            for (unsigned i = 0; i < 20; i++) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                strcat(name, pieces[random % (sizeof pieces / sizeof *pieces)]);
            }
            names[k] = need_copy(name, strlen(name));
            widths[k] = random % 40;
        }
        text_cut_names(names, widths, 4);
        for (int k = 0; k < 4; k++) {
            cr_assert(is_utf8(names[k]), "%s", names[k]);
            cr_assert(le(sz, text_width(names[k]), widths[k]), "%s", names[k]);
            free(names[k]);
        }
    }
}

Test(unit_text_cut, long_names_take_no_long_time, .timeout = 300)
{
    enum { COUNT = 20, BYTES = 65536 };
    char *names[COUNT];
    size_t widths[COUNT];
    const clock_t begin = clock();
    for (int i = 0; i < COUNT; i++) {
        names[i] = need_memory(BYTES + 16, 1);
        for (int k = 0; k < BYTES; k += 4)
            memcpy(names[i] + k, i % 2 ? "a<b," : "f(c)", 4);
        sprintf(names[i] + BYTES, "%d", i);
        widths[i] = 40;
    }
    text_cut_display(names, COUNT);
    text_cut_names(names, widths, COUNT);
    for (int i = 0; i < COUNT; i++)
        free(names[i]);
    cr_assert(lt(dbl, (double)(clock() - begin) / CLOCKS_PER_SEC, 5));
}
