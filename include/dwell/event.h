/*
 * Trace events: a program records what it does, beside the intervals of its functions. The header of an event is the
 * EVENT_TRACE_HEADER of Event Tracing for Windows, with its names, members and meanings. Code that was written for ETW
 * can therefore be reused. docs/events.md describes how events are written and read.
 *
 * A program describes each class of its events by a GUID and a name and registers it. It writes events of a type
 * (start, end, ...) at a level of severity. The user selects the classes and levels to record: `dwell record --event
 * NAME:LEVEL`, or `dwell control PID event NAME:LEVEL` while the program runs. An event that is not selected costs a
 * load and a branch.
 *
 * As in dwell.h, the functions refer to the runtime weakly: a program links and runs without dwell, and every class is
 * disabled then. No function changes errno, calls malloc or ends the program. All may be called from any thread. The
 * functions that write or ask may also be called in signal handlers, even within another of these functions.
 * Those that register, describe, add or remove may not.
 *
 * Memory that is passed in stays the caller's and is not used after the return. A registered class and its name are an
 * exception: they have to stay until the class is unregistered.
 *
 * Events are written in every mode (record --mode), and while the recording of functions is paused. Only the levels of
 * the classes decide.
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

/* A GUID, as in its text {data1-data2-data3-data4[0..1]-data4[2..7]}: the first three parts are numbers. */
typedef struct dwell_guid {
    uint32_t data1;
    uint16_t data2, data3;
    uint8_t data4[8];
} dwell_guid;

/* Class.Type: what happened. A program numbers its own types from 10 on. Lower numbers are accepted, too. */
enum {
    EVENT_TRACE_TYPE_INFO = 0,       /* none of the others */
    EVENT_TRACE_TYPE_START = 1,      /* an activity begins; with DEQUEUE, it enters a queue */
    EVENT_TRACE_TYPE_END = 2,        /* an activity ends */
    EVENT_TRACE_TYPE_STOP = 2,       /* the same as END */
    EVENT_TRACE_TYPE_DC_START = 3,   /* state at the beginning of the data collection */
    EVENT_TRACE_TYPE_DC_END = 4,     /* state at its end */
    EVENT_TRACE_TYPE_EXTENSION = 5,  /* continues the event before, whose data was too long */
    EVENT_TRACE_TYPE_REPLY = 6,      /* one of possibly several answers to a START */
    EVENT_TRACE_TYPE_DEQUEUE = 7,    /* work on an activity from the queue begins */
    EVENT_TRACE_TYPE_RESUME = 7,     /* the same as DEQUEUE */
    EVENT_TRACE_TYPE_CHECKPOINT = 8, /* a point within an activity */
    EVENT_TRACE_TYPE_SUSPEND = 8,    /* the same as CHECKPOINT */
    EVENT_TRACE_TYPE_WINEVT_SEND = 9,
    EVENT_TRACE_TYPE_WINEVT_RECEIVE = 0xF0,
};

/* Class.Level: the severity. A class that is enabled at a level accepts all lower levels, too. The numbers above these,
 * up to 255, are the program's own. */
enum {
    TRACE_LEVEL_NONE = 0, /* accepted at any level if the class is enabled */
    TRACE_LEVEL_CRITICAL = 1,
    TRACE_LEVEL_FATAL = 1,
    TRACE_LEVEL_ERROR = 2,
    TRACE_LEVEL_WARNING = 3,
    TRACE_LEVEL_INFORMATION = 4,
    TRACE_LEVEL_VERBOSE = 5,
};

/* Flags of a header that is passed to dwell_event_trace. */
#define WNODE_FLAG_TRACED_GUID 0x00020000u  /* required */
#define WNODE_FLAG_USE_GUID_PTR 0x00080000u /* GuidPtr holds the address of the GUID */
#define WNODE_FLAG_USE_MOF_PTR 0x00100000u  /* MOF_FIELDs follow the header and describe where the data is */

#define MAX_MOF_FIELDS 16

