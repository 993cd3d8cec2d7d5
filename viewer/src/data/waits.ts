// The waits of a session, its critical path, and what less time of functions would bring, from the block of waits
// (docs/view-format.md, "Waits").
import type { Column, Container } from './container';

export interface WaitsFacts {
    causes: boolean; // were recorded
    counted: boolean; // numbers of waits are known
    waits: number; // single ones; none in mode profile
    left_out: Record<string, number>; // rows, by table
    texts: string[];
    critical: {
        thread: number;
        from: number;
        to: number;
        replayed: number;
        unknown: number; // waits without a known cause on the path
        ranged: boolean; // so much that predictions are ranges
        segments: number;
        unknown_origins: number;
    } | null;
}

export const waitsFacts = (block: Container): WaitsFacts => block.header as unknown as WaitsFacts;

const nothing = new Uint8Array(0);
export const columnOf = (block: Container, table: string, key: string): Column =>
    block.tables[table]?.columns[key] ?? nothing;
export const rowsIn = (block: Container, table: string): number => block.tables[table]?.rows ?? 0;

// A text of a row; empty if it is unknown or differs among the row's waits.
export function textIn(block: Container, table: string, key: string, row: number): string {
    const number = columnOf(block, table, key)[row] ?? 0;
    return number ? (waitsFacts(block).texts[number - 1] ?? '') : '';
}

export const causeNames = ['none', 'holder', 'waker'] as const;
export const places = ['', '(outside functions)', '(start of thread)', '(not recorded)'] as const;

// A single wait, in numbers of the side's own session. The times are ticks.
export interface Wait {
    row: number;
    thread: number;
    begin: number;
    end: number;
    waker: number; // -1 if it is unknown when the wait was ended, or by whom
    woken: number;
    byPath: number;
    byLock: number;
}

export function waitAt(block: Container, row: number): Wait {
    const get = (key: string) => columnOf(block, 'waits', key)[row]!;
    return {
        row,
        thread: get('thread'),
        begin: get('begin'),
        end: get('end'),
        waker: get('waker'),
        woken: get('woken'),
        byPath: get('by_path'),
        byLock: get('by_lock'),
    };
}

// The longest wait of a thread that overlaps a time; -1 if the page has none.
export function findWait(block: Container, thread: number, from: number, to: number): number {
    const [threads, begins, ends] = ['thread', 'begin', 'end'].map((key) => columnOf(block, 'waits', key));
    for (let i = 0; i < rowsIn(block, 'waits'); i++)
        if (threads![i] === thread && begins![i]! < to && ends![i]! > from) return i;
    return -1;
}

// The wait of a shown thread after the selected one in the order of time, or before it.
export function nextWait(
    block: Container,
    threads: ReadonlySet<number>,
    selected: number,
    middle: number,
    forwards: boolean,
): Wait | null {
    const at = selected >= 0 ? waitAt(block, selected) : null;
    const [time, row] = at ? [at.begin, at.row] : [middle, -1];
    let best: Wait | null = null;
    for (let i = 0; i < rowsIn(block, 'waits'); i++) {
        const wait = waitAt(block, i);
        const after = wait.begin - time || wait.row - row;
        if (!threads.has(wait.thread) || (forwards ? after <= 0 : after >= 0)) continue;
        const closer = best && (wait.begin - best.begin || wait.row - best.row) * (forwards ? 1 : -1);
        if (closer === null || closer < 0) best = wait;
    }
    return best;
}

// ---- the graph ----

export interface GraphNode {
    key: string;
    column: 0 | 1 | 2; // waiting threads, objects, and threads that ended the waits
    number: number; // of the thread, or the row of the object
    name: string;
    total: number;
}

export interface GraphEdge {
    from: string;
    to: string;
    total: number;
    waits: number;
    cause: number;
}

export interface Graph {
    nodes: GraphNode[];
    edges: GraphEdge[];
    left: number; // sums of waits that the graph leaves out
}

export const maxNodes = 30;

// Objects that nobody can act on have no place among threads and locks.
const ownKinds = new Set(['call', 'other', 'sleep', '']);

// The largest sums whose threads and objects are at most `most` nodes.
export function graphOf(block: Container, nameOf: (thread: number) => string, most = maxNodes): Graph {
    const nodes = new Map<string, GraphNode>();
    const edges = new Map<string, GraphEdge>();
    const get = (key: string, row: number) => columnOf(block, 'edges', key)[row]!;
    const node = (column: 0 | 1 | 2, number: number): GraphNode => ({
        key: `${column}/${number}`,
        column,
        number,
        name: column === 1 ? textIn(block, 'by_lock', 'waits_for', number) : nameOf(number),
        total: 0,
    });
    const add = (from: GraphNode, to: GraphNode, row: number) => {
        const key = `${from.key} ${to.key} ${get('cause', row)}`;
        const edge = edges.get(key) ?? { from: from.key, to: to.key, total: 0, waits: 0, cause: get('cause', row) };
        edge.total += get('total', row);
        edge.waits += get('waits', row);
        edges.set(key, edge);
    };
    let left = waitsFacts(block).left_out.edges ?? 0;
    for (let row = 0; row < rowsIn(block, 'edges'); row++) {
        const object = get('by_lock', row);
        if (ownKinds.has(textIn(block, 'by_lock', 'object.kind', object))) continue;
        const cause = get('cause_thread', row);
        const wanted = [node(0, get('thread', row)), node(1, object), ...(cause >= 0 ? [node(2, cause)] : [])];
        if (nodes.size + wanted.filter((one) => !nodes.has(one.key)).length > most) {
            left++;
            continue;
        }
        const own = wanted.map((one) => nodes.get(one.key) ?? one);
        for (const one of own) {
            one.total += get('total', row);
            nodes.set(one.key, one);
        }
        add(own[0]!, own[1]!, row);
        if (own[2]) add(own[1]!, own[2], row);
    }
    return { nodes: [...nodes.values()], edges: [...edges.values()], left };
}

// Places by node: the columns side by side, in each the nodes near those that they are connected with.
export function layGraph({ nodes, edges }: Graph): Map<string, number> {
    const places = new Map<string, number>();
    const columns = [0, 1, 2].map((column) =>
        nodes.filter((n) => n.column === column).sort((a, b) => b.total - a.total || (a.key < b.key ? -1 : 1)),
    );
    const settle = () => columns.forEach((column) => column.forEach((n, i) => places.set(n.key, i)));
    settle();
    for (let round = 0; round < 6; round++) {
        for (const column of round % 2 ? [columns[1]!, columns[0]!] : [columns[1]!, columns[2]!]) {
            const pull = new Map<string, number>();
            for (const n of column) {
                let [sum, weight] = [0, 0];
                for (const e of edges)
                    if (e.from === n.key || e.to === n.key) {
                        sum += places.get(e.from === n.key ? e.to : e.from)! * e.total;
                        weight += e.total;
                    }
                pull.set(n.key, weight ? sum / weight : places.get(n.key)!);
            }
            column.sort((a, b) => pull.get(a.key)! - pull.get(b.key)! || b.total - a.total);
            settle();
        }
    }
    return places;
}
