// Why slow calls of functions were slow, from the block of why (docs/view-format.md, "Slow calls").
import { type Column, type Container } from './container';

export interface WhyRow {
    path: string[];
    kind: string;
    object: { kind: string | null; name: string | null };
    what: string;
    where: string;
    caused_by: string | null;
    meanwhile: string | null;
    slow_calls: number | null; // unknown if a part of its time is that of calls without events
    usual_calls: number | null;
    slow_ns: number;
    usual_ns: number;
    difference_ns: number;
    share_percent: number | null;
    ci95_ns: number | null;
    times: string | null;
    estimated: boolean; // its time was divided by samples
}

export interface WhyFactor {
    name: string;
    value: string;
    slow_share: number;
    usual_share: number;
}

interface WhySet {
    calls: number;
    min_ns: number;
    mean_ns: number;
}

export interface Why {
    function: number; // of the session
    answer: string;
    calls: number;
    cut: number; // calls that were not recorded as a whole
    slow: WhySet;
    usual: WhySet;
    difference_ns: number;
    rows: WhyRow[];
    left_out: number; // rows
    factors: WhyFactor[];
}

export const whysIn = (block: Container): Why[] => block.header.functions as Why[];

// A bar of the distributions: the shares of both sets whose calls took so long.
export interface WhyBar {
    begin: number; // ns
    end: number;
    slow: number;
    usual: number;
}

const bars = 48;

// Bars of equal widths on a logarithmic axis, from the shortest call to the longest one. Times below a nanosecond count
// as one.
export function distributions(block: Container, which: number): WhyBar[] {
    const { rows = 0, columns = {} } = block.tables.durations ?? {};
    const get = (key: string): Column => columns[key]!;
    const own = Array.from({ length: rows }, (_, row) => row).filter((row) => get('function')[row] === which);
    if (!own.length) return [];
    const at = (row: number) => Math.log(Math.max(1, get('ns')[row]!));
    const low = Math.min(...own.map(at));
    const width = Math.max((Math.max(...own.map(at)) - low) / bars, Math.log(1.02));
    const list: WhyBar[] = Array.from({ length: bars }, (_, i) => ({
        begin: Math.exp(low + i * width),
        end: Math.exp(low + (i + 1) * width),
        slow: 0,
        usual: 0,
    }));
    const sum = (key: string) => own.reduce((all, row) => all + get(key)[row]!, 0) || 1;
    const [slow, usual] = [sum('slow'), sum('usual')];
    for (const row of own) {
        const bar = list[Math.min(bars - 1, Math.floor((at(row) - low) / width))]!;
        bar.slow += get('slow')[row]! / slow;
        bar.usual += get('usual')[row]! / usual;
    }
    return list;
}

// A word for a shell.
export const shellWord = (word: string): string =>
    /^[\w.:/@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