/* The layouts are fixed: the same bytes in every program of 32 or 64 bits. */
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
        uint32_t Version; /* type, level << 8 and version << 16 in one number */
        struct {
            uint8_t Type;
            uint8_t Level;
            uint16_t Version; /* version of the data's layout; zero if there is only one */
        } Class;
    };
    uint32_t ThreadId;  /* in a recorded event: the tid. Ignored in the caller's header. */
    uint32_t ProcessId; /* in a recorded event: the pid. Ignored in the caller's header. */
    int64_t TimeStamp;  /* in a recorded event: the time in units of 100 ns since 1601-01-01 UTC */
    __extension__ union {
        dwell_guid Guid; /* the class */
        uint64_t GuidPtr;
    };
    __extension__ union {
        __extension__ struct {
            uint32_t KernelTime; /* in a recorded event: CPU time of the thread so far in the kernel */
            uint32_t UserTime;   /* the same in user mode; both in units of the timer resolution */
        };
        uint64_t ProcessorTime; /* the CPU time in user mode, in ticks of the CPU's clock */
        __extension__ struct {
            uint32_t ClientContext; /* reserved: zero */
            uint32_t Flags;         /* in the caller's header: WNODE_FLAG_... */
        };
    };
} EVENT_TRACE_HEADER, *PEVENT_TRACE_HEADER;

/* A piece of data. DataType is for the caller and is not recorded. */
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

/* Types of fields, as DataType and in descriptions of data: enum with the numbers of Windows. Numbers are
 * little-endian. */
enum {
    ETW_SBYTE_TYPE_VALUE = 3,
    ETW_BYTE_TYPE_VALUE = 4,
    ETW_INT16_TYPE_VALUE = 5,
    ETW_UINT16_TYPE_VALUE = 6,
    ETW_INT32_TYPE_VALUE = 7,
    ETW_UINT32_TYPE_VALUE = 8,
    ETW_INT64_TYPE_VALUE = 9,
    ETW_UINT64_TYPE_VALUE = 10,
    ETW_SINGLE_TYPE_VALUE = 12,
    ETW_DOUBLE_TYPE_VALUE = 13,
    ETW_BOOLEAN_TYPE_VALUE = 14, /* one byte */
    ETW_GUID_TYPE_VALUE = 101,
    ETW_ASCIICHAR_TYPE_VALUE = 102,
    ETW_ASCIISTRING_TYPE_VALUE = 103, /* up to a zero byte, or to the end of the data */
    ETW_POINTER_TYPE_VALUE = 105,     /* 8 bytes */
    ETW_SIZET_TYPE_VALUE = 106,       /* 8 bytes */
};

/* The buffer of a session, in bytes. Size + 72 is less than 65,536: an event has at most 65,415 bytes of data. Longer
 * data continues in EXTENSION events. */
enum { DWELL_EVENT_BUFFER = 65536, DWELL_EVENT_BUFFER_HEADER = 72, DWELL_EVENT_HEADER = 48 };
enum { DWELL_EVENT_LONGEST_DATA = DWELL_EVENT_BUFFER - DWELL_EVENT_BUFFER_HEADER - 1 - DWELL_EVENT_HEADER };

/* The results of the functions below, besides DWELL_OK, DWELL_NOT_RECORDED, DWELL_BAD_NAME and DWELL_FAILED of dwell.h.
 * In brackets: the result of TraceEvent in the same case. */
enum dwell_event_status {
    DWELL_EVENT_DISABLED = 20, /* the class is not selected at this level: nothing was done */
    DWELL_EVENT_NO_CLASS = 21, /* the class is not registered (ERROR_INVALID_HANDLE) */
    DWELL_EVENT_BAD_FLAGS =
        22, /* WNODE_FLAG_TRACED_GUID is missing, or a flag is unknown (ERROR_INVALID_FLAG_NUMBER) */
    DWELL_EVENT_BAD_SIZE =
        23, /* Size is below 48, or not that of 0 to 16 fields; or an address is NULL (ERROR_INVALID_PARAMETER) */
    DWELL_EVENT_TOO_LONG = 24, /* Size + 72 is not less than 65,536 (ERROR_MORE_DATA) */
    DWELL_EVENT_LOST = 25,     /* no room: the event is counted as lost (ERROR_NOT_ENOUGH_MEMORY) */
    DWELL_EVENT_BAD_TYPE = 26, /* a field's type is unknown, or the event's type is above DWELL_EVENT_ANY_TYPE */
};

/* ---- classes ---- */

enum { DWELL_EVENT_LONGEST_NAME = 63 };

