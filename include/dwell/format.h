/*
 * The session file, as it lies on disk. docs/format.md specifies it to the byte; this header is the
 * same thing for the two programs that share it: the runtime, which writes, and the analyzer, which
 * reads. Nobody else includes it. All numbers are little-endian, as the supported machines are.
 *
 * A session is one file: a page of header, then chunks. A chunk begins at a multiple of DWELL_UNIT and
 * fills a whole number of units. Whatever is zero has not been written.
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

enum dwell_machine { DWELL_MACHINE_X86_64 = 62, DWELL_MACHINE_AARCH64 = 183 }; /* as ELF numbers them */

enum dwell_clock {
    DWELL_CLOCK_TSC = 1,       /* x86 rdtsc */
    DWELL_CLOCK_CNTVCT = 2,    /* aarch64 cntvct_el0 */
    DWELL_CLOCK_MONOTONIC = 3, /* CLOCK_MONOTONIC in nanoseconds */
};

enum dwell_state { DWELL_RECORDING = 1, DWELL_COMPLETE = 2 };

/* Reasons why a session holds less than happened; bits of dwell_file_header.trouble. */
enum dwell_trouble {
    DWELL_TROUBLE_NO_SPACE = 1,  /* a chunk could not be claimed: disk or quota full */
    DWELL_TROUBLE_NO_MEMORY = 2, /* a mapping was refused */
    DWELL_TROUBLE_NO_FILE = 4,   /* a process could not open the session file again */
    DWELL_TROUBLE_REFUSED = 8,   /* a system call was refused otherwise: by a sandbox, or as the device failed */
};

/* Page 0. Times are ticks of `clock` unless named otherwise. The members up to start_realtime never
 * change after the file was created; the others are changed by atomic operations only. */
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
    uint64_t lost_events; /* enters and exits that found no place to be recorded */
    uint64_t lost_threads;
    uint32_t recorder_pid;      /* of `dwell record`, or zero */
    uint32_t global_stopped;    /* not zero: no process records */
    int32_t global_suspended;   /* the same while it is above zero */
    uint32_t origin;            /* enum dwell_origin; zero: a recording */
    uint64_t first_control;     /* offset of the control chunk made last, or zero */
    uint64_t first_filters;     /* offset of the filters chunk, or zero */
    uint64_t lost_trace_events; /* trace events that found no place to be recorded */
    uint32_t also;              /* what is recorded besides: bits of enum dwell_also */
    uint32_t pad;
};

enum dwell_also {
    DWELL_ALSO_CALL_SITES = 1, /* from where each call was made */
};

/* Where a session that no program recorded comes from; bits. */
enum dwell_origin {
    DWELL_ORIGIN_IMPORTED = 1, /* from a report of another profiler; its clock is what --resolution said */
    DWELL_ORIGIN_SCALED = 2,   /* the report had no call paths: they are estimated from callers and callees */
    DWELL_ORIGIN_SAMPLES = 4,  /* values are numbers of samples, not times */
};

/* What is recorded. */
enum dwell_mode {
    DWELL_MODE_TRACE = 0,   /* every interval */
    DWELL_MODE_PROFILE = 1, /* a call tree with sums for each thread */
    DWELL_MODE_RING = 2,    /* the last intervals of each thread: it uses its oldest chunks again */
};

#define DWELL_RING_MIN (64u << 10)
#define DWELL_RING_USUAL (4u << 20)
#define DWELL_RING_MAX (1u << 30)

enum dwell_chunk_kind {
    DWELL_CHUNK_FREE = 0, /* claimed, and not used yet */
    DWELL_CHUNK_EVENTS = 1,
    DWELL_CHUNK_METADATA = 2,
    DWELL_CHUNK_SYMBOLS = 3,
    DWELL_CHUNK_CALL_TREE = 4,
    DWELL_CHUNK_CONTROL = 5, /* how a process is told from outside to pause and so on */
    DWELL_CHUNK_FILTERS = 6,
    DWELL_CHUNK_TRACE_EVENTS = 7,
};

