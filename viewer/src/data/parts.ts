// Computes the values of a part of a session from the amounts of its call paths by thread and period (docs/view-format.md,
// "Parts"). The result is a container like that of a session which `dwell view` cut to the same part.
import type { Column, Container, Table } from './container';
import { type ProcessFacts, type SessionFacts, type ThreadFacts, factsOf } from './facts';
import { isMeasure } from './measures';
import { type Divided, divide, subtractSamples } from './sampling';

export interface Part {
    periods: [number, number]; // from the first one to before the second
    threads: boolean[] | null; // by row of threads; null for all
    words: string;
}

const summed = [
    'elapsed',
    'flagged',
    'blocked',
    'preempted',
    'page_faults',
    'runtime',
    'runtime_flagged',
    'overhead',
    'calls',
    'samples',
    'samples_in_stubs',
    'sample_time',
    'stub_time',
] as const;
type Amounts = Record<(typeof summed)[number] | 'shortest' | 'longest', Float64Array>;

const less = (all: number, part: number) => Math.max(0, all - part);

// The exclusive values of a call path from its amounts, as in profile/values.h.
const formulas: Record<string, (a: Amounts, i: number) => number> = {
    elapsed: (a, i) => a.elapsed[i]!,
    application: (a, i) => a.elapsed[i]! - a.flagged[i]!,
    blocked: (a, i) => a.blocked[i]!,
    preempted: (a, i) => a.preempted[i]!,
    flagged_on_cpu: (a, i) => less(less(a.flagged[i]!, a.blocked[i]!), a.preempted[i]!),
    page_faults: (a, i) => a.page_faults[i]!,
    overhead: (a, i) => a.overhead[i]!,
};

// ---- amounts ----

function newAmounts(count: number): Amounts {
    const amounts = Object.fromEntries(
        [...summed, 'shortest', 'longest'].map((key) => [key, new Float64Array(count)]),
    ) as Amounts;
    amounts.shortest.fill(Infinity);
    return amounts;
}

function columnsOf(table: Table | undefined, keys: readonly string[]): Column[] {
    const none = new Uint8Array(table?.rows ?? 0);
    return keys.map((key) => table?.columns[key] ?? none);
}

// Adds up the amounts of each node over the periods. `chosen` is by node.
function addAmounts(block: Container, count: number, [first, last]: [number, number], chosen: Uint8Array): Amounts {
    const sums = newAmounts(count);
    const table = block.tables.amounts;
    const [period, node, shortest, longest] = columnsOf(table, ['period', 'node', 'shortest', 'longest']);
    const rows: number[] = [];
    for (let i = 0; i < (table?.rows ?? 0); i++)
        if (period![i]! >= first && period![i]! < last && chosen[node![i]!]) rows.push(i);
    columnsOf(table, summed).forEach((column, k) => {
        const sum = sums[summed[k]!];
        for (const i of rows) sum[node![i]!] = sum[node![i]!]! + column[i]!;
    });
    for (const i of rows)
        if (shortest![i]! <= longest![i]!) {
            sums.shortest[node![i]!] = Math.min(sums.shortest[node![i]!]!, shortest![i]!);
            sums.longest[node![i]!] = Math.max(sums.longest[node![i]!]!, longest![i]!);
        }
    return sums;
}

// ---- the probes' overhead, as in profile/overhead.c ----

type Probes = NonNullable<ProcessFacts['probes']>;

function offCpu(a: Amounts, i: number): number {
    return Math.min(a.blocked[i]! + a.preempted[i]!, a.elapsed[i]!);
}

function subtractRuntime(a: Amounts, i: number): void {
    const taken = Math.min(a.runtime[i]!, a.elapsed[i]! - offCpu(a, i));
    a.elapsed[i] = a.elapsed[i]! - taken;
    a.flagged[i] = Math.min(less(a.flagged[i]!, a.runtime_flagged[i]!), a.elapsed[i]);
    a.overhead[i] = a.overhead[i]! + taken;
}

