/*
 * The layout of the session file, which docs/format.md specifies to the byte. The runtime writes the file, and the
 * analyzer reads it. This is no public interface. All numbers are little-endian, as the supported machines are.
 * A session is one file: a page of header, then chunks. A chunk begins at a multiple of DWELL_UNIT and fills a whole
 * number of units. Bytes that are zero have not been written.
 */
#ifndef DWELL_FORMAT_H
#define DWELL_FORMAT_H

#include <stdint.h>

#define DWELL_FILE_MAGIC "DWELL\r\n\x1a"
#define DWELL_VERSION 1u
#define DWELL_BYTE_ORDER 0x01020304u
#define DWELL_UNIT 4096u
#define DWELL_CHUNK_MAGIC 0x4b435744u /* "DWCK" */
#define DWELL_CHUNK_LARGEST (1u << 30)
#define DWELL_NOT_COUNTED UINT32_MAX

enum dwell_machine { DWELL_MACHINE_X86_64 = 62, DWELL_MACHINE_AARCH64 = 183 }; /* the numbers of ELF */

enum dwell_clock {
    DWELL_CLOCK_TSC = 1,       /* x86 rdtsc */
    DWELL_CLOCK_CNTVCT = 2,    /* aarch64 cntvct_el0 */
    DWELL_CLOCK_MONOTONIC = 3, /* CLOCK_MONOTONIC in nanoseconds */
};

enum dwell_state { DWELL_RECORDING = 1, DWELL_COMPLETE = 2 };

/* Why a session holds less than happened; bits of dwell_file_header.trouble. */
enum dwell_trouble {
    DWELL_TROUBLE_NO_SPACE = 1,   /* a chunk could not be claimed: disk or quota full */
    DWELL_TROUBLE_NO_MEMORY = 2,  /* a mapping was refused */
    DWELL_TROUBLE_NO_FILE = 4,    /* a process could not reopen the session file */
    DWELL_TROUBLE_REFUSED = 8,    /* a system call was refused for another reason: by a sandbox, or the device failed */
    DWELL_TROUBLE_MAX_SIZE = 16,  /* the session has its maximum size */
    DWELL_TROUBLE_KEEP_FREE = 32, /* too little of the disk is free */
    DWELL_TROUBLE_TRUNCATED = 64, /* somebody truncated or overwrote the file, or its device failed */
    DWELL_TROUBLE_DAMAGED = 128,  /* it was merged from sessions of which parts were damaged or missing */
};

/* Page 0. Times are ticks of `clock` unless another unit is named. The members up to start_realtime never change after
 * the file was created. The others are changed by atomic operations only. */
struct dwell_file_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint16_t machine;
    uint16_t clock;
    uint32_t unit;
    uint64_t session_id[2];
    uint64_t start_ticks; /* these three are one instant */
    uint64_t start_monotonic;
    uint64_t start_realtime;

    uint64_t ticks_per_second; /* the best estimate so far */
    uint64_t end_ticks;        /* these two are one instant; zero until recording ended */
    uint64_t end_monotonic;
    uint64_t cursor;    /* the next free byte */
    uint32_t mode;      /* enum dwell_mode */
    uint32_t ring_size; /* ring: bytes that each thread keeps */
    uint32_t next_process;
    uint32_t next_thread;
    uint32_t state;
    uint32_t trouble;
    uint64_t lost_events; /* enters and exits that had no room */
    uint64_t lost_threads;
    uint32_t recorder_pid;      /* of `dwell record`, or zero */
    uint32_t global_stopped;    /* not zero: no process records */
    int32_t global_suspended;   /* above zero: no process records */
    uint32_t origin;            /* enum dwell_origin; zero if it was recorded */
    uint64_t first_control;     /* offset of the latest control chunk, or zero */
    uint64_t first_filters;     /* offset of the filters chunk, or zero */
    uint64_t lost_trace_events; /* trace events that had no room */
    uint32_t also;              /* what else is recorded: bits of enum dwell_also */
    uint32_t filter_server;     /* enum dwell_filter_server */
    uint32_t filter_asks;       /* a futex, changed and woken with every question for the filters of a module */
    uint32_t filter_answers;    /* the same for answers */
    uint64_t max_size;          /* bytes that the processes may claim; zero: no limit */
    uint64_t keep_free;         /* bytes of the disk that they leave free */
    uint64_t limit_time;        /* when one of the two was reached; zero: never */
    uint64_t warn_size;         /* the recorder warns when that many bytes are claimed; zero: it does not */
    uint32_t warned;            /* a futex, changed and woken when that is so */
    uint32_t shared_ring;       /* not zero: mode ring, of max_size bytes in all, without a limit for each thread */
    uint64_t replaced_events;   /* enters and exits in chunks that rings have used again */
    uint32_t sample_period;     /* nanoseconds of CPU time of a thread between two samples; zero: there are none */
    int16_t sample_error;       /* an errno value: samples were requested, and the system refused them; or zero */
    uint16_t count_cost;        /* picoseconds that counting a call takes in its function; zero: unknown */
    uint32_t lost_samples;      /* samples that had no room; at most UINT32_MAX */
    uint32_t sample_cost;       /* nanoseconds that a sample stops its thread; zero: unknown */
};

