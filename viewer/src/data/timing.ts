// How the times of a row are known: measured, estimated by samples with a 95 % interval, or not at all, as its calls were
// only counted (docs/time-model.md).
import type { ColumnKey } from './measures';
import { valueOf } from './measures';
import type { Model, Side, TableName } from './model';

export const timings = ['timed', 'partly', 'sampled', 'counted'] as const;
export type Timing = (typeof timings)[number];

export const timingMeanings: Record<Timing, string> = {
    timed: 'all times are measured',
    partly: 'calls were timed for a part of the run, and then only counted: times, marked with >, are those of the timed calls',
    sampled: 'times, marked with ~, are estimated by samples',
    counted: "calls were only counted: their time is in the callers' times",
};

export const hasTiming = (m: Model): boolean => m.facts.some((f) => f.timing);

export function timingOf(m: Model, table: TableName, row: number, side: Side): Timing {
    if (intervalOf(m, table, 'elapsed_inclusive', row, side) > 0) return 'sampled'; // also of rows that were joined
    return timings[Math.min(3, m.column(table, 'timing', side)[row]!)]!;
}

// The half width of the 95 % interval of an estimated time, in ticks; 0 if it was measured.
export function intervalOf(m: Model, table: TableName, key: ColumnKey, row: number, side: Side): number {
    return m.column(table, `${key}_ci95`, side)[row]!;
}

export function isKnownAt(m: Model, table: TableName, key: ColumnKey, row: number, side: Side): boolean {
    if (!m.facts[side]!.timing) return true;
    const timing = timingOf(m, table, row, side);
    if (key === 'calls') return timing !== 'sampled' || m.column(table, 'calls', side)[row]! > 0;
    return timing !== 'counted';
}

// The sign before a time.
export function signOf(m: Model, table: TableName, key: ColumnKey, row: number, side: Side): string {
    if (!m.facts[side]!.timing || valueOf(m.facts[side]!, key)?.kind !== 'time') return '';
    if (intervalOf(m, table, key, row, side) > 0) return '~';
    const partly = table === 'functions' && timingOf(m, table, row, side) === 'partly';
    return partly && key.endsWith('clusive') && !valueOf(m.facts[side]!, key)!.of_probes ? '>' : '';
}