function subtractProbes(a: Amounts, i: number, wanted: number): void {
    const taken = Math.min(wanted, a.elapsed[i]! - offCpu(a, i));
    const application = a.elapsed[i]! - a.flagged[i]!;
    a.elapsed[i] = a.elapsed[i]! - taken;
    if (taken > application) a.flagged[i] = a.flagged[i]! - (taken - application);
    a.overhead[i] = a.overhead[i]! + taken;
}

// Whether any path had overhead.
function subtractOverhead(a: Amounts, parents: Column, probesOf: (node: number) => Probes | null): boolean {
    const callees = new Float64Array(parents.length);
    for (let i = 0; i < parents.length; i++)
        if (parents[i]! >= 0) callees[parents[i]!] = callees[parents[i]!]! + a.calls[i]!;
    let any = false;
    for (let i = 0; i < parents.length; i++) {
        const probes = probesOf(i);
        if (!probes) continue;
        subtractRuntime(a, i);
        const calls = a.calls[i]!;
        const fractions =
            calls * probes.in_callee +
            callees[i]! * probes.in_caller +
            Math.min(calls, callees[i]!) * probes.first_callee;
        const wanted = Math.floor(fractions / 256);
        if (wanted > 0) subtractProbes(a, i, wanted);
        any ||= wanted > 0;
    }
    return any;
}

// ---- call paths ----

// Values of rows: exclusive ones, calls, min and max. Without a completed call, min is larger than max.
interface Own {
    keys: string[];
    columns: Record<string, Float64Array>;
}

function newOwn(keys: string[], count: number): Own {
    const columns: Record<string, Float64Array> = {};
    for (const key of ['calls', 'min', 'max', ...keys.map((k) => `${k}_exclusive`)])
        columns[key] = new Float64Array(count);
    columns.min!.fill(Infinity);
    return { keys, columns };
}

function addOwn(into: Own, to: number, from: Own, row: number): void {
    for (const [key, column] of Object.entries(into.columns)) {
        const value = from.columns[key]![row]!;
        if (key === 'min') column[to] = Math.min(column[to]!, value);
        else if (key === 'max') column[to] = Math.max(column[to]!, value);
        else column[to] = column[to]! + value;
    }
}

function markUnknown(own: Own): void {
    const { min, max } = own.columns;
    for (let i = 0; i < min!.length; i++)
        if (min![i] === Infinity) {
            min![i] = 1;
            max![i] = 0;
        }
}

function ownOf(a: Amounts, keys: string[], count: number): Own {
    const own = newOwn(keys, count);
    own.columns.calls = a.calls;
    own.columns.min = a.shortest;
    own.columns.max = a.longest;
    for (const key of keys) {
        const column = own.columns[`${key}_exclusive`]!;
        for (let i = 0; i < count; i++) column[i] = formulas[key]!(a, i);
    }
    return own;
}

// ---- samples ----

// Keys of Own beside those of values: the squares of independent errors, other errors, and samples.
const errorKeys = ['squares', 'pooled'];
const timingKeys = [...errorKeys, 'sampled'];

// The amounts with those that were given to sampled paths behind them.
function withGiven(a: Amounts, { given }: Divided, count: number): Amounts {
    const more = newAmounts(count + given.length);
    for (const key of Object.keys(more) as (keyof Amounts)[]) more[key].set(a[key]);
    given.forEach((one, i) => {
        more.elapsed[count + i] = one.elapsed;
        more.flagged[count + i] = one.flagged;
    });
    return more;
}

// Errors below a timed path add up to a measured time.
function addErrorsUpwards(parent: Column, exclusive: Float64Array, isSampled: (row: number) => boolean): Float64Array {
    const sums = Float64Array.from(exclusive);
    for (let i = parent.length - 1; i >= 0; i--) {
        if (!isSampled(i)) sums[i] = 0;
        else if (parent[i]! >= 0) sums[parent[i]!] = sums[parent[i]!]! + sums[i]!;
    }
    return sums;
}

