// The activity of threads over time: which share of each pixel a thread was on the CPU, blocked and preempted. The page's
// table of bins has exact sums. Where its bins are wider than a few pixels, the calls and off-CPU times themselves are used.
import type { Container } from './container';
import { type Piece, type Rows, firstEnding } from './tiles';

export const activityKinds = ['cpu', 'blocked', 'preempted'] as const;
export type ActivityKind = (typeof activityKinds)[number];

// By kind and pixel, the ticks of the pixel; the sums over several threads.
export type Shares = Record<ActivityKind, Float64Array>;

export interface Window {
    from: number; // ticks
    to: number;
    width: number; // pixels
}

const maxBinWidth = 3; // pixels

const noShares = (width: number): Shares => ({
    cpu: new Float64Array(width),
    blocked: new Float64Array(width),
    preempted: new Float64Array(width),
});

// Adds an amount, spread evenly over a range of time, to the pixels.
function spread(into: Float64Array, w: Window, begin: number, end: number, amount: number): void {
    const perTick = amount / (end - begin);
    const perPixel = (w.to - w.from) / w.width;
    const [from, to] = [Math.max(begin, w.from), Math.min(end, w.to)];
    const last = Math.min(into.length - 1, Math.floor((to - w.from) / perPixel));
    for (let x = Math.max(0, Math.floor((from - w.from) / perPixel)); x <= last; x++) {
        const left = w.from + x * perPixel;
        into[x] = into[x]! + perTick * Math.max(0, Math.min(to, left + perPixel) - Math.max(from, left));
    }
}

export class Activity {
    private readonly ranges = new Map<number, [number, number]>();
    private readonly columns: Record<string, ArrayLike<number>>;

    constructor(
        container: Container,
        private readonly start: number,
        private readonly bin: number,
    ) {
        const { rows = 0, columns = {} } = container.tables.activity ?? {};
        this.columns = columns;
        for (let i = 0; i < rows; i++) {
            const range = this.ranges.get(columns.thread![i]!);
            if (range) range[1] = i + 1;
            else this.ranges.set(columns.thread![i]!, [i, i + 1]);
        }
    }

    shares(threads: readonly number[], w: Window, pieces: Piece[]): Shares {
        const shares = noShares(w.width);
        const exact = pieces.length === 0 || (this.bin * w.width) / (w.to - w.from) <= maxBinWidth;
        for (const thread of threads)
            if (exact) this.addBins(shares, thread, w);
            else addPieces(shares, thread, w, pieces);
        return shares;
    }

    private addBins(into: Shares, thread: number, w: Window): void {
        const [first, last] = this.ranges.get(thread) ?? [0, 0];
        const bins = this.columns.bin!;
        for (let i = first; i < last; i++) {
            const begin = this.start + bins[i]! * this.bin;
            if (begin >= w.to) break;
            if (begin + this.bin <= w.from) continue;
            for (const kind of activityKinds) {
                const amount = this.columns[kind]![i]!;
                if (amount > 0) spread(into[kind], w, begin, begin + this.bin, amount);
            }
        }
    }
}

function addRows(
    into: (row: number) => Float64Array,
    rows: Rows,
    [first, last]: [number, number],
    piece: Piece,
    w: Window,
): void {
    const { begin } = piece.tile;
    const [starts, lengths] = [rows.column('start'), rows.column('length')];
    const [from, to] = [Math.max(piece.from, w.from), Math.min(piece.to, w.to)];
    for (let i = firstEnding(rows, [first, last], from - begin); i < last; i++) {
        const [left, right] = [Math.max(from, begin + starts[i]!), Math.min(to, begin + starts[i]! + lengths[i]!)];
        if (begin + starts[i]! >= to) break;
        if (left < right) spread(into(i), w, left, right, right - left);
    }
}

// Off-CPU times outside of calls do not count.
function addPieces(into: Shares, thread: number, w: Window, pieces: Piece[]): void {
    const own = noShares(w.width);
    for (const piece of pieces) {
        const { spans, offCpu } = piece.tile;
        const kinds = offCpu.column('kind');
        addRows(() => own.cpu, spans, spans.at(thread, 0), piece, w);
        addRows((i) => (kinds[i] === 1 ? own.preempted : own.blocked), offCpu, offCpu.at(thread, 0), piece, w);
    }
    for (let x = 0; x < w.width; x++) {
        const calls = own.cpu[x]!;
        const blocked = Math.min(own.blocked[x]!, calls);
        const preempted = Math.min(own.preempted[x]!, calls - blocked);
        into.cpu[x] = into.cpu[x]! + calls - blocked - preempted;
        into.blocked[x] = into.blocked[x]! + blocked;
        into.preempted[x] = into.preempted[x]! + preempted;
    }
}
