/* Finds the profile's function for an address, by the module map of its process at a time. */
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

/* Finds the profile's site for a call site of decode_site. The return address can lie just after the module's end. */
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

/* Finds the function without adding it to the profile. Returns PROFILE_NONE if the profile does not have it. */
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