/* `kind` is stored last: a chunk that has a kind has a whole header. */
struct dwell_chunk_header {
    uint32_t magic;
    uint16_t kind;
    uint16_t pad;
    uint32_t size;          /* bytes, this header included; a multiple of DWELL_UNIT */
    uint32_t used;          /* bytes, this header included; zero: unknown, read until the end */
    uint32_t process;       /* serial number in the session, from 1 */
    uint32_t thread;        /* the same; zero in chunks that belong to no thread */
    uint32_t sequence;      /* number of the chunk among those of its thread, of metadata: of its process, from 0 */
    uint32_t depth;         /* events: how many struct dwell_frame follow */
    uint64_t start_time;    /* events: time of the thread's event before this chunk's first one */
    uint32_t upper[2];      /* events: upper halves of function addresses at the start */
    uint32_t enters, exits; /* events: how many it holds, where `used` is set and this is DWELL_NOT_COUNTED not */
    uint64_t link;          /* the writer's own; it tells readers nothing */
};

/* An open call at the start of an events chunk, outermost first. */
struct dwell_frame {
    uint64_t function; /* address */
    uint64_t enter_time;
};

/*
 * Records of an events chunk are made of 16-bit words. The top two bits of the first are its kind; in
 * an enter or exit the others are the low bits of the time of the event.
 */
#define DWELL_WORD_KIND_SHIFT 14
#define DWELL_TIME_BITS 14
#define DWELL_TIME_MASK ((1u << DWELL_TIME_BITS) - 1)

enum dwell_word_kind {
    DWELL_WORD_EXTENSION = 0, /* type and length follow; the word zero: not written */
    DWELL_WORD_ENTER_0 = 1,   /* 32 bits of address follow; upper half number 0 */
    DWELL_WORD_ENTER_1 = 2,   /* the same with upper half number 1 */
    DWELL_WORD_EXIT = 3,
};

/* An extension's first word is type << 8 | number of 16-bit words behind it. */
#define DWELL_EXTENSION_LENGTH_BITS 8

/* Of a site as a number of 64 bits: the call was inlined, and the address lies in its place. */
#define DWELL_SITE_INLINED (1ull << 63)

enum dwell_extension {
    DWELL_EXT_TIME = 1,          /* 3 words: 48 low bits of the time of the next event */
    DWELL_EXT_UPPER = 2,         /* 3 words: number, then the upper half's 32 bits */
    DWELL_EXT_OS = 3,            /* 0 words: the interval that ends at the next event is flagged */
    DWELL_EXT_BLOCKED = 4,       /* 6 words: when the thread left its CPU (48 bits), for how long (48 bits) */
    DWELL_EXT_PREEMPTED = 5,     /* the same for a thread that could have run on */
    DWELL_EXT_FAULTS = 6,        /* 1 word: number of page faults */
    DWELL_EXT_UNWIND = 7,        /* 2 words: number of frames left without an exit, at the next event */
    DWELL_EXT_UNTIMED_ENTER = 8, /* 2 words of address; kept for events that carry no time */
    DWELL_EXT_UNTIMED_EXIT = 9,
    DWELL_EXT_MARK = 10,   /* control event: time, then the time it speaks of (3), number (2), bytes (1), text */
    DWELL_EXT_PAUSE = 11,  /* control event: time; what follows is not recorded */
    DWELL_EXT_RESUME = 12, /* control event: time, number of open calls that ended since the pause (2) */
    DWELL_EXT_PAD = 13,    /* 0 words: nothing */
    DWELL_EXT_OPEN = 14,   /* 7 words: a call found open, at the next control event: function (4), enter time (3);
                            * 11 words: and its site (4), as in OPEN_SITES */
    DWELL_EXT_SWITCH = 15, /* control event: time, number of the stack that the thread is on from now (2) */
    DWELL_EXT_SITE =
        16, /* 1 to 3 words: where the next enter's call returns to; docs/format.md says from where it counts */
    DWELL_EXT_SITE_INLINED = 17, /* the same of a call that was inlined: an address in its place */
    DWELL_EXT_OPEN_SITES = 18,   /* at a chunk's start: sites of its open calls (4 words each), outermost first */
    DWELL_EXT_RUNTIME = 19,      /* 3 words: ticks that the runtime took of the interval that ends at the next event */
};

