/* An overhead budget: which functions are timed, and which are only counted, so that the probes' part of the program's
 * time stays within the budget (docs/levels.md). */
#ifndef DWELL_PROFILE_BUDGET_LEVELS_H
#define DWELL_PROFILE_BUDGET_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/session_file.h"

/* Timed calls of a process in which all is timed, whatever that costs: about 5 ms of probes. */
enum { BUDGET_ALLOWANCE = 250000 };

enum { BUDGET_SETTLING = 3 /* looks after a change of a function */ };

struct budget_calls {
    uint64_t timed;
    uint64_t inclusive; /* ticks of them, with the time of probes */
    uint64_t counted;
};

/* What is known of a function since the look before. */
struct budget_function {
    uint32_t module;         /* number */
    uint64_t offset;         /* virtual address in the module's file */
    uint64_t calls;          /* timed ones */
    uint64_t inclusive;      /* ticks of them, with the time of probes */
    uint64_t counted;        /* calls that were only counted */
    struct budget_calls all; /* until now */
    struct budget_calls row; /* since the last look that was not brief */
    bool is_counted;         /* its level; otherwise timed */
    bool is_fixed;           /* its probes cannot be changed, or are not to be */
    bool is_short;           /* its code says that it takes no longer than its probes */
    bool if_called;          /* then it is counted with others that are short only after a call */
    uint32_t settling;       /* looks for which the numbers still belong to the level before */
    uint32_t stubborn; /* looks in which it was timed though it should be counted, since one in which it was not */
    uint32_t lowered;  /* how often it was changed to counted */
    uint32_t quiet;    /* looks in a row in which timing it would cost next to nothing */
    uint32_t peak;     /* the most that timing it would have cost in one of them; see budget_share */
    uint32_t busiest;  /* the most that all probes have cost in one of them */
};

struct budget_look {
    uint64_t cpu;       /* ticks of CPU time of all threads, with the time of probes */
    uint64_t probes;    /* of one call, in 1/256 ticks */
    uint32_t permille;  /* the budget: time of probes over the time without them */
    bool brief;         /* soon after another look: no function becomes timed again */
    bool together;      /* if the budget is exceeded, all functions that are known to be too short are counted */
    uint64_t brief_cpu; /* of the brief looks before this one, since the last that was not */
    uint64_t changes;   /* ticks that changes of levels have taken and no look has paid for */
};

/* What the probes of a call take, in 1/256 ticks, in the process in which they take least. A usual number if no process
 * has measured it. */
uint64_t budget_probes(const struct session_file *file);

/* The ticks that the probes of so many calls take, if they are timed or counted. */
uint64_t budget_cost(uint64_t calls, const struct budget_look *look);
uint64_t budget_cost_counted(uint64_t calls, const struct budget_look *look);

/* The part of `changes` that this look pays for. A change may take longer than the look allows. So it is paid for in
 * parts, of at most a quarter of what is allowed. */
uint64_t budget_pays(const struct budget_look *look);

/* Whether the probes of the function's calls until now have taken more than the budget allows for its own duration. */
bool budget_is_too_short(const struct budget_function *f, const struct budget_look *look);

/* The function is counted from the start of the recording. */
void budget_begin_counted(struct budget_function *f);

/* Changes levels of the functions, and lists the numbers of the changed ones. There is room for `count` of them.
 * Returns how many have changed. The functions with the shortest calls are counted first: their times tell least. */
size_t budget_decide(struct budget_function *functions, size_t count, const struct budget_look *look,
                     uint32_t *changed);

#endif
