/*
 * Samples a program by a perf event that follows a thread's CPU clock. There is one for each CPU, which all threads and
 * processes of the program inherit. The kernel writes the samples of a CPU into a ring. A thread of `dwell record`
 * reads the rings, so the program does nothing for its samples.
 */
#include "recorder/sampler.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "base/wide.h"
#include "clock.h"
#include "perf_clock.h"
#include "recorder/sample_writer.h"
#include "recorder/service_thread.h"

enum {
    RING_PAGES = 64,      /* of data; half of what an unprivileged user may lock for each CPU */
    STACK_BYTES = 4096,   /* copied from the top of the stack */
    DRAIN_INTERVAL = 100, /* milliseconds at most between two drains */
    WINDOW = 10,          /* milliseconds for which samples are taken, if they are not always */
    RECORD_SIZE = 65536,
    SAMPLER_TIMES = 2, /* events are enabled twice: a thread that is just being made may miss the first time */
};

struct sample_ring {
    int fd;    /* the event that says which threads end or execute a program, while samples pause, too */
    int later; /* the events of the two periods, whose samples are in the same ring; -1 if there is none */
    int first;
    struct perf_event_mmap_page *page;
    size_t size; /* of the data */
    uint64_t tail;
};

/* The registers that unwinding needs: in the kernel's order, and their places in a sample. */
#if defined(__x86_64__)
enum { REGISTER_COUNT = 8 };
static const uint64_t register_mask = 1ull << PERF_REG_X86_BX | 1ull << PERF_REG_X86_BP | 1ull << PERF_REG_X86_SP |
                                      1ull << PERF_REG_X86_IP | 1ull << PERF_REG_X86_R12 | 1ull << PERF_REG_X86_R13 |
                                      1ull << PERF_REG_X86_R14 | 1ull << PERF_REG_X86_R15;
static const uint8_t register_places[REGISTER_COUNT] = { 3, 2, 1, 0, 4, 5, 6, 7 };
#else
enum { REGISTER_COUNT = 14 };
static const uint64_t register_mask = (1ull << 33) - (1ull << 19); /* x19 to x29, lr, sp, pc */
static const uint8_t register_places[REGISTER_COUNT] = { 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 2, 3, 1, 0 };
#endif

/* ---- perf events ---- */

static struct perf_event_attr sampler_attr(uint64_t period, enum dwell_clock clock)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = register_mask,
        .sample_stack_user = STACK_BYTES,
        .disabled = 1,
        .enable_on_exec = 1,
        .inherit = 1,
        .exclude_hv = 1,
        .watermark = 1,
        .wakeup_watermark = RING_PAGES * 4096 / 4,
        .use_clockid = 1,
        .clockid = clock == DWELL_CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW,
    };
}

static int sampler_open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Leaves samples in the kernel out if this user may not take them. */
static int sampler_open_allowed(struct perf_event_attr *attr, pid_t pid, int cpu)
{
    int fd = sampler_open_event(attr, pid, cpu);
    if (fd < 0 && (errno == EACCES || errno == EPERM)) {
        attr->exclude_kernel = 1;
        fd = sampler_open_event(attr, pid, cpu);
    }
    return fd;
}

/* The ring of an event. Returns zero or an errno value. */
static int sampler_open_ring(struct sample_ring *ring, struct perf_event_attr *attr, pid_t pid, int cpu)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    ring->first = ring->later = -1;
    ring->fd = sampler_open_allowed(attr, pid, cpu);
    if (ring->fd < 0)
        return errno;
    ring->size = RING_PAGES * page;
    void *at = mmap(NULL, page + ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (at != MAP_FAILED) {
        ring->page = at;
        return 0;
    }
    const int error = errno;
    close(ring->fd);
    return error;
}

static void sampler_close_ring(struct sample_ring *ring)
{
    munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
    close(ring->fd);
    if (ring->later >= 0)
        close(ring->later);
    if (ring->first >= 0)
        close(ring->first);
}

static void sampler_close_rings(struct sampler *sampler)
{
    for (size_t i = 0; i < sampler->count; i++)
        sampler_close_ring(&sampler->rings[i]);
    free(sampler->rings);
    sampler->rings = NULL;
    sampler->count = 0;
}

int sampler_try(bool *in_kernel)
{
    struct perf_event_attr attr = sampler_attr(1000000000, DWELL_CLOCK_MONOTONIC);
    struct sample_ring ring = { .fd = -1 };
    const int error = sampler_open_ring(&ring, &attr, 0, 0);
    if (!error)
        sampler_close_ring(&ring);
    *in_kernel = !attr.exclude_kernel;
    return error;
}

