/*
 * Trace events: what a program says of its activities, kept in the session beside the functions' intervals. The header
 * of an event is the EVENT_TRACE_HEADER of Event Tracing for Windows, with its names, members and meanings, so that
 * what was written for it can be taken over. docs/events.md tells how they are used and read.
 *
 * A program describes each class of its events by a GUID and a name, registers it, and writes events of a type (start,
 * end, ...) at a level of severity. Whoever records says which classes are wanted up to which level: `dwell record
 * --event NAME:LEVEL`, and `dwell control PID event NAME:LEVEL` while it runs. What is not wanted costs a load and a
 * branch.
 *
 * As in dwell.h, the runtime's functions are found weakly: a program links and runs without dwell, and every class is
 * disabled then. None of the functions changes errno, allocates by malloc or ends the program. All may be called from
 * any thread. Those that write events and those that ask may be called in signal handlers, too, in the middle of
 * another of them as well; dwell_event_register and dwell_event_unregister may not. Memory that is handed over is the
 * caller's, and is not looked at after the return; but a registered class and its name are, until it is unregistered.
 *
 * Events are written in all modes (record --mode), and while the recording of functions is paused: the classes' levels
 * alone say whether they are.
 */
#ifndef DWELL_EVENT_H
#define DWELL_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "dwell.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the header of an event ---- */

/* A GUID as its text has it: {data1-data2-data3-data4[0..1]-data4[2..7]}, the first three as numbers. */
typedef struct dwell_guid {
    uint32_t data1;
    uint16_t data2, data3;
    uint8_t data4[8];
} dwell_guid;

/* Class.Type: what happened. Own types are numbered from 10 on; lower ones are not refused. */
enum {
    EVENT_TRACE_TYPE_INFO = 0,       /* what is neither of the others */
    EVENT_TRACE_TYPE_START = 1,      /* an activity begins; with DEQUEUE: it is put into a queue */
    EVENT_TRACE_TYPE_END = 2,        /* it is over */
    EVENT_TRACE_TYPE_STOP = 2,       /* the same */
    EVENT_TRACE_TYPE_DC_START = 3,   /* what was there when the collecting of data began, */
    EVENT_TRACE_TYPE_DC_END = 4,     /* and when it ended */
    EVENT_TRACE_TYPE_EXTENSION = 5,  /* goes on from the event before, whose data was too long for one */
    EVENT_TRACE_TYPE_REPLY = 6,      /* one of perhaps several answers to what began */
    EVENT_TRACE_TYPE_DEQUEUE = 7,    /* work on what was put into a queue begins */
    EVENT_TRACE_TYPE_RESUME = 7,     /* the same */
    EVENT_TRACE_TYPE_CHECKPOINT = 8, /* in the middle of an activity */
    EVENT_TRACE_TYPE_SUSPEND = 8,    /* the same */
    EVENT_TRACE_TYPE_WINEVT_SEND = 9,
    EVENT_TRACE_TYPE_WINEVT_RECEIVE = 0xF0,
};

/* Class.Level: how severe it is. A class that is enabled at a level lets all lower ones pass. Higher numbers than
 * these, up to 255, are the program's own. */
enum {
    TRACE_LEVEL_NONE = 0, /* passes at any level, if the class is enabled at all */
    TRACE_LEVEL_CRITICAL = 1,
    TRACE_LEVEL_FATAL = 1,
    TRACE_LEVEL_ERROR = 2,
    TRACE_LEVEL_WARNING = 3,
    TRACE_LEVEL_INFORMATION = 4,
    TRACE_LEVEL_VERBOSE = 5,
};

/* Flags of a header that is handed to dwell_event_trace. */
#define WNODE_FLAG_TRACED_GUID 0x00020000u  /* has to be there */
#define WNODE_FLAG_USE_GUID_PTR 0x00080000u /* GuidPtr holds the address of the GUID */
#define WNODE_FLAG_USE_MOF_PTR 0x00100000u  /* behind the header lie MOF_FIELDs, which tell where the data is */

#define MAX_MOF_FIELDS 16