/*
 * A call tree chunk holds nodes, one after another behind the chunk header; the first chunk of a thread (sequence 0)
 * has a struct dwell_tree_head before them. Nodes are numbered from 1 through all chunks of the thread, in the order
 * of `sequence`; all but the last chunk are full. A node whose function is zero has not been written, and ends the
 * tree. All times are ticks. While a thread records, its sums are those up to `last_time`.
 */
struct dwell_tree_head {
    uint64_t start_time;
    uint64_t last_time; /* of the thread's last event: what comes after belongs to node `top` */
    uint32_t top;       /* the innermost open call; zero: none */
    uint32_t paused;    /* not zero: what comes after last_time was not to be recorded */
    uint64_t exits;     /* kept */
    uint64_t left;      /* calls left without an exit */
    uint64_t reserved[3];
};

struct dwell_tree_node {
    uint64_t function; /* address; stored last when a node is made */
    uint32_t parent;   /* number of the node, or zero: nothing was open */
    uint32_t number;   /* its own */
    uint64_t calls;    /* enters */
    uint64_t elapsed;  /* exclusive */
    uint64_t shortest; /* of completed calls, inclusive; UINT64_MAX: none */
    uint64_t longest;
    uint64_t flagged;    /* the part of `elapsed` in which the OS worked, without `runtime` */
    uint64_t first_time; /* when the node was made: which module's function it is */
    uint64_t blocked;    /* parts of `elapsed` off the CPU */
    uint64_t preempted;
    uint64_t page_faults;
    uint64_t os_events;
    uint64_t flagged_intervals;
    uint32_t depth;   /* in the tree, from 1 */
    uint32_t base;    /* number of the node below which its callees' nodes are: its own, or that of a call like it */
    uint64_t site;    /* as in DWELL_EXT_OPEN_SITES; zero: unknown */
    uint64_t runtime; /* the part of `elapsed` that the runtime took, at length */
};

/*
 * A trace events chunk holds what one thread has said by dwell/event.h, one event behind the other in the order of
 * time. An event is this, the addresses of the open calls that are kept (the innermost first), the data, zeros up to a
 * multiple of 8, of which the last 4 bytes are `size` again. `size` is written last: where it is zero, or the two are
 * not the same, nothing more has been written.
 */
struct dwell_trace_event {
    uint32_t size; /* of all that; a multiple of 8 */
    uint8_t type;
    uint8_t level;
    uint16_t version;
    uint64_t time;        /* ticks */
    uint8_t guid[16];     /* of the class, as it lies in an EVENT_TRACE_HEADER */
    uint64_t kernel_time; /* nanoseconds that the thread has spent in the kernel, as far as the system counts them, */
    uint64_t user_time;   /* and in user mode */
    uint64_t cpu_time;    /* nanoseconds on a CPU, exact */
    uint32_t data_size;
    uint16_t frames; /* open calls that are kept */
    uint16_t flags;  /* enum dwell_trace_event_flag */
    uint32_t depth;  /* open calls that there were */
    uint32_t pad;
};

enum { DWELL_TRACE_EVENT_FRAMES = 64 }; /* as many are kept at the most */

enum dwell_trace_event_flag {
    DWELL_TRACE_EVENT_TIMES = 1, /* kernel_time and user_time are known */
    DWELL_TRACE_EVENT_CPU = 2,   /* cpu_time is known */
};

/* How a process takes commands from others: one chunk of this kind for each, of one unit. */
struct dwell_control {
    struct dwell_chunk_header chunk; /* process: whose it is */
    uint64_t next;                   /* offset of the control chunk made before, or zero */
    uint32_t pid;
    uint32_t listening; /* not zero: somebody answers */
    uint32_t work;      /* a futex, changed and woken whenever there is something to do */
    uint32_t command;   /* enum dwell_command; set back to zero when it is done */
    int32_t result;     /* of the last command: zero, or a negative errno value */
    uint32_t pad;
    char text[1024]; /* dump: path of the file to write; event: "NAME:LEVEL", "GUID:LEVEL", "*:off" and so on */
};