/* ---- the cost of a sample ---- */

enum { COST_SAMPLES = 40, COST_ENOUGH = 10, COST_STEPS = 1000 /* gaps between two looks at the patience */ };

/* In nanoseconds. What counts is the thread's CPU time, which takes the samples: others may use the processors. */
enum { COST_PERIOD = 100000, COST_PATIENCE = 20000000, COST_LONGEST = 1000000000 };

/* Reads the clock over and over while this thread is sampled. Writes the gaps in which samples were taken, and returns
 * their number. */
static size_t sampler_find_gaps(const struct perf_event_mmap_page *page, uint64_t *gaps)
{
    const uint64_t begin = clock_monotonic(), cpu = sample_cpu_time();
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), before = begin, now = begin;
    size_t count = 0;
    for (unsigned step = 1; count < COST_SAMPLES && now - begin < COST_LONGEST; step++) {
        if (step % COST_STEPS == 0) {
            if (sample_cpu_time() - cpu >= COST_PATIENCE)
                break;
            head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
            before = now = clock_monotonic();
        }
        const uint64_t next = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
        const uint64_t last = before;
        before = now;
        now = clock_monotonic();
        if (next != head)
            gaps[count++] = now - last; /* the sample was taken between these */
        head = next;
    }
    return count;
}

uint64_t sampler_measure_cost(void)
{
    struct perf_event_attr attr = sampler_attr(COST_PERIOD, DWELL_CLOCK_MONOTONIC);
    struct sample_ring ring = { .fd = -1 };
    uint64_t gaps[COST_SAMPLES];
    attr.inherit = 0;
    if (sampler_open_ring(&ring, &attr, 0, -1))
        return 0;
    ioctl(ring.fd, PERF_EVENT_IOC_ENABLE, 0);
    const size_t count = sampler_find_gaps(ring.page, gaps);
    sampler_close_ring(&ring);
    if (count < COST_ENOUGH)
        return 0;
    qsort(gaps, count, sizeof *gaps, compare_numbers);
    return gaps[count / 2];
}

/* ---- records ---- */

static uint64_t sampler_ticks(const struct sampler *sampler, uint64_t ns)
{
    const uint64_t ticks = sampler->now.ticks - sampler->before.ticks, span = sampler->now.ns - sampler->before.ns;
    ns += (uint64_t)sampler->clock_offset;
    if (sampler->session->header->clock == DWELL_CLOCK_MONOTONIC || !span)
        return ns;
    if (ns >= sampler->before.ns)
        return sampler->before.ticks + multiply_divide(ns - sampler->before.ns, ticks, span);
    return sampler->before.ticks - multiply_divide(sampler->before.ns - ns, ticks, span);
}

struct record_reader {
    const uint8_t *at, *end;
};

static uint64_t record_next(struct record_reader *r)
{
    uint64_t value = 0;
    if (r->end - r->at >= (ptrdiff_t)sizeof value)
        memcpy(&value, r->at, sizeof value);
    r->at += sizeof value;
    return value;
}

static void sampler_take_sample(struct sampler *sampler, struct record_reader *r)
{
    uint64_t registers[REGISTER_COUNT] = { record_next(r) };
    struct taken_sample sample = { .registers = registers, .register_count = 1 };
    const uint64_t ids = record_next(r);
    sample.pid = (uint32_t)ids;
    sample.tid = (uint32_t)(ids >> 32);
    sample.time = sampler_ticks(sampler, record_next(r));
    const uint32_t period = (uint32_t)record_next(r);
    sample.period = period * sampler->windows.stretch;
    if (period != sampler->session->header->sample_period)
        sampler->first_time += sample.period;
    sample_windows_note(&sampler->windows, sample.tid, period);
    const bool known = record_next(r) == PERF_SAMPLE_REGS_ABI_64;
    if (!known)
        return; /* a program of 32 bits */
    for (int i = 0; i < REGISTER_COUNT; i++)
        registers[register_places[i]] = record_next(r);
    sample.register_count = REGISTER_COUNT;
    const uint64_t size = record_next(r);
    sample.stack = r->at;
    if (size && (uint64_t)(r->end - r->at) >= size + sizeof(uint64_t)) {
        r->at += size;
        const uint64_t copied = record_next(r);
        sample.stack_size = copied < size ? copied : size;
    }
    sample_writer_add(sampler->writer, &sample);
}

