/* The fields of trace events in descriptions and data that do not fit each other. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/event.h"
#include "support/scenario.h"
#include "trace/event_fields.h"

TestSuite(unit_event_fields, .timeout = 300);

static const char CLASS[16] = "a class, 16 by..";

/* The data as fields of the types, called a, b, c. */
static char *text_of(const char *types, const char *data, size_t size)
{
    static char a[] = "a", b[] = "b", c[] = "c", none[] = "";
    struct trace_event_layout layout = { .name = none, .count = (uint32_t)strlen(types), .names = { a, b, c } };
    memcpy(layout.types, types, strlen(types));
    uint8_t *bytes = malloc(size + 1); /* of that size: the sanitizers see what is read beyond it */
    uint8_t *exact = realloc(bytes, size ? size : 1);
    memcpy(exact, data, size);
    char *text = event_fields_text(&layout, exact, size);
    free(exact);
    return text;
}

Test(unit_event_fields, each_type_and_data_that_is_too_short_or_too_long)
{
    static const struct {
        const char *types, *data;
        size_t size;
        const char *text;
    } cases[] = {
        { "\x03\x04", "\xff\xff", 2, "a=-1, b=255" },
        { "\x05\x06", "\xfe\xff\xfe\xff", 4, "a=-2, b=65534" },
        { "\x07\x08", "\xfe\xff\xff\xff\xfe\xff\xff\xff", 8, "a=-2, b=4294967294" },
        { "\x09\x0a", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16,
          "a=-1, b=18446744073709551615" },
        { "\x0c\x0d", "\0\0\xc0\x3f\0\0\0\0\0\0\xf8\xbf", 12, "a=1.5, b=-1.5" },
        { "\x0e\x0e\x66", "\0\x05x", 3, "a=false, b=true, c=x" },
        { "\x65", "\x01\0\0\0\x02\0\x03\0\x04\x05\x06\x07\x08\x09\x0a\x0b", 16,
          "a=00000001-0002-0003-0405-060708090a0b" },
        { "\x69\x6a", "\xef\xbe\xad\xde\0\0\0\0\x07\0\0\0\0\0\0\0", 16, "a=0xdeadbeef, b=7" },
        { "\x67\x04", "text\0\x05", 6, "a=text, b=5" },
        { "\x04\x67", "\x05text", 5, "a=5, b=text" },
        { "\x67\x04", "endless", 7, "a=endless, b=?" },
        { "\x67\x67", "", 0, "a=, b=" },
        { "\x08\x04\x67", "\x01\x02\x03", 3, "a=?, b=?, c=?, 0x010203" }, /* nothing is where it should be */
        { "\x04\x63\x04", "\x01\x02\x03", 3, "a=1, b=?, c=?, 0x0203" },   /* an unknown type has an unknown length */
        { "\x04", "\x01\x02\x03", 3, "a=1, 0x0203" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_of(cases[i].types, cases[i].data, cases[i].size);
        cr_assert(eq(str, text, (char *)cases[i].text), "%zu", i);
        free(text);
    }
}

static struct session_file *read_back(struct writer *w)
{
    const char *error = NULL;
    writer_save(w, test_path("fields.dwell"));
    writer_free(w);
    struct session_file *file = session_file_open(test_path("fields.dwell"), &error);
    cr_assert(ne(ptr, file, NULL), "%s", error ? error : "");
    return file;
}

static struct session_file *read_described(unsigned fields, const char *types, const char *names)
{
    struct writer *w = writer_new();
    write_process(w, 1, 4711, "/bin/prog");
    write_event_class(w, 1, CLASS, "described");
    write_event_layout(w, 1, CLASS, &(struct written_layout){ 7, 0, fields, "", types, names });
    return read_back(w);
}

/* The number of fields, the types and the names need not agree. The least of them counts. */
Test(unit_event_fields, descriptions_that_lie)
{
    static const struct {
        unsigned fields;
        const char *types, *names;
        unsigned count;
    } cases[] = {
        { 2, "\x04\x04", "a b", 2 },
        { 1, "\x04\x04", "a b", 1 },
        { 0xffffffff, "\x04\x04", "a b", 2 },
        { 4, "", "", 0 },
        { 40, "\4\4\4\4\4\4\4\4\4\4\4\4\4\4\4\4\4\4\4\4", "a b c d e f g h i j k l m n o p q r s t", 16 },
        { 3, "\x04\x04\x04", "a", 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session_file *file = read_described(cases[i].fields, cases[i].types, cases[i].names);
        const struct trace_event_layout *layout = event_fields_layout(file, (const uint8_t *)CLASS, 7, 0);
        cr_assert(layout != NULL);
        cr_assert(eq(u32, layout->count, cases[i].count), "%zu", i);
        session_file_close(file);
    }
}

Test(unit_event_fields, names_are_never_longer_than_the_runtime_writes_them)
{
    char name[1000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct session_file *file = read_described(1, "\x04", name);
    const struct trace_event_layout *layout = event_fields_layout(file, (const uint8_t *)CLASS, 7, 0);
    cr_assert(eq(sz, strlen(layout->names[0]), DWELL_EVENT_LONGEST_NAME));
    session_file_close(file);
}

Test(unit_event_fields, a_description_for_the_type_comes_before_one_for_any)
{
    struct writer *w = writer_new();
    write_process(w, 1, 4711, "/bin/prog");
    write_event_layout(w, 1, CLASS, &(struct written_layout){ 256, 3, 1, "", "\x04", "any" });
    write_event_layout(w, 1, CLASS, &(struct written_layout){ 11, 3, 1, "eleven", "\x04", "own" });
    write_event_layout(w, 1, CLASS, &(struct written_layout){ 11, 3, 1, "twelve", "\x04", "second" });
    struct session_file *file = read_back(w);
    const uint8_t *guid = (const uint8_t *)CLASS;
    cr_assert(eq(str, (char *)event_fields_layout(file, guid, 11, 3)->names[0], "own"));
    cr_assert(eq(str, event_fields_layout(file, guid, 12, 3)->names[0], "any"));
    cr_assert(event_fields_layout(file, guid, EVENT_TRACE_TYPE_EXTENSION, 3) == NULL);
    cr_assert(event_fields_layout(file, guid, 11, 4) == NULL);
    cr_assert(eq(str, (char *)event_fields_type_name(event_fields_layout(file, guid, 11, 3), 11), "eleven"));
    cr_assert(event_fields_type_name(event_fields_layout(file, guid, 12, 3), 12) == NULL);
    session_file_close(file);
}
