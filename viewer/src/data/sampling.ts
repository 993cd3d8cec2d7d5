// Divides the times of a part's call paths by the samples of the part, as in analyzer/profile/sampling.c: a path with many
// samples by its own, the others together with all such paths of the function. Parts are whole ticks.

export interface Amounts {
    elapsed: Float64Array;
    flagged: Float64Array;
    blocked: Float64Array;
    preempted: Float64Array;
    overhead: Float64Array;
    samples: Float64Array;
    samples_in_stubs: Float64Array;
    sample_time: Float64Array; // nanoseconds of CPU time that the samples stand for
    stub_time: Float64Array;
}

// The call paths of threads. `path` is the row of the page that a path has, or for sampled ones the nearest one; -1 if the
// page does not show it.
export interface Nodes {
    parent: ArrayLike<number>;
    path: ArrayLike<number>;
    sampled: ArrayLike<number>;
}

// The rows of the page.
export interface Paths {
    parent: ArrayLike<number>;
    function: ArrayLike<number>;
    isSampled(row: number): boolean;
}

// Time that was given to a sampled row of the page.
export interface Given {
    node: number; // that had the time
    row: number;
    elapsed: number;
    flagged: number;
}

export interface Divided {
    given: Given[];
    // Of the nodes, and then of what was given: squares of half widths of independent errors, and half widths of others.
    squares: number[];
    pooled: number[];
}

// Samples, the time that they stand for, and the sum of the squares of the time of each.
class SampleSum {
    samples = 0;
    time = 0;
    squares = 0;
    isUneven = false; // they stand for different times

    add(samples: number, time: number): void {
        if (this.samples && time * this.samples !== this.time * samples) this.isUneven = true;
        this.samples += samples;
        this.time += time;
        this.squares += (time * time) / samples;
    }
}

interface Share {
    route: number;
    sum: SampleSum;
    weight: number; // what is divided is in proportion to it
    carried: [number, number]; // what it lacks so far, of application time and of the rest
}

interface Group {
    shares: Map<number, Share>;
    all: SampleSum;
    weight: number; // of all shares
    cpu: number;
    paths: number;
    isPooled: boolean;
}

const enough = 30;
const own = -1; // routes: the path itself,
const toStubs = -2; // and the code that counts calls

// The half width of the 95 % interval of a share, as in analyzer/profile/sample_sums.c.
function halfWidth(part: SampleSum, sum: SampleSum): number {
    if (!sum.isUneven) return wilson(part.samples / sum.samples, sum.samples);
    const share = part.time / sum.time;
    const variance = (1 - share) ** 2 * part.squares + share ** 2 * Math.max(0, sum.squares - part.squares);
    const isAll = part.samples === sum.samples;
    return wilson(share, isAll ? sum.time ** 2 / sum.squares : (share * (1 - share) * sum.time ** 2) / variance);
}

// Wilson's interval: the larger distance from the share to one of its bounds.
function wilson(share: number, all: number): number {
    const z = 1.959964;
    const center = (share + (z * z) / (2 * all)) / (1 + (z * z) / all);
    const width = (z / (1 + (z * z) / all)) * Math.sqrt((share * (1 - share)) / all + (z * z) / (4 * all * all));
    return Math.max(share - (center - width), center + width - share);
}

// Numbers the functions that lead from a timed path to a sampled one, and finds the row at their end.
class Routes {
    private readonly numbers = new Map<string, number>();
    private readonly list: { above: number; function: number }[] = [];
    private readonly rows = new Map<string, number>();

    constructor(private readonly paths: Paths) {
        for (let row = 0; row < paths.parent.length; row++)
            if (paths.isSampled(row)) this.rows.set(`${paths.parent[row]}/${paths.function[row]}`, row);
    }

    // Of a row below the row of a timed path.
    of(row: number, from: number): number {
        if (row === from || row < 0) return own;
        const above = this.of(this.paths.parent[row]!, from);
        const key = `${above}/${this.paths.function[row]}`;
        let number = this.numbers.get(key);
        if (number === undefined) {
            this.numbers.set(key, (number = this.list.length));
            this.list.push({ above, function: this.paths.function[row]! });
        }
        return number;
    }

