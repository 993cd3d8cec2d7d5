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

// Follows the largest child from `from` on, as long as it has at least half of its parent's value. Children that only wait
// do not count, neither as children nor in their parent's value.
export function hotPath(
    paths: Paths,
    values: ArrayLike<number>,
    from: number,
    whole: number,
    waits: (row: number) => boolean,
): number[] {
    const hot: number[] = [];
    let above = from < 0 ? whole : values[from]!;
    for (let at = from; ;) {
        let largest = -1;
        const end = at < 0 ? paths.count : paths.end[at]!;
        for (let child = at + 1; child < end; child = paths.end[child]!)
            if (waits(child)) above -= values[child]!;
            else if (largest < 0 || values[child]! > values[largest]!) largest = child;
        if (largest < 0 || above <= 0 || values[largest]! < above / 2) return hot;
        hot.push(largest);
        above = values[largest]!;
        at = largest;
    }
}