/*
 * A class of events, in static memory of the program. The name has 1 to DWELL_EVENT_LONGEST_NAME characters: letters
 * and digits, and after the first one also . _ -. The class and its name stay in place while the class is registered.
 * The last two members belong to the runtime.
 *
 *     static struct dwell_event_class requests = DWELL_EVENT_CLASS("shop-requests",
 *         0x9a1c5b7e, 0x2f30, 0x4d11, 0x8e, 0x02, 0x5c, 0x71, 0x0b, 0x6f, 0x3d, 0x94);
 */
struct dwell_event_class {
    dwell_guid guid;
    const char *name;
    struct dwell_event_class *next;
    uint32_t enabled; /* zero: disabled; else 1 + the highest level that is selected */
};

#define DWELL_EVENT_CLASS(name, data1, data2, data3, ...)                                                              \
    {                                                                                                                  \
        { (data1), (data2), (data3), { __VA_ARGS__ } }, (name), 0, 0                                                   \
    }

/*
 * Registers a class: from now on its selected events are recorded. Does nothing if the class is registered already. Two
 * classes may have the same GUID, for example in two libraries.
 *
 * Returns DWELL_OK, DWELL_NOT_RECORDED, DWELL_BAD_NAME (empty, too long, or with other characters), or DWELL_FAILED if
 * the system does not let signals be blocked.
 */
DWELL_CALL int dwell_event_register(struct dwell_event_class *event_class)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "event_register", (struct dwell_event_class *), (event_class));
}

/* Unregisters a class, removes its control callbacks, and disables it. Call it before the memory of the class goes
 * away, for example before dlclose. It waits for callbacks as dwell_event_remove_control does. Returns DWELL_OK,
 * DWELL_NOT_RECORDED, DWELL_EVENT_NO_CLASS or DWELL_FAILED. */
DWELL_CALL int dwell_event_unregister(struct dwell_event_class *event_class)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "event_unregister", (struct dwell_event_class *), (event_class));
}

/* ---- callbacks ---- */

/* Why a control callback is called: the codes of WMIDPREQUESTCODE. */
enum {
    WMI_ENABLE_EVENTS = 4,  /* the class is enabled, or its level or flags have changed */
    WMI_DISABLE_EVENTS = 5, /* the class is disabled */
};

/* The flags of an enabled class. */
enum { DWELL_EVENT_CALLS_RECORDED = 1 }; /* calls of functions are recorded now: recording is not paused */

/*
 * A control callback of a class, in static memory of the program. It stays in place until dwell_event_remove_control.
 * The last two members belong to the runtime.
 *
 * callback(event_class, request, level, flags, context): `level` and `flags` are zero if the request is
 * WMI_DISABLE_EVENTS. dwell_event_level returns the level, too, as GetTraceEnableLevel does.
 */
struct dwell_event_control {
    struct dwell_event_class *event_class;
    void (*callback)(struct dwell_event_class *event_class, uint32_t request, uint8_t level, uint32_t flags,
                     void *context);
    void *context;
    struct dwell_event_control *next;
    uint64_t state;
};

/*
 * Adds a control callback for a class. It is called soon after this function if the class is enabled, and after each
 * change: by `dwell control PID event`, `stop`, `pause` and `resume`, and by dwell_start, dwell_stop, dwell_pause and
 * dwell_resume of the process or globally. A pause does not disable classes, since events are recorded during it. It
 * clears DWELL_EVENT_CALLS_RECORDED. The callback gets the latest state: it may miss one that was soon replaced. It is
 * not called when the process ends. A class may have several callbacks.
 *
 * Callbacks run one after another on a thread "dwell-control", never in a signal handler or under a lock of the
 * runtime. The first call of this function makes that thread, with all signals blocked. It ends when no callback is
 * left. A callback may use locks, call
 * any function of the program and of this header, and write events. Its calls and events are recorded as those of any
 * thread.
 *
 * A forked child keeps the callbacks, but has no thread for them until it calls dwell_event_register or
 * dwell_event_add_control. Do not call this function in a signal handler.
 *
 * Returns DWELL_OK, also if the control was added before. Returns DWELL_NOT_RECORDED, DWELL_EVENT_NO_CLASS (the class
 * is not registered) or DWELL_FAILED (the system refuses a thread, or to block signals).
 */
DWELL_CALL int dwell_event_add_control(struct dwell_event_control *control)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "event_add_control", (struct dwell_event_control *), (control));
}