/* What is to be done with a function when it is entered: bits. */
enum dwell_filter_action {
    DWELL_FILTER_RECORD = 0,
    DWELL_FILTER_SUPPRESS = 1, /* its time is its caller's */
    DWELL_FILTER_IGNORE = 2,   /* its time, and that of all it calls, is nobody's */
    DWELL_FILTER_START = 4,    /* the process' recording starts, */
    DWELL_FILTER_STOP = 8,     /* or stops, before it is entered */
};

/* A filters chunk: written by the recorder before the program starts. Modules follow, one behind the other. */
struct dwell_filters {
    struct dwell_chunk_header chunk;
    uint32_t modules;
    uint32_t only;     /* not zero: functions that are not named here are suppressed */
    uint32_t depth;    /* calls deeper than that are suppressed; zero: no limit */
    uint32_t starts;   /* not zero: some function starts the recording, which is off until then */
    uint64_t shortest; /* ticks; calls that take less are not recorded */
};

struct dwell_filter_module { /* followed by build-id, path, zeros up to a multiple of 8, and its functions */
    uint32_t size;           /* of all that; a multiple of 8 */
    uint32_t functions;
    uint32_t build_id_length; /* zero: the path tells which module is meant */
    uint32_t path_length;
};

struct dwell_filter {
    uint64_t offset; /* address in the module's own terms */
    uint32_t action; /* enum dwell_filter_action */
    uint32_t pad;
};

enum dwell_command {
    DWELL_COMMAND_NONE = 0,
    DWELL_COMMAND_PAUSE = 1,
    DWELL_COMMAND_RESUME = 2,
    DWELL_COMMAND_STOP = 3,  /* for good */
    DWELL_COMMAND_DUMP = 4,  /* writes what the session holds now to the file named by `text` */
    DWELL_COMMAND_LOOK = 5,  /* at global_stopped and global_suspended */
    DWELL_COMMAND_EVENT = 6, /* enables or disables trace events, as `text` says; result: how many classes that means */
};

/* Records of metadata and symbols chunks. `size` counts the whole record and is a multiple of 8; a
 * record whose type is zero has not been written, and is the last. */
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
    DWELL_REC_EVENT_CLASS = 16,
    DWELL_REC_SITE = 17,
    DWELL_REC_PROBES = 18,
    DWELL_REC_THREAD_SWITCHES = 19,
    DWELL_REC_REPORTED = 20,
};

/* Strings follow the fixed part of a record in the order named, each as a 16-bit length and its bytes. */
struct dwell_rec_process { /* strings: path of the executable; arguments, each ended by a zero byte */
    struct dwell_record record;
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t parent_process; /* serial number, or zero */
    uint32_t pad;
    uint64_t start_time;
};

enum dwell_end { DWELL_END_EXIT = 1, DWELL_END_SIGNAL = 2, DWELL_END_UNKNOWN = 3 };

struct dwell_rec_process_end { /* no strings; pid tells the process where process is zero */
    struct dwell_record record;
    uint32_t process;
    uint32_t pid;
    uint32_t how;   /* enum dwell_end */
    uint32_t value; /* exit status or signal number */
    uint64_t time;
};

/* Where a thread's OS events come from. */
enum dwell_os_source {
    DWELL_OS_NONE = 0,     /* application times are unknown */
    DWELL_OS_PERF = 1,     /* switches and page faults, with times */
    DWELL_OS_RSEQ = 2,     /* switches, as a flag alone */
    DWELL_OS_IMPORTED = 3, /* not recorded: the report that was imported has application times */
    DWELL_OS_SYSCALLS = 4, /* as perf, and system calls, as a flag alone */
};

struct dwell_rec_thread { /* string: name */
    struct dwell_record record;
    uint32_t thread;
    uint32_t tid;
    uint32_t os_source;
    uint32_t pad;
    uint64_t start_time;
};

struct dwell_rec_thread_name { /* string: name */
    struct dwell_record record;
    uint32_t thread;
    uint32_t pad;
};

struct dwell_rec_process_name { /* string: name given by the program itself */
    struct dwell_record record;
};

struct dwell_rec_sample { /* no strings */
    struct dwell_record record;
    uint64_t time;
    uint64_t cpu;      /* nanoseconds that the process has used so far, all threads, in user and kernel */
    uint64_t resident; /* bytes of memory; zero: unknown */
};

struct dwell_rec_host { /* strings: system, release, version, machine and node name, as uname(2) gives them */
    struct dwell_record record;
};

