/* Writes the page: the template, with the containers as base64 in script elements. */
#include "view/page.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "view/base64.h"

/* The template, which template.sh puts into the program. */
extern const char page_template[], page_template_end[];

static const char marker[] = "<!-- dwell:sessions -->";
static const char policy[] = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
static const char part_begins[] = "<script type=\"application/x-dwell\" data-part=\"";

static const char *page_find_marker(void)
{
    const char *found = memmem(page_template, (size_t)(page_template_end - page_template), marker, strlen(marker));
    assert(found); /* template.sh checks it */
    return found;
}

static void page_write_part(const struct packed *part, FILE *out)
{
    putc('>', out);
    base64_write(part->bytes, part->length, out);
    fputs("</script>\n", out);
}

static void page_write_session(const struct view_session *session, size_t number, FILE *out)
{
    fprintf(out, "%ssession\" data-session=\"%zu\"", part_begins, number);
    page_write_part(&session->main, out);
    for (size_t i = 0; i < session->block_count; i++) {
        fprintf(out, "%sblock\" data-session=\"%zu\" data-block=\"%zu\"", part_begins, number, i);
        page_write_part(&session->blocks[i], out);
    }
}

static void page_write_around(const char *at_marker, const struct view_session *const *sessions, size_t count,
                              unsigned interval, FILE *out)
{
    fwrite(page_template, 1, (size_t)(at_marker - page_template), out);
    for (size_t i = 0; i < count; i++)
        page_write_session(sessions[i], i, out);
    if (count == 0)
        fprintf(out, "%slive\" data-interval=\"%u\"></script>", part_begins, interval);
    at_marker += strlen(marker);
    fwrite(at_marker, 1, (size_t)(page_template_end - at_marker), out);
}

char *page_policy(void)
{
    const char *at = memmem(page_template, (size_t)(page_template_end - page_template), policy, strlen(policy));
    assert(at); /* template.sh checks it */
    at += strlen(policy);
    return need_text("%.*s; frame-ancestors 'none'", (int)strcspn(at, "\""), at);
}

void page_write(const struct view_session *const *sessions, size_t count, FILE *out)
{
    page_write_around(page_find_marker(), sessions, count, 0, out);
}

void page_write_live(unsigned interval, FILE *out)
{
    page_write_around(page_find_marker(), NULL, 0, interval, out);
}

bool page_is_ours(FILE *file)
{
    char piece[1 << 16];
    size_t kept = 0, length, all = 0;
    while ((length = fread(piece + kept, 1, sizeof piece - kept, file)) > 0) {
        all += length;
        length += kept;
        if (memmem(piece, length, part_begins, strlen(part_begins)))
            return true;
        kept = length < strlen(part_begins) ? length : strlen(part_begins) - 1;
        memmove(piece, piece + length - kept, kept);
    }
    return all == 0 && !ferror(file);
}