/*
 * Removes a control callback. Waits until the callback has returned if it is running, unless it calls this function
 * itself. So do not hold a lock that the callback takes. dwell_event_unregister does the same for all callbacks of its
 * class. Do not call this function in a signal handler. Returns DWELL_OK, DWELL_NOT_RECORDED, DWELL_EVENT_NO_CLASS (the
 * control is not there) or DWELL_FAILED.
 */
DWELL_CALL int dwell_event_remove_control(struct dwell_event_control *control)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "event_remove_control", (struct dwell_event_control *), (control));
}

/* ---- descriptions of data ---- */

/* A field of an event's data: its name, of 1 to DWELL_EVENT_LONGEST_NAME bytes, and its type, ETW_..._TYPE_VALUE. */
struct dwell_event_field {
    const char *name;
    uint32_t type;
};

enum { DWELL_EVENT_ANY_TYPE = 256 };

/*
 * Describes the data of the class's events of that type and version: `dwell events` and exports show it as fields with
 * their names. `type` is a number of Class.Type. DWELL_EVENT_ANY_TYPE describes all types that have no description of
 * their own, except EXTENSION. `type_name` names a type of the program's own, or is NULL. There are at most
 * MAX_MOF_FIELDS fields, in the order of the data, without gaps. If several descriptions are for the same events, the
 * first one is used. Call it once for each type and version. The class need not be registered or selected. Do not call
 * it in a signal handler.
 *
 * Returns DWELL_OK, DWELL_NOT_RECORDED, DWELL_BAD_NAME (too long, or that of a field is empty or NULL),
 * DWELL_EVENT_BAD_SIZE (too many fields, or `fields` is NULL and `count` is not 0), DWELL_EVENT_BAD_TYPE, or
 * DWELL_FAILED (no room in the session).
 */
DWELL_CALL int dwell_event_describe(const struct dwell_event_class *event_class, uint32_t type, uint16_t version,
                                    const char *type_name, const struct dwell_event_field *fields, size_t count)
{
    DWELL_ASK(
        int, DWELL_NOT_RECORDED, "event_describe",
        (const struct dwell_event_class *, uint32_t, uint32_t, const char *, const struct dwell_event_field *, size_t),
        (event_class, type, version, type_name, fields, count));
}

/* ---- levels ---- */

/* Returns whether events of the class at that level are selected: a load and a branch. A program asks it to skip the
 * work of gathering data. The functions that write check it themselves. */
DWELL_CALL int dwell_event_enabled(const struct dwell_event_class *event_class, uint8_t level)
{
    return __builtin_expect(level < __atomic_load_n(&event_class->enabled, __ATOMIC_RELAXED), 0);
}

/* Returns the highest selected level of the class, 0 to 255, or -1 if the class is disabled. */
DWELL_CALL int dwell_event_level(const struct dwell_event_class *event_class)
{
    return (int)__atomic_load_n(&event_class->enabled, __ATOMIC_RELAXED) - 1;
}

/* ---- writing ---- */

/*
 * Writes an event of the calling thread with its type, level, version and `size` bytes of data. `data` may be NULL if
 * `size` is 0.
 *
 * Returns DWELL_OK, DWELL_EVENT_DISABLED, DWELL_EVENT_TOO_LONG, DWELL_EVENT_LOST or DWELL_EVENT_BAD_SIZE (data is NULL
 * and size is not 0). Returns DWELL_NOT_RECORDED if recording was stopped permanently or does not cover this process.
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

/* The same with the data in up to 16 pieces, which are recorded one after another. Also returns DWELL_EVENT_BAD_SIZE if
 * there are more pieces. */
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
 * TraceEvent: writes the event that the header describes, with the data that follows it. The caller sets Size, Class,
 * Guid (or GuidPtr) and Flags, and leaves all other members zero. The header is not changed. The class is found by its
 * GUID among the registered ones.
 *
 * Returns what dwell_event_write returns, or DWELL_EVENT_BAD_FLAGS, DWELL_EVENT_BAD_SIZE or DWELL_EVENT_NO_CLASS.
 */
DWELL_CALL int dwell_event_trace(const EVENT_TRACE_HEADER *header)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "event_trace", (const EVENT_TRACE_HEADER *), (header));
}

#ifdef __cplusplus
}
#endif

#endif