#include "dwell/format_more.h"

/* Whether the recorder answers questions for the filters of modules that it has not seen. */
enum dwell_filter_server {
    DWELL_FILTER_SERVER_NONE = 0, /* there are no patterns */
    DWELL_FILTER_SERVER_ANSWERS = 1,
    DWELL_FILTER_SERVER_ENDED = 2,
    DWELL_FILTER_SERVER_LEVELS = 3, /* there are no patterns but those of levels that are set later */
};

enum dwell_also {
    DWELL_ALSO_CALL_SITES = 1,     /* the site of each call */
    DWELL_ALSO_CAUSES = 2,         /* what calls of the operating system waited for */
    DWELL_ALSO_BUDGET = 4,         /* the decisions of an overhead budget, if there were any */
    DWELL_ALSO_KERNEL_SAMPLES = 8, /* samples of threads in the kernel, not only in user mode */
    DWELL_ALSO_SPARE_SAMPLES = 16, /* samples only say where the time of functions goes that are not timed */
    DWELL_ALSO_HISTOGRAMS = 32,    /* mode profile: the durations of calls of chosen functions */
};

/* The origin of a session that was not recorded; bits. */
enum dwell_origin {
    DWELL_ORIGIN_IMPORTED = 1, /* a report of another profiler; its clock is what --resolution said */
    DWELL_ORIGIN_SCALED = 2,   /* the report had no call paths: they are estimated from callers and callees */
    DWELL_ORIGIN_SAMPLES = 4,  /* values are numbers of samples, not times */
    DWELL_ORIGIN_SUMS = 8,     /* sums of recorded sessions (format_sums.h) */
    DWELL_ORIGIN_NARROW = 16,  /* all addresses of the report had 8 digits */
};

/* The recording modes. */
enum dwell_mode {
    DWELL_MODE_TRACE = 0,   /* every interval */
    DWELL_MODE_PROFILE = 1, /* a call tree with sums for each thread */
    DWELL_MODE_RING = 2,    /* the last intervals of each thread, which reuses its oldest chunks */
};

#define DWELL_RING_MIN (64u << 10)
#define DWELL_RING_USUAL (4u << 20)
#define DWELL_RING_MAX (1u << 30)

enum dwell_chunk_kind {
    DWELL_CHUNK_FREE = 0, /* claimed, and not in use */
    DWELL_CHUNK_EVENTS = 1,
    DWELL_CHUNK_METADATA = 2,
    DWELL_CHUNK_SYMBOLS = 3,
    DWELL_CHUNK_CALL_TREE = 4,
    DWELL_CHUNK_CONTROL = 5, /* commands to a process from outside */
    DWELL_CHUNK_FILTERS = 6,
    DWELL_CHUNK_TRACE_EVENTS = 7,
    DWELL_CHUNK_SAMPLES = 8,
    DWELL_CHUNK_COUNTS = 9,
    DWELL_CHUNK_LEVELS = 10,     /* as filters, but `action` is an enum dwell_level_of_probes, and the rest is zero */
    DWELL_CHUNK_WAITS = 11,      /* mode profile: rows of struct dwell_wait_row (format_objects.h) */
    DWELL_CHUNK_SUMS = 12,       /* rows of struct dwell_sum_row (format_sums.h) */
    DWELL_CHUNK_CAUSES = 13,     /* rows of struct dwell_cause_row */
    DWELL_CHUNK_SITES = 14,      /* struct dwell_sites (format_levels.h) */
    DWELL_CHUNK_KEEP = 15,       /* struct dwell_keep (format_keep.h) */
    DWELL_CHUNK_PLAN = 16,       /* struct dwell_values_plan (format_values.h) */
    DWELL_CHUNK_VALUES = 17,     /* rows of struct dwell_values_row */
    DWELL_CHUNK_CALLS_PLAN = 18, /* struct dwell_calls_plan (format_calls.h) */
    DWELL_CHUNK_DURATIONS = 19,  /* rows of struct dwell_duration_row (format_sums.h) */
};

