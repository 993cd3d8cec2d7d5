/* The screen of `dwell top`: table, keys, and the view of callers. */
#include <curses.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/find_function.h"
#include "base/memory.h"
#include "base/screen.h"
#include "base/suggest.h"
#include "base/visible.h"
#include "clock.h"
#include "commands/commands.h"
#include "commands/top_command.h"
#include "tables/views.h"

enum {
    HEAD = 3 /* lines above the table */,
    FOOT = 1,
    ESCAPE = 27,
    CTRL_L = 'L' & 31,
    MIN_NAME = 14,
    LONGEST_TEXT = 256
};

struct top_screen {
    struct live *live;
    struct top_settings *settings;
    uint32_t *opened; /* functions whose callers were opened; the last one is shown */
    size_t opened_count, opened_room;
    bool recent, paused, done, helps;
    uint64_t left;     /* bytes that are not read yet */
    size_t selected;   /* number of the row in numbers of the rollup, or, of callers, in the table; */
    bool has_selected; /* otherwise it is the first row */
    size_t row, top;   /* where that row is, and the first one on the screen */
    size_t row_count;
    char sort[LONGEST_TEXT], filter[LONGEST_TEXT], message[LONGEST_TEXT];
};

static bool top_screen_shows_callers(const struct top_screen *v)
{
    return v->opened_count > 0;
}

static const struct analysis *top_screen_loaded(const struct top_screen *v)
{
    return v->recent && v->live->recent.rollup ? &v->live->recent : &v->live->whole;
}

/* ---- the table ---- */

/* The columns that the table has. The view of callers has no rates. */
static char *top_screen_known_columns(const struct table *t, const char *keys)
{
    char *known = need_memory(strlen(keys) + 2, 1);
    for (const char *key = keys; key; key = strchr(key, ',') ? strchr(key, ',') + 1 : NULL) {
        const size_t length = strcspn(key, ",");
        if (table_find_column(t, t->first_value, key, length) == t->column_count)
            continue;
        strncat(known, key, length);
        strcat(known, ",");
    }
    const size_t length = strlen(known);
    if (length)
        known[length - 1] = '\0';
    return known;
}

static struct table top_screen_make_table(const struct top_screen *v)
{
    if (!top_screen_shows_callers(v))
        return top_table(v->settings, v->live, v->recent, 0);
    struct table t = view_callers(top_screen_loaded(v), v->opened[v->opened_count - 1], false);
    char *keys = top_screen_known_columns(&t, top_columns(v->settings, v->live));
    if (*keys)
        option_choose(&t, keys);
    free(keys);
    return t;
}

/* Finds the selected row, and the first row on the screen. */
static void top_screen_find_selected(struct top_screen *v, const struct table *t, size_t room)
{
    v->row_count = t->row_count;
    if (!v->has_selected) {
        v->row = top_screen_shows_callers(v) && t->fixed_row ? t->fixed_row - 1 : 0;
    } else if (!top_screen_shows_callers(v)) {
        for (size_t i = 0; i < t->row_count; i++)
            if (view_row_number(t, i) == v->selected)
                v->row = i;
    }
    if (v->row >= t->row_count)
        v->row = t->row_count ? t->row_count - 1 : 0;
    if (v->row < v->top)
        v->top = v->row;
    if (v->row >= v->top + room)
        v->top = v->row - room + 1;
    if (v->top + room > t->row_count)
        v->top = t->row_count > room ? t->row_count - room : 0;
}

static char *top_screen_print_rows(const struct table *t, size_t first, size_t count)
{
    struct summary quiet = *t->session;
    struct table part = *t;
    quiet.path = NULL;
    part.session = &quiet;
    part.cells += first * t->column_count;
    part.row_count = first < t->row_count ? t->row_count - first : 0;
    part.row_count = part.row_count < count ? part.row_count : count;
    part.hidden_rows = 0;
    part.width = (size_t)COLS;
    part.optional = top_optional_columns;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        die(STATUS_ERROR, "out of memory");
    table_print_text(&part, out);
    if (fclose(out) != 0)
        die(STATUS_ERROR, "out of memory");
    return text;
}

/* The screen column at which names begin: that of the title of the first column of text. */
static int top_screen_values_width(const struct table *t, const char *text)
{
    size_t *order = need_memory(table_max_columns(t), sizeof *order);
    const size_t count = table_order(t, true, order);
    const char *names = NULL;
    for (size_t i = 0; i < count && !names; i++)
        if (column_is_words(&t->columns[order[i]]) && *t->columns[order[i]].title)
            names = strstr(text, t->columns[order[i]].title);
    free(order);
    return names ? (int)(names - text) : 0;
}

