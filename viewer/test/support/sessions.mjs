// Makes sessions with known values.
import { container } from './container.mjs';

const times = ['elapsed', 'application', 'blocked', 'preempted', 'page_faults'];

// The values as the analyzer describes them (analyzer/profile/values.c).
const value = (key, title, kind, meanings, more = {}) => ({
    key,
    title,
    kind,
    meanings,
    known: true,
    shown: false,
    share_shown: false,
    completed: false,
    off_cpu: false,
    of_probes: false,
    ...more,
});
const pair = (key, title, more) => value(key, title, 'time', [`${key}, with callees`, `${key}, without callees`], more);
const valuesOf = ({ application, off_cpu, samples }) => [
    value('calls', 'Calls', 'count', ['enters'], { shown: true, known: !samples }),
    pair('elapsed', 'Elapsed', { shown: true, share_shown: true }),
    pair('application', 'Application', { shown: true, known: application }),
    value('min', 'Min', 'time', ['shortest completed call'], { completed: true, known: !samples }),
    value('max', 'Max', 'time', ['longest completed call'], { completed: true, known: !samples }),
    pair('blocked', 'Blocked', { known: off_cpu, off_cpu: true }),
    pair('preempted', 'Preempted', { known: off_cpu, off_cpu: true }),
    pair('cpu', 'CPU', { known: off_cpu, whole: 'elapsed', parts: ['blocked', 'preempted'] }),
    { ...pair('page_faults', 'Page faults', { known: off_cpu }), kind: 'count' },
    pair('overhead', 'Overhead', { known: false, of_probes: true }),
    value('waiting', 'Wait %', 'percent', ['blocked share of the elapsed exclusive time'], {
        shown: true,
        known: off_cpu,
        whole: 'elapsed',
        parts: ['blocked'],
    }),
];

export const hostileNames = [
    '<script>window.hacked = 1</script>',
    '"><img src=x onerror="window.hacked = 2">',
    "it's </script><script>window.hacked = 3</script>",
    'Größe::日本語<std::string>(naïve const&)',
    `std::map<${'std::pair<unsigned long, std::vector<int>>, '.repeat(230)}std::less<void>>::operator[]`,
    'right\u202eot\u202c left\u0007\n',
    '&lt;escaped&gt; &amp; %3Cscript%3E ${1+1} {{7*7}}',
];

// A tree of [function, calls, elapsed, flagged, blocked, children]: exclusive values in ticks.
export function session(tree, options = {}) {
    const perSecond = options.perSecond ?? 1e9;
    const names = [...(options.names ?? [])];
    const paths = Object.fromEntries(
        ['parent', 'function', 'calls', ...times.map((t) => `${t}_exclusive`), 'min', 'max'].map((key) => [key, []]),
    );
    const walk = (nodes, parent) => {
        for (const [name, calls, elapsed, flagged, blocked, children = []] of nodes) {
            if (!names.includes(name)) names.push(name);
            const row = paths.parent.length;
            const own = {
                elapsed,
                application: elapsed - flagged,
                blocked,
                preempted: Math.min(5, flagged - blocked),
                page_faults: flagged ? 1 : 0,
            };
            paths.parent.push(parent);
            paths.function.push(names.indexOf(name));
            paths.calls.push(calls);
            for (const t of times) paths[`${t}_exclusive`].push(own[t]);
            paths.min.push(1);
            paths.max.push(elapsed);
            walk(children, row);
        }
    };
    walk(tree, -1);
    return fromPaths(paths, names, { perSecond, ...options });
}

// Adds up values like the analyzer. Inclusive values count once for each function, module and thread on the stack.
function sums(paths, groupOf, groups) {
    const columns = {
        calls: new Float64Array(groups),
        min: new Float64Array(groups).fill(1),
        max: new Float64Array(groups),
    };
    const count = paths.parent.length;
    const inclusive = {};
    for (const t of times) {
        for (const e of ['inclusive', 'exclusive']) columns[`${t}_${e}`] = new Float64Array(groups);
        inclusive[t] = Float64Array.from(paths[`${t}_exclusive`]);
        for (let i = count - 1; i > 0; i--) if (paths.parent[i] >= 0) inclusive[t][paths.parent[i]] += inclusive[t][i];
    }
    const open = new Uint32Array(groups);
    const stack = [];
    for (let i = 0; i < count; i++) {
        while (stack.length && stack.at(-1) !== paths.parent[i]) open[groupOf(stack.pop())]--;
        stack.push(i);
        const g = groupOf(i);
        const outermost = open[g]++ === 0;
        columns.calls[g] += paths.calls[i];
        columns.max[g] = Math.max(columns.max[g], paths.max[i]);
        for (const t of times) {
            columns[`${t}_exclusive`][g] += paths[`${t}_exclusive`][i];
            if (outermost) columns[`${t}_inclusive`][g] += inclusive[t][i];
        }
    }
    return columns;
}