/* `kind` is stored last: a chunk that has a kind has a whole header. */
struct dwell_chunk_header {
    uint32_t magic;
    uint16_t kind;
    uint16_t sealed;   /* 1: it has a checksum; 0: it has none */
    uint32_t size;     /* bytes, this header included; a multiple of DWELL_UNIT */
    uint32_t used;     /* bytes, this header included; zero: unknown, read to the end */
    uint32_t process;  /* serial number in the session, from 1 */
    uint32_t thread;   /* serial number in the session; zero if the chunk belongs to no thread */
    uint32_t sequence; /* number of the chunk, from 0: among those of its thread, or for metadata of its process */
    union {
        uint32_t depth; /* events: how many struct dwell_frame follow */
        uint32_t tid;   /* samples: the thread's */
    };
    uint64_t start_time; /* events: time of the thread's last event before this chunk; samples: of the first one */
    union {
        uint32_t upper[2]; /* events: upper halves of function addresses at the start */
        struct {
            uint32_t pid, period; /* samples; the period is in nanoseconds, zero: that of the file */
        };
    };
    union {
        struct {
            uint32_t enters, exits; /* events: their numbers, if `used` is set; or DWELL_NOT_COUNTED */
        };
        struct {
            uint32_t extension_bytes; /* in the chunk */
            uint32_t left;            /* calls that were left without an exit */
        } open;                       /* events, until `used` is set: private to the writer, which counts them so */
        uint32_t samples;             /* samples: their number, if `used` is set */
    };
    union {
        uint64_t link;     /* private to the writer until the chunk is sealed */
        uint64_t checksum; /* after that */
    };
};

/*
 * A process gives its chunks of events and trace events checksums when they are full. The recorder seals a session when
 * it has ended: all other chunks get checksums, and page 0 says how much there is. Free, control, filters and levels
 * chunks have none.
 *
 * A checksum is XXH64 with seed 0. That of a chunk is over its units up to `used`, or up to its end if `used` is zero.
 * Bytes behind that, `sealed` and `checksum` count as zero. Units without any other byte are skipped. A unit's bytes
 * come after its number in the chunk, as DWELL_SEAL_NUMBER bytes.
 */
enum { DWELL_SEAL_OFFSET = DWELL_UNIT - 24, DWELL_SEAL_NUMBER = 32 };

/* In page 0, at DWELL_SEAL_OFFSET. All zero if the session is not sealed. */
struct dwell_seal {
    uint64_t length;   /* of the file: the cursor */
    uint64_t chunks;   /* number of those that have a checksum */
    uint64_t checksum; /* of page 0 up to here */
};

/* An open call at the start of an events chunk, outermost first. */
struct dwell_frame {
    uint64_t function; /* address */
    uint64_t enter_time;
};

/* Records of an events chunk consist of 16-bit words. The top two bits of the first word are the record's kind. In an
 * enter or exit the other bits are the low bits of the event's time. */
#define DWELL_WORD_KIND_SHIFT 14
#define DWELL_TIME_BITS 14
#define DWELL_TIME_MASK ((1u << DWELL_TIME_BITS) - 1)

enum dwell_word_kind {
    DWELL_WORD_EXTENSION = 0, /* type and length follow; a zero word was not written */
    DWELL_WORD_ENTER_0 = 1,   /* 32 bits of address follow; upper half number 0 */
    DWELL_WORD_ENTER_1 = 2,   /* the same with upper half number 1 */
    DWELL_WORD_EXIT = 3,
};

/* An extension's first word is type << 8 | number of 16-bit words that follow. */
#define DWELL_EXTENSION_LENGTH_BITS 8

