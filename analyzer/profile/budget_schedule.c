/* Looks are rarer when nothing changes. A look that takes long has a rest of the same length. */
#include "profile/budget_schedule.h"

#include "base/numbers.h"

enum {
    US = 1000,
    MS = 1000 * US,
    OFTEN = 10 * MS,     /* between two usual looks after a change */
    SELDOM = 20 * MS,    /* and when nothing has changed for a while */
    WHILE = 100,         /* looks */
    AT_LEAST = 500 * US, /* before a look that is asked for */
};

void budget_schedule_begin(struct budget_schedule *s, uint64_t now)
{
    *s = (struct budget_schedule){ .usual = now + OFTEN, .asked = now, .rest = AT_LEAST };
}

uint64_t budget_schedule_due(const struct budget_schedule *s, bool asked)
{
    return asked ? smaller(s->asked, s->usual) : s->usual;
}

bool budget_schedule_is_brief(const struct budget_schedule *s, uint64_t now)
{
    return now < s->usual;
}

/* A program may be above its budget permanently, and ask for looks that change nothing. */
static uint64_t budget_schedule_rest(const struct budget_schedule *s, bool brief, bool useful)
{
    if (useful)
        return AT_LEAST;
    return brief ? smaller(2 * s->rest, OFTEN) : larger(s->rest / 2, AT_LEAST);
}

void budget_schedule_next(struct budget_schedule *s, uint64_t began, uint64_t ended, uint64_t took, bool useful)
{
    const bool brief = budget_schedule_is_brief(s, began);
    s->rest = budget_schedule_rest(s, brief, useful);
    s->asked = ended + larger(took, s->rest);
    if (brief) {
        s->usual = larger(s->usual, ended + took);
        return;
    }
    s->calm = useful ? 0 : s->calm < WHILE ? s->calm + 1 : WHILE;
    s->usual = ended + larger(took, s->calm < WHILE ? OFTEN : SELDOM);
}