/* The last shown column that does not sort the rows. */
static void top_screen_drop_column(struct table *t, const char *sort)
{
    size_t at = t->chosen_count - 1;
    if (at > 0 && strcmp(t->columns[t->chosen[at]].key, sort) == 0)
        at--;
    memmove(t->chosen + at, t->chosen + at + 1, (--t->chosen_count - at) * sizeof *t->chosen);
}

/* Leaves out columns until there is room for names. */
static char *top_screen_print_fitting(const struct top_screen *v, struct table *t, size_t room)
{
    char *text = top_screen_print_rows(t, v->top, room);
    const int names = COLS / 3 > MIN_NAME ? COLS / 3 : MIN_NAME;
    while (t->chosen_count > 1 && top_screen_values_width(t, text) > COLS - names) {
        free(text);
        top_screen_drop_column(t, top_sort(v->settings, v->live));
        text = top_screen_print_rows(t, v->top, room);
    }
    return text;
}

/* ---- the screen ---- */

/* Prints a text that is not yet visible. */
static void top_screen_line(int line, const char *text, int attributes)
{
    char *shown = visible_text(text);
    screen_line(line, shown, attributes);
    free(shown);
}

static void top_screen_draw_lines(const struct top_screen *v, char *text)
{
    int line = HEAD - 1;
    for (char *at = text; *at && line < LINES - FOOT; line++) {
        char *end = strchrnul(at, '\n');
        const bool more = *end != '\0';
        *end = '\0';
        const bool title = line == HEAD - 1, chosen = (size_t)(line - HEAD) == v->row - v->top;
        screen_line(line, at, title ? A_BOLD : chosen ? A_REVERSE : A_NORMAL);
        at = end + more;
    }
    for (; line < LINES - FOOT; line++)
        screen_line(line, "", A_NORMAL);
}

static void top_screen_draw_state(const struct top_screen *v)
{
    char *state = live_describe(v->live), line[2 * LONGEST_TEXT];
    snprintf(line, sizeof line, "%s%s%s%s", state, v->paused ? ", PAUSED" : "", v->left ? ", reading on" : "",
             top_screen_loaded(v) == &v->live->recent ? ", since the last refresh" : "");
    top_screen_line(0, line, A_BOLD);
    free(state);
    char *rates = live_describe_rates(v->live);
    top_screen_line(1, rates, A_NORMAL);
    free(rates);
}

static void top_screen_draw_foot(const struct top_screen *v)
{
    static const char *const views[] = {
        [BY_FUNCTION] = "functions",
        [BY_MODULE] = "modules",
        [BY_THREAD] = "threads",
        [BY_PROCESS] = "processes",
    };
    char line[3 * LONGEST_TEXT];
    if (*v->message)
        snprintf(line, sizeof line, "%s", v->message);
    else if (top_screen_shows_callers(v))
        snprintf(line, sizeof line, "Esc back  Enter open  h help  q quit");
    else
        snprintf(line, sizeof line, "h help  q quit  %s by %s%s%s", views[v->settings->by],
                 top_sort(v->settings, v->live), *v->filter ? ", " : "", v->filter);
    top_screen_line(LINES - 1, line, A_REVERSE);
}

static void top_screen_draw_help(void)
{
    static const char *const lines[] = {
        "Up Down PgUp PgDn Home End  select", "Enter  callers and callees",  "Esc, Left  back",
        "< >  sort by the next column",       "s  sort by a column's name",  "/  filter: name~parse*, calls>100",
        "f m t r  functions, modules,",       "         threads, processes", "i  since the last refresh, or all",
        "+ -  refresh less, more often",      "p  pause    q  quit",
    };
    const int count = (int)(sizeof lines / sizeof *lines);
    for (int i = 0; i < LINES - FOOT; i++)
        screen_line(i, i < count ? lines[i] : "", A_NORMAL);
    screen_line(LINES - 1, "any key: back", A_REVERSE);
    refresh();
}

static void top_screen_draw_all(struct top_screen *v)
{
    if (v->helps) {
        top_screen_draw_help();
        return;
    }
    const size_t room = LINES > HEAD + FOOT ? (size_t)(LINES - HEAD - FOOT) : 1;
    struct table t = top_screen_make_table(v);
    top_screen_find_selected(v, &t, room);
    char *text = top_screen_print_fitting(v, &t, room);
    top_screen_draw_state(v);
    top_screen_draw_lines(v, text);
    top_screen_draw_foot(v);
    refresh();
    free(text);
    table_drop(&t);
}

/* ---- keys ---- */

static void __attribute__((format(printf, 2, 3))) top_screen_set_message(struct top_screen *v, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->message, sizeof v->message, format, arguments);
    va_end(arguments);
}

