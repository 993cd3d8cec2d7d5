// Transforms of the call tree: focus on a function, hide a function, collapse recursion. Each makes a model of another one,
// with other call paths and the values of functions and modules on them. Threads and processes stay as they are.
import { identify, locate } from './identity';
import { type ColumnKey, isMeasure } from './measures';
import { inPreorder } from './merge';
import { type Model, type Side, type TableName, type Values, derive, isDerived, totalOf } from './model';
import { type Paths, outermost } from './paths';
import type { Yielder } from './yielder';

export type TransformKind = 'focus' | 'hide' | 'recursion';

export interface Transform {
    kind: TransformKind;
    function: string; // its identity; empty for recursion
}

const noRow = -1;

// A mapping of a model's paths to those of the new tree.
interface Mapping {
    paths: Paths;
    rows: Int32Array; // by old path, the new one, or noRow if its values are left out
    counts: Uint8Array; // by old path, 1 if its calls are calls of the new path
}

// Decides where the old path goes: to a path of its own below `above`, to `above` itself, or nowhere.
type Rule = (row: number, fn: number, above: number) => 'own' | 'above' | 'nowhere';

async function mapPaths(m: Model, rule: Rule, recursion: boolean, yielder: Yielder): Promise<Mapping> {
    const { paths } = m;
    const [parents, called]: [number[], number[]] = [[], []];
    const rows = new Int32Array(paths.count).fill(noRow);
    const counts = new Uint8Array(paths.count);
    // By old path, the new one below which its callees are.
    const below = new Int32Array(paths.count).fill(noRow);
    const made = new Map<number, number>();
    const functionCount = m.functions.length;
    const openAbove = (fn: number, from: number): number => {
        let at = from;
        while (at !== noRow && called[at] !== fn) at = parents[at]!;
        return at;
    };
    for (let row = 0; row < paths.count; row++) {
        const fn = paths.function[row]!;
        const above = paths.parent[row]! < 0 ? noRow : below[paths.parent[row]!]!;
        const where = rule(row, fn, above);
        const open = recursion && where === 'own' ? openAbove(fn, above) : noRow;
        if (open !== noRow) rows[row] = below[row] = open;
        else if (where === 'above') rows[row] = below[row] = above;
        else if (where === 'own') {
            const key = (above + 1) * functionCount + fn;
            let index = made.get(key);
            if (index === undefined) {
                made.set(key, (index = parents.length));
                parents.push(above);
                called.push(fn);
            }
            rows[row] = below[row] = index;
        }
        counts[row] = where === 'own' ? 1 : 0;
        if ((row & 2047) === 0 && yielder.due) await yielder.pause();
    }
    const { paths: preordered, renumbered } = await inPreorder(parents, called, [], yielder);
    return { paths: preordered, rows: rows.map((row) => (row === noRow ? noRow : renumbered[row]!)), counts };
}

class TransformedModel implements Model {
    readonly sides;
    readonly facts;
    readonly containers;
    readonly functions;
    readonly modules;
    readonly processes;
    readonly threads;
    readonly paths: Paths;
    readonly reordered = true;
    private readonly made = new Map<string, Values>();
    private first: Uint8Array | undefined;

    constructor(
        private readonly base: Model,
        private readonly mapping: Mapping,
    ) {
        this.sides = base.sides;
        this.facts = base.facts;
        this.containers = base.containers;
        this.functions = base.functions;
        this.modules = base.modules;
        this.processes = base.processes;
        this.threads = base.threads;
        this.paths = mapping.paths;
    }

    rows(table: TableName): number {
        return table === 'paths' ? this.paths.count : this[table].length;
    }

    column(table: TableName, key: ColumnKey, side: Side): Values {
        if (table === 'threads' || table === 'processes') return this.base.column(table, key, side);
        const name = `${table}.${key}.${side}`;
        let column = this.made.get(name);
        if (!column) this.made.set(name, (column = this.make(table, key, side)));
        return column;
    }

