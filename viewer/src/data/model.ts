// The data of the views: one session, or two merged into one model (data/merge.ts). A column of values has a number for
// each row of a table, in the ticks of its side.
import type { Container } from './container';
import {
    type FunctionFacts,
    type ModuleFacts,
    type ProcessFacts,
    type SessionFacts,
    type ThreadFacts,
    factsOf,
} from './facts';
import { type ColumnKey, valueOf } from './measures';
import { type Paths, addUp, makePaths, outermost } from './paths';

export type Values = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;
export type TableName = 'paths' | 'functions' | 'modules' | 'processes' | 'threads';
export type Side = 0 | 1;

export interface Model {
    sides: 1 | 2;
    facts: SessionFacts[]; // by side
    containers: Container[];
    functions: FunctionFacts[];
    modules: ModuleFacts[];
    processes: ProcessFacts[];
    threads: ThreadFacts[];
    paths: Paths;
    reordered?: boolean; // siblings are not in the order of the file
    rows(table: TableName): number;
    column(table: TableName, key: ColumnKey, side: Side): Values;
    // True if all sides have the column's values.
    knows(key: ColumnKey): boolean;
    total(key: ColumnKey, side: Side): number;
    // By path, 1 where the function is not already open further up.
    outermost(): Uint8Array;
    // The row in this model of a row of one side.
    rowOf(table: TableName, row: number, side: Side): number;
}

// The row of a side's own functions; -1 if it has none.
export function ownFunction(m: Model, side: Side, row: number): number {
    return m.facts[side]!.functions.findIndex((_, own) => m.rowOf('functions', own, side) === row);
}

// True if the file does not have the column: derive() computes it from others.
export function isDerived(facts: SessionFacts, key: ColumnKey, table: TableName): boolean {
    return !!valueOf(facts, key)?.parts || (table === 'paths' && key.endsWith('_inclusive'));
}

// Computes a column that is not in the file from others.
export function derive(
    facts: SessionFacts,
    key: ColumnKey,
    table: TableName,
    count: number,
    paths: Paths,
    get: (key: ColumnKey) => Values,
): Values {
    const [, measure, extent] = /^(.*)_(inclusive|exclusive)$/.exec(key) ?? [];
    const { whole, parts } = valueOf(facts, key) ?? {};
    if (whole && parts) {
        const rest = Float64Array.from(get(`${whole}_${extent}`));
        for (const part of parts) {
            const values = get(`${part}_${extent}`);
            for (let i = 0; i < count; i++) rest[i] = Math.max(0, rest[i]! - values[i]!);
        }
        return rest;
    }
    if (table === 'paths' && extent === 'inclusive') return addUp(paths, get(`${measure}_exclusive`));
    return new Uint8Array(count);
}

export function knownBy(facts: SessionFacts, key: ColumnKey): boolean {
    return valueOf(facts, key)?.known ?? false;
}

export class SingleModel implements Model {
    readonly sides = 1;
    readonly facts: SessionFacts[];
    readonly containers: Container[];
    readonly functions: FunctionFacts[];
    readonly modules: ModuleFacts[];
    readonly processes: ProcessFacts[];
    readonly threads: ThreadFacts[];
    readonly paths: Paths;
    private readonly made = new Map<string, Values>();
    private first: Uint8Array | undefined;

    constructor(private readonly container: Container) {
        const facts = factsOf(container.header);
        this.facts = [facts];
        this.containers = [container];
        this.functions = facts.functions;
        this.modules = facts.modules;
        this.processes = facts.processes;
        this.threads = facts.threads;
        const { parent, function: functions } = container.tables.paths?.columns ?? {};
        this.paths = makePaths(new Int32Array(parent ?? []), new Uint32Array(functions ?? []));
    }

    rows(table: TableName): number {
        return table === 'paths' ? this.paths.count : this[table].length;
    }

    column(table: TableName, key: ColumnKey): Values {
        const stored = this.container.tables[table]?.columns[key];
        if (stored) return stored;
        const name = `${table}.${key}`;
        let column = this.made.get(name);
        if (!column) {
            column = derive(this.facts[0]!, key, table, this.rows(table), this.paths, (other) =>
                this.column(table, other),
            );
            this.made.set(name, column);
        }
        return column;
    }

    knows(key: ColumnKey): boolean {
        return knownBy(this.facts[0]!, key);
    }

    total(key: ColumnKey): number {
        return totalOf(this, key, 0);
    }

    outermost(): Uint8Array {
        return (this.first ??= outermost(this.paths, this.functions.length));
    }

    rowOf(_: TableName, row: number): number {
        return row;
    }
}

// The sums of sessions, which percentages refer to.
const totals = new WeakMap<Model, Map<string, number>>();

export function totalOf(model: Model, key: ColumnKey, side: Side): number {
    const known = totals.get(model) ?? new Map<string, number>();
    totals.set(model, known);
    let total = known.get(`${key}/${side}`);
    if (total === undefined) known.set(`${key}/${side}`, (total = addTotal(model, key, side)));
    return total;
}

function addTotal(model: Model, key: ColumnKey, side: Side): number {
    const known = model.facts[side]!.session[key.replace('exclusive', 'inclusive')];
    if (typeof known === 'number') return known;
    let sum = 0;
    for (const value of model.column('processes', key.replace('exclusive', 'inclusive'), side)) sum += value;
    return sum;
}