/* Layouts are fixed: the same bytes in every program, 32 or 64 bits wide. */
typedef struct dwell_event_trace_header {
    uint16_t Size; /* bytes of header and data, or of header and MOF_FIELDs */
    __extension__ union {
        uint16_t FieldTypeFlags; /* reserved: zero */
        __extension__ struct {
            uint8_t HeaderType;
            uint8_t MarkerFlags;
        };
    };
    __extension__ union {
        uint32_t Version; /* type, level << 8 and version << 16 in one */
        struct {
            uint8_t Type;
            uint8_t Level;
            uint16_t Version; /* of what the data looks like; zero where there is one alone */
        } Class;
    };
    uint32_t ThreadId;  /* of an event that was recorded: the tid. What the caller puts there does not matter, nor */
    uint32_t ProcessId; /* here: the pid */
    int64_t TimeStamp;  /* of an event that was recorded: when, in units of 100 ns since 1601-01-01 UTC */
    __extension__ union {
        dwell_guid Guid; /* the class */
        uint64_t GuidPtr;
    };
    __extension__ union {
        __extension__ struct {
            uint32_t KernelTime; /* of an event that was recorded: CPU time that its thread has used so far, in units */
            uint32_t UserTime;   /* of the timer resolution */
        };
        uint64_t ProcessorTime; /* the same in user mode, in ticks of the CPU's clock */
        __extension__ struct {
            uint32_t ClientContext; /* reserved: zero */
            uint32_t Flags;         /* what the caller says: WNODE_FLAG_... */
        };
    };
} EVENT_TRACE_HEADER, *PEVENT_TRACE_HEADER;

/* A piece of data. DataType is the caller's own, and is not recorded. */
typedef struct dwell_mof_field {
    uint64_t DataPtr; /* its address */
    uint32_t Length;  /* bytes */
    uint32_t DataType;
} MOF_FIELD, *PMOF_FIELD;

#ifdef __cplusplus
#define DWELL_EVENT_ASSERT(what) static_assert(what, #what)
#else
#define DWELL_EVENT_ASSERT(what) _Static_assert(what, #what)
#endif
DWELL_EVENT_ASSERT(sizeof(dwell_guid) == 16);
DWELL_EVENT_ASSERT(sizeof(EVENT_TRACE_HEADER) == 48);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, FieldTypeFlags) == 2);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, Version) == 4);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, Class.Level) == 5);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, Class.Version) == 6);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, ThreadId) == 8);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, ProcessId) == 12);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, TimeStamp) == 16);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, Guid) == 24);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, GuidPtr) == 24);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, KernelTime) == 40);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, UserTime) == 44);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, ProcessorTime) == 40);
DWELL_EVENT_ASSERT(offsetof(EVENT_TRACE_HEADER, Flags) == 44);
DWELL_EVENT_ASSERT(sizeof(MOF_FIELD) == 16);
DWELL_EVENT_ASSERT(offsetof(MOF_FIELD, Length) == 8);
DWELL_EVENT_ASSERT(offsetof(MOF_FIELD, DataType) == 12);

/* A session's buffer. The Size of an event is less than that by more than 72: it holds 65,415 bytes of data at the
 * most; longer data goes into EXTENSION events. */
enum { DWELL_EVENT_BUFFER = 65536, DWELL_EVENT_BUFFER_HEADER = 72, DWELL_EVENT_HEADER = 48 };
enum { DWELL_EVENT_LONGEST_DATA = DWELL_EVENT_BUFFER - DWELL_EVENT_BUFFER_HEADER - 1 - DWELL_EVENT_HEADER };

/* What the functions below return besides DWELL_OK, DWELL_NOT_RECORDED, DWELL_BAD_NAME and DWELL_FAILED of dwell.h. In
 * brackets: what TraceEvent returns there. */
enum dwell_event_status {
    DWELL_EVENT_DISABLED = 20, /* nobody wants this class at this level: nothing was done */
    DWELL_EVENT_NO_CLASS = 21, /* the class is not registered (ERROR_INVALID_HANDLE) */
    DWELL_EVENT_BAD_FLAGS =
        22, /* WNODE_FLAG_TRACED_GUID is missing, or there are unknown ones (ERROR_INVALID_FLAG_NUMBER) */
    DWELL_EVENT_BAD_SIZE = 23, /* Size is below 48, or not that of 0 to 16 fields; or an address is NULL
                                  (ERROR_INVALID_PARAMETER) */
    DWELL_EVENT_TOO_LONG = 24, /* header and data are not less than a buffer by more than 72 bytes (ERROR_MORE_DATA) */
    DWELL_EVENT_LOST = 25,     /* there is no room: the event is counted as lost (ERROR_NOT_ENOUGH_MEMORY) */
};

/* ---- classes ---- */

enum { DWELL_EVENT_LONGEST_NAME = 63 };

