// Merges two sessions into one model. Functions are equal if their names and module names are, paths if all their
// functions are equal (docs/diff.md). A row that only one session has is zero in the other.
import type { Container } from './container';
import type { FunctionFacts, ModuleFacts, ProcessFacts, SessionFacts, ThreadFacts } from './facts';
import { type ColumnKey, valueOf } from './measures';
import {
    type Model,
    type Side,
    type SingleModel,
    type TableName,
    type Values,
    derive,
    isDerived,
    totalOf,
} from './model';
import { type Paths, makePaths, outermost } from './paths';
import type { Yielder } from './yielder';

type Maps = Record<TableName, [Uint32Array, Uint32Array]>;

interface Joined<T> {
    list: T[];
    maps: [Uint32Array, Uint32Array]; // by side, from its rows to the joined ones
}

function joinRows<T>(sides: [T[], T[]], keyOf: (one: T, side: Side, row: number) => string): Joined<T> {
    const indices = new Map<string, number>();
    const list: T[] = [];
    const maps = sides.map((rows, side) =>
        Uint32Array.from(rows, (one, row) => {
            const key = keyOf(one, side as Side, row);
            let index = indices.get(key);
            if (index === undefined) {
                indices.set(key, (index = list.length));
                list.push(one);
            }
            return index;
        }),
    );
    return { list, maps: maps as [Uint32Array, Uint32Array] };
}

// Numbers rows of equal names, so that they differ.
function numberNames(rows: { name: string }[], prefix: (row: number) => string): string[] {
    const seen = new Map<string, number>();
    return rows.map((one, row) => {
        const name = `${prefix(row)}/${one.name}`;
        const before = seen.get(name) ?? 0;
        seen.set(name, before + 1);
        return `${name}/${before}`;
    });
}

async function joinPaths(
    sides: [SingleModel, SingleModel],
    functions: [Uint32Array, Uint32Array],
    count: number,
    yielder: Yielder,
) {
    const indices = new Map<number, number>();
    const parents: number[] = [];
    const called: number[] = [];
    const maps: Uint32Array[] = [];
    for (const side of [0, 1] as Side[]) {
        const { paths } = sides[side];
        const map = new Uint32Array(paths.count);
        for (let i = 0; i < paths.count; i++) {
            const above = paths.parent[i]! < 0 ? -1 : map[paths.parent[i]!]!;
            const own = functions[side][paths.function[i]!]!;
            const key = (above + 1) * count + own;
            let index = indices.get(key);
            if (index === undefined) {
                indices.set(key, (index = parents.length));
                parents.push(above);
                called.push(own);
            }
            map[i] = index;
            if ((i & 2047) === 0 && yielder.due) await yielder.pause();
        }
        maps.push(map);
    }
    return { parents, called, maps };
}

// Restores the preorder of paths that were appended in another order, with callers before their callees.
export async function inPreorder(
    parents: number[],
    called: number[],
    maps: Uint32Array[],
    yielder: Yielder,
): Promise<{ paths: Paths; maps: [Uint32Array, Uint32Array]; renumbered: Uint32Array }> {
    const count = parents.length;
    const [first, next, last] = [
        new Int32Array(count + 1).fill(-1),
        new Int32Array(count).fill(-1),
        new Int32Array(count + 1).fill(-1),
    ];
    for (let i = 0; i < count; i++) {
        const above = parents[i]! + 1;
        if (last[above]! < 0) first[above] = i;
        else next[last[above]!] = i;
        last[above] = i;
    }
    const renumbered = new Uint32Array(count);
    const parent = new Int32Array(count);
    const functions = new Uint32Array(count);
    const pending = [first[0]!];
    for (let row = 0; pending.length;) {
        const old = pending.pop()!;
        if (old < 0) continue;
        pending.push(next[old]!, first[old + 1]!);
        renumbered[old] = row;
        parent[row] = parents[old]! < 0 ? -1 : renumbered[parents[old]!]!;
        functions[row] = called[old]!;
        row++;
        if ((row & 4095) === 0 && yielder.due) await yielder.pause();
    }
    const moved = maps.map((map) => map.map((old) => renumbered[old]!));
    return { paths: makePaths(parent, functions), maps: moved as [Uint32Array, Uint32Array], renumbered };
}