static void sampler_take_record(struct sampler *sampler, const struct perf_event_header *head, struct record_reader *r)
{
    if (head->type == PERF_RECORD_SAMPLE) {
        sampler_take_sample(sampler, r);
    } else if (head->type == PERF_RECORD_LOST) {
        record_next(r);
        sample_writer_lose(sampler->writer, record_next(r));
    } else if (head->type == PERF_RECORD_EXIT) {
        record_next(r);
        sample_writer_end_thread(sampler->writer, (uint32_t)record_next(r));
    } else if (head->type == PERF_RECORD_COMM && head->misc & PERF_RECORD_MISC_COMM_EXEC) {
        sample_writer_end_thread(sampler->writer, (uint32_t)(record_next(r) >> 32));
    }
}

static void sampler_copy(const struct sample_ring *ring, uint64_t at, uint8_t *to, size_t size)
{
    const uint8_t *data = (const uint8_t *)ring->page + ring->page->data_offset;
    const size_t from = at % ring->size, first = size < ring->size - from ? size : ring->size - from;
    memcpy(to, data + from, first);
    memcpy(to + first, data, size - first);
}

static void sampler_drain_ring(struct sampler *sampler, struct sample_ring *ring, uint64_t head, uint8_t *room)
{
    while (ring->tail + sizeof(struct perf_event_header) <= head) {
        struct perf_event_header record;
        sampler_copy(ring, ring->tail, (uint8_t *)&record, sizeof record);
        if (record.size < sizeof record || record.size > head - ring->tail)
            break;
        sampler_copy(ring, ring->tail, room, record.size);
        struct record_reader reader = { room + sizeof record, room + record.size };
        sampler_take_record(sampler, &record, &reader);
        ring->tail += record.size;
        __atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
    }
}

/* The instant is read after the ends of the rings, so that all samples are before it. */
static void sampler_drain(struct sampler *sampler)
{
    uint64_t *heads = need_memory(sampler->count, sizeof *heads);
    uint8_t *room = need_memory(RECORD_SIZE, 1);
    struct sampler_instant now;
    for (size_t i = 0; i < sampler->count; i++)
        heads[i] = __atomic_load_n(&sampler->rings[i].page->data_head, __ATOMIC_ACQUIRE);
    clock_pair(sampler->session->header->clock, &now.ticks, &now.ns);
    if (now.ns - sampler->now.ns > 1000000 || sampler->now.ns == sampler->before.ns) {
        sampler->before = sampler->now;
        sampler->now = now;
    }
    for (size_t i = 0; i < sampler->count; i++)
        sampler_drain_ring(sampler, &sampler->rings[i], heads[i], room);
    free(room);
    free(heads);
}

/* ---- the later period ---- */

/* The kernel passes a change of an event's period to no thread but one, so there is an event for each period. It passes
 * changes of whether an event is enabled to all threads. A thread that was just being made may miss them: it has the
 * old state of both events, so they are set twice. The first event ends after the second time. No thread is without an
 * event in between, so its end is seen. */
static void sampler_settle(struct sampler *sampler)
{
    if (sampler->periods.first == sampler->periods.later || sampler->settled == SAMPLER_TIMES ||
        sampler->first_time < SAMPLE_FIRST_TIME || sampler->pauses)
        return;
    sampler->settled++;
    for (size_t i = 0; i < sampler->count; i++) {
        struct sample_ring *ring = &sampler->rings[i];
        ioctl(ring->later, PERF_EVENT_IOC_ENABLE, 0);
        ioctl(ring->first, PERF_EVENT_IOC_DISABLE, 0);
        if (sampler->settled < SAMPLER_TIMES)
            continue;
        close(ring->first);
        ring->first = -1;
    }
}

/* ---- windows of time ---- */

/* The event of a ring that is the first to take samples. */
static int sampler_first_event(const struct sample_ring *ring)
{
    return ring->first >= 0 ? ring->first : ring->later;
}

/* A thread that is just being made may miss this. The next window sets it right. */
static void sampler_pause(struct sampler *sampler, bool pause)
{
    const unsigned long request = pause ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE;
    sampler->pauses = pause;
    for (size_t i = 0; i < sampler->count; i++) {
        const struct sample_ring *ring = &sampler->rings[i];
        ioctl(sampler->settled ? ring->later : sampler_first_event(ring), request, 0);
        if (pause && sampler->settled && ring->first >= 0)
            ioctl(ring->first, request, 0);
    }
}

/* The cost of a switch is measured when it may matter: if one took 50 us, would they be too many? That takes many
 * sleeps, so the program's thread may be switched as often meanwhile, which does not count. */
