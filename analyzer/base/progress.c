/* A progress line on stderr: makes it, and draws and removes it on the terminal. */
#include "base/progress.h"

#include <langinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/terminal.h"
#include "base/visible.h"

#define SECOND 1000000000u

enum {
    LONGEST_BAR = 40,
    MIN_BAR = 8,
    MIN_NAME = 6,     /* columns; a shorter part of a name is useless */
    NUMBERS = 24,     /* columns of " 100 %, 99999 s left", and the blanks around the bar */
    USUAL_WIDTH = 80, /* if the terminal does not say its width */
    OFTEN = SECOND / 10,
};

static const char erase_line[] = "\r\033[K";

static struct {
    pthread_mutex_t lock; /* protects the line on the terminal */
    bool known, shown;    /* whether stderr has been examined, and whether progress is shown there */
    bool output_began;
    uint64_t delay;
    uint64_t started;     /* when the first work began */
    uint64_t begun, next; /* when the current work began, and when the line is drawn next */
    const char *doing;
    const char *path;
    uint64_t done, total;
    uint64_t (*clock)(void);
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

static volatile sig_atomic_t drawn;

/* ---- the line ---- */

static unsigned progress_text_columns(const char *text)
{
    unsigned columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80; /* each character is assumed to be one column wide */
    return columns;
}

/* Cuts the beginning of a name: its end is more useful. */
static const char *progress_last_columns(const char *text, unsigned columns)
{
    for (unsigned all = progress_text_columns(text); all > columns; all--)
        do
            text++;
        while (((unsigned char)*text & 0xc0) == 0x80);
    return text;
}

static void progress_append(char *line, const char *text, unsigned times)
{
    size_t length = strlen(line);
    for (const size_t more = strlen(text); times > 0 && length + more < PROGRESS_LINE; times--, length += more)
        memcpy(line + length, text, more + 1);
}

static void progress_append_bar(char *line, const struct progress *p, unsigned columns, bool blocks)
{
    const unsigned full = (unsigned)((double)p->done / (double)p->total * columns);
    progress_append(line, blocks ? "\u2588" : "#", full);
    progress_append(line, blocks ? "\u2591" : ".", columns - full);
}

void progress_text(const struct progress *given, unsigned width, bool blocks, char line[PROGRESS_LINE])
{
    struct progress p = *given;
    char numbers[64], left[48] = "";
    p.total = p.total ? p.total : 1;
    p.done = p.done < p.total ? p.done : p.total;
    const unsigned percent = (unsigned)((double)p.done / (double)p.total * 100);
    if (percent >= 5 && p.seconds > 0) /* an earlier estimate is useless */
        snprintf(left, sizeof left, ", %.0f s left", (double)p.seconds * (double)(p.total - p.done) / (double)p.done);
    snprintf(numbers, sizeof numbers, "%3u %%%s", percent, left);
    line[0] = '\0';
    if (width < MIN_BAR + NUMBERS) { /* no room for a bar */
        progress_append(line, width < strlen(numbers) ? "" : numbers, 1);
        return;
    }
    const unsigned rest = width - NUMBERS, words = (unsigned)strlen(p.doing) + 1, name = progress_text_columns(p.name);
    unsigned bar = rest > words + name ? rest - words - name - 1 : 0;
    bar = bar < rest / 3 ? rest / 3 : bar;
    bar = bar < MIN_BAR ? MIN_BAR : bar > LONGEST_BAR ? LONGEST_BAR : bar;
    const unsigned room = rest > bar + words ? rest - bar - words - 1 : 0;
    if (room >= name || room >= MIN_NAME) {
        progress_append(line, p.doing, 1);
        progress_append(line, " ", 1);
        progress_append(line, progress_last_columns(p.name, room), 1);
        progress_append(line, " ", 1);
    }
    progress_append_bar(line, &p, bar, blocks);
    progress_append(line, " ", 1);
    progress_append(line, numbers, 1);
}

/* ---- on the terminal ---- */

static uint64_t progress_monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

void progress_use_clock(uint64_t (*clock)(void))
{
    state.clock = clock;
}

static uint64_t progress_now(void)
{
    return state.clock ? state.clock() : progress_monotonic();
}

static void progress_write(const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t wrote = write(STDERR_FILENO, text, left);
        if (wrote <= 0)
            return;
        text += wrote;
        left -= (size_t)wrote;
    }
}