/* In a site of 64 bits: the call was inlined, and the address is a place within it. */
#define DWELL_SITE_INLINED (1ull << 63)

enum dwell_extension {
    DWELL_EXT_TIME = 1,          /* 3 words: 48 low bits of the time of the next event */
    DWELL_EXT_UPPER = 2,         /* 3 words: number, then the upper half's 32 bits */
    DWELL_EXT_OS = 3,            /* 0 words: the interval that ends at the next event is flagged; 3: that part of it */
    DWELL_EXT_BLOCKED = 4,       /* 6 words: when the thread left its CPU (48 bits), for how long (48 bits) */
    DWELL_EXT_PREEMPTED = 5,     /* the same for a thread that could have continued to run */
    DWELL_EXT_FAULTS = 6,        /* 1 to 3 words: number of page faults */
    DWELL_EXT_UNWIND = 7,        /* 2 words: number of frames left without an exit, at the next event */
    DWELL_EXT_UNTIMED_ENTER = 8, /* 2 words of address; reserved for events without a time */
    DWELL_EXT_UNTIMED_EXIT = 9,
    DWELL_EXT_MARK = 10,   /* control event: time, then the time of the mark (3), number (2), bytes (1), text */
    DWELL_EXT_PAUSE = 11,  /* control event: time; what follows is not recorded */
    DWELL_EXT_RESUME = 12, /* control event: time, number of open calls that ended since the pause (2) */
    DWELL_EXT_PAD = 13,    /* 0 words: nothing */
    DWELL_EXT_OPEN = 14,   /* 7 words: a call found open, at the next control event: function (4), enter time (3);
                            * 11 words: and its site (4), as in OPEN_SITES */
    DWELL_EXT_SWITCH = 15, /* control event: time, number of the stack that the thread is on from now (2) */
    DWELL_EXT_SITE =
        16, /* 1 to 3 words: the return address of the next enter's call, relative as docs/format.md describes */
    DWELL_EXT_SITE_INLINED = 17, /* the same for an inlined call: an address within it */
    DWELL_EXT_OPEN_SITES = 18,   /* at a chunk's start: the sites of its open calls (4 words each), outermost first */
    DWELL_EXT_RUNTIME = 19, /* 1 to 3 words: ticks on the CPU that the runtime took in the interval before the event */
    DWELL_EXT_OBJECT = 20,  /* 5 or 7 words: what the call that ends waited for or acted on. Kind and role (1), the
                             * object (4), the tid of the thread that held it (2) */
    DWELL_EXT_CPU = 21, /* 1 word: the number of the CPU that the thread is on after it was off its CPU. Without one,
                         * it is unknown after a BLOCKED or PREEMPTED */
};

/* A call tree chunk holds nodes one after another after the chunk header. The first chunk of a thread (sequence 0) has
 * a struct dwell_tree_head before them. Nodes are numbered from 1 through all chunks of the thread, in the order of
 * `sequence`. All chunks but the last are full. A node whose function is zero has not been written, and ends the tree.
 * All times are ticks. While a thread records, its sums are those up to `last_time`. */
struct dwell_tree_head {
    uint64_t start_time;
    uint64_t last_time; /* of the thread's last event; later time belongs to node `top` */
    uint32_t top;       /* the innermost open call, or zero */
    uint32_t paused;    /* not zero: time after last_time was not to be recorded */
    uint64_t exits;     /* reserved */
    uint64_t left;      /* calls left without an exit */
    uint64_t reserved[3];
};

/* In dwell_tree_node.shortest: the durations of the path's calls are counted (durations chunks), and there was no room
 * for some of them. The bits below are the shortest one, or all set if no call is completed. Any duration is less than
 * the whole, so the probes' test for a shorter one finds such paths. */
#define DWELL_SHORTEST_COUNTED (1ull << 63)
#define DWELL_SHORTEST_LOST (1ull << 62)