    private make(table: 'paths' | 'functions' | 'modules', key: ColumnKey, side: Side): Values {
        const get = (other: ColumnKey) => this.column(table, other, side);
        if (isDerived(this.facts[side]!, key, table))
            return derive(this.facts[side]!, key, table, this.rows(table), this.paths, get);
        if (table === 'paths') {
            const { rows, counts } = this.mapping;
            const all = !isCalls(this, key);
            return addInto(this.paths.count, this.base, side, key, rows, (row) => all || counts[row] === 1);
        }
        const groups = Int32Array.from(this.paths.function, (fn) =>
            table === 'functions' ? fn : this.functions[fn]!.module,
        );
        const first = key.endsWith('_inclusive') ? this.outermostOf(table, groups) : null;
        return addInto(this.rows(table), this, side, key, groups, (row) => !first || first[row] === 1);
    }

    private outermostOf(table: 'functions' | 'modules', groups: Int32Array): Uint8Array {
        if (table === 'functions') return this.outermost();
        return outermost({ ...this.paths, function: Uint32Array.from(groups) }, this.modules.length);
    }

    knows(key: ColumnKey): boolean {
        return this.base.knows(key);
    }

    total(key: ColumnKey, side: Side): number {
        return totalOf(this.base, key, side);
    }

    outermost(): Uint8Array {
        return (this.first ??= outermost(this.paths, this.functions.length));
    }

    rowOf(table: TableName, row: number, side: Side): number {
        return this.base.rowOf(table, row, side);
    }
}

// True for numbers of calls, and for the times of single calls.
function isCalls(m: Model, key: ColumnKey): boolean {
    return !m.facts[0]!.values.some((v) => isMeasure(v) && key.startsWith(`${v.key}_`));
}

// Adds the values of a model's paths into groups; for min and max, takes the smallest and the largest.
function addInto(
    count: number,
    from: Model,
    side: Side,
    key: ColumnKey,
    groups: Int32Array,
    wanted: (row: number) => boolean,
): Float64Array {
    const values = from.column('paths', key, side);
    const sums = new Float64Array(count);
    if (key !== 'min' && key !== 'max') {
        for (let i = 0; i < values.length; i++)
            if (groups[i] !== noRow && wanted(i)) sums[groups[i]!] = sums[groups[i]!]! + values[i]!;
        return sums;
    }
    const [min, max] = [from.column('paths', 'min', side), from.column('paths', 'max', side)];
    // Without a completed call, min is larger than max.
    if (key === 'min') sums.fill(Infinity);
    for (let i = 0; i < values.length; i++) {
        const to = groups[i]!;
        if (to === noRow || !wanted(i) || min[i]! > max[i]!) continue;
        sums[to] = key === 'min' ? Math.min(sums[to]!, values[i]!) : Math.max(sums[to]!, values[i]!);
    }
    return key === 'min' ? sums.map((value) => (value === Infinity ? 1 : value)) : sums;
}

function ruleOf(kind: TransformKind, fn: number): Rule {
    if (kind === 'hide') return (_, own, above) => (own !== fn ? 'own' : above === noRow ? 'nowhere' : 'above');
    // Below the function, everything has a path; outside of its calls, nothing has.
    if (kind === 'focus') return (_, own, above) => (own === fn || above !== noRow ? 'own' : 'nowhere');
    return () => 'own';
}

// Applies the transforms one after the other. Those of functions that the model lacks are skipped.
export async function transformed(m: Model, list: readonly Transform[], yielder: Yielder): Promise<Model> {
    for (const { kind, function: identity } of list) {
        const fn = kind === 'recursion' ? noRow : locate(m, 'functions', identity);
        if (kind !== 'recursion' && fn < 0) continue;
        m = new TransformedModel(m, await mapPaths(m, ruleOf(kind, fn), kind === 'recursion', yielder));
    }
    return m;
}

export const transformOf = (m: Model, kind: TransformKind, fn: number): Transform => ({
    kind,
    function: kind === 'recursion' ? '' : identify(m, 'functions', fn),
});

export const sameTransform = (a: Transform, b: Transform): boolean => a.kind === b.kind && a.function === b.function;
