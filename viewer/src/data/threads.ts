// The order of the timeline's threads, by process, and how links name threads and processes.
import { threadName } from './names';
import type { TimelineFacts } from './facts';
import { identify } from './identity';
import type { Model, Side } from './model';

export const laneOrders = {
    recorded: 'as recorded',
    name: 'by name',
    cpu: 'by CPU time',
    start: 'by start',
    own: 'own order',
} as const;
export type LaneOrder = keyof typeof laneOrders;

export interface ThreadLane {
    key: string;
    thread: number; // number in the side's own session
    depth: number;
    start: number;
    cpu: number; // ticks
    name: string;
    id: number;
}

export interface ProcessLanes {
    key: string;
    process: number;
    name: string;
    id: number;
    threads: ThreadLane[];
}

function threadLane(m: Model, side: Side, lane: TimelineFacts['lanes'][number]): ThreadLane {
    const row = m.rowOf('threads', lane.thread, side);
    const facts = m.facts[side]!.threads[lane.thread];
    return {
        key: `t${identify(m, 'threads', row)}`,
        thread: lane.thread,
        depth: lane.depth,
        start: lane.start ?? 0,
        cpu: m.column('threads', m.knows('cpu_inclusive') ? 'cpu_inclusive' : 'elapsed_inclusive', side)[row] ?? 0,
        name: facts ? threadName(facts) : 'thread',
        id: facts?.id ?? lane.thread,
    };
}

// All threads with a lane. Processes are in the order of their first threads.
export function orderLanes(
    m: Model,
    side: Side,
    facts: TimelineFacts,
    order: LaneOrder,
    own: readonly string[],
): ProcessLanes[] {
    const threads = facts.lanes.map((lane) => threadLane(m, side, lane));
    const places = new Map(own.map((key, i) => [key, i]));
    const compare: Record<LaneOrder, (a: ThreadLane, b: ThreadLane) => number> = {
        recorded: () => 0,
        name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id),
        cpu: (a, b) => b.cpu - a.cpu,
        start: (a, b) => a.start - b.start,
        own: (a, b) => (places.get(a.key) ?? own.length) - (places.get(b.key) ?? own.length),
    };
    const processes = new Map<number, ProcessLanes>();
    for (const one of threads.sort(compare[order])) {
        const process = m.facts[side]!.threads[one.thread]?.process ?? 0;
        let group = processes.get(process);
        if (!group) {
            const { name = '', id = 0 } = m.facts[side]!.processes[process] ?? {};
            const key = `p${identify(m, 'processes', m.rowOf('processes', process, side))}`;
            processes.set(process, (group = { key, process, name, id, threads: [] }));
        }
        group.threads.push(one);
    }
    return [...processes.values()];
}

// Moves a thread within its process, or a process with its threads. Returns the keys of all threads in the new order.
export function moved(groups: ProcessLanes[], key: string, by: 1 | -1): string[] {
    const swapIn = <T extends { key: string }>(list: T[]): T[] => {
        const at = list.findIndex((one) => one.key === key);
        const to = at + by;
        if (at < 0 || to < 0 || to >= list.length) return list;
        const next = [...list];
        [next[at], next[to]] = [next[to]!, next[at]!];
        return next;
    };
    return swapIn(groups).flatMap((group) => swapIn(group.threads).map((one) => one.key));
}