struct dwell_tree_node {
    uint64_t function; /* address; stored last when a node is made */
    uint32_t parent;   /* number of the node, or zero if nothing was open */
    uint32_t number;   /* its own */
    uint64_t calls;    /* enters */
    uint64_t elapsed;  /* exclusive */
    uint64_t shortest; /* of completed calls, inclusive; UINT64_MAX if there is none; see DWELL_SHORTEST_COUNTED */
    uint64_t longest;
    uint64_t flagged;    /* the part of `elapsed` with OS events, without `runtime` */
    uint64_t first_time; /* when the node was made; it identifies the module */
    uint64_t blocked;    /* parts of `elapsed` off the CPU */
    uint64_t preempted;
    uint64_t page_faults;
    uint64_t os_events;
    uint64_t flagged_intervals;
    uint32_t depth;   /* in the tree, from 1 */
    uint32_t base;    /* number of the node that holds the children: its own, or that of a similar call */
    uint64_t site;    /* as in DWELL_EXT_OPEN_SITES; zero if unknown */
    uint64_t runtime; /* the part of `elapsed` that the runtime took on the CPU, in slow probes */
};

/*
 * A trace events chunk holds the trace events of one thread (dwell/event.h), in the order of time. An event consists of
 * four parts: this structure, the addresses of the open calls that are kept (innermost first), the data, and zeros up
 * to a multiple of 8. The last 4 bytes repeat `size`. `size` is written last: if it is zero, or the two differ, nothing
 * more has been written.
 */
struct dwell_trace_event {
    uint32_t size; /* of the whole event; a multiple of 8 */
    uint8_t type;
    uint8_t severity;
    uint16_t version;
    uint64_t time;        /* ticks */
    uint8_t guid[16];     /* of the class, as it lies in an EVENT_TRACE_HEADER */
    uint64_t kernel_time; /* nanoseconds of the thread in the kernel so far, as precise as the system counts */
    uint64_t user_time;   /* the same in user mode */
    uint64_t cpu_time;    /* nanoseconds on a CPU, exact */
    uint32_t data_size;
    uint16_t frames; /* number of open calls that are kept */
    uint16_t flags;  /* enum dwell_trace_event_flag */
    uint32_t depth;  /* number of open calls */
    uint32_t pad;
};

enum { DWELL_TRACE_EVENT_FRAMES = 64 }; /* the maximum that is kept */

/*
 * The class "perflog": timers of PerfLog (dwell/perflog.h) that the program begins and ends, as START and END, of level
 * 0. The data is the marker's number, 4 bytes, and its string. An activity belongs to its thread and marker. A second
 * START begins it anew. DWELL_PERFLOG_ERROR ends it without a duration.
 */
#define DWELL_PERFLOG_GUID_PARTS                                                                                       \
    {                                                                                                                  \
        0x3f5ab1c4, 0x8d02, 0x4e6b,                                                                                    \
        {                                                                                                              \
            0x9c, 0x17, 0x50, 0x45, 0x52, 0x46, 0x4c, 0x47                                                             \
        }                                                                                                              \
    }
#define DWELL_PERFLOG_GUID "\xc4\xb1\x5a\x3f\x02\x8d\x6b\x4e\x9c\x17PERFLG" /* as it lies in an event */
enum { DWELL_PERFLOG_ERROR = 10, DWELL_PERFLOG_KEY = 4 };

enum dwell_trace_event_flag {
    DWELL_TRACE_EVENT_TIMES = 1, /* kernel_time and user_time are known */
    DWELL_TRACE_EVENT_CPU = 2,   /* cpu_time is known */
};

/* Records of metadata and symbols chunks. `size` is that of the whole record and a multiple of 8. A record of type zero
 * has not been written, and ends the chunk. */
struct dwell_record {
    uint16_t type;
    uint16_t pad;
    uint32_t size;
};

enum dwell_record_type {
    DWELL_REC_PROCESS = 1,
    DWELL_REC_PROCESS_END = 2,
    DWELL_REC_THREAD = 3,
    DWELL_REC_THREAD_NAME = 4,
    DWELL_REC_THREAD_END = 5,
    DWELL_REC_MODULE = 6,
    DWELL_REC_MODULE_UNLOAD = 7,
    DWELL_REC_NOTE = 8,
    DWELL_REC_SYMBOL_MODULE = 9,
    DWELL_REC_SYMBOL_FILE = 10,
    DWELL_REC_SYMBOL = 11,
    DWELL_REC_PROCESS_NAME = 12,
    DWELL_REC_SAMPLE = 13,
    DWELL_REC_HOST = 14,
    DWELL_REC_VOID = 15, /* its writer has taken the record back */
    DWELL_REC_EVENT_CLASS = 16,
    DWELL_REC_SITE = 17,
    DWELL_REC_PROBES = 18,
    DWELL_REC_THREAD_SWITCHES = 19,
    DWELL_REC_REPORTED = 20,
    DWELL_REC_EVENT_LAYOUT = 21,
    DWELL_REC_LEVEL = 22,
    DWELL_REC_DESCRIPTOR = 23,
    DWELL_REC_DECISION = 24,
    DWELL_REC_MADE = 25,
    DWELL_REC_SUMMED = 26,
    DWELL_REC_OBJECT_NAME = 27,
    DWELL_REC_LABEL = 28,
    DWELL_REC_PROCESS_CPU = 29,
    DWELL_REC_KEPT = 30,
    DWELL_REC_STUBS = 31,
};

