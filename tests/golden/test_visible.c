/*
 * No control character of a session, a file, a name of a file or an option reaches standard output or standard error.
 * Every command and every view shows hostile texts, and every option gets one. CSV and exports keep exact texts, except
 * on a terminal.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/features.h"
#include "support/hostile.h"
#include "support/on_terminal.h"
#include "support/rounds.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(golden_visible, .timeout = 300);

/* One that begins a line would look like dwell's own. */
static const char forged[] = "x\nFORGED\r\nFORGED\n  FORGED \033[2K";

static void visible_save_file(const char *name, const char *text, size_t length)
{
    FILE *out = fopen(test_path(name), "wb");
    cr_assert(out != NULL);
    fwrite(text, 1, length, out);
    fclose(out);
}

/* Control characters as bytes, as characters of UTF-8 and as half ones, and what changes the direction. Static. */
static const char *visible_payload(void)
{
    static char text[512];
    char *to = text + sprintf(text, "\033]0;title\007\033[31m");
    for (int c = 1; c < ' '; c++)
        if (c != '\n' && c != '\r')
            *to++ = (char)c;
    *to++ = 127;
    for (int c = 0x80; c < 0xa0; c++)
        to += sprintf(to, "\xc2%c", c);
    for (int c = 0x80; c < 0xa0; c++)
        *to++ = (char)c;
    strcpy(to, "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\xe2\x80\xff"
               "Gr\u00f6\u00dfe\u4e2d\xf4\x90\x80\x80\xed\xa0\x80");
    return text;
}

static void visible_save(const char *text)
{
    hostile_save(text);
    visible_save_file("payload", text, strlen(text));
    free(run_well("P=$(cat payload; echo x); P=${P%%x}; cp hostile.data \"$P\"; cp hostile.log \"$P.log\""));
}

static void visible_check(const char *files)
{
    free(run_well("python3 -B " DWELL_CONSUMERS "/visible.py %s", files));
}

/* What `dwell export` writes to a file is exact, and is not checked. */
static bool visible_is_exact(const struct hostile_view *view)
{
    return strcmp(view->command, "export") == 0;
}

/* Prints every view in that format. */
static void visible_check_views(const char *format, const char *locale, const char *some)
{
    unsigned found = 0;
    for (size_t i = 0; hostile_views[i].command; i++) {
        const struct hostile_view *view = &hostile_views[i];
        char option[32] = "";
        char *options = run_well("$DWELL %s --print-options", view->command);
        if (has(options, "--format\t"))
            snprintf(option, sizeof option, "--format %s", format);
        free(options);
        free(run_well("LC_ALL=%s timeout 300 $DWELL %s %s %s >out-%zu 2>err-%zu; test $? -lt 100", locale,
                      view->command, option, view->arguments, i, i));
        if (visible_is_exact(view))
            free(run_well("rm out-%zu", i));
        else
            found += (unsigned)run("grep -qF '%s' out-%zu err-%zu", some, i, i).status == 0;
    }
    visible_check("out-* err-*");
    cr_assert(gt(u32, found, 30), "%s", format);
}

Test(golden_visible, views_as_text)
{
    visible_save(visible_payload());
    visible_check_views("text", "C.UTF-8", "\\x1b");
    visible_check_views("text", "C", "\\x1b");
    visible_check_views("text", "C.UTF-8", "\\u202e");
}

Test(golden_visible, views_as_json)
{
    visible_save(visible_payload());
    visible_check_views("json", "C.UTF-8", "\\u00");
}

Test(golden_visible, line_breaks_forge_nothing)
{
    visible_save(forged);
    visible_check_views("text", "C.UTF-8", "\\x0aFORGED");
}

/* What stays can be read, and its width is right. */
Test(golden_visible, characters_of_other_languages_stay)
{
    hostile_save("Gr\u00f6\u00dfe\u4e2d\u0301:");
    char *out = run_well("LC_ALL=C.UTF-8 $DWELL report hostile.data && LC_ALL=C.UTF-8 $DWELL info hostile.data");
    cr_assert(has(out, "Gr\u00f6\u00dfe\u4e2d\u0301:main"), "%s", out);
    free(out);
    hostile_save("\033\u4e2d");
    out = run_well("LC_ALL=C.UTF-8 $DWELL report hostile.data | grep -e twin -e MODULE");
    cr_assert(has(out, " MODULE    SOURCE          FUNCTION\n"), "%s", out);
    cr_assert(has(out, " \\x1b\u4e2dlib \\x1b\u4e2dfile.c:38 \\x1b\u4e2dtwin\n"), "%s", out);
    free(out);
}

/* Escapes are unambiguous: a text that looks like one is another. */
Test(golden_visible, a_text_like_an_escape)
{
    hostile_save("\\x1b\\u202e\\n\\x1\\U00");
    char *out = run_well("$DWELL report hostile.data");
    cr_assert(has(out, "\\x5cx1b\\x5cu202e\\n\\x1\\U00main"), "%s", out);
    free(out);
}