    // The row at the end of a route; -1 if the page does not have it.
    row(from: number, route: number): number {
        if (route === own) return from;
        const { above, function: called } = this.list[route]!;
        const parent = this.row(from, above);
        return parent < 0 ? -1 : (this.rows.get(`${parent}/${called}`) ?? -1);
    }
}

const cpuOf = (a: Amounts, i: number) => Math.max(0, a.elapsed[i]! - a.blocked[i]! - a.preempted[i]!);

// Samples of one period count alike. Other weights are times, in the largest unit of which all are multiples: their
// products with ticks need no rounding then.
function setWeights(group: Group): void {
    const shares = [...group.shares.values()];
    const unit = shares.reduce((divisor, one) => commonDivisor(divisor, one.sum.time), 0);
    for (const one of shares) one.weight = group.all.isUneven ? one.sum.time / unit : one.sum.samples;
    group.weight = shares.reduce((sum, one) => sum + one.weight, 0);
}

const commonDivisor = (a: number, b: number): number => (b ? commonDivisor(b, a % b) : a);

// The part that lacks most gets what it lacks, but at least the time of a sample. What is too little or too much is carried
// to the group's next path.
function share(group: Group, ticks: number, which: 0 | 1): Map<Share, number> {
    const got = new Map<Share, number>();
    const shares = [...group.shares.values()];
    const quantum = group.paths > 1 ? Math.max(1, Math.floor(group.cpu / group.all.samples)) : 1;
    for (const one of shares) one.carried[which] += ticks * one.weight;
    for (let left = ticks; left > 0;) {
        const most = shares.reduce((a, b) => (b.carried[which] > a.carried[which] ? b : a));
        const part = Math.min(left, Math.max(quantum, Math.floor(most.carried[which] / group.weight)));
        got.set(most, (got.get(most) ?? 0) + part);
        most.carried[which] -= part * group.weight;
        left -= part;
    }
    return got;
}

// Of products that a number does not hold.
const partOf = (all: number, cost: number, period: number) => Number((BigInt(all) * BigInt(cost)) / BigInt(period));

interface ThreadNodes {
    parent: ArrayLike<number>;
    thread: ArrayLike<number>;
    sampled: ArrayLike<number>;
}

// Subtracts what the samples took: the same part of the application time and of the flagged time of each node. It is known
// by the mean period of the path's samples if there are enough, or of its thread's.
export function subtractSamples(a: Amounts, nodes: ThreadNodes, cost: number, period: number): void {
    if (!cost || cost > period) return;
    const count = nodes.parent.length;
    const ofPath = Array.from({ length: count }, () => ({ samples: 0, time: 0 }));
    const ofThread = new Map<number, { samples: number; time: number }>();
    for (let i = count - 1; i >= 0; i--) {
        const own = { samples: a.samples[i]! + a.samples_in_stubs[i]!, time: a.sample_time[i]! + a.stub_time[i]! };
        let thread = ofThread.get(nodes.thread[i]!);
        if (!thread) ofThread.set(nodes.thread[i]!, (thread = { samples: 0, time: 0 }));
        for (const sum of own.time ? [ofPath[i]!, thread] : []) {
            sum.samples += own.samples;
            sum.time += own.time;
        }
        if (!nodes.sampled[i] || nodes.parent[i]! < 0) continue;
        const above = ofPath[nodes.parent[i]!]!;
        above.samples += ofPath[i]!.samples;
        above.time += ofPath[i]!.time;
    }
    for (let i = 0; i < count; i++) {
        const thread = ofThread.get(nodes.thread[i]!)!;
        const sum = ofPath[i]!.samples >= enough ? ofPath[i]! : thread;
        const [taken, time] = sum.samples ? [Math.min(sum.samples * cost, sum.time), sum.time] : [cost, period];
        subtractCost(a, i, taken, time);
    }
}

