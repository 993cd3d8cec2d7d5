// The durations of a function's calls, from the block of call counts (docs/view-format.md, "Calls").
import { nanoseconds } from '../format';
import type { Container } from './container';
import type { SessionFacts } from './facts';

export interface Duration {
    ticks: number;
    calls: number;
}

export interface Bucket {
    begin: number; // in ns
    end: number;
    calls: number;
    below: boolean; // the resolution of a single call
}

const leastBuckets = 20; // unless there are fewer nanoseconds, or durations are not known so exactly
const roundedPart = 64; // of the longest call: the least width of a bucket if durations are rounded

// In the order of durations. `periods` are those of the parts; groups of periods that are joined count as a whole.
// `threads` by row; null for all.
export function durationsOf(
    facts: SessionFacts,
    block: Container,
    subject: number,
    periods: [number, number] | null,
    threads: boolean[] | null,
): Duration[] {
    const { periods: joined } = facts.calls!;
    const { rows = 0, columns = {} } = block.tables.calls ?? {};
    const first = periods ? Math.floor(periods[0] / joined) : 0;
    const last = periods ? Math.ceil(periods[1] / joined) : Infinity;
    const sums = new Map<number, number>();
    for (let i = 0; i < rows; i++) {
        if (columns.function![i] !== subject || (threads && !threads[columns.thread![i]!])) continue;
        const [period, ticks] = [columns.period![i]!, columns.ticks![i]!];
        if (period >= first && period < last) sums.set(ticks, (sums.get(ticks) ?? 0) + columns.calls![i]!);
    }
    return [...sums].map(([ticks, calls]) => ({ ticks, calls })).sort((a, b) => a.ticks - b.ticks);
}

export const callsIn = (durations: Duration[]): number => durations.reduce((sum, d) => sum + d.calls, 0);

// The shortest duration, in ticks, that a share of the calls does not exceed.
export function percentileOf(durations: Duration[], share: number): number {
    const wanted = callsIn(durations) * share;
    let sum = 0;
    return durations.find((d) => (sum += d.calls) >= wanted)?.ticks ?? 0;
}

// ---- buckets ----

// Steps of a power of ten, from the coarsest ones.
const series = [
    [10, 20, 50],
    [10, 12, 15, 20, 25, 30, 40, 50, 60, 80],
    [10, 11, 12, 14, 16, 18, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 63, 71, 80, 90],
];

// The largest of 1, 2, 5, 10, 20 ... that is not above the width, and at least 1.
function stepBelow(width: number): number {
    let step = 1;
    for (let ten = 1; ten <= width; ten *= 10)
        for (const factor of [1, 2, 5]) if (ten * factor <= width) step = ten * factor;
    return step;
}

function evenBorders(least: number, greatest: number, width: number): number[] {
    const step = stepBelow(width);
    const borders = [Math.floor(least / step) * step];
    while (borders.at(-1)! <= greatest) borders.push(borders.at(-1)! + step);
    return borders;
}

// Borders at whole nanoseconds, from the last one that is not above `least` to the first one above `greatest`.
function wideningBorders(least: number, greatest: number, factors: number[]): number[] {
    const borders: number[] = [0];
    for (let ten = 0.1; borders.at(-1)! <= greatest; ten *= 10)
        for (const factor of factors) {
            const border = Math.round(ten * factor);
            if (border <= borders.at(-1)! || borders.at(-1)! > greatest) continue;
            if (border <= least) borders[0] = border;
            else borders.push(border);
        }
    return borders;
}

// Even ones if the longest call takes at most ten times as long as the shortest, else ones that widen.
function bordersOf(least: number, greatest: number, rounded: boolean): number[] {
    if (greatest <= 10 * least)
        return evenBorders(
            least,
            greatest,
            Math.max((greatest - least) / leastBuckets, rounded ? greatest / roundedPart : 0),
        );
    const all = series.map((factors) => wideningBorders(least, greatest, factors));
    return all.find((borders) => borders.length > leastBuckets) ?? all.at(-1)!;
}

export function bucketsOf(facts: SessionFacts, durations: Duration[]): Bucket[] {
    const ns = (ticks: number) => Number(nanoseconds(ticks, facts.ticks_per_second));
    const { resolution, rounded } = facts.calls!;
    const below = callsIn(durations.filter((d) => d.ticks < resolution));
    const buckets: Bucket[] = below ? [{ begin: 0, end: ns(resolution), calls: below, below: true }] : [];
    const known = durations.filter((d) => d.ticks >= resolution);
    if (!known.length) return buckets;
    const borders = bordersOf(ns(known[0]!.ticks), ns(known.at(-1)!.ticks), rounded);
    let next = 0;
    for (let i = 0; i + 1 < borders.length; i++) {
        const bucket = { begin: borders[i]!, end: borders[i + 1]!, calls: 0, below: false };
        for (; next < known.length && ns(known[next]!.ticks) < bucket.end; next++) bucket.calls += known[next]!.calls;
        buckets.push(bucket);
    }
    return buckets;
}