/*
 * A class of events, in static memory of the program. The name has letters and digits, and . _ - within, and stays
 * where it is, like the class, as long as this is registered. The last two members are the runtime's.
 *
 *     static struct dwell_event_class requests = DWELL_EVENT_CLASS("shop-requests",
 *         0x9a1c5b7e, 0x2f30, 0x4d11, 0x8e, 0x02, 0x5c, 0x71, 0x0b, 0x6f, 0x3d, 0x94);
 */
struct dwell_event_class {
    dwell_guid guid;
    const char *name;
    struct dwell_event_class *next;
    uint32_t enabled; /* zero: not at all; else 1 + the highest level that is wanted */
};

#define DWELL_EVENT_CLASS(name, data1, data2, data3, ...)                                                              \
    {                                                                                                                  \
        { (data1), (data2), (data3), { __VA_ARGS__ } }, (name), 0, 0                                                   \
    }

/*
 * Makes the class known: from now on its events are recorded as far as somebody wants them. Does nothing if it is known
 * already. Two classes may have the same GUID (in two libraries, say).
 * DWELL_OK; DWELL_NOT_RECORDED; DWELL_BAD_NAME: empty, too long, or with other characters.
 */
DWELL_CALL int dwell_event_register(struct dwell_event_class *event_class)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "event_register", (struct dwell_event_class *), (event_class));
}

/* Takes it back and disables it: to be called before the memory of a class goes away, as by dlclose.
 * DWELL_OK, DWELL_NOT_RECORDED, DWELL_EVENT_NO_CLASS. */
DWELL_CALL int dwell_event_unregister(struct dwell_event_class *event_class)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "event_unregister", (struct dwell_event_class *), (event_class));
}

/* Whether events of the class at that level are wanted: a load and a branch. For skipping what it takes to gather an
 * event's data; the functions that write look at it themselves. */
DWELL_CALL int dwell_event_enabled(const struct dwell_event_class *event_class, uint8_t level)
{
    return __builtin_expect(level < __atomic_load_n(&event_class->enabled, __ATOMIC_RELAXED), 0);
}

/* The highest level that is wanted of the class, 0 to 255; -1: it is disabled. */
DWELL_CALL int dwell_event_level(const struct dwell_event_class *event_class)
{
    return (int)__atomic_load_n(&event_class->enabled, __ATOMIC_RELAXED) - 1;
}

/* ---- writing ---- */

/*
 * Writes an event of the calling thread: its type, level and version, and `size` bytes of data (NULL where size is 0).
 * DWELL_OK; DWELL_EVENT_DISABLED; DWELL_EVENT_TOO_LONG; DWELL_EVENT_BAD_SIZE: data is NULL, and size is not 0;
 * DWELL_EVENT_LOST; DWELL_NOT_RECORDED: the recording was stopped for good, or is not of this process.
 */
DWELL_CALL int dwell_event_write(const struct dwell_event_class *event_class, uint8_t type, uint8_t level,
                                 uint16_t version, const void *data, size_t size)
{
    if (!dwell_event_enabled(event_class, level))
        return DWELL_EVENT_DISABLED;
    DWELL_ASK(int, DWELL_NOT_RECORDED, "event_write",
              (const struct dwell_event_class *, uint32_t, const void *, size_t),
              (event_class, type | (uint32_t)level << 8 | (uint32_t)version << 16, data, size));
}

/* The same, its data in up to 16 pieces, which are recorded one behind the other. Also DWELL_EVENT_BAD_SIZE: there are
 * more. */
DWELL_CALL int dwell_event_write_fields(const struct dwell_event_class *event_class, uint8_t type, uint8_t level,
                                        uint16_t version, const MOF_FIELD *fields, size_t count)
{
    if (!dwell_event_enabled(event_class, level))
        return DWELL_EVENT_DISABLED;
    DWELL_ASK(int, DWELL_NOT_RECORDED, "event_write_fields",
              (const struct dwell_event_class *, uint32_t, const MOF_FIELD *, size_t),
              (event_class, type | (uint32_t)level << 8 | (uint32_t)version << 16, fields, count));
}

/*
 * TraceEvent: writes the event that the header describes, with its data behind it. All members are to be zero but
 * those that are set: Size, Class, Guid (or GuidPtr), Flags. The header is not changed. The class is found by its
 * GUID among those registered.
 * Besides what dwell_event_write returns: DWELL_EVENT_BAD_FLAGS, DWELL_EVENT_BAD_SIZE, DWELL_EVENT_NO_CLASS.
 */
DWELL_CALL int dwell_event_trace(const EVENT_TRACE_HEADER *header)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "event_trace", (const EVENT_TRACE_HEADER *), (header));
}

#ifdef __cplusplus
}
#endif

#endif
