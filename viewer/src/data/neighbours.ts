// The callers and callees of a function, counted as by `dwell callers`. A caller's row has the function's values when that
// caller called it; a callee's row has the callee's values when the function called it. Recursive calls are counted where
// they happen; the outer call's inclusive time already contains theirs.
import type { ColumnKey } from './measures';
import type { Model, Side } from './model';

export interface Neighbour {
    function: number; // -1: the start of a thread
    rows: number[]; // paths
    outer: number[]; // the paths whose inclusive times count
}

export interface Neighbours {
    callers: Neighbour[];
    callees: Neighbour[];
}

export function neighbours(model: Model, subject: number): Neighbours {
    const { count, parent, function: called, depth } = model.paths;
    const first = model.outermost();
    const callers = new Map<number, Neighbour>();
    const callees = new Map<number, Neighbour>();
    const open = new Map<number, number>(); // by callee, its open calls from the subject
    const stack: number[] = []; // for each depth the callee of such a call, or -1
    const add = (into: Map<number, Neighbour>, other: number, row: number, outer: boolean) => {
        let one = into.get(other);
        if (!one) into.set(other, (one = { function: other, rows: [], outer: [] }));
        one.rows.push(row);
        if (outer) one.outer.push(row);
    };
    for (let i = 0; i < count; i++) {
        while (stack.length > depth[i]!) {
            const left = stack.pop()!;
            if (left >= 0) open.set(left, open.get(left)! - 1);
        }
        const above = parent[i]! < 0 ? -1 : called[parent[i]!]!;
        const own = called[i]!;
        if (own === subject) add(callers, above, i, first[i] === 1);
        if (above === subject) {
            const before = open.get(own) ?? 0;
            add(callees, own, i, before === 0);
            open.set(own, before + 1);
            stack.push(own);
        } else stack.push(-1);
    }
    return { callers: [...callers.values()], callees: [...callees.values()] };
}

export function sumOf(model: Model, n: Neighbour, key: ColumnKey, side: Side): number {
    const column = model.column('paths', key, side);
    let sum = 0;
    for (const row of key.endsWith('_inclusive') ? n.outer : n.rows) sum += column[row]!;
    return sum;
}