static bool progress_output_is_seen(void)
{
    return isatty(STDOUT_FILENO) || terminal_is_paged();
}

static void progress_detect_terminal(void)
{
    const char *kind = getenv("TERM"), *delay = getenv("DWELL_PROGRESS");
    char *end = NULL;
    const double seconds = delay && *delay ? strtod(delay, &end) : 1;
    state.known = true;
    state.started = progress_now();
    state.shown = isatty(STDERR_FILENO) && !(kind && strcmp(kind, "dumb") == 0) && !(end && *end) && seconds >= 0 &&
                  !(state.output_began && progress_output_is_seen());
    state.delay = seconds < 1e9 ? (uint64_t)(seconds * SECOND) : UINT64_MAX / 2;
}

static void progress_end_by_signal(int number)
{
    if (drawn)
        progress_write(erase_line);
    raise(number); /* now the signal ends the program */
}

static void progress_watch_signals(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    static bool watched;
    const struct sigaction ours = { .sa_handler = progress_end_by_signal,
                                    .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
    struct sigaction before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !watched; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &ours, NULL);
    watched = true;
}

static unsigned progress_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : USUAL_WIDTH;
}

/* The caller holds the lock. */
static void progress_draw(uint64_t time)
{
    const char *slash = strrchr(state.path, '/');
    char *name = visible_text(slash && slash[1] ? slash + 1 : state.path);
    const struct progress p = {
        .doing = state.doing,
        .name = name,
        .done = __atomic_load_n(&state.done, __ATOMIC_RELAXED),
        .total = state.total,
        .seconds = (time - state.begun) / SECOND,
    };
    char line[PROGRESS_LINE], whole[PROGRESS_LINE + sizeof erase_line];
    progress_text(&p, progress_width() - 1, strcmp(nl_langinfo(CODESET), "UTF-8") == 0, line);
    snprintf(whole, sizeof whole, "%s%s", erase_line, line);
    progress_watch_signals();
    drawn = true;
    progress_write(whole);
    free(name);
}

static void progress_erase(void)
{
    if (drawn)
        progress_write(erase_line);
    drawn = false;
}

static bool progress_is_due(uint64_t time)
{
    return state.shown && time - state.started >= state.delay && time >= __atomic_load_n(&state.next, __ATOMIC_RELAXED);
}

static void progress_update(void)
{
    const uint64_t time = progress_now();
    if (!progress_is_due(time) || pthread_mutex_trylock(&state.lock) != 0)
        return;
    if (state.doing) {
        progress_draw(time);
        __atomic_store_n(&state.next, time + OFTEN, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&state.lock);
}

/* ---- work ---- */

void progress_begin(const char *doing, const char *path, uint64_t total)
{
    if (!state.known)
        progress_detect_terminal();
    if (!state.shown)
        return;
    pthread_mutex_lock(&state.lock);
    state.doing = doing;
    state.path = path;
    state.total = total;
    state.done = 0;
    state.begun = progress_now();
    state.next = 0;
    pthread_mutex_unlock(&state.lock);
    progress_update();
}

void progress_add(uint64_t amount)
{
    if (!state.shown)
        return;
    __atomic_fetch_add(&state.done, amount, __ATOMIC_RELAXED);
    progress_update();
}

void progress_end(void)
{
    if (!state.shown)
        return;
    pthread_mutex_lock(&state.lock);
    state.doing = NULL;
    progress_erase();
    pthread_mutex_unlock(&state.lock);
}

void progress_hide(void)
{
    if (!state.shown)
        return;
    pthread_mutex_lock(&state.lock);
    progress_erase();
    pthread_mutex_unlock(&state.lock);
}

void progress_abandon(void)
{
    if (drawn)
        progress_write(erase_line);
    drawn = false;
    state.shown = false;
}

void progress_output(void)
{
    if (state.output_began)
        return;
    state.output_began = true;
    if (state.shown && progress_output_is_seen()) {
        progress_end();
        state.shown = false;
    }
}