// Replaces the sums of errors by the columns that the tables of a session have.
function finishTiming(columns: Record<string, Float64Array>): void {
    const count = columns.calls!.length;
    const zeros = new Float64Array(count);
    const off = ['blocked', 'preempted'];
    for (const extent of ['inclusive', 'exclusive']) {
        const [squares, pooled] = errorKeys.map((key) => columns[`${key}_${extent}`] ?? zeros);
        const error = Float64Array.from({ length: count }, (_, i) =>
            Math.round(Math.hypot(Math.sqrt(squares![i]!), pooled![i]!)),
        );
        columns[`elapsed_${extent}_ci95`] = columns[`cpu_${extent}_ci95`] = error;
        const [elapsed, application] = [columns[`elapsed_${extent}`], columns[`application_${extent}`]];
        columns[`application_${extent}_ci95`] = error.map((e, i) => {
            const cpu = off.reduce((rest, key) => less(rest, columns[`${key}_${extent}`]?.[i] ?? 0), elapsed?.[i] ?? 0);
            return cpu > 0 ? Math.floor((e * Math.min(application?.[i] ?? 0, cpu)) / cpu) : 0;
        });
    }
    columns.timing = columns.elapsed_inclusive_ci95!.map((error) => (error > 0 ? 2 : 0));
    columns.samples = columns.sampled_exclusive ?? zeros;
    columns.timed_calls = columns.calls!;
    for (const key of timingKeys) for (const extent of ['inclusive', 'exclusive']) delete columns[`${key}_${extent}`];
}

interface Tree {
    parent: Int32Array;
    function: Uint32Array;
    rows: number[]; // by new row, the row of the whole session
    isSampled(row: number): boolean; // of a row of the whole session
}

// The used paths in preorder, siblings in the order of `dwell tree`.
function sortedTree(
    parent: Column,
    called: Column,
    used: Uint8Array,
    elapsed: Float64Array,
    calls: Float64Array,
    isSampled: (row: number) => boolean,
) {
    const children = new Map<number, number[]>();
    for (let i = 0; i < parent.length; i++) {
        if (!used[i]) continue;
        const list = children.get(parent[i]!);
        if (list) list.push(i);
        else children.set(parent[i]!, [i]);
    }
    for (const list of children.values())
        list.sort((x, y) => elapsed[y]! - elapsed[x]! || calls[y]! - calls[x]! || called[x]! - called[y]!);
    const numbers = new Int32Array(parent.length);
    const rows: number[] = [];
    const pending = (children.get(-1) ?? []).toReversed();
    while (pending.length) {
        const row = pending.pop()!;
        numbers[row] = rows.length;
        rows.push(row);
        const below = children.get(row);
        for (let i = below?.length ?? 0; i-- > 0;) pending.push(below![i]!);
    }
    const tree: Tree = {
        parent: Int32Array.from(rows, (row) => (parent[row]! < 0 ? -1 : numbers[parent[row]!]!)),
        function: Uint32Array.from(rows, (row) => called[row]!),
        rows,
        isSampled,
    };
    return tree;
}

function addUpwards(parent: Column, exclusive: Float64Array): Float64Array {
    const sums = Float64Array.from(exclusive);
    for (let i = parent.length - 1; i >= 0; i--) if (parent[i]! >= 0) sums[parent[i]!] = sums[parent[i]!]! + sums[i]!;
    return sums;
}

// ---- groups ----

// Sums by group of paths. Inclusive values count once for each group on the stack.
function groupTable(tree: Tree, own: Own, groupOf: (row: number) => number, groups: number): Table {
    const sums = newOwn(own.keys, groups);
    const open = new Uint32Array(groups);
    const isSampled = (row: number) => tree.isSampled(tree.rows[row]!);
    const stack: number[] = [];
    const outer: number[] = [];
    for (let i = 0; i < tree.rows.length; i++) {
        while (stack.length && stack.at(-1) !== tree.parent[i]) {
            const left = groupOf(stack.pop()!);
            open[left] = open[left]! - 1;
        }
        stack.push(i);
        const group = groupOf(i);
        if (open[group] === 0) outer.push(i);
        open[group] = open[group]! + 1;
        addOwn(sums, group, own, i);
    }
    for (const key of own.keys) {
        const exclusive = own.columns[`${key}_exclusive`]!;
        const inclusive = errorKeys.includes(key)
            ? addErrorsUpwards(tree.parent, exclusive, isSampled)
            : addUpwards(tree.parent, exclusive);
        const column = new Float64Array(groups);
        for (const i of outer) column[groupOf(i)] = column[groupOf(i)]! + inclusive[i]!;
        sums.columns[`${key}_inclusive`] = column;
    }
    markUnknown(sums);
    return { rows: groups, columns: sums.columns };
}