enum { DWELL_PROBE_FRACTION = 256 };

/* What the process' probes take, in 1/256 ticks of the clock (docs/time-model.md): for each call what they add to the
 * called function's exclusive time and to its caller's; and for a call that makes calls itself, what they add beyond
 * the two of each, once. No strings. */
struct dwell_rec_probes {
    struct dwell_record record;
    uint32_t in_callee;
    uint32_t in_caller;
    uint32_t first_callee;
    uint32_t work;    /* what the calls that this was measured by take without probes */
    uint32_t rounds;  /* how often it was measured */
    uint32_t ordered; /* the clock is read when all before it is done */
};

struct dwell_rec_event_class { /* string: name */
    struct dwell_record record;
    uint8_t guid[16];
};

struct dwell_rec_thread_end { /* no strings */
    struct dwell_record record;
    uint32_t thread;
    uint32_t flagged; /* whether the OS worked between the thread's last event and `time`, */
    uint64_t time;
    uint64_t blocked; /* and how long it was off the CPU there; earlier recordings do not have these two */
    uint64_t preempted;
};

/* How often the thread was taken from its CPU between its first event and its end. It may come twice; the later holds.
 */
struct dwell_rec_thread_switches { /* no strings */
    struct dwell_record record;
    uint32_t thread;
    uint32_t pad;
    uint64_t waits, preemptions; /* by the kernel's own count */
    uint64_t recorded;           /* of both, by the OS events; from rseq: intervals in which the kernel interfered */
};

struct dwell_rec_module { /* strings: path; build-id bytes */
    struct dwell_record record;
    uint32_t module; /* serial number in the process */
    uint32_t pad;
    uint64_t bias;  /* address - bias = address in the file's own terms */
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

/* A remark of the runtime for the reader of `dwell info`; string: text. */
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
    uint64_t offset; /* address in the module's own terms */
};

struct dwell_rec_site { /* strings: linkage names of the function there, and of the one that it is inlined in */
    struct dwell_record record;
    uint32_t module;
    uint32_t file;       /* zero: unknown */
    uint32_t line;       /* zero: unknown */
    uint32_t outer_file; /* where that function is inlined, innermost place of the function that has the code; */
    uint32_t outer_line; /* zero: it is not inlined */
    uint32_t pad;
    uint64_t offset; /* the site in the module's own terms, DWELL_SITE_INLINED as recorded */
};

enum dwell_reported {
    DWELL_REPORTED_FUNCTION = 1, /* all of the function */
    DWELL_REPORTED_CALLER = 2,   /* the function when it was called from `other`; zero: by nobody known */
    DWELL_REPORTED_CALLEE = 3,   /* `other` when it was called from the function */
    DWELL_REPORTED_MODULE = 4,   /* all of the module that `function` is an address in */
};

/* What an imported report says of a function. It holds as it is: a call tree that was estimated from such rows, or that
 * the report shows in part, gives other inclusive times. */
struct dwell_rec_reported { /* no strings */
    struct dwell_record record;
    uint32_t kind; /* enum dwell_reported */
    uint32_t pad;
    uint64_t function; /* addresses */
    uint64_t other;
    uint64_t elapsed_inclusive, elapsed_exclusive;
    uint64_t application_inclusive, application_exclusive;
    uint64_t calls;
    uint64_t shortest; /* of a call, elapsed inclusive; UINT64_MAX and zero: unknown */
    uint64_t longest;
};

_Static_assert(sizeof(struct dwell_file_header) == 184, "the file header's layout is fixed");
_Static_assert(sizeof(struct dwell_chunk_header) == 64, "the chunk header's layout is fixed");
_Static_assert(sizeof(struct dwell_tree_head) == 64, "the tree head's layout is fixed");
_Static_assert(sizeof(struct dwell_tree_node) == 128, "the tree node's layout is fixed");
_Static_assert(sizeof(struct dwell_trace_event) == 72, "the trace event's layout is fixed");
_Static_assert(sizeof(struct dwell_control) <= DWELL_UNIT, "a control chunk is one unit");
_Static_assert(sizeof(struct dwell_frame) == 16, "the frame's layout is fixed");

#endif