static void top_screen_select_row(struct top_screen *v, long by)
{
    const long last = (long)v->row_count - 1, wanted = (long)v->row + by;
    v->row = (size_t)(wanted < 0 ? 0 : wanted > last ? (last > 0 ? last : 0) : wanted);
    v->has_selected = true;
    if (top_screen_shows_callers(v) || !v->row_count)
        return;
    struct table t = top_screen_make_table(v);
    v->selected = view_row_number(&t, v->row);
    table_drop(&t);
}

/* The function of the row in the view of callers; PROFILE_NONE for the start of a thread. */
static uint32_t top_screen_caller_function(const struct top_screen *v)
{
    struct table t = top_screen_make_table(v);
    uint32_t function = PROFILE_NONE;
    const struct cell *cells = v->row < t.row_count ? &t.cells[v->row * t.column_count] : NULL;
    if (cells && cells[1].known && cells[2].known) {
        size_t count;
        char *name = need_text("%s@%s", cells[1].text, cells[2].text);
        uint32_t *found = function_find_all(&v->live->whole, name, &count);
        function = count ? found[0] : PROFILE_NONE;
        free(found);
        free(name);
    }
    table_drop(&t);
    return function;
}

static void top_screen_open_callers(struct top_screen *v)
{
    uint32_t function = PROFILE_NONE;
    if (top_screen_shows_callers(v)) {
        function = top_screen_caller_function(v);
    } else if (v->settings->by != BY_FUNCTION) {
        top_screen_set_message(v, "callers are of functions: f shows them");
        return;
    } else if (v->row_count) {
        top_screen_select_row(v, 0);
        function = (uint32_t)v->selected;
    }
    if (function == PROFILE_NONE)
        return;
    GROW(v->opened, v->opened_count, v->opened_room);
    v->opened[v->opened_count++] = function;
    v->has_selected = false;
    v->top = 0;
}

static void top_screen_go_back(struct top_screen *v)
{
    if (!top_screen_shows_callers(v))
        return;
    const uint32_t function = v->opened[--v->opened_count];
    v->has_selected = !top_screen_shows_callers(v);
    v->selected = function;
}

static void top_screen_show_by(struct top_screen *v, enum rollup_by by)
{
    v->settings->by = by;
    v->opened_count = 0;
    v->has_selected = false;
    v->top = 0;
}

/* Sorts by the next column, or by the one before. */
static void top_screen_sort_next(struct top_screen *v, int by)
{
    struct table t = top_screen_make_table(v);
    const char *now = top_sort(v->settings, v->live);
    size_t at = 0;
    if (!t.chosen_count) {
        table_drop(&t);
        return;
    }
    while (at < t.chosen_count && strcmp(t.columns[t.chosen[at]].key, now) != 0)
        at++;
    if (at == t.chosen_count)
        at = by > 0 ? t.chosen_count - 1 : 0;
    at = (at + t.chosen_count + (size_t)(by > 0 ? 1 : -1)) % t.chosen_count;
    snprintf(v->sort, sizeof v->sort, "%s", t.columns[t.chosen[at]].key);
    v->settings->sort = v->sort;
    table_drop(&t);
}

static void top_screen_ask_sort(struct top_screen *v)
{
    char text[LONGEST_TEXT] = "";
    if (!screen_ask("sort by: ", text, sizeof text) || !*text)
        return;
    char *refused = view_refuse_sort(text, true, "");
    if (refused) {
        top_screen_set_message(v, "%s", refused);
        free(refused);
        return;
    }
    snprintf(v->sort, sizeof v->sort, "%s", text);
    v->settings->sort = v->sort;
}

/* A word without a comparison is a part of the name. */
static void top_screen_ask_filter(struct top_screen *v)
{
    char text[LONGEST_TEXT - 16], condition[LONGEST_TEXT];
    snprintf(text, sizeof text, "%.200s", v->filter);
    if (!screen_ask("filter: ", text, sizeof text))
        return;
    struct row_filters filters = { 0 };
    const bool word = !strpbrk(text, "~=<>!");
    snprintf(condition, sizeof condition, "%s%s%s", word ? "name~*" : "", text, word ? "*" : "");
    struct error error = { NULL };
    if (!*text || row_filters_add(&filters, condition, &error)) {
        struct top_settings all = *v->settings;
        all.filters = (struct row_filters){ 0 };
        struct table t = top_table(&all, v->live, v->recent, 0);
        table_check_filters(&t, &filters, &error);
        table_drop(&t);
    }
    if (error.text) {
        top_screen_set_message(v, "%s", error.text);
        error_drop(&error);
        row_filters_drop(&filters);
        return;
    }
    row_filters_drop(&v->settings->filters);
    v->settings->filters = filters;
    snprintf(v->filter, sizeof v->filter, "%s", *text ? condition : "");
    v->top = 0;
}

