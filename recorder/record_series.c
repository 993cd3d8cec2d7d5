/* Runs `dwell record` several times, and stops where a program fails. */
#include "recorder/record_series.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counted_text.h"
#include "base/exit_status.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/time_unit.h"
#include "clock.h"
#include "dwell/format.h"
#include "recorder/signal_relay.h"
#include "rotation.h"

/* ---- names ---- */

/* The number has the same width in all names, so that a sorted list is in order. */
static char *series_name(const char *output, const char *label, unsigned run, unsigned runs)
{
    static const char end[] = ".data";
    char digits[16];
    const size_t length = strlen(output), tail = strlen(end);
    const bool named = length > tail && strcmp(output + length - tail, end) == 0;
    const int width = snprintf(digits, sizeof digits, "%u", runs);
    return need_text("%.*s%s%s-%0*u%s", (int)(named ? length - tail : length), output, label ? "-" : "",
                     label ? label : "", width, run, named ? end : "");
}

/* ---- standard input ---- */

/* What each run reads: the same file from its beginning, a terminal, or nothing. */
struct series_input {
    off_t begin; /* negative if the input has no position */
    bool none;
};

static struct series_input series_look_at_input(bool quiet)
{
    struct stat s;
    struct series_input in = { .begin = lseek(STDIN_FILENO, 0, SEEK_CUR) };
    in.none = in.begin < 0 && fstat(STDIN_FILENO, &s) == 0 && (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode));
    if (in.none && !quiet)
        say("standard input is a pipe, which only one run could read: the runs read nothing from it");
    return in;
}

static void series_give_input(const struct series_input *in)
{
    if (in->begin >= 0)
        (void)lseek(STDIN_FILENO, in->begin, SEEK_SET);
    if (in->none && !freopen("/dev/null", "r", stdin))
        _exit(STATUS_OWN_FAILURE);
}

/* ---- a run ---- */

static char **series_words(const struct record_settings *s, const struct series_program *p, const char *session)
{
    size_t count = 0, words = 0;
    while (p->words[words])
        words++;
    char **list = need_memory(s->forwarded_count + words + 6, sizeof *list);
    list[count++] = need_text("dwell");
    list[count++] = need_text("record");
    for (size_t i = 0; i < s->forwarded_count; i++)
        list[count++] = need_text("%s", s->forwarded[i]);
    list[count++] = need_text("--output=%s", session);
    list[count++] = need_text("--");
    for (size_t i = 0; i < words; i++)
        list[count++] = need_text("%s", p->words[i]);
    return list;
}

static void series_free_words(char **words)
{
    for (char **word = words; *word; word++)
        free(*word);
    free(words);
}

/* Returns the run's wait status, or -1 and an error. A signal that asks to end is for the whole series, and is its
 * status if the program ends well: then *ended is true. */
static int series_run(char **words, const struct series_input *in, bool to_stderr, bool *ended, struct error *error)
{
    struct signal_relay relay;
    fflush(stdout);
    signal_relay_begin(&relay);
    int status = -1;
    const pid_t pid = fork();
    if (pid == 0) {
        signal_relay_leave(&relay);
        series_give_input(in);
        if (to_stderr)
            dup2(STDERR_FILENO, STDOUT_FILENO);
        execv("/proc/self/exe", words);
        _exit(STATUS_OWN_FAILURE);
    }
    if (pid < 0) {
        error_set(error, "fork: %s", strerror(errno));
        signal_relay_end(&relay);
        return -1;
    }
    signal_relay_wait(&relay, pid, &status);
    signal_relay_end(&relay);
    *ended = status == 0 && relay.ending;
    return *ended ? relay.ending : status;
}