export function fromPaths(paths, names, options) {
    const modules = options.modules ?? [
        { name: 'shop', path: '/opt/shop/bin/shop', build_id: '0123abcd' },
        { name: 'libstore.so.2', path: '/usr/lib/libstore.so.2', build_id: 'feed' },
    ];
    const functions = names.map((name, i) => ({
        name,
        module: i % modules.length,
        file: i % 3 === 2 ? null : `/src/shop/${i % 2 ? 'store' : 'main'}.c`,
        line: i % 3 === 2 ? 0 : 10 + i,
        address: `0x${(0x1000 + 16 * i).toString(16)}`,
        waits: (options.waits ?? []).includes(name),
    }));
    const all = sums(paths, () => 0, 1);
    const facts = {
        dwell: '0.0',
        title: options.title ?? 'shop --serve',
        recorded: '2026-11-21 10:00:00',
        duration_ticks: options.duration ?? all.elapsed_inclusive[0],
        ticks_per_second: options.perSecond ?? 1e9,
        application: options.application ?? true,
        off_cpu: options.off_cpu ?? true,
        samples: options.samples ?? false,
        imported: false,
        slice: null,
        complete: true,
        mode: 'trace',
        remarks: options.remarks ?? [],
        overhead_reached: options.overhead_reached,
        recording_waits: options.recordingWaits?.map(([one, by, ...rest]) => [
            names.indexOf(one),
            names.indexOf(by),
            ...rest,
        ]),
        session: {},
        modules,
        functions,
        processes: options.processes ?? [{ id: 4711, name: 'shop' }],
        threads: options.threads ?? [{ id: 4711, process: 0, name: 'shop' }],
        mark_names: options.markNames ?? [],
        activity_names: options.activityNames ?? [],
        timeline: options.timeline,
        calls: options.calls,
        parts: options.parts,
        why: options.why,
        recorded_values: options.recorded_values,
    };
    facts.values = valuesOf(facts);
    const threads = { ...all };
    const shares = options.threadShares ?? [1];
    if (facts.threads.length > 1)
        for (const key of Object.keys(all)) threads[key] = facts.threads.map((_, i) => (shares[i] ?? 0) * all[key][0]);
    const processes = { ...all };
    if (facts.processes.length > 1)
        for (const key of Object.keys(all)) processes[key] = facts.processes.map((_, i) => (i ? 0 : all[key][0]));
    const tables = {
        paths,
        functions: sums(paths, (i) => paths.function[i], names.length),
        modules: sums(paths, (i) => functions[paths.function[i]].module, modules.length),
        processes,
        threads,
        ...(options.activity ? { activity: options.activity } : {}),
        ...(options.heat ? { heat: options.heat } : {}),
        ...(options.marks ? { marks: options.marks } : {}),
        ...(options.activities ? { activities: options.activities } : {}),
    };
    return { main: container(facts, tables), blocks: options.blocks ?? [] };
}

export const shopTree = [
    [
        'main',
        1,
        1000,
        0,
        0,
        [
            [
                'serve',
                10,
                2000,
                0,
                0,
                [
                    [
                        'handle',
                        100,
                        3000,
                        1000,
                        0,
                        [
                            ['parse', 200, 7000, 0, 0],
                            [
                                'lookup',
                                150,
                                9000,
                                500,
                                400,
                                [['walk', 300, 4000, 0, 0, [['walk', 250, 3000, 0, 0, [['walk', 100, 1500, 0, 0]]]]]],
                            ],
                            ['render', 100, 2500, 0, 0, [['lookup', 30, 600, 0, 0, [['walk', 30, 200, 0, 0]]]]],
                        ],
                    ],
                    ['wait_for_work', 11, 20000, 20000, 19000],
                ],
            ],
            ['load', 1, 4000, 800, 700, [['parse', 40, 2200, 0, 0]]],
        ],
    ],
];

