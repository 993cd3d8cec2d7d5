/* The texts behind an entry of a plan chunk, which say what module it is about: build-id, path, zeros up to a multiple
 * of 8. */
#ifndef DWELL_RECORD_PLAN_TEXTS_H
#define DWELL_RECORD_PLAN_TEXTS_H

#include "common.h"

/* A loaded module. */
struct plan_module {
    struct text build_id, path;
};

static inline size_t plan_texts_size(size_t build_id, size_t path)
{
    return (build_id + path + 7) & ~(size_t)7;
}

/* Whether the texts are the module's: its build-id, or its path if they have none. */
static inline bool plan_texts_are_of(const char *texts, size_t build_id, size_t path, const struct plan_module *module)
{
    return build_id ? text_is_same((struct text){ texts, build_id }, module->build_id)
                    : text_is_same((struct text){ texts, path }, module->path);
}

#endif
