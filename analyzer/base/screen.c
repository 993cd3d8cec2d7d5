/* Draws on the terminal with ncurses: begins and ends the screen, cuts lines to its width, and asks the user for a
 * line. Messages on stderr are kept until the screen ends. */
#include "base/screen.h"

#include <curses.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

#include "base/memory.h"
#include "base/visible.h"

enum { ESCAPE = 27, CLEAR_LINE = 'U' & 31, BACKSPACE = 'H' & 31, DELETE = 127 };

static SCREEN *screen;
static int real_stderr = -1, kept_stderr = -1; /* kept_stderr holds messages until the screen ends */
static volatile sig_atomic_t left;

static void screen_leave_on_signal(int signal)
{
    left = signal;
}

int screen_is_left(void)
{
    return left;
}

static void screen_keep_stderr(void)
{
    fflush(stderr);
    kept_stderr = memfd_create("stderr", MFD_CLOEXEC);
    real_stderr = dup(STDERR_FILENO);
    if (kept_stderr >= 0 && real_stderr >= 0)
        dup2(kept_stderr, STDERR_FILENO);
}

static void screen_print_kept_stderr(void)
{
    char text[4096];
    fflush(stderr);
    if (real_stderr >= 0)
        dup2(real_stderr, STDERR_FILENO);
    off_t at = 0;
    for (ssize_t got; kept_stderr >= 0 && (got = pread(kept_stderr, text, sizeof text, at)) > 0; at += got)
        if (write(STDERR_FILENO, text, (size_t)got) < 0)
            break;
    close(kept_stderr);
    close(real_stderr);
}

bool screen_begin(void)
{
    screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return false;
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &(struct sigaction){ .sa_handler = screen_leave_on_signal }, NULL);
    screen_keep_stderr();
    atexit(screen_end);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    return true;
}

void screen_end(void)
{
    if (!screen)
        return;
    curs_set(1);
    endwin();
    delscreen(screen);
    screen = NULL;
    screen_print_kept_stderr();
}

/* How many wide characters fit into the columns. */
static size_t screen_fitting_length(const wchar_t *text, int columns)
{
    size_t length = 0;
    for (int used = 0; text[length]; length++) {
        const int width = wcwidth(text[length]);
        if (used + (width > 0 ? width : 0) > columns)
            break;
        used += width > 0 ? width : 0;
    }
    return length;
}

void screen_line(int line, const char *text, int attributes)
{
    const size_t length = strlen(text);
    wchar_t *wide = need_memory(length + 1, sizeof *wide);
    if (mbstowcs(wide, text, length + 1) == (size_t)-1) /* not valid in this locale */
        for (size_t i = 0; i <= length; i++)
            wide[i] = (unsigned char)text[i] < 128 ? (wchar_t)text[i] : L'?';
    attrset((attr_t)attributes);
    move(line, 0);
    clrtoeol();
    if (attributes != A_NORMAL)
        hline(' ' | (chtype)attributes, COLS);
    mvaddnwstr(line, 0, wide, (int)screen_fitting_length(wide, COLS));
    attrset(A_NORMAL);
    free(wide);
}

static void screen_show_question(const char *question, const char *text)
{
    char line[512], *visible = visible_text(text);
    const int room = COLS - (int)strlen(question) - 1; /* a long text shows its end */
    const size_t length = strlen(visible);
    const size_t skip = room > 0 && length > (size_t)room ? length - (size_t)room : 0;
    const int shown = snprintf(line, sizeof line, "%s%s", question, visible + skip);
    screen_line(LINES - 1, line, A_NORMAL);
    move(LINES - 1, shown < COLS ? shown : COLS - 1);
    refresh();
    free(visible);
}

/* Removes the last character, of UTF-8. */
static void screen_drop_character(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
        length--;
    text[length ? length - 1 : 0] = '\0';
}

bool screen_ask(const char *question, char *text, size_t size)
{
    bool done = false, given_up = false;
    curs_set(1);
    timeout(-1);
    while (!done && !given_up && !left) {
        screen_show_question(question, text);
        const int key = getch();
        const size_t length = strlen(text);
        if (key == ESCAPE)
            given_up = true;
        else if (key == '\n' || key == KEY_ENTER)
            done = true;
        else if (key == KEY_BACKSPACE || key == BACKSPACE || key == DELETE)
            screen_drop_character(text);
        else if (key == CLEAR_LINE)
            text[0] = '\0';
        else if (key >= ' ' && key < 256 && length + 1 < size)
            memcpy(text + length, (char[]){ (char)key, '\0' }, 2);
    }
    curs_set(0);
    return done;
}