function subtractCost(a: Amounts, i: number, cost: number, period: number): void {
    const cpu = cpuOf(a, i);
    const application = Math.min(Math.max(0, a.elapsed[i]! - a.flagged[i]!), cpu);
    const flagged = partOf(cpu - application, cost, period);
    const taken = partOf(application, cost, period) + flagged;
    a.elapsed[i] = a.elapsed[i]! - taken;
    a.flagged[i] = a.flagged[i]! - flagged;
    a.overhead[i] = a.overhead[i]! + taken;
}

// Takes the time that is divided from the nodes.
// `raw`: the time of the code that counts calls stays.
export function divide(a: Amounts, nodes: Nodes, paths: Paths, byFunction: boolean, raw: boolean): Divided {
    const count = nodes.parent.length;
    const routes = new Routes(paths);
    const anchor = new Int32Array(count);
    const sums = new Float64Array(count);
    for (let i = 0; i < count; i++) {
        anchor[i] = nodes.sampled[i] ? anchor[nodes.parent[i]!]! : i;
        sums[anchor[i]!]! += a.samples[i]! + a.samples_in_stubs[i]!;
    }
    const groups = new Map<string, Group>();
    const groupOf = new Array<Group | undefined>(count);
    for (let i = 0; i < count; i++) {
        if (anchor[i] !== i || nodes.path[i]! < 0) continue;
        const isPooled = byFunction || sums[i]! < enough;
        const key = isPooled ? `of ${paths.function[nodes.path[i]!]}` : `path ${i}`;
        let group = groups.get(key);
        if (!group)
            groups.set(
                key,
                (group = { shares: new Map(), all: new SampleSum(), weight: 0, cpu: 0, paths: 0, isPooled }),
            );
        group.cpu += cpuOf(a, i);
        group.paths++;
        groupOf[i] = group;
    }
    const add = (group: Group, route: number, samples: number, time: number) => {
        const one: Share = group.shares.get(route) ?? { route, sum: new SampleSum(), weight: 0, carried: [0, 0] };
        one.sum.add(samples, time || samples);
        group.shares.set(route, one);
        group.all.add(samples, time || samples);
    };
    for (let i = 0; i < count; i++) {
        const group = groupOf[anchor[i]!];
        if (!group) continue;
        const route = nodes.sampled[i] ? routes.of(nodes.path[i]!, nodes.path[anchor[i]!]!) : own;
        if (a.samples[i]! > 0) add(group, route, a.samples[i]!, a.sample_time[i]!);
        if (a.samples_in_stubs[i]! > 0) add(group, raw ? own : toStubs, a.samples_in_stubs[i]!, a.stub_time[i]!);
    }
    for (const group of groups.values()) setWeights(group);

    const done: Divided = {
        given: [],
        squares: new Array<number>(count).fill(0),
        pooled: new Array<number>(count).fill(0),
    };
    for (let i = 0; i < count; i++) {
        const group = groupOf[i];
        const cpu = cpuOf(a, i);
        if (!group || !group.weight || !cpu || (group.shares.size === 1 && group.shares.has(own))) continue;
        const application = Math.min(Math.max(0, a.elapsed[i]! - a.flagged[i]!), cpu);
        const [first, second] = [share(group, application, 0), share(group, cpu - application, 1)];
        for (const one of group.shares.values()) {
            const [unflagged, rest] = [first.get(one) ?? 0, second.get(one) ?? 0];
            const time = unflagged + rest;
            const row = one.route === toStubs ? -1 : routes.row(nodes.path[i]!, one.route);
            const error = Math.ceil((halfWidth(one.sum, group.all) * group.weight * time) / one.weight);
            if (one.route === toStubs) a.overhead[i] = a.overhead[i]! + time;
            const stays = one.route !== toStubs && (row < 0 || one.route === own);
            const to = stays ? i : count + done.given.length;
            if (!stays) {
                a.elapsed[i] = a.elapsed[i]! - time;
                a.flagged[i] = a.flagged[i]! - rest;
            }
            if (one.route === toStubs || !time) continue;
            if (!stays) {
                done.given.push({ node: i, row, elapsed: time, flagged: rest });
                done.squares.push(0);
                done.pooled.push(0);
            }
            if (group.isPooled) done.pooled[to] = done.pooled[to]! + error;
            else done.squares[to] = done.squares[to]! + error * error;
        }
    }
    return done;
}
