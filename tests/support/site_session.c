/* Builds the session with call sites, inlined calls and chunk boundaries. */
#include "support/site_session.h"

#include <string.h>

enum { SITE = 16, INLINED = 17, OPEN_SITES = 18, OPEN = 14, PAUSE = 11, RESUME = 12 };
enum { ALSO = 176, CALL_SITES = 1 };
enum { BIAS = 0x400000, MAIN = BIAS + 0x1000, F = BIAS + 0x2000, G = BIAS + 0x3000 };
static const uint64_t outside = 0x7f0000001234, inlined = 1ull << 63;

void write_site(struct writer *w, unsigned type, uint64_t value, unsigned words)
{
    uint16_t record[4] = { (uint16_t)(type << 8 | words) };
    for (unsigned i = 0; i < words; i++)
        record[i + 1] = (uint16_t)(value >> 16 * i);
    write_words(w, record, words + 1);
}

static void content_add_words(uint16_t *words, size_t *count, uint64_t value, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        words[(*count)++] = (uint16_t)(value >> 16 * i);
}

/* The bytes after a record's type and size. */
struct content {
    uint8_t bytes[256];
    size_t length;
};

static void content_add(struct content *c, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        c->bytes[c->length++] = (uint8_t)(value >> 8 * i);
}

static void content_add_text(struct content *c, const char *text)
{
    content_add(c, strlen(text), 2);
    for (; *text; text++)
        content_add(c, (uint8_t)*text, 1);
}

static void site_session_write_line(struct writer *w, uint64_t offset, unsigned file, unsigned line,
                                    const char *function, unsigned outer_line, const char *outer)
{
    struct content c = { .length = 0 };
    content_add(&c, 0, 4); /* module */
    content_add(&c, file, 4);
    content_add(&c, line, 4);
    content_add(&c, outer_line ? 1 : 0, 4);
    content_add(&c, outer_line, 4);
    content_add(&c, 0, 4);
    content_add(&c, offset, 8);
    content_add_text(&c, function);
    content_add_text(&c, outer);
    write_record(w, 0, 17, c.bytes, c.length);
}

static void site_session_write_names(struct writer *w)
{
    write_symbol_module(w, 0, "/bin/p");
    write_symbol_file(w, 1, "/src/a.c");
    write_symbol_file(w, 2, "/src/b.h");
    write_symbol(w, 0, 1, 9, 0x1000, "main");
    write_symbol(w, 0, 1, 18, 0x2000, "f");
    write_symbol(w, 0, 1, 28, 0x3000, "g");
    site_session_write_line(w, 0x1010, 1, 10, "main", 0, "");
    site_session_write_line(w, 0x1020, 1, 11, "main", 0, "");
    site_session_write_line(w, 0x1030, 1, 11, "main", 0, "");
    site_session_write_line(w, 0x2008 | inlined, 1, 20, "f", 0, "");
    site_session_write_line(w, 0x2010, 2, 5, "helper", 22, "f");
    site_session_write_line(w, 0x3010, 1, 30, "g", 0, "");
}

static const struct open_call open[] = { { MAIN, 0 }, { F, 40 }, { G, 50 }, { F, 60 } };
static const uint64_t sites[] = { outside, BIAS + 0x1020, (BIAS + 0x2008) | inlined, BIAS + 0x3010 };

static void site_session_split(struct writer *w)
{
    uint16_t words[32] = { OPEN_SITES << 8 | 16 };
    size_t count = 1;
    end_events(w, true);
    begin_events(w, 1, 1, 1, 60, open, 4);
    for (int i = 0; i < 4; i++)
        content_add_words(words, &count, sites[i], 4);
    write_words(w, words, count);
}

static void site_session_pause(struct writer *w)
{
    uint16_t words[128];
    size_t count = 0;
    content_add_words(words, &count, PAUSE << 8 | 3, 1);
    content_add_words(words, &count, 65, 3);
    for (int i = 0; i < 4; i++) {
        content_add_words(words, &count, OPEN << 8 | 11, 1);
        content_add_words(words, &count, open[i].function, 4);
        content_add_words(words, &count, open[i].enter_time, 3);
        content_add_words(words, &count, sites[i], 4);
    }
    content_add_words(words, &count, RESUME << 8 | 5, 1);
    content_add_words(words, &count, 65, 3);
    content_add_words(words, &count, 4, 2);
    write_words(w, words, count);
}

struct writer *site_session(int way)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, CALL_SITES, 4);
    write_process(w, 1, 100, "/bin/p");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "p");
    write_module(w, 1, 1, BIAS, BIAS, BIAS + 0x10000, 0, "/bin/p");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_site(w, SITE, outside, 3);
    write_enter(w, 0, MAIN);
    write_site(w, SITE, 0x10, 1);
    write_enter(w, 10, F);
    write_exit(w, 30);
    write_site(w, SITE, 0x20, 1);
    write_enter(w, 40, F);
    write_site(w, INLINED, 8, 1);
    write_enter(w, 50, G);
    write_site(w, SITE, 0x10, 1);
    write_enter(w, 60, F);
    if (way == SITES_SPLIT)
        site_session_split(w);
    if (way == SITES_SWITCHED)
        site_session_pause(w);
    write_exit(w, 70);
    write_exit(w, 80);
    write_site(w, SITE, 0x10, 2);
    write_enter(w, 90, F);
    write_exit(w, 95);
    write_exit(w, 100);
    write_site(w, SITE, BIAS + 0x1030, 3);
    write_enter(w, 110, F);
    write_enter(w, 120, G);
    write_exit(w, 130);
    write_exit(w, 140);
    write_exit(w, 150);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 150);
    write_process_end(w, 1, 100, END_EXIT, 0, 150);
    site_session_write_names(w);
    return w;
}