class MergedModel implements Model {
    readonly sides = 2;
    readonly facts: [SessionFacts, SessionFacts];
    readonly containers: Container[];
    private readonly made = new Map<string, Values>();
    private first: Uint8Array | undefined;

    constructor(
        private readonly two: [SingleModel, SingleModel],
        readonly paths: Paths,
        readonly functions: FunctionFacts[],
        readonly modules: ModuleFacts[],
        readonly processes: ProcessFacts[],
        readonly threads: ThreadFacts[],
        private readonly maps: Maps,
    ) {
        this.facts = [two[0].facts[0]!, two[1].facts[0]!];
        this.containers = two.map((one) => one.containers[0]!);
    }

    rows(table: TableName): number {
        return table === 'paths' ? this.paths.count : this[table].length;
    }

    column(table: TableName, key: ColumnKey, side: Side): Values {
        const name = `${table}.${key}.${side}`;
        let column = this.made.get(name);
        if (!column) {
            column = this.make(table, key, side);
            this.made.set(name, column);
        }
        return column;
    }

    private make(table: TableName, key: ColumnKey, side: Side): Values {
        const count = this.rows(table);
        if (isDerived(this.facts[side], key, table))
            return derive(this.facts[side], key, table, count, this.paths, (other) => this.column(table, other, side));
        const from = this.two[side].column(table, key);
        const map = this.maps[table][side];
        const column = new Float64Array(count);
        const several = new Set<number>();
        const filled = new Uint8Array(count);
        for (let i = 0; i < from.length; i++) {
            const index = map[i]!;
            if (filled[index]) several.add(index);
            filled[index] = 1;
            column[index] = column[index]! + from[i]!;
        }
        // Several functions of one name became one row: inclusive times count once where one calls another.
        if (table === 'functions' && key.endsWith('_inclusive') && several.size > 0) {
            const values = this.column('paths', key, side);
            const outer = this.outermost();
            for (const index of several) column[index] = 0;
            for (let i = 0; i < values.length; i++) {
                const index = this.paths.function[i]!;
                if (outer[i] && several.has(index)) column[index] = column[index]! + values[i]!;
            }
        }
        return column;
    }

    knows(key: ColumnKey): boolean {
        return !valueOf(this.facts[0], key)?.completed && this.two.every((one) => one.knows(key));
    }

    total(key: ColumnKey, side: Side): number {
        return totalOf(this, key, side);
    }

    outermost(): Uint8Array {
        return (this.first ??= outermost(this.paths, this.functions.length));
    }

    rowOf(table: TableName, row: number, side: Side): number {
        return this.maps[table][side][row]!;
    }
}

export async function mergeModels(a: SingleModel, b: SingleModel, yielder: Yielder): Promise<Model> {
    const two: [SingleModel, SingleModel] = [a, b];
    const modules = joinRows<ModuleFacts>([a.modules, b.modules], (m) => m.name);
    const functions = joinRows<FunctionFacts>(
        [a.functions, b.functions],
        (f, side) => `${two[side].modules[f.module]?.name ?? ''}\0${f.name}`,
    );
    const ofA = new Set<unknown>([...a.functions, ...a.threads]);
    functions.list = functions.list.map((f) => ({ ...f, module: modules.maps[ofA.has(f) ? 0 : 1][f.module]! }));
    const processNames = two.map((one) => numberNames(one.processes, () => '')) as [string[], string[]];
    const processes = joinRows<ProcessFacts>([a.processes, b.processes], (_, side, row) => processNames[side][row]!);
    const threadNames = two.map((one, side) =>
        numberNames(one.threads, (row) => processNames[side]![one.threads[row]!.process] ?? ''),
    ) as [string[], string[]];
    const threads = joinRows<ThreadFacts>([a.threads, b.threads], (_, side, row) => threadNames[side][row]!);
    threads.list = threads.list.map((t) => ({ ...t, process: processes.maps[ofA.has(t) ? 0 : 1][t.process]! }));
    const joined = await joinPaths(two, functions.maps, functions.list.length, yielder);
    const { paths, maps } = await inPreorder(joined.parents, joined.called, joined.maps, yielder);
    return new MergedModel(two, paths, functions.list, modules.list, processes.list, threads.list, {
        paths: maps,
        functions: functions.maps,
        modules: modules.maps,
        processes: processes.maps,
        threads: threads.maps,
    });
}
