/* Values of arguments (`dwell record --values`): what is read when functions are called, and what was read. Part of
 * format.h. */
#ifndef DWELL_FORMAT_VALUES_H
#define DWELL_FORMAT_VALUES_H

#include "dwell/format.h"

enum {
    DWELL_VALUES_MOST = 24,    /* values of a function */
    DWELL_VALUES_SITES = 4096, /* calls of the probe, of all functions */
    DWELL_VALUES_NAME = 56,    /* bytes of a value's name, with a zero at its end */
    DWELL_VALUES_TEXT = 64,    /* bytes of a text that are kept, unless the function says another number */
    DWELL_VALUES_TEXT_MOST = 1024,
    DWELL_VALUES_CUT = 1 << 16,     /* in a text's first word: the text goes on */
    DWELL_VALUES_OFF = 1 << 30,     /* in a function's text_bytes: programs that begin later do not read its values */
    DWELL_VALUES_CHANGED = 1 << 29, /* likewise: the process that is sent this plan takes over whether it does */
    DWELL_VALUES_OTHERS = 1 << 30,  /* in a row's `unread`, of mode profile: calls with any further values */
    DWELL_VALUES_FLAGS = DWELL_VALUES_OFF | DWELL_VALUES_CHANGED,
};

/* A plan chunk. The recorder writes it before the program starts, and `dwell control` writes another one for each
 * command: it begins with the functions of the one before. dwell_file_more.values is the offset of the last one. The
 * functions follow one after another. */
struct dwell_values_plan {
    struct dwell_chunk_header chunk;
    uint32_t functions;
    uint32_t names; /* where the names of enumerations begin, up to the used end of the chunk; zero for none */
};

/* A function: then its module's build-id and path, zeros up to a multiple of 8, its values and its sites. */
struct dwell_values_function {
    uint32_t size; /* of the whole entry; a multiple of 8 */
    uint16_t build_id_length, path_length;
    uint16_t values, sites;
    uint32_t text_bytes; /* of a text that are kept, zero: DWELL_VALUES_TEXT; and DWELL_VALUES_FLAGS */
    uint64_t offset;     /* virtual address in the module's ELF file */
};

/* How the word of a value is shown. */
enum dwell_value_kind {
    DWELL_VALUE_SIGNED = 1,
    DWELL_VALUE_UNSIGNED = 2,
    DWELL_VALUE_BOOL = 3,
    DWELL_VALUE_CHARACTER = 4,
    DWELL_VALUE_FLOAT = 5, /* of 4 or 8 bytes */
    DWELL_VALUE_ENUM = 6,
    DWELL_VALUE_ADDRESS = 7,
    DWELL_VALUE_TEXT = 8, /* a word with its length, and DWELL_VALUES_CUT; then its bytes, and zeros */
};

struct dwell_value {
    char name[DWELL_VALUES_NAME]; /* as the user typed it; ends with a zero */
    uint8_t kind;                 /* enum dwell_value_kind */
    uint8_t bytes;                /* of the value in memory; zero for a text */
    uint16_t result;              /* 1: what the function returns, which rows of exits have */
    uint16_t pad[2];
};

/* The names of an enumeration: `count` of struct dwell_value_name. The next ones follow. */
struct dwell_values_names {
    uint32_t function, value; /* numbers from 0 in the plan, and of the function */
    uint32_t count;
    uint32_t is_signed; /* 1: its values can be below zero */
};

/* Its bytes follow, and zeros up to a multiple of 8. */
struct dwell_value_name {
    uint64_t value; /* extended to 64 bits as in rows */
    uint64_t length;
};

/* A call of a probe. For each value there are a struct dwell_value_loads and its loads. */
struct dwell_values_site {
    uint64_t address; /* behind the call, as a virtual address */
    uint32_t size;    /* of the site with its loads; a multiple of 8 */
    uint32_t exit;    /* 1: of the exit's probe, which reads results; 0: of the enter's, which reads the others */
};

struct dwell_value_loads {
    uint32_t count; /* zero: the value cannot be read there */
    uint32_t pad;
};

/* An instruction for a machine with a stack of words (format/load_run.h, docs/format.md). */
struct dwell_load {
    uint8_t op, operand;
    uint16_t pad[3];
    int64_t number;
};

/*
 * A values chunk holds the values of one thread's calls, one row after another. A row begins with this structure, and
 * the words of its values follow. A row is claimed first. Then it is stored with `state` UNFINISHED and, when it has
 * its words, once more. So a reader after a kill finds zero words, which it steps over, an unfinished row or a whole
 * one.
 */
struct dwell_values_row {
    uint16_t site;   /* number of the site in the plan, of all functions, from 0 */
    uint8_t words;   /* that follow */
    uint8_t state;   /* enum dwell_values_state */
    uint32_t unread; /* a bit for each value that has no words: its memory, or it, cannot be read */
    uint64_t time;   /* of the call's enter, in ticks; in mode profile, the number of the node of all such calls */
};

enum dwell_values_state { DWELL_VALUES_UNFINISHED = 1, DWELL_VALUES_WHOLE = 2 };

_Static_assert(sizeof(struct dwell_values_plan) == 72, "the plan's layout is fixed");
_Static_assert(sizeof(struct dwell_values_function) == 24, "the layout of a function's values is fixed");
_Static_assert(sizeof(struct dwell_value) == 64, "a value's layout is fixed");
_Static_assert(sizeof(struct dwell_load) == 16, "a load's layout is fixed");
_Static_assert(sizeof(struct dwell_values_row) == 16, "a row's layout is fixed");

#endif