export const shop = (options) => session(shopTree, { remarks: ['12 events were lost on thread shop'], ...options });

export const hostile = () =>
    session(
        [['main', 1, 100, 0, 0, hostileNames.map((name, i) => [name, i + 1, 1000 - i, 0, 0, [['leaf', 1, 10, 0, 0]]])]],
        {
            title: hostileNames[0],
            remarks: [hostileNames[2]],
        },
    );

// A reproducible pseudo-random tree of `count` call paths.
export function large(count, functionCount = 5000, maxDepth = 40) {
    let seed = 42;
    const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    const keys = ['parent', 'function', 'calls', ...times.map((t) => `${t}_exclusive`), 'min', 'max'];
    const paths = Object.fromEntries(keys.map((key) => [key, new Float64Array(count)]));
    const stack = [];
    for (let i = 0; i < count; i++) {
        const down = stack.length < 3 ? 1 : random() < 0.55 && stack.length < maxDepth ? 1 : -Math.floor(random() * 3);
        if (down < 1) stack.length = Math.max(1, stack.length + down - 1);
        paths.parent[i] = stack.length ? stack.at(-1) : -1;
        stack.push(i);
        paths.function[i] = i ? Math.floor(random() * functionCount) : 0;
        const own = Math.floor(random() ** 4 * 1e6);
        paths.calls[i] = 1 + Math.floor(random() * 1000);
        paths.elapsed_exclusive[i] = own;
        paths.application_exclusive[i] = Math.floor(own * 0.8);
        paths.blocked_exclusive[i] = random() < 0.2 ? Math.floor(own * 0.6) : 0;
        paths.max[i] = own;
    }
    const names = Array.from(
        { length: functionCount },
        (_, i) => `library::component${i % 97}::function_${i}(std::string const&, unsigned long)`,
    );
    return fromPaths(paths, names, { title: `${count} call paths` });
}

// Two threads and 65536 ticks. Only the finer level separates a row of short calls of walk. It has no block in the third
// quarter, so the page draws the coarser level there.
export function timed(options = {}) {
    const coarse = { thread: [], depth: [], function: [], start: [], length: [], before: [], after: [], count: [] };
    const fine = [0, 1, 2, 3].map(() => Object.fromEntries(Object.keys(coarse).map((key) => [key, []])));
    const offCpu = () => ({ thread: [], start: [], length: [], before: [], after: [], kind: [], count: [] });
    const [coarseOffCpu, fineOffCpu] = [offCpu(), [0, 1, 2, 3].map(offCpu)];
    const stretch = 16384;
    const put = (table, row) => Object.keys(table).forEach((key) => table[key].push(row[key] ?? 0));
    const clipped = (tables, row) =>
        tables.forEach((table, s) => {
            const [from, to] = [Math.max(row.start, s * stretch), Math.min(row.start + row.length, (s + 1) * stretch)];
            if (from < to)
                put(table, {
                    ...row,
                    start: from - s * stretch,
                    length: to - from,
                    before: from - row.start,
                    after: row.start + row.length - to,
                });
        });
    const span = (thread, depth, fn, start, length) => {
        const row = { thread, depth, function: fn, start, length, count: 1 };
        put(coarse, row);
        clipped(fine, row);
    };
    span(0, 0, 0, 0, 65536); // main
    span(0, 1, 1, 1000, 60000); // serve
    span(1, 0, 7, 2000, 30000); // wait_for_work
    span(1, 0, 3, 40000, 10000); // parse
    for (let q = 0; q < 4; q++) {
        put(coarse, { thread: 0, depth: 2, function: -1, start: q * stretch + 2000, length: 4000, count: 40 });
        for (let i = 0; i < 40; i++)
            put(fine[q], { thread: 0, depth: 2, function: i % 2 ? 5 : 4, start: 2000 + i * 100, length: 90, count: 1 });
    }
    const blocked = { thread: 1, start: 3000, length: 28000, kind: 0, count: 1 };
    put(coarseOffCpu, blocked);
    clipped(fineOffCpu, blocked);
    const preempted = { thread: 0, start: 50000, length: 3000, kind: 1, count: 1 };
    put(coarseOffCpu, preempted);
    clipped(fineOffCpu, preempted);
    const byThread = (table) => {
        const order = table.thread
            .map((_, i) => i)
            .sort(
                (a, b) =>
                    table.thread[a] - table.thread[b] ||
                    (table.depth?.[a] ?? 0) - (table.depth?.[b] ?? 0) ||
                    table.start[a] - table.start[b],
            );
        return Object.fromEntries(Object.entries(table).map(([key, values]) => [key, order.map((i) => values[i])]));
    };
    const block = (level, segment, length, spans, absences) =>
        container(
            { level, segment, begin: segment * length, stretch: length },
            { spans: byThread(spans), off_cpu: byThread(absences) },
        );
    const blocks = [
        block(0, 0, 65536, coarse, coarseOffCpu),
        ...[0, 1, 3].map((s) => block(1, s, stretch, fine[s], fineOffCpu[s])),
    ];
    return shop({
        blocks,
        threads: [
            { id: 4711, process: 0, name: 'shop' },
            { id: 4712, process: 0, name: 'worker' },
        ],
        activity: binned(64, [
            [0, 'cpu', 0, 50000],
            [0, 'preempted', 50000, 53000],
            [0, 'cpu', 53000, 65536],
            [1, 'cpu', 2000, 3000],
            [1, 'blocked', 3000, 31000],
            [1, 'cpu', 31000, 32000],
            [1, 'cpu', 40000, 50000],
        ]),
        markNames: ['loaded', '<b>half way</b>'],
        marks: { time: [8192, 32768], thread: [0, 1], number: [1, 2], name: [0, 1] },
        timeline: {
            start: 0,
            end: 65536,
            lanes: [
                { thread: 0, depth: 3, start: 0 },
                { thread: 1, depth: 1, start: 2000 },
            ],
            bin: 64,
            levels: [
                { stretch: 65536, resolution: 32, blocks: { 0: 0 } },
                { stretch, resolution: 0, blocks: { 0: 1, 1: 2, 3: 3 } },
            ],
            complete: false,
        },
        ...options,
    });
}