// Sums by thread or process: all nodes of a group belong to it alone.
function partition(own: Own, count: number, groupOf: (node: number) => number, groups: number): Table {
    const sums = newOwn(own.keys, groups);
    for (let i = 0; i < count; i++) if (groupOf(i) >= 0) addOwn(sums, groupOf(i), own, i);
    for (const key of own.keys)
        if (!errorKeys.includes(key)) sums.columns[`${key}_inclusive`] = sums.columns[`${key}_exclusive`]!;
    markUnknown(sums);
    return { rows: groups, columns: sums.columns };
}

// ---- the session ----

function totalsOf(processes: Table, keys: string[]): Record<string, number> {
    const sum = (key: string) => Float64Array.from(processes.columns[key]!).reduce((a, b) => a + b, 0);
    const totals: Record<string, number> = { calls: sum('calls') };
    for (const key of keys)
        for (const extent of ['inclusive', 'exclusive']) totals[`${key}_${extent}`] = sum(`${key}_${extent}`);
    return totals;
}

// Values that none of the chosen threads recorded are unknown.
function knownValues(facts: SessionFacts, threads: ThreadFacts[], overhead: boolean): Partial<SessionFacts> {
    const application = facts.application && threads.some((t) => t.os_source !== 'none');
    const off_cpu = facts.off_cpu && threads.some((t) => t.os_source !== 'none' && t.os_source !== 'rseq');
    const values = facts.values.map((v) => ({
        ...v,
        known:
            v.known &&
            (v.key in formulas || !isMeasure(v) || !!v.parts) &&
            (application || !['application', 'flagged_on_cpu'].includes(v.key)) &&
            (off_cpu || !['blocked', 'preempted', 'cpu', 'flagged_on_cpu', 'page_faults', 'waiting'].includes(v.key)) &&
            (overhead || v.key !== 'overhead'),
    }));
    return { application, off_cpu, overhead, values };
}

const withoutCounted = 'calls that were only counted are left out of this part, as it is unknown when they were made';

function hasCounted(whole: Container): boolean {
    const { timed_calls: timed, calls } = whole.tables.functions?.columns ?? {};
    return !!timed && !!calls && calls.some((all, row) => all > timed[row]!);
}