/* Strings follow the fixed part of a record in the order given, each as a 16-bit length and its bytes. */
struct dwell_rec_process { /* strings: path of the executable; arguments, each followed by a zero byte */
    struct dwell_record record;
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t parent_process; /* serial number, or zero */
    uint32_t pad;
    uint64_t start_time;
};

enum dwell_end {
    DWELL_END_EXIT = 1,
    DWELL_END_SIGNAL = 2,
    DWELL_END_UNKNOWN = 3,
    DWELL_END_EXECUTED = 4, /* it executed another program, which is a process of its own in the session */
};

/* No strings. The process itself records its end, or another process that saw it: the recorder, or the parent. That one
 * gives the serial number, or zero and the pid. */
struct dwell_rec_process_end {
    struct dwell_record record;
    uint32_t process;
    uint32_t pid;
    uint32_t how;   /* enum dwell_end */
    uint32_t value; /* exit status or signal number */
    uint64_t time;
};

/* The source of a thread's OS events. */
enum dwell_os_source {
    DWELL_OS_NONE = 0,     /* application times are unknown */
    DWELL_OS_PERF = 1,     /* switches and page faults, with times */
    DWELL_OS_RSEQ = 2,     /* switches, as a flag only */
    DWELL_OS_IMPORTED = 3, /* none: application times come from the imported report */
    DWELL_OS_SYSCALLS = 4, /* as perf, and system calls as a flag */
};

struct dwell_rec_thread { /* string: name */
    struct dwell_record record;
    uint32_t thread;
    uint32_t tid;
    uint32_t os_source;
    uint32_t maker; /* serial number of the thread whose fork has made this thread's process; zero if none or unknown */
    uint64_t start_time;
};

struct dwell_rec_thread_name { /* string: name */
    struct dwell_record record;
    uint32_t thread;
    uint32_t pad;
};

struct dwell_rec_process_name { /* string: the name that the program gave itself */
    struct dwell_record record;
};

struct dwell_rec_sample { /* no strings */
    struct dwell_record record;
    uint64_t time;
    uint64_t cpu;      /* nanoseconds of CPU time of all threads so far, user and kernel */
    uint64_t resident; /* resident memory in bytes; zero if unknown */
};

/* Strings: system, release, version, machine and node name, from uname(2); and the number of processors that the
 * recorder could run on, in decimal. */
struct dwell_rec_host {
    struct dwell_record record;
};

enum { DWELL_PROBE_FRACTION = 256 };

/* What the probes of the process take, in 1/256 ticks (docs/time-model.md). in_callee and in_caller are what each call
 * adds to the exclusive time of the function and of its caller. first_callee is added once for a call that makes calls
 * itself. No strings. */
struct dwell_rec_probes {
    struct dwell_record record;
    uint32_t in_callee;
    uint32_t in_caller;
    uint32_t first_callee;
    uint32_t work;    /* what the calibrated calls take without probes */
    uint32_t rounds;  /* number of calibration rounds */
    uint32_t ordered; /* the clock is read after all earlier instructions have completed */
};

struct dwell_rec_event_class { /* string: name */
    struct dwell_record record;
    uint8_t guid[16];
};

/* The data of events of a class, type and version. Strings: name of the type, or empty; types of the fields
 * (ETW_..._TYPE_VALUE), a byte each; then the name of each field. */
struct dwell_rec_event_layout {
    struct dwell_record record;
    uint8_t guid[16];
    uint16_t type; /* 256: any */
    uint16_t version;
    uint32_t fields; /* their number, at most 16 */
};