// The table of activity: times [thread, kind, begin, end], in bins.
function binned(width, times) {
    const bins = new Map();
    for (const [thread, kind, begin, end] of times)
        for (let bin = Math.floor(begin / width); bin * width < end; bin++) {
            const key = thread * 65536 + bin;
            if (!bins.has(key)) bins.set(key, { thread, bin, cpu: 0, blocked: 0, preempted: 0 });
            bins.get(key)[kind] += Math.min(end, (bin + 1) * width) - Math.max(begin, bin * width);
        }
    const rows = [...bins.values()].sort((a, b) => a.thread - b.thread || a.bin - b.bin);
    return Object.fromEntries(
        ['thread', 'bin', 'cpu', 'blocked', 'preempted'].map((key) => [key, rows.map((row) => row[key])]),
    );
}

// Two processes with two threads each, without calls in their timeline.
export const threaded = () =>
    shop({
        processes: [
            { id: 10, name: 'shop' },
            { id: 20, name: 'audit' },
        ],
        threads: [
            { id: 10, process: 0, name: 'shop' },
            { id: 11, process: 0, name: 'pool' },
            { id: 20, process: 1, name: 'audit' },
            { id: 21, process: 1, name: 'io' },
        ],
        threadShares: [3, 2, 1, 4],
        activity: binned(
            64,
            [0, 1, 2, 3].map((thread) => [thread, 'cpu', 1000 * thread, 60000]),
        ),
        timeline: {
            start: 0,
            end: 65536,
            bin: 64,
            lanes: [900, 100, 2000, 3000].map((start, thread) => ({ thread, depth: 1, start })),
            levels: [],
            complete: true,
        },
    });

// Three seconds: work at 100 ms of the first two, by two threads in the second one, and a wait at the end.
export const rhythmic = () =>
    shop({
        timeline: {
            start: 0,
            end: 3e9,
            bin: 2 ** 22,
            heat: { cell: 2e7, cells: 50 },
            lanes: [{ thread: 0, depth: 1, start: 0 }],
            levels: [],
            complete: true,
        },
        heat: { cell: [5, 55, 149], cpu: [2e7, 4e7, 0], blocked: [0, 0, 1e7], preempted: [0, 0, 0] },
    });
