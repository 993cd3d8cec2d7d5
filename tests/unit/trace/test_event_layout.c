/* The members of EVENT_TRACE_HEADER by offset, and which headers are invalid. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stddef.h>
#include <string.h>

#include "event_check.h"
#include "trace/event_names.h"
#include "trace/trace_event_list.h"

TestSuite(unit_event_layout);

#define CHECK_MEMBER(member, offset, size)                                                                             \
    do {                                                                                                               \
        cr_assert(eq(sz, offsetof(EVENT_TRACE_HEADER, member), (offset)), #member);                                    \
        cr_assert(eq(sz, sizeof((EVENT_TRACE_HEADER *)NULL)->member, (size)), #member);                                \
    } while (0)

Test(unit_event_layout, members)
{
    cr_assert(eq(sz, sizeof(EVENT_TRACE_HEADER), 48));
    CHECK_MEMBER(Size, 0, 2);
    CHECK_MEMBER(FieldTypeFlags, 2, 2);
    CHECK_MEMBER(HeaderType, 2, 1);
    CHECK_MEMBER(MarkerFlags, 3, 1);
    CHECK_MEMBER(Version, 4, 4);
    CHECK_MEMBER(Class.Type, 4, 1);
    CHECK_MEMBER(Class.Level, 5, 1);
    CHECK_MEMBER(Class.Version, 6, 2);
    CHECK_MEMBER(ThreadId, 8, 4);
    CHECK_MEMBER(ProcessId, 12, 4);
    CHECK_MEMBER(TimeStamp, 16, 8);
    CHECK_MEMBER(Guid, 24, 16);
    CHECK_MEMBER(GuidPtr, 24, 8);
    CHECK_MEMBER(KernelTime, 40, 4);
    CHECK_MEMBER(UserTime, 44, 4);
    CHECK_MEMBER(ProcessorTime, 40, 8);
    CHECK_MEMBER(ClientContext, 40, 4);
    CHECK_MEMBER(Flags, 44, 4);
    cr_assert(eq(sz, sizeof(MOF_FIELD), 16));
    cr_assert(eq(sz, offsetof(MOF_FIELD, DataPtr), 0));
    cr_assert(eq(sz, offsetof(MOF_FIELD, Length), 8));
    cr_assert(eq(sz, offsetof(MOF_FIELD, DataType), 12));
}

Test(unit_event_layout, the_version_contains_the_class)
{
    EVENT_TRACE_HEADER h = { .Class = { .Type = 0x12, .Level = 0x34, .Version = 0x5678 } };
    cr_assert(eq(u32, h.Version, 0x56783412));
}

Test(unit_event_layout, predefined_numbers)
{
    static const struct {
        int got, wanted;
    } cases[] = {
        { EVENT_TRACE_TYPE_INFO, 0 },
        { EVENT_TRACE_TYPE_START, 1 },
        { EVENT_TRACE_TYPE_END, 2 },
        { EVENT_TRACE_TYPE_STOP, 2 },
        { EVENT_TRACE_TYPE_DC_START, 3 },
        { EVENT_TRACE_TYPE_DC_END, 4 },
        { EVENT_TRACE_TYPE_EXTENSION, 5 },
        { EVENT_TRACE_TYPE_REPLY, 6 },
        { EVENT_TRACE_TYPE_DEQUEUE, 7 },
        { EVENT_TRACE_TYPE_RESUME, 7 },
        { EVENT_TRACE_TYPE_CHECKPOINT, 8 },
        { EVENT_TRACE_TYPE_SUSPEND, 8 },
        { EVENT_TRACE_TYPE_WINEVT_SEND, 9 },
        { EVENT_TRACE_TYPE_WINEVT_RECEIVE, 0xf0 },
        { TRACE_LEVEL_CRITICAL, 1 },
        { TRACE_LEVEL_FATAL, 1 },
        { TRACE_LEVEL_ERROR, 2 },
        { TRACE_LEVEL_WARNING, 3 },
        { TRACE_LEVEL_INFORMATION, 4 },
        { TRACE_LEVEL_VERBOSE, 5 },
        { WNODE_FLAG_TRACED_GUID, 0x20000 },
        { WNODE_FLAG_USE_GUID_PTR, 0x80000 },
        { WNODE_FLAG_USE_MOF_PTR, 0x100000 },
        { MAX_MOF_FIELDS, 16 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert(eq(int, cases[i].got, cases[i].wanted), "%zu", i);
}

/* A level enables the lower ones. A class that is not enabled records nothing. */
Test(unit_event_layout, levels)
{
    static const dwell_guid any;
    for (int enabled = 0; enabled <= 256; enabled++) {
        const struct dwell_event_class c = { any, "c", NULL, (uint32_t)enabled };
        cr_assert(eq(int, dwell_event_level(&c), enabled - 1));
        for (int level = 0; level < 256; level++)
            cr_assert(eq(int, dwell_event_enabled(&c, (uint8_t)level), level < enabled), "%d at %d", level, enabled);
    }
}

/* ---- invalid headers ---- */

struct event {
    EVENT_TRACE_HEADER header;
    MOF_FIELD fields[MAX_MOF_FIELDS + 1];
};

static int expect_check(uint32_t size, uint32_t flags, struct event_data *data)
{
    static struct event event;
    memset(&event, 0, sizeof event);
    event.header.Size = (uint16_t)size;
    event.header.Flags = flags;
    event.header.GuidPtr = 1;
    return event_check_header(&event.header, data);
}

