// The lines from which calls were made, from the block of lines (docs/view-format.md, "Lines").
import type { Container } from './container';
import type { SessionFacts } from './facts';
import type { ColumnKey, Measure } from './measures';
import { type Model, type Values, derive } from './model';

export interface LineFacts {
    source: string; // file without folders and line, or module and address
    function: string | null;
    module: string | null;
    file: string | null; // null if unknown
    line: number;
    inlined: string | null;
}

export interface Called {
    line: number; // row of the table of lines
    functions: number[]; // the called functions, in numbers of the session, the most often called one first
    shared: boolean; // there are calls from other functions, too: the line's values include them
}

export const lineFacts = (block: Container): LineFacts[] => block.header.lines as LineFacts[];

// The lines from which a function called others while it was the innermost open function.
export function linesOf(block: Container, caller: number): Called[] {
    const { rows = 0, columns = {} } = block.tables.calls ?? {};
    const counts = new Map<number, Map<number, number>>();
    const shared = new Set<number>();
    for (let i = 0; i < rows; i++) if (columns.caller![i] === caller) counts.set(columns.line![i]!, new Map());
    for (let i = 0; i < rows; i++) {
        const line = columns.line![i]!;
        const called = counts.get(line);
        if (!called) continue;
        if (columns.caller![i] !== caller) shared.add(line);
        else called.set(columns.called![i]!, columns.calls![i]!);
    }
    return [...counts].map(([line, called]) => ({
        line,
        functions: [...called].sort(([x, m], [y, n]) => n - m || x - y).map(([row]) => row),
        shared: shared.has(line),
    }));
}

// A column of the table of lines.
export function lineColumn(m: Model, facts: SessionFacts, block: Container, key: ColumnKey): Values {
    const { rows = 0, columns = {} } = block.tables.lines ?? {};
    const get = (other: ColumnKey): Values => columns[other] ?? derive(facts, other, 'functions', rows, m.paths, get);
    return get(key);
}

// The session's sum of a value, which its percentages refer to.
export function lineTotal(m: Model, facts: SessionFacts, block: Container, measure: Measure): number {
    const sums = block.header.session as Record<string, number>;
    const get = (key: ColumnKey): Values =>
        key in sums ? Float64Array.of(sums[key]!) : derive(facts, key, 'functions', 1, m.paths, get);
    return get(`${measure}_inclusive`)[0]!;
}

// By line of a source file, the rows of the table of lines.
export function linesInFile(block: Container, path: string): Map<number, number[]> {
    const lines = new Map<number, number[]>();
    lineFacts(block).forEach((facts, row) => {
        if (facts.file !== path || !facts.line) return;
        const list = lines.get(facts.line);
        if (list) list.push(row);
        else lines.set(facts.line, [row]);
    });
    return lines;
}

export interface LineSamples {
    samples: number;
    self: number; // ticks,
    interval: number; // and the half width of their 95 % interval
}

// By line of a source file, the samples and the own time of functions that are in the file. `texts` is the block of
// sources. The intervals of several functions are independent.
export function samplesInFile(facts: SessionFacts, texts: Container, path: string): Map<number, LineSamples> {
    const { rows = 0, columns = {} } = texts.tables.samples ?? {};
    const lines = new Map<number, LineSamples>();
    for (let i = 0; i < rows; i++) {
        const line = columns.line![i]!;
        if (!line || facts.functions[columns.function![i]!]!.file !== path) continue;
        const sum = lines.get(line) ?? { samples: 0, self: 0, interval: 0 };
        lines.set(line, {
            samples: sum.samples + columns.samples![i]!,
            self: sum.self + columns.self![i]!,
            interval: Math.hypot(sum.interval, columns.interval![i]!),
        });
    }
    return lines;
}