static void top_screen_change_interval(struct top_screen *v, bool longer)
{
    const uint64_t least = 100000000, most = 60000000000, now = v->settings->interval;
    const uint64_t wanted = longer ? now * 2 : now / 2;
    v->settings->interval = wanted < least ? least : wanted > most ? most : wanted;
    top_screen_set_message(v, "every %g s", (double)v->settings->interval / 1e9);
}

static void top_screen_handle_view_key(struct top_screen *v, int key)
{
    switch (key) {
    case 'f':
        top_screen_show_by(v, BY_FUNCTION);
        break;
    case 'm':
        top_screen_show_by(v, BY_MODULE);
        break;
    case 't':
        top_screen_show_by(v, BY_THREAD);
        break;
    case 'r':
        top_screen_show_by(v, BY_PROCESS);
        break;
    case 'i':
        v->recent = !v->recent; /* takes effect after the second refresh */
        break;
    case 'p':
    case ' ':
        v->paused = !v->paused;
        break;
    case '+':
    case '-':
        top_screen_change_interval(v, key == '+');
        break;
    default:
        break;
    }
}

static void top_screen_handle_key(struct top_screen *v, int key)
{
    const long page = LINES > HEAD + FOOT ? LINES - HEAD - FOOT : 1;
    v->message[0] = '\0';
    if (v->helps) {
        v->helps = key == KEY_RESIZE;
        return;
    }
    switch (key) {
    case 'q':
        v->done = true;
        break;
    case 'h':
    case '?':
        v->helps = true;
        break;
    case KEY_UP:
    case 'k':
        top_screen_select_row(v, -1);
        break;
    case KEY_DOWN:
    case 'j':
        top_screen_select_row(v, 1);
        break;
    case KEY_PPAGE:
        top_screen_select_row(v, -page);
        break;
    case KEY_NPAGE:
        top_screen_select_row(v, page);
        break;
    case KEY_HOME:
        top_screen_select_row(v, -(long)v->row);
        break;
    case KEY_END:
        top_screen_select_row(v, (long)v->row_count);
        break;
    case '\n':
    case KEY_ENTER:
    case KEY_RIGHT:
        top_screen_open_callers(v);
        break;
    case ESCAPE:
    case KEY_LEFT:
    case KEY_BACKSPACE:
        top_screen_go_back(v);
        break;
    case '<':
    case '>':
        top_screen_sort_next(v, key == '>' ? 1 : -1);
        break;
    case 's':
        top_screen_ask_sort(v);
        break;
    case '/':
        top_screen_ask_filter(v);
        break;
    case CTRL_L:
        clearok(stdscr, TRUE);
        break;
    default:
        top_screen_handle_view_key(v, key);
        break;
    }
}

/* ---- time ---- */

static void top_screen_read_more(struct top_screen *v)
{
    struct error error = { NULL };
    if (!live_read(v->live, &v->left, &error))
        top_screen_set_message(v, "%s", error.text);
    error_drop(&error);
}

/* Milliseconds until the next reading. */
static int top_screen_poll_timeout(const struct top_screen *v, uint64_t next)
{
    const uint64_t now = clock_monotonic();
    if (v->paused)
        return -1;
    return v->left ? 0 : next > now ? (int)((next - now + 999999) / 1000000) : 0;
}

int top_show(struct live *live, struct top_settings *settings)
{
    struct top_screen v = { .live = live, .settings = settings };
    struct error error = { NULL };
    if (!live_read(live, &v.left, &error))
        die_of(&error);
    struct table t = top_screen_make_table(&v); /* reports bad options before the screen begins */
    table_drop(&t);
    if (!screen_begin())
        die(STATUS_ERROR, "the terminal (TERM=%s) is unknown, or has no screen; print a table with --once",
            getenv("TERM") ? getenv("TERM") : "");
    for (uint64_t next = clock_monotonic() + settings->interval; !v.done && !screen_is_left();) {
        top_screen_draw_all(&v);
        timeout(top_screen_poll_timeout(&v, next));
        const int key = getch();
        if (key != ERR) {
            top_screen_handle_key(&v, key);
            continue;
        }
        if (v.paused || screen_is_left() || (!v.left && clock_monotonic() < next))
            continue;
        top_screen_read_more(&v);
        next = clock_monotonic() + settings->interval;
    }
    screen_end();
    free(v.opened);
    const int left_by = screen_is_left();
    if (left_by && left_by != SIGINT) {
        signal(left_by, SIG_DFL);
        raise(left_by);
    }
    return STATUS_OK;
}