Test(unit_event_layout, sizes)
{
    struct event_data data;
    cr_assert(eq(int, event_check_header(NULL, &data), DWELL_EVENT_BAD_SIZE));
    for (uint32_t size = 0; size < 48; size++)
        cr_assert(eq(int, expect_check(size, WNODE_FLAG_TRACED_GUID, &data), DWELL_EVENT_BAD_SIZE), "%u", size);
    /* A buffer has 65,536 bytes. The event must be smaller than that less 72. */
    for (uint32_t size = 48; size <= 65535; size++) {
        cr_assert(
            eq(int, expect_check(size, WNODE_FLAG_TRACED_GUID, &data), size < 65464 ? DWELL_OK : DWELL_EVENT_TOO_LONG),
            "%u", size);
        cr_assert(eq(u64, data.size, size - 48));
    }
    cr_assert(eq(int, event_check_size(DWELL_EVENT_LONGEST_DATA), DWELL_OK));
    cr_assert(eq(int, event_check_size(DWELL_EVENT_LONGEST_DATA + 1), DWELL_EVENT_TOO_LONG));
    cr_assert(eq(int, event_check_size(UINT64_MAX), DWELL_EVENT_TOO_LONG));
}

Test(unit_event_layout, flags)
{
    const uint32_t known = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_GUID_PTR | WNODE_FLAG_USE_MOF_PTR;
    struct event_data data;
    for (uint32_t bit = 0; bit < 32; bit++) {
        const uint32_t flags = WNODE_FLAG_TRACED_GUID | 1u << bit;
        cr_assert(eq(int, expect_check(48, flags, &data), known >> bit & 1 ? DWELL_OK : DWELL_EVENT_BAD_FLAGS),
                  "bit %u", bit);
        cr_assert(eq(int, expect_check(48, flags & ~WNODE_FLAG_TRACED_GUID, &data), DWELL_EVENT_BAD_FLAGS), "bit %u",
                  bit);
    }
    cr_assert(eq(int, expect_check(48, known, &data), DWELL_OK));
    const struct event null_pointer = { .header = { .Size = 48,
                                                    .Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_GUID_PTR } };
    cr_assert(eq(int, event_check_header(&null_pointer.header, &data), DWELL_EVENT_BAD_SIZE));
}

Test(unit_event_layout, fields)
{
    const uint32_t flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    struct event_data data;
    for (uint32_t behind = 0; behind <= 16 * 18; behind++) {
        const bool right = behind % 16 == 0 && behind / 16 <= 16;
        cr_assert(eq(int, expect_check(48 + behind, flags, &data), right ? DWELL_OK : DWELL_EVENT_BAD_SIZE), "%u",
                  behind);
        if (right)
            cr_assert(eq(u32, data.count, behind / 16));
    }
    MOF_FIELD two[] = { { 1, 65000, 0 }, { 1, 415, 0 } };
    cr_assert(eq(int, event_check_fields(two, 2, &data), DWELL_OK));
    cr_assert(eq(u64, data.size, 65415));
    two[1].Length++;
    cr_assert(eq(int, event_check_fields(two, 2, &data), DWELL_EVENT_TOO_LONG));
    two[0].Length = two[1].Length = UINT32_MAX; /* their sum must not wrap around */
    cr_assert(eq(int, event_check_fields(two, 2, &data), DWELL_EVENT_TOO_LONG));
    two[0] = (MOF_FIELD){ 0, 1, 0 };
    cr_assert(eq(int, event_check_fields(two, 1, &data), DWELL_EVENT_BAD_SIZE));
    two[0] = (MOF_FIELD){ 0, 0, 0 };
    cr_assert(eq(int, event_check_fields(two, 1, &data), DWELL_OK));
    cr_assert(eq(int, event_check_fields(NULL, 1, &data), DWELL_EVENT_BAD_SIZE));
    cr_assert(eq(int, event_check_fields(NULL, 0, &data), DWELL_OK));
}

/* ---- texts ---- */

Test(unit_event_layout, guids_as_texts)
{
    static const dwell_guid guid = { 0x68fdd900, 0x4a3e, 0x11d1, { 0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3 } };
    static const char *const bad[] = {
        "",
        "68fdd900",
        "68fdd900-4a3e-11d1-84f4-0000f80464e",
        "68fdd900-4a3e-11d1-84f4-0000f80464e3x",
        "{68fdd900-4a3e-11d1-84f4-0000f80464e3",
        "68fdd900-4a3e-11d1-84f4-0000f80464e3}",
        "68fdd900-4a3e-11d1-84f40-000f80464e3",
        "68fdd900-4a3e-11d1-84f4-0000f80464g3",
    };
    char text[GUID_TEXT];
    uint8_t bytes[16], parsed[16];
    memcpy(bytes, &guid, sizeof bytes);
    guid_text(bytes, text);
    cr_assert(eq(str, text, "68fdd900-4a3e-11d1-84f4-0000f80464e3"));
    cr_assert(guid_parse("{68FDD900-4a3e-11D1-84F4-0000f80464E3}", parsed));
    cr_assert(eq(int, memcmp(parsed, bytes, sizeof bytes), 0));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(not(guid_parse(bad[i], parsed)), "%s", bad[i]);
}

Test(unit_event_layout, names_of_types_and_levels)
{
    cr_assert(eq(str, (char *)event_type_name(2), "END"));
    cr_assert(eq(str, (char *)event_type_name(7), "DEQUEUE"));
    cr_assert(eq(str, (char *)event_type_name(0xf0), "RECEIVE"));
    cr_assert(eq(ptr, (void *)event_type_name(10), NULL));
    cr_assert(eq(int, event_type_of("stop"), 2));
    cr_assert(eq(int, event_type_of("Resume"), 7));
    cr_assert(eq(int, event_type_of("x"), -1));
    cr_assert(eq(int, event_severity_of("fatal"), 1));
    cr_assert(eq(int, event_severity_of("Verbose"), 5));
    cr_assert(eq(int, event_severity_of(""), -1));
}