static void series_say_failure(const struct series_program *p, unsigned run, unsigned runs, int status, bool ended)
{
    const char *label = p->label ? p->label : "", *space = p->label ? " " : "";
    if (ended)
        say("%s%srun %u of %u: signal %d came (%s); no other run follows", label, space, run, runs, WTERMSIG(status),
            strsignal(WTERMSIG(status)));
    else if (WIFSIGNALED(status))
        say("%s%srun %u of %u: %s was ended by signal %d (%s); no other run follows", label, space, run, runs,
            p->words[0], WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        say("%s%srun %u of %u: %s ended with exit status %d; no other run follows", label, space, run, runs,
            p->words[0], WEXITSTATUS(status));
}

/* What tells sessions of one name apart: all zero if there is none. */
struct series_id {
    uint8_t bytes[sizeof(((struct dwell_file_header *)NULL)->session_id)];
};

static struct series_id series_read_id(const char *session)
{
    struct series_id id = { { 0 } };
    const int fd = open(session, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!pread(fd, id.bytes, sizeof id.bytes, offsetof(struct dwell_file_header, session_id));
        close(fd);
    }
    return id;
}

/* Whether the recording has data. If it has none, an earlier session of its name stays. */
static bool series_has_data(const char *session, const struct series_id *earlier)
{
    const struct series_id id = series_read_id(session);
    const int fd = memcmp(&id, earlier, sizeof id) == 0 ? -1 : open(session, O_RDONLY | O_CLOEXEC);
    const bool has = fd >= 0 && rotation_holds_data(fd);
    if (fd >= 0)
        close(fd);
    return has;
}

static int series_record_one(const struct record_settings *s, struct series_program *p, unsigned run,
                             const struct series_input *in, bool to_stderr, struct error *error)
{
    char **words = series_words(s, p, p->sessions[run - 1]);
    const uint64_t began = clock_monotonic();
    const struct series_id earlier = series_read_id(p->sessions[run - 1]);
    bool ended = false;
    const int status = series_run(words, in, to_stderr, &ended, error);
    const double seconds = (double)(clock_monotonic() - began) / 1e9;
    series_free_words(words);
    p->total += seconds;
    p->squares += seconds * seconds;
    if (status && !error->text)
        series_say_failure(p, run, s->runs, status, ended);
    if (!status && p->label && !series_has_data(p->sessions[run - 1], &earlier))
        error_set(error, "%s run %u of %u recorded nothing, so there is nothing to compare; no other run follows",
                  p->label, run, s->runs);
    return status;
}

int series_record(const struct record_settings *s, struct series_program *programs, size_t count, bool to_stderr,
                  struct error *error)
{
    const struct series_input in = series_look_at_input(s->quiet);
    for (size_t i = 0; i < count; i++) {
        programs[i].sessions = need_memory(s->runs, sizeof *programs[i].sessions);
        for (unsigned run = 1; run <= s->runs; run++)
            programs[i].sessions[run - 1] = series_name(s->output, programs[i].label, run, s->runs);
    }
    for (unsigned run = 1; run <= s->runs; run++)
        for (size_t i = 0; i < count; i++) {
            struct series_program *p = &programs[run % 2 ? i : count - 1 - i];
            const int status = series_record_one(s, p, run, &in, to_stderr, error);
            if (status || error->text)
                return status;
        }
    return 0;
}

void series_drop(struct series_program *programs, size_t count, unsigned runs)
{
    for (size_t i = 0; i < count; i++) {
        for (unsigned run = 0; programs[i].sessions && run < runs; run++)
            free(programs[i].sessions[run]);
        free(programs[i].sessions);
    }
}

char *series_describe(const struct series_program *p, unsigned runs)
{
    char mean_text[TIME_TEXT], deviation_text[TIME_TEXT];
    const double mean = p->total / runs, variance = runs > 1 ? (p->squares - p->total * mean) / (runs - 1) : 0;
    time_text_with_unit((uint64_t)(mean * 1e9), mean_text);
    time_text_with_unit((uint64_t)(sqrt(fmax(variance, 0)) * 1e9), deviation_text);
    return need_text("%s of %s took %s on average, +- %s", COUNTED(runs, "run"), p->words[0], mean_text,
                     deviation_text);
}
