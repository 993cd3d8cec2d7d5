// Recorded values of arguments, from the block of values (docs/view-format.md, "Recorded values").
import type { Container } from './container';

export interface ValueRow {
    value: string; // a value or a range, as people read it
    calls: number;
    calls_percent: number;
    elapsed_inclusive_ns: number;
    elapsed_inclusive_percent: number;
    cpu_inclusive_ns: number | null;
    blocked_inclusive_ns: number | null;
    p50_ns: number;
    p99_ns: number;
    max_ns: number;
}

export interface RecordedValue {
    name: string;
    number: boolean; // its values have a size
    calls: number; // that have values
    without: number; // other calls
    rows: ValueRow[];
    left_out: number; // rows
}

// A number; a text, which nan, inf and -inf are, too; or null if it could not be read.
export type Word = number | string | null;

export interface ValuedFunction {
    function: number; // of the session
    values: RecordedValue[];
    calls: [ns: number, ...words: Word[]][]; // some of them
}

export const valuedIn = (block: Container): ValuedFunction[] => block.header.functions as ValuedFunction[];

// ---- the picture of single calls ----

export interface Axis {
    logarithmic: boolean;
    at: (value: number) => number; // from 0 to 1
    marks: number[];
}

// Logarithmic if the values are positive and the largest is more than 20 times the smallest.
export function axisOf(values: number[]): Axis {
    const low = values.reduce((a, b) => Math.min(a, b), Infinity);
    const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const logarithmic = low > 0 && high > 20 * low;
    const scale = logarithmic ? Math.log : (x: number) => x;
    const [first, last] = [scale(low), scale(high)];
    const inverse = logarithmic ? Math.exp : (x: number) => x;
    const steps = last > first ? [0, 0.25, 0.5, 0.75, 1] : [0.5];
    return {
        logarithmic,
        at: (value) => (last > first ? (scale(value) - first) / (last - first) : 0.5),
        marks: steps.map((step) => (last > first ? inverse(first + step * (last - first)) : low)),
    };
}

// The most frequent words, which have colours of their own. Others share one.
export function frequent(words: Word[], most: number): Word[] {
    const counts = new Map<Word, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return [...counts.entries()]
        .sort((a, b) => b[1] - a[1])
        .slice(0, most)
        .map(([word]) => word);
}
