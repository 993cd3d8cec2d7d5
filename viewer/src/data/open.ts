// The open branches of the call tree, the rows that they show, and the hot path.
import type { Yielder } from './yielder';
import { type Paths, childrenOf, hasChildren } from './paths';

export class Branches {
    readonly flags: Uint8Array;

    constructor(count: number, flags?: Uint8Array) {
        this.flags = flags ?? new Uint8Array(count);
    }

    has(row: number): boolean {
        return this.flags[row] === 1;
    }

    // Shares the flags, so that opening a branch copies nothing; the new object signals the change.
    with(rows: Iterable<number>, open: boolean): Branches {
        for (const row of rows) this.flags[row] = open ? 1 : 0;
        return new Branches(0, this.flags);
    }

    list(most: number): number[] {
        const rows: number[] = [];
        for (let row = this.flags.indexOf(1); row >= 0 && rows.length < most; row = this.flags.indexOf(1, row + 1))
            rows.push(row);
        return rows;
    }
}

// Children sorted by `compare`; by null in the order of the file, which has the longest elapsed time first.
export class Order {
    private readonly sorted = new Map<number, number[]>();

    constructor(
        private readonly paths: Paths,
        private readonly compare: ((a: number, b: number) => number) | null,
    ) {}

    children(row: number): number[] {
        let list = this.sorted.get(row);
        if (!list) {
            list = childrenOf(this.paths, row);
            if (this.compare && list.length > 1) list.sort(this.compare);
            if (list.length > 1) this.sorted.set(row, list);
        }
        return list;
    }
}

export async function shownRows(paths: Paths, open: Branches, order: Order, yielder: Yielder): Promise<number[]> {
    const rows: number[] = [];
    const pending = order.children(-1).toReversed();
    for (let steps = 1; pending.length; steps++) {
        const row = pending.pop()!;
        rows.push(row);
        if (open.has(row) && hasChildren(paths, row)) {
            const children = order.children(row);
            for (let i = children.length; i-- > 0;) pending.push(children[i]!);
        }
        if ((steps & 255) === 0 && yielder.due) await yielder.pause();
    }
    return rows;
}

// By path, its value without that of functions below it that only wait, and of what they call.
export function workOf(paths: Paths, values: ArrayLike<number>, waits: (row: number) => boolean): Float64Array {
    const work = Float64Array.from(values);
    for (let row = paths.count - 1; row >= 0; row--) {
        if (waits(row)) work[row] = 0;
        const above = paths.parent[row]!;
        if (above >= 0) work[above] = work[above]! - (values[row]! - work[row]!);
    }
    return work;
}

// Follows the child with the most work from `from` on, as long as it has at least half of its parent's.
export function hotPath(paths: Paths, work: ArrayLike<number>, from: number): number[] {
    const hot: number[] = [];
    let above = from < 0 ? childrenOf(paths, -1).reduce((sum, row) => sum + work[row]!, 0) : work[from]!;
    for (let at = from; ;) {
        let most = -1;
        for (const child of childrenOf(paths, at)) if (most < 0 || work[child]! > work[most]!) most = child;
        if (most < 0 || above <= 0 || work[most]! < above / 2) return hot;
        hot.push(most);
        above = work[most]!;
        at = most;
    }
}