struct dwell_rec_thread_end { /* no strings */
    struct dwell_record record;
    uint32_t thread;
    uint32_t flagged; /* whether OS events happened between the thread's last event and `time` */
    uint64_t time;
    uint64_t blocked; /* ticks off the CPU in that time, as `preempted`; both are absent in older recordings */
    uint64_t preempted;
};

/* How often the kernel took the CPU from the thread between its first event and its end. The record may appear twice:
 * the later one is valid. */
struct dwell_rec_thread_switches { /* no strings */
    struct dwell_record record;
    uint32_t thread;
    uint32_t pad;
    uint64_t waits, preemptions; /* as counted by the kernel */
    uint64_t recorded;           /* the sum of both as recorded; with rseq: intervals in which the kernel intervened */
};

/* The path of the module that is the kernel's code for programs. It is in no file. */
#define DWELL_KERNELS_MODULE "[vdso]"

struct dwell_rec_module { /* strings: path; build-id bytes */
    struct dwell_record record;
    uint32_t module; /* serial number within the process */
    uint32_t pad;
    uint64_t bias;  /* address - bias = virtual address in the ELF file */
    uint64_t begin; /* addresses of its code: begin <= address < end */
    uint64_t end;
    uint64_t load_time;
};

struct dwell_rec_module_unload { /* no strings */
    struct dwell_record record;
    uint32_t module;
    uint32_t pad;
    uint64_t time;
};

/* A remark of the runtime that `dwell info` shows; string: text. */
struct dwell_rec_note {
    struct dwell_record record;
};

struct dwell_rec_symbol_module { /* strings: path; build-id bytes */
    struct dwell_record record;
    uint32_t module; /* number within the symbols chunks */
    uint32_t pad;
};

struct dwell_rec_symbol_file { /* string: path of a source file */
    struct dwell_record record;
    uint32_t file; /* number within the symbols chunks, from 1 */
    uint32_t pad;
};

struct dwell_rec_symbol { /* string: linkage name */
    struct dwell_record record;
    uint32_t module;
    uint32_t file; /* zero: unknown */
    uint32_t line; /* zero: unknown */
    uint32_t pad;
    uint64_t offset; /* virtual address in the module's ELF file */
};

struct dwell_rec_site { /* strings: linkage names of the function there, and of the function it is inlined in */
    struct dwell_record record;
    uint32_t module;
    uint32_t file;       /* zero: unknown */
    uint32_t line;       /* zero: unknown */
    uint32_t outer_file; /* where that function is inlined, in the innermost function that is not; */
    uint32_t outer_line; /* zero if it is not inlined */
    uint32_t pad;
    uint64_t offset; /* the site as a virtual address, with DWELL_SITE_INLINED as recorded */
};

/* The note of a process that was to watch system calls (--os-events=syscalls) and could not. */
#define DWELL_NOTE_NO_SYSCALLS                                                                                         \
    "this user may not watch system calls: those that do not wait are seen only as calls of libc"
_Static_assert(sizeof(struct dwell_file_header) == 256, "the file header's layout is fixed");
_Static_assert(sizeof(struct dwell_file_header) <= DWELL_SEAL_OFFSET, "the seal is behind the file header");
_Static_assert(DWELL_SEAL_OFFSET + sizeof(struct dwell_seal) == DWELL_UNIT, "the seal is at the end of page 0");
_Static_assert(sizeof(struct dwell_chunk_header) == 64, "the chunk header's layout is fixed");
_Static_assert(sizeof(struct dwell_tree_head) == 64, "the tree head's layout is fixed");
_Static_assert(sizeof(struct dwell_tree_node) == 128, "the tree node's layout is fixed");
_Static_assert(sizeof(struct dwell_trace_event) == 72, "the trace event's layout is fixed");
_Static_assert(sizeof(struct dwell_frame) == 16, "the frame's layout is fixed");

#include "dwell/format_calls.h"
#include "dwell/format_control.h"
#include "dwell/format_cpu.h"
#include "dwell/format_filters.h"
#include "dwell/format_keep.h"
#include "dwell/format_levels.h"
#include "dwell/format_objects.h"
#include "dwell/format_reported.h"
#include "dwell/format_samples.h"
#include "dwell/format_sums.h"
#include "dwell/format_values.h"

#endif
