// The durations of a function's calls, from the block of call counts (docs/view-format.md, "Calls").
import type { Container } from './container';
import type { SessionFacts } from './facts';

export interface Bucket {
    begin: number; // in ns
    end: number;
    calls: number;
}

export interface Histogram {
    buckets: Bucket[]; // from the first one with calls to the last one
    calls: number;
}

// `periods` are those of the parts; groups of periods that are joined count as a whole. `threads` by row; null for all.
export function histogramOf(
    facts: SessionFacts,
    block: Container,
    subject: number,
    periods: [number, number] | null,
    threads: boolean[] | null,
): Histogram {
    const { begins_ns: begins, periods: joined } = facts.calls!;
    const counts = new Float64Array(begins.length);
    const { rows = 0, columns = {} } = block.tables.calls ?? {};
    const first = periods ? Math.floor(periods[0] / joined) : 0;
    const last = periods ? Math.ceil(periods[1] / joined) : Infinity;
    for (let i = 0; i < rows; i++) {
        if (columns.function![i] !== subject || (threads && !threads[columns.thread![i]!])) continue;
        const period = columns.period![i]!;
        if (period >= first && period < last)
            counts[columns.bucket![i]!] = counts[columns.bucket![i]!]! + columns.calls![i]!;
    }
    const least = counts.findIndex((n) => n > 0);
    const buckets: Bucket[] = [];
    for (let i = least; i >= 0 && i <= counts.findLastIndex((n) => n > 0); i++)
        buckets.push({ begin: begins[i]!, end: begins[i + 1] ?? Infinity, calls: counts[i]! });
    return { buckets, calls: counts.reduce((a, b) => a + b, 0) };
}

// The bucket in which a share of the calls is reached.
export function percentileOf({ buckets, calls }: Histogram, share: number): Bucket | undefined {
    let sum = 0;
    return buckets.find((b) => (sum += b.calls) >= calls * share);
}