static void sampler_measure_switches(struct sampler *sampler)
{
    enum { HIGHEST_COST = 50000 };
    struct sample_windows *w = &sampler->windows;
    if (w->measured || sample_windows_needed(w, HIGHEST_COST) == 1)
        return;
    struct perf_event_attr attr = sampler_attr(sampler->periods.first, DWELL_CLOCK_MONOTONIC);
    attr.inherit = attr.enable_on_exec = 0;
    const int event = sampler_open_allowed(&attr, 0, -1);
    w->measured = true;
    w->cost = event >= 0 ? sample_switch_cost(event) : 0;
    if (event >= 0)
        close(event);
    sample_windows_begin(w);
}

/* Not always as long: the program may do the same again and again. */
static uint64_t sampler_pause_length(struct sampler *sampler)
{
    sampler->chance = sampler->chance * 1103515245 + 12345;
    const uint64_t usual = (uint64_t)WINDOW * (sampler->windows.stretch - 1);
    return usual / 2 + usual * (sampler->chance >> 16 & 255) / 256;
}

/* Ends a window or a pause if it is time, and returns for how many milliseconds the thread may wait. All samples of the
 * window are drained. */
static int sampler_turn(struct sampler *sampler)
{
    const uint64_t now = clock_monotonic() / 1000000;
    struct sample_windows *w = &sampler->windows;
    if (!w->permille)
        return DRAIN_INTERVAL;
    if (!sampler->pauses && (w->stretch == 1 || now >= sampler->until)) {
        if (sample_windows_look(w)) {
            sampler_measure_switches(sampler);
            sample_windows_decide(w);
        }
        if (w->stretch > 1) {
            sampler_pause(sampler, true);
            sampler->until = now + sampler_pause_length(sampler);
        }
    } else if (sampler->pauses && now >= sampler->until) {
        sample_windows_begin(w);
        sampler_pause(sampler, false);
        sampler->until = now + WINDOW;
    }
    return w->stretch == 1 ? DRAIN_INTERVAL : (int)larger(sampler->until - now, 1);
}

/* ---- the thread ---- */

/* Begins the samples of a program that is recorded by now. Once the later period has come, its events take them. */
static void sampler_enable(struct sampler *sampler)
{
    if (sampler->enabled == SAMPLER_TIMES || sampler->settled || !__atomic_load_n(&sampler->wanted, __ATOMIC_ACQUIRE))
        return;
    sampler->enabled++;
    for (size_t i = 0; i < sampler->count; i++) {
        ioctl(sampler->rings[i].fd, PERF_EVENT_IOC_ENABLE, 0);
        if (!sampler->pauses)
            ioctl(sampler_first_event(&sampler->rings[i]), PERF_EVENT_IOC_ENABLE, 0);
    }
}

static void *sampler_run(void *argument)
{
    struct sampler *sampler = argument;
    struct pollfd *events = need_memory(sampler->count + 1, sizeof *events);
    for (size_t i = 0; i < sampler->count; i++)
        events[i] = (struct pollfd){ .fd = sampler->rings[i].fd, .events = POLLIN };
    events[sampler->count] = (struct pollfd){ .fd = sampler->wake, .events = POLLIN };
    uint64_t wakes;
    int patience = DRAIN_INTERVAL;
    for (bool last = false; !last;) {
        poll(events, sampler->count + 1, patience);
        (void)!read(sampler->wake, &wakes, sizeof wakes);
        sampler_enable(sampler);
        last = __atomic_load_n(&sampler->stop, __ATOMIC_ACQUIRE);
        sampler_drain(sampler);
        sampler_settle(sampler);
        patience = sampler_turn(sampler);
        for (size_t i = 0; i < sampler->count; i++)
            if (events[i].revents & POLLHUP)
                events[i].fd = -1; /* all threads of the program have ended */
    }
    free(events);
    return NULL;
}

void sampler_begin(struct sampler *sampler, const struct session *session, int fd, struct sample_periods periods,
                   uint64_t cost, uint32_t switches)
{
    *sampler = (struct sampler){ .session = session, .periods = periods, .wake = -1 };
    sampler->windows = (struct sample_windows){ .permille = switches, .stretch = 1 };
    sampler->wanted = !(session->header->also & DWELL_ALSO_SPARE_SAMPLES);
    sampler->enabled = sampler->wanted ? SAMPLER_TIMES : 0;
    if (!periods.later)
        return;
    session->header->sample_period = periods.later;
    session->header->sample_cost = (uint32_t)smaller(cost, session->header->sample_period);
    sampler->writer = sample_writer_new(session, fd);
    clock_pair(session->header->clock, &sampler->now.ticks, &sampler->now.ns);
    sampler->before = sampler->now;
    sampler->clock_offset = perf_clock_offset(session->header->clock == DWELL_CLOCK_MONOTONIC);
}