export function restrict(whole: Container, block: Container, part: Part): Container {
    const facts = factsOf(whole.header);
    const recordedCount = block.tables.nodes?.rows ?? 0;
    const [parent, threadOf, pathOf, sampled] = columnsOf(block.tables.nodes, [
        'parent',
        'thread',
        'path',
        'sampled',
    ]) as [Column, Column, Column, Column];
    const isChosen = (row: number) => !part.threads || part.threads[row] === true;
    const recorded = addAmounts(
        block,
        recordedCount,
        part.periods,
        Uint8Array.from({ length: recordedCount }, (_, i) => Number(isChosen(threadOf[i]!))),
    );
    // As in reports, a path whose time was all the recorder's has a row, with its overhead.
    const hadTime = Float64Array.from(recorded.elapsed);
    const overhead = subtractOverhead(
        recorded,
        parent,
        (i) => facts.processes[facts.threads[threadOf[i]!]!.process]?.probes ?? null,
    );
    subtractSamples(recorded, { parent, thread: threadOf, sampled }, facts.sample_cost, facts.sample_period);
    const [above, called] = columnsOf(whole.tables.paths, ['parent', 'function']) as [Column, Column];
    const timing = whole.tables.paths?.columns.timing;
    const isSampled = (row: number) => timing?.[row] === 2;
    const divided: Divided = facts.timing
        ? divide(
              recorded,
              { parent, path: pathOf, sampled },
              { parent: above, function: called, isSampled },
              facts.mode === 'profile',
              facts.processes.every((p) => !p.probes),
          )
        : { given: [], squares: [], pooled: [] };
    const count = recordedCount + divided.given.length;
    const amounts = withGiven(recorded, divided, recordedCount);
    const thread = [...threadOf, ...divided.given.map((one) => threadOf[one.node]!)];
    const path = [...pathOf, ...divided.given.map((one) => one.row)];
    const used = Uint8Array.from({ length: count }, (_, i) =>
        Number(
            (hadTime[i] ?? amounts.elapsed[i]!) > 0 ||
                amounts.calls[i]! > 0 ||
                amounts.page_faults[i]! > 0 ||
                amounts.shortest[i]! <= amounts.longest[i]!,
        ),
    );
    const processOf = (node: number) => facts.threads[thread[node]!]!.process;
    const measures = facts.values.filter((v) => isMeasure(v) && !v.parts && v.key in formulas).map((v) => v.key);
    const keys = facts.timing ? [...measures, ...timingKeys] : measures;
    const nodes = ownOf(amounts, measures, count);
    if (facts.timing) {
        nodes.keys = keys;
        nodes.columns.squares_exclusive = Float64Array.from(divided.squares);
        nodes.columns.pooled_exclusive = Float64Array.from(divided.pooled);
        nodes.columns.sampled_exclusive = amounts.samples;
    }

    const all = newOwn(keys, above.length);
    const usedPaths = new Uint8Array(above.length);
    for (let i = 0; i < count; i++) {
        if (path[i]! < 0) continue;
        addOwn(all, path[i]!, nodes, i);
        if (used[i]) usedPaths[path[i]!] = 1;
    }
    for (let i = above.length - 1; i >= 0; i--) if (usedPaths[i] && above[i]! >= 0) usedPaths[above[i]!] = 1;
    const elapsed = addUpwards(above, all.columns.elapsed_exclusive!);
    const tree = sortedTree(above, called, usedPaths, elapsed, all.columns.calls!, isSampled);
    const own = newOwn(keys, tree.rows.length);
    tree.rows.forEach((from, row) => addOwn(own, row, all, from));

    const moduleOf = (row: number) => facts.functions[tree.function[row]!]!.module;
    const shown = (node: number) => path[node]! >= 0;
    const tables: Record<string, Table> = {
        ...whole.tables,
        functions: groupTable(tree, own, (row) => tree.function[row]!, facts.functions.length),
        modules: groupTable(tree, own, moduleOf, facts.modules.length),
        threads: partition(nodes, count, (i) => (shown(i) ? thread[i]! : -1), facts.threads.length),
        processes: partition(nodes, count, (i) => (shown(i) ? processOf(i) : -1), facts.processes.length),
    };
    markUnknown(own);
    if (facts.timing) {
        for (const key of errorKeys)
            own.columns[`${key}_inclusive`] = addErrorsUpwards(tree.parent, own.columns[`${key}_exclusive`]!, (row) =>
                isSampled(tree.rows[row]!),
            );
        for (const key of ['elapsed', 'application', 'blocked', 'preempted'])
            own.columns[`${key}_inclusive`] = addUpwards(tree.parent, own.columns[`${key}_exclusive`]!);
        for (const name of ['functions', 'modules', 'threads', 'processes'])
            finishTiming(tables[name]!.columns as Record<string, Float64Array>);
        finishTiming(own.columns);
    }
    tables.paths = {
        rows: tree.rows.length,
        columns: { parent: tree.parent, function: tree.function, ...own.columns },
    };
    const header = {
        ...whole.header,
        remarks: hasCounted(whole) ? [...facts.remarks, withoutCounted] : facts.remarks,
        ...knownValues(
            facts,
            facts.threads.filter((_, row) => isChosen(row)),
            overhead,
        ),
        session: totalsOf(tables.processes!, measures),
        slice: facts.slice ? `${facts.slice}, ${part.words}` : part.words,
    };
    return { header, tables };
}
