/* Which function an address is, by the module map of its process at a time. */
#ifndef DWELL_PROFILE_IDENTIFY_H
#define DWELL_PROFILE_IDENTIFY_H

#include "profile/profile.h"
#include "trace/session_file.h"

static inline uint32_t identify_function(struct profile *p, const struct trace_process *process, uint64_t address,
                                         uint64_t time)
{
    const struct trace_module *m = process ? trace_module_at(process, address, time) : NULL;
    if (!m)
        return profile_function(p, profile_module(p, "", (const uint8_t *)"", 0), address);
    uint32_t module = profile_module(p, m->path, m->build_id, m->build_id_length);
    return profile_function(p, module, address - m->bias);
}

/* From where a call was made (decode_site). What it returns to may lie behind the module's last byte. */
static inline uint32_t identify_site(struct profile *p, const struct trace_process *process, uint64_t site,
                                     uint64_t time)
{
    const bool inlined = site & DWELL_SITE_INLINED;
    const uint64_t address = site & ~DWELL_SITE_INLINED;
    const struct trace_module *m = process ? trace_module_at(process, address - 1, time) : NULL;
    if (!m)
        return profile_site(p, profile_module(p, "", (const uint8_t *)"", 0), address, inlined);
    return profile_site(p, profile_module(p, m->path, m->build_id, m->build_id_length), address - m->bias, inlined);
}

/* Which function it is in a profile that is to stay as it is; PROFILE_NONE: it does not hold the function. */
static inline uint32_t find_function(const struct profile *p, const struct trace_process *process, uint64_t address,
                                     uint64_t time)
{
    const struct trace_module *m = process ? trace_module_at(process, address, time) : NULL;
    if (!m)
        return profile_find_function(p, profile_find_module(p, "", (const uint8_t *)"", 0), address);
    return profile_find_function(p, profile_find_module(p, m->path, m->build_id, m->build_id_length),
                                 address - m->bias);
}

#endif
