/* Makes the text of an answer: what a command printed, cut at lines, and what to ask next. */
#include "mcp/tool_answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/counted_text.h"
#include "base/exit_status.h"
#include "base/memory.h"

/* ---- cutting ---- */

enum { MOST_PARTS = 8, NOTE = 48 /* room of a line that says what is left out */ };

/* Lines up to an empty one. The last part has the rest. */
struct answer_part {
    const char *text;
    size_t length; /* with the last line's end */
};

static size_t answer_split(const char *text, struct answer_part parts[MOST_PARTS])
{
    size_t count = 0;
    while (*text) {
        const char *end = count + 1 < MOST_PARTS ? strstr(text, "\n\n") : NULL;
        const size_t length = end ? (size_t)(end + 1 - text) : strlen(text);
        parts[count++] = (struct answer_part){ text, length };
        text += length;
        text += *text == '\n';
    }
    return count;
}

/* The length of the part's first lines that fit. */
static size_t answer_fit(const struct answer_part *part, size_t most)
{
    if (part->length <= most)
        return part->length;
    const char *end = most ? memrchr(part->text, '\n', most) : NULL;
    return end ? (size_t)(end + 1 - part->text) : 0;
}

/* Whether all parts fit, each with at most so many bytes. */
static bool answer_fits(const struct answer_part *parts, size_t count, size_t most, size_t room)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t kept = answer_fit(&parts[i], most);
        sum += kept + 2 + (kept < parts[i].length ? NOTE : 0);
    }
    return sum <= room;
}

static uint64_t answer_lines(const char *text, size_t length)
{
    uint64_t lines = length && text[length - 1] != '\n';
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

char *mcp_answer_cut(const char *text, size_t room, uint64_t lines_left_out)
{
    struct answer_part parts[MOST_PARTS];
    const size_t count = answer_split(text, parts);
    size_t fits = 0, most = room + 1, length;
    char *cut;
    if (!lines_left_out && strlen(text) <= room)
        return need_copy(text, strlen(text));
    while (most - fits > 1) {
        const size_t middle = fits + (most - fits) / 2;
        *(answer_fits(parts, count, middle, room) ? &fits : &most) = middle;
    }
    FILE *out = need_stream(&cut, &length);
    for (size_t i = 0; i < count; i++) {
        const size_t kept = answer_fit(&parts[i], fits);
        const uint64_t lost =
            answer_lines(parts[i].text + kept, parts[i].length - kept) + (i + 1 == count ? lines_left_out : 0);
        if (i)
            putc('\n', out);
        fwrite(parts[i].text, 1, kept, out);
        if (lost)
            fprintf(out, "(%s left out)\n", COUNTED(lost, "row"));
    }
    need_stream_end(out);
    return cut;
}

/* ---- answers ---- */

/* Adds lines, each behind a mark. The last one may lack its end. */
static void answer_put_lines(FILE *out, const char *mark, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        fprintf(out, "%s%.*s\n", mark, (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* Adds the lines that are dwell's own, or the others. */
static void answer_put_chosen(FILE *out, const char *mark, const char *text, bool own)
{
    static const char begin[] = "dwell: ";
    while (*text) {
        const size_t length = strcspn(text, "\n");
        if ((strncmp(text, begin, strlen(begin)) == 0) == own)
            fprintf(out, "%s%.*s\n", mark, (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* How a command ended, if not well. */
static void answer_put_end(FILE *out, const struct mcp_tool *tool, int status, const char *ended)
{
    if (ended)
        fprintf(out, "%s: %s\n", tool->name, ended);
    else if (WIFSIGNALED(status))
        fprintf(out, "%s: it was ended by signal %d (%s)\n", tool->name, WTERMSIG(status), strsignal(WTERMSIG(status)));
}

/* The end of the program, what was recorded, and what the program printed. */
static char *answer_text_of_record(const struct mcp_tool *tool, const struct mcp_child *c, const char *ended)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    answer_put_end(out, tool, c->status, ended);
    if (WIFEXITED(c->status) && WEXITSTATUS(c->status) < STATUS_OWN_FAILURE && !ended)
        fprintf(out, "the program ended with exit status %d\n", WEXITSTATUS(c->status));
    answer_put_chosen(out, "", c->err.text, true);
    if (c->out.length)
        fputs("\nstandard output of the program:\n", out);
    answer_put_lines(out, "| ", c->out.text);
    char *others;
    FILE *rest = need_stream(&others, &length);
    answer_put_chosen(rest, "| ", c->err.text, false);
    need_stream_end(rest);
    fprintf(out, "%s%s", *others ? "\nstandard error of the program:\n" : "", others);
    need_stream_end(out);
    free(others);
    return text;
}

/* Adds what a view printed. Remarks behind its first line come after the result, which is what was asked for. */
static void answer_put_view(FILE *out, const char *text)
{
    const char *const moved = text + strcspn(text, "\n") + (strchr(text, '\n') != NULL);
    const char *end = moved;
    while (strncmp(end, "! ", 2) == 0 && strchr(end, '\n'))
        end = strchr(end, '\n') + 1;
    const size_t length = strlen(end);
    fprintf(out, "%.*s%s", (int)(moved - text), text, end);
    if (end > moved && length)
        fputs(end[length - 1] == '\n' ? "\n" : "\n\n", out);
    fwrite(moved, 1, (size_t)(end - moved), out);
}

static char *answer_text_of_view(const struct mcp_tool *tool, const struct mcp_child *c, const char *ended, bool failed)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    answer_put_end(out, tool, c->status, ended);
    if (failed) {
        fputs(c->err.text, out);
    } else {
        answer_put_view(out, c->out.text);
        if (c->out.length && c->err.length)
            putc('\n', out);
        answer_put_lines(out, "! ", c->err.text);
    }
    need_stream_end(out);
    return text;
}

/* A view ends with 1 if it has found what it was to look for. record ends as the program did. */
static bool answer_is_failure(const struct mcp_tool *tool, int status, const char *ended)
{
    if (ended || !WIFEXITED(status))
        return true;
    return tool->runs_program ? WEXITSTATUS(status) >= STATUS_OWN_FAILURE && WEXITSTATUS(status) <= STATUS_NOT_FOUND
                              : WEXITSTATUS(status) > STATUS_FINDING;
}

char *mcp_answer_of(const struct mcp_tool *tool, const struct mcp_child *c, size_t room, const char *ended,
                    bool *failed)
{
    static const char more[] = "Rows were left out: ask for more by max_characters, or for a part.\n";
    *failed = answer_is_failure(tool, c->status, ended);
    char *text =
        tool->runs_program ? answer_text_of_record(tool, c, ended) : answer_text_of_view(tool, c, ended, *failed);
    const uint64_t lost = c->out.lines_left_out + c->err.lines_left_out;
    char *next = *failed ? need_text("%s", "") : need_text("\nNext: %s\n", tool->next);
    const bool cut = lost || strlen(text) + strlen(next) > room;
    const size_t reserved = strlen(next) + (cut ? strlen(more) : 0);
    char *kept = mcp_answer_cut(text, room > reserved ? room - reserved : 0, lost);
    char *answer = need_text("%s%s%s", kept, cut ? more : "", next);
    free(text);
    free(next);
    free(kept);
    return answer;
}