/* On a terminal, CSV and exports are visible as well. */
Test(golden_visible, views_on_a_terminal)
{
    visible_save(visible_payload());
    for (size_t i = 0; hostile_views[i].command; i++) {
        const struct hostile_view *view = &hostile_views[i];
        char name[32];
        char *options = run_well("$DWELL %s --print-options", view->command);
        struct ran r =
            run_on_terminal(300,
                            "export NO_COLOR=1 DWELL_PAGER=cat LC_ALL=C.UTF-8 DWELL_PROGRESS=-1; "
                            "timeout 300 $DWELL %s %s %s",
                            view->command, has(options, "--format\t") ? "--format csv" : "", view->arguments);
        cr_assert(ge(int, r.status, 0));
        snprintf(name, sizeof name, "seen-%zu", i);
        visible_save_file(name, r.out, strlen(r.out));
        free(options);
        ran_drop(&r);
    }
    visible_check("seen-*");
}

/* Curses writes escapes of its own, so only the payload's are looked for. On a busy machine, the screen comes late. */
Test(golden_visible, the_screen_of_top)
{
    static const char shown[] = "\\x1b]0;title\\x07\\x1b[31m\\x01";
    visible_save(visible_payload());
    struct ran r = { 0 };
    for (int seconds = 1; seconds <= 64 && !(r.out && has(r.out, shown)); seconds *= 4) {
        ran_drop(&r);
        r = run_on_terminal(250, "LC_ALL=C.UTF-8 timeout --foreground -s INT %d $DWELL top hostile.data", seconds);
    }
    cr_assert(has(r.out, shown), "%s", r.out);
    static const char *const bad[] = { "\033]0;", "\x7f", "\xc2\x9b", "\u202e", "\u2028", "\x9b\x9c" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(not(has(r.out, bad[i])), "%zu", i);
    ran_drop(&r);
}

/* Every option of every command, files, and words that are none of them. The options are before a session that can be
 * read, or before a missing file. */
Test(golden_visible, what_is_on_the_command_line)
{
    need_features("events fleet perflog vsperf");
    for (int i = 0; i < test_rounds(4); i++) {
        visible_save(i % 2 ? forged : visible_payload());
        /* Without cc: its output is the compiler's. */
        free(run_well(
            "P=$(cat payload; echo x); P=${P%%x}; export BROWSER=true\n"
            "export ASAN_OPTIONS=\"$ASAN_OPTIONS:detect_leaks=0\"\n" /* takes half of the time; other tests look */
            "all() { timeout 300 $DWELL \"$@\" </dev/null >>out 2>>err; test $? -lt 128 || echo \"$1 ended by $?\"; }\n"
            "for c in $($DWELL --help | sed -n 's/^  \\([a-z][a-z]*\\)  .*/\\1/p' | grep -vx cc); do\n"
            "    $DWELL $c --print-options | while read -r option letter argument help; do\n"
            "        case \"$argument\" in -) ;; *) all $c $option=\"$P\" %s;; esac\n"
            "    done\n"
            "    all $c \"$P\"; all $c \"./$P.none\"; all $c \"$P\" \"$P\"; all $c hostile.data \"$P\"; all $c \"--$P\"\n"
            "    all $c \"-$P\"; all $c hostile.data hostile.data hostile.data \"$P\"; all $c \"--$P=$P\"\n"
            "    mkdir -p config/dwell; printf '%%s.%%s = %%s\\n' $c \"$P\" \"$P\" >config/dwell/config\n"
            "    XDG_CONFIG_HOME=$PWD/config all $c hostile.data\n"
            "    printf '%%s.sort = %%s\\n' $c \"$P\" >config/dwell/config\n"
            "    XDG_CONFIG_HOME=$PWD/config all $c hostile.data\n"
            "done\n"
            "all \"$P\"; all import vsperf \"$P\" -o \"$P.out\"; all import \"$P\" hostile.csv\n"
            "all perflog \"$P.log\"; all perflog --diff \"$P.log\" hostile.log; all export \"$P\"\n"
            "cp hostile.data \"$P.page\"; all view --no-open -o \"$P.html\" \"$P\"; all view -o \"$P.page\" \"$P\"\n"
            "DWELL_CC=$P all cc -c main.c\n"
            "all merge \"$P\" \"$P.page\" -o \"$P.merged\"; all diff \"$P\" \"$P.page\"; all doctor \"$P.page\"\n"
            "all export vsperf -o \"$P.v\" \"$P\"; all export sqlite -o \"$P.db\" \"$P\"; all export ctf -o \"$P.ctf\" \"$P\"\n"
            "all record -o \"$P.new\" \"./$P.none\"; all record --only \"$P\" $SAMPLES/fib 1\n"
            "head -c 5000 hostile.data >cut; for c in report tree info replay events; do all $c cut; done",
            i / 2 ? "\"$P\" main" : "hostile.data"));
        visible_check("out err");
    }
}
