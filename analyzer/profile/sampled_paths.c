/* Finds the call path of each sample: the open calls of the thread, and below them the functions of the stack. */
#include "profile/sampled_paths.h"

#include <string.h>

#include "base/numbers.h"
#include "base/path_text.h"
#include "profile/periods.h"
#include "symbols/os_calls.h"

static void sampled_paths_set_next(struct sampled_paths *s)
{
    s->next_time = s->next < s->end ? s->next->time : UINT64_MAX;
}

void sampled_paths_begin(struct sampled_paths *s, uint32_t thread, uint64_t time)
{
    s->next = s->end = NULL;
    if (s->samples)
        s->next = session_samples_from(s->samples, thread, time, &s->end);
    sampled_paths_set_next(s);
}

static uint32_t sampled_frame_add(struct profile *p, const struct sampled_frame *frame)
{
    const struct trace_module *m = frame->module;
    const uint32_t module =
        m ? profile_module(p, m->path, m->build_id, m->build_id_length) : profile_module(p, "", (const uint8_t *)"", 0);
    return profile_function(p, module, frame->offset);
}

uint32_t sampled_frame_child(struct profile *p, uint32_t node, const struct sampled_frame *frame)
{
    if (frame->code == SAMPLED_RUNTIME)
        return node;
    return profile_child_from(p, node, sampled_frame_add(p, frame), PROFILE_SAMPLED);
}

uint32_t sampled_frame_find(const struct profile *p, const struct sampled_frame *frame)
{
    const struct trace_module *m = frame->module;
    const uint32_t module = m ? profile_find_module(p, m->path, m->build_id, m->build_id_length)
                              : profile_find_module(p, "", (const uint8_t *)"", 0);
    return profile_find_function(p, module, frame->offset);
}

/* The number of open calls of a function, of the innermost ones. A sample has fewer functions, but calls can be inlined
 * into others. */
static uint32_t sampled_paths_open(const struct profile *p, uint32_t node, uint32_t function)
{
    enum { MOST = 256 };
    uint32_t open = 0;
    for (int i = 0; node != PROFILE_NONE && i < MOST; node = p->nodes[node].parent, i++)
        open += p->nodes[node].function == function;
    return open;
}

/* Whether one of the chain's functions, from `first` on, has not more frames there than `open`. */
static bool sampled_paths_are_all_open(const struct session_samples *s, const struct profile *p,
                                       const struct sampled_chain *chain, uint32_t first, uint32_t open)
{
    const uint32_t *links = &s->links[chain->first];
    const uint32_t function = sampled_frame_find(p, &s->frames[links[first]]);
    uint32_t frames = 0;
    for (uint32_t i = first; i < chain->count && frames <= open; i++)
        frames += links[i] == links[first] || sampled_frame_find(p, &s->frames[links[i]]) == function;
    return frames <= open;
}

/* How many of the functions are below the innermost open call. All before the first frame of an open call are, as an
 * open call can be inlined into its caller. Calls of the same function below that one may be counted: if a function has
 * more frames than open calls, the outer ones are those of open calls. If none is open, the stack was not unwound that
 * far, and only the innermost function is known to be below. */
static uint32_t sampled_paths_depth(const struct session_samples *s, const struct profile *p, uint32_t node,
                                    const struct sampled_chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        const uint32_t function = sampled_frame_find(p, &s->frames[s->links[chain->first + i]]);
        const uint32_t open = function != PROFILE_NONE ? sampled_paths_open(p, node, function) : 0;
        if (open && sampled_paths_are_all_open(s, p, chain, i, open))
            return i;
    }
    return chain->count ? 1 : 0;
}

/* A call of the operating system is a function of such a library, and all that runs in it is its own. */
static bool sampled_paths_are_own(const struct profile *p, uint32_t node)
{
    return os_calls_is_library(profile_module_path(p, node));
}

/* Whether the runtime may call it: libc, the loader and the kernel's code. */
static bool sampled_frame_may_be_of_probe(const struct sampled_frame *frame)
{
    static const char *const files[] = { "libc.so", "ld-linux", "libpthread.so", "libdl.so", DWELL_KERNELS_MODULE };
    const char *name = frame->module ? path_file_name(frame->module->path) : files[0];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strncmp(name, files[i], strlen(files[i])) == 0)
            return true;
    return false;
}

/* The code of a chain whose innermost `depth` functions are below the open call. The runtime calls the program only for
 * teams of OpenMP: such a frame of its own is passed over. */
static enum sampled_code sampled_paths_code(const struct session_samples *s, const struct sampled_chain *chain,
                                            uint32_t depth)
{
    bool in_program = false;
    for (uint32_t i = 0; i < depth; i++) {
        const struct sampled_frame *frame = &s->frames[s->links[chain->first + i]];
        if (frame->code != SAMPLED_PROGRAM && (!in_program || frame->code != SAMPLED_RUNTIME))
            return frame->code;
        in_program |= frame->code == SAMPLED_PROGRAM && !sampled_frame_may_be_of_probe(frame);
    }
    return SAMPLED_PROGRAM;
}

uint32_t sampled_paths_below(const struct session_samples *s, const struct profile *p, uint32_t node,
                             const struct sampled_chain *chain, enum sampled_code *code)
{
    const uint32_t depth = sampled_paths_depth(s, p, node, chain);
    *code = sampled_paths_code(s, chain, depth);
    return sampled_paths_are_own(p, node) ? 0 : depth;
}

/* Returns the node that got the sample. */
static uint32_t sampled_paths_add_chain(const struct session_samples *s, struct profile *p, uint32_t node,
                                        const struct sample_point *point)
{
    const struct sampled_chain *chain = &s->chains[point->chain];
    enum sampled_code code;
    const uint32_t below = sampled_paths_below(s, p, node, chain, &code);
    p->counts.samples++;
    p->counts.samples_in_probes += code != SAMPLED_PROGRAM;
    p->sampled_time += point->period;
    p->sampled_in_probes += code != SAMPLED_PROGRAM ? point->period : 0;
    if (code != SAMPLED_PROGRAM) {
        p->nodes[node].samples_in_stubs += code == SAMPLED_STUB;
        p->nodes[node].stub_time += code == SAMPLED_STUB ? point->period : 0;
        return node;
    }
    for (uint32_t i = below; i-- > 0;)
        node = sampled_frame_child(p, node, &s->frames[s->links[chain->first + i]]);
    p->nodes[node].samples++;
    p->nodes[node].sample_time += point->period;
    return node;
}

void sampled_paths_add(struct sampled_paths *s, struct profile *p, uint32_t node, uint64_t end)
{
    for (; s->next < s->end && s->next->time < end; s->next++) {
        if (p->nodes[node].parent == PROFILE_NONE)
            continue;
        const uint32_t to = sampled_paths_add_chain(s->samples, p, node, s->next);
        if (s->periods)
            period_sums_touch(s->periods, to);
    }
    sampled_paths_set_next(s);
}

void sampled_paths_skip(struct sampled_paths *s, uint64_t end)
{
    while (s->next < s->end && s->next->time < end)
        s->next++;
    sampled_paths_set_next(s);
}

void sampled_paths_add_within(struct sampled_paths *s, struct profile *p, uint32_t node, uint64_t end,
                              const struct thread_range *ranges, size_t count)
{
    for (size_t i = 0; i < count && ranges[i].begin < end; i++) {
        sampled_paths_skip(s, ranges[i].begin);
        sampled_paths_add(s, p, node, smaller(end, ranges[i].end));
    }
    sampled_paths_skip(s, end);
}