/* Adds an event whose samples are in the ring. Returns zero or an errno value. */
static int sampler_add_event(const struct sample_ring *ring, struct perf_event_attr *attr, pid_t pid, int cpu,
                             int *event)
{
    *event = sampler_open_allowed(attr, pid, cpu);
    return *event < 0 || ioctl(*event, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ? errno : 0;
}

/* Opens the events of a CPU. That of the later period waits until the first one ends. Returns zero or an errno value.
 */
static int sampler_open_cpu(const struct sampler *sampler, struct sample_ring *ring, struct perf_event_attr *attr,
                            pid_t pid, int cpu)
{
    const bool two = sampler->periods.first != sampler->periods.later;
    struct perf_event_attr threads = *attr, first = *attr;
    threads.config = PERF_COUNT_SW_DUMMY;
    threads.sample_period = threads.sample_type = 0;
    threads.sample_regs_user = threads.sample_stack_user = 0;
    threads.exclude_kernel = 1;
    threads.task = 1; /* ends of threads */
    threads.comm = 1; /* calls of exec */
    threads.comm_exec = 1;
    threads.enable_on_exec = first.enable_on_exec = sampler->wanted;
    attr->enable_on_exec = !two && sampler->wanted;
    first.sample_period = sampler->periods.first;
    int error = sampler_open_ring(ring, &threads, pid, cpu);
    if (error)
        return error;
    error = sampler_add_event(ring, attr, pid, cpu, &ring->later);
    first.exclude_kernel = attr->exclude_kernel;
    if (!error && two)
        error = sampler_add_event(ring, &first, pid, cpu, &ring->first);
    if (error)
        sampler_close_ring(ring);
    return error;
}

/* Opens the events of all CPUs. Returns zero or an errno value; then none is open. */
static int sampler_open(struct sampler *sampler, pid_t pid, struct perf_event_attr *attr)
{
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    sampler->rings = need_memory((size_t)cpus, sizeof *sampler->rings);
    int error = 0;
    for (int cpu = 0; cpu < cpus && !error; cpu++) {
        struct sample_ring ring = { 0 };
        error = sampler_open_cpu(sampler, &ring, attr, pid, cpu);
        if (error == ENODEV)
            error = 0; /* the CPU is offline */
        else if (!error)
            sampler->rings[sampler->count++] = ring;
    }
    if (error)
        sampler_close_rings(sampler);
    return error;
}

void sampler_attach(struct sampler *sampler, pid_t pid)
{
    if (!sampler->writer)
        return;
    struct perf_event_attr attr =
        sampler_attr(sampler->session->header->sample_period, sampler->session->header->clock);
    int error = sampler_open(sampler, pid, &attr);
    if (error && sampler->periods.first != sampler->periods.later) { /* there may be too many descriptors */
        sampler->periods.first = sampler->periods.later;
        error = sampler_open(sampler, pid, &attr);
    }
    sampler->wake = error ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!error && sampler->wake >= 0)
        sampler->running = service_thread_start(&sampler->thread, sampler_run, sampler);
    if (sampler->running) {
        sampler->session->header->also |= attr.exclude_kernel ? 0 : DWELL_ALSO_KERNEL_SAMPLES;
        return;
    }
    sampler->session->header->sample_error = (int16_t)(error ? error : EAGAIN);
    sampler->session->header->sample_cost = 0; /* no thread is stopped */
}

static void sampler_wake(const struct sampler *sampler)
{
    const uint64_t one = 1;
    (void)!write(sampler->wake, &one, sizeof one); /* if it fails, the thread wakes after DRAIN_INTERVAL */
}

void sampler_want(struct sampler *sampler)
{
    if (!__atomic_exchange_n(&sampler->wanted, true, __ATOMIC_ACQ_REL) && sampler->running)
        sampler_wake(sampler);
}

void sampler_end(struct sampler *sampler)
{
    if (sampler->running) {
        __atomic_store_n(&sampler->stop, true, __ATOMIC_RELEASE);
        sampler_wake(sampler);
        pthread_join(sampler->thread, NULL);
    }
    sampler_close_rings(sampler);
    if (sampler->wake >= 0)
        close(sampler->wake);
    if (!sampler->wanted)
        sampler->session->header->sample_cost = 0; /* no thread was stopped */
    if (sampler->writer)
        sample_writer_free(sampler->writer);
}
