// The tables of functions, modules, threads and processes.
import { useMemo } from 'preact/hooks';
import type { Model, Side, TableName } from '../data/model';
import { nameOf, searchedName, threadName } from '../data/names';
import { shortFile, shortened, plural } from '../format';
import { type Condition, type Matcher, holds, problemOf } from '../search';
import {
    type Sort,
    matcher,
    measure,
    model,
    recentre,
    search,
    selectFunction,
    setSort,
    subject,
    chosenUnit,
} from '../state';
import { type GridColumn, sortOf, valueColumns, waits } from './columns';
import { Grid } from './grid';
import { Name } from './name';

export type EntityTable = Exclude<TableName, 'paths'>;

function textColumn(
    key: string,
    title: string,
    width: number,
    hint: string,
    text: (row: number) => string,
): GridColumn {
    return { key, title, hint, width, numeric: false, shown: true, text, sortBy: text };
}

export function sourceText(file: string | null, line: number): string {
    return file ? shortened(`${shortFile(file)}${line ? `:${line}` : ''}`, 200) : '';
}

// The columns before those of values.
export function nameColumns(m: Model, table: EntityTable): GridColumn[] {
    if (table === 'modules')
        return [
            textColumn('name', 'Module', 220, 'executable or shared library', (row) => shortened(m.modules[row]!.name)),
        ];
    if (table === 'processes')
        return [
            textColumn('name', 'Process', 240, 'name of the program', (row) => shortened(m.processes[row]!.name)),
            {
                ...textColumn('id', 'PID', 80, 'process id', (row) => String(m.processes[row]!.id)),
                numeric: true,
                sortBy: (row) => m.processes[row]!.id,
            },
        ];
    if (table === 'threads')
        return [
            textColumn('name', 'Thread', 240, 'name of the thread', (row) => shortened(threadName(m.threads[row]!))),
            {
                ...textColumn('id', 'TID', 80, 'thread id', (row) => String(m.threads[row]!.id)),
                numeric: true,
                sortBy: (row) => m.threads[row]!.id,
            },
        ];
    return [
        textColumn('name', 'Function', m.sides === 2 ? 260 : 300, 'name of the function', (row) =>
            shortened(nameOf(m.functions[row]!)),
        ),
    ];
}

// The columns of text after those of values.
function placeColumns(m: Model, table: EntityTable): GridColumn[] {
    if (table === 'modules')
        return [
            {
                ...textColumn('path', 'Path', 300, 'path of the file when it was recorded', (row) =>
                    shortened(m.modules[row]!.path),
                ),
                kept: true,
            },
        ];
    if (table === 'threads')
        return [
            textColumn('process', 'Process', 180, 'name and PID of its process', (row) => {
                const process = m.processes[m.threads[row]!.process];
                return process ? `${shortened(process.name, 100)} (${process.id})` : '';
            }),
        ];
    if (table === 'processes') return [];
    return [
        textColumn('module', 'Module', 130, 'executable or shared library of the function', (row) =>
            shortened(m.modules[m.functions[row]!.module]?.name ?? '', 200),
        ),
        {
            ...textColumn('source', 'Source', 170, 'source file and line', (row) =>
                sourceText(m.functions[row]!.file, m.functions[row]!.line),
            ),
            kept: true,
        },
        {
            ...textColumn(
                'address',
                'Address',
                120,
                'address within the module',
                (row) => m.functions[row]!.address ?? '',
            ),
            numeric: true,
            shown: false,
            sortBy: (row) => Number(m.functions[row]!.address ?? 0) || 0,
        },
    ];
}

// The name, module and file that the search compares with.
function searched(m: Model, table: EntityTable, row: number): [string, string, string] {
    if (table === 'functions') {
        const f = m.functions[row]!;
        return [searchedName(f), m.modules[f.module]?.name ?? '', f.file ?? ''];
    }
    if (table === 'modules') return [`${m.modules[row]!.name} ${m.modules[row]!.path}`, m.modules[row]!.name, ''];
    if (table === 'threads')
        return [`${m.threads[row]!.name} ${threadName(m.threads[row]!)} ${m.threads[row]!.id}`, '', ''];
    const one = m.processes[row]!;
    return [`${one.name} ${one.id}`, '', ''];
}

function isEmpty(m: Model, table: EntityTable, row: number): boolean {
    for (let side = 0; side < m.sides; side++)
        if (m.column(table, 'calls', side as Side)[row] || m.column(table, 'elapsed_inclusive', side as Side)[row])
            return false;
    return true;
}

// A test of rows by the search's conditions.
export function meets(conditions: Condition[], columns: GridColumn[]): (row: number) => boolean {
    const all = conditions.map((c) => ({ c, column: columns.find((one) => one.key === c.column)! }));
    return (row) =>
        all.every(({ c, column }) => holds(c, column.sortBy(row) as number, column.whole ?? 1, column.perNanosecond));
}

export function filterRows(m: Model, table: EntityTable, columns: GridColumn[], by: Matcher): number[] {
    const filters = !by.empty && !problemOf(by, columns);
    const fits = meets(filters ? by.conditions : [], columns);
    const rows: number[] = [];
    for (let row = 0; row < m.rows(table); row++) {
        if (m.facts[0]!.slice && isEmpty(m, table, row)) continue;
        if (filters && !by.matches(...searched(m, table, row))) continue;
        if (fits(row)) rows.push(row);
    }
    return rows;
}

export function sortRows(rows: number[], column: GridColumn | undefined, descending: boolean): number[] {
    if (!column) return rows;
    const keys = new Map(rows.map((row) => [row, column.sortBy(row)]));
    const sign = descending ? -1 : 1;
    return [...rows].sort((a, b) => {
        const [x, y] = [keys.get(a)!, keys.get(b)!];
        return x < y ? -sign : x > y ? sign : a - b;
    });
}

export function defaultSort(m: Model, table: TableName): Sort {
    const extent = table === 'functions' || table === 'modules' ? 'exclusive' : 'inclusive';
    const key = `${measure.value}_${extent}`;
    return { key: m.sides === 2 ? `${key}_change` : key, descending: true };
}

export function entityColumns(m: Model, table: EntityTable): GridColumn[] {
    return [...nameColumns(m, table), ...valueColumns(m, table, chosenUnit.value), ...placeColumns(m, table)];
}

// "3 functions", "1 process": the table's name is the plural.
const named = (n: number, table: string): string => plural(n, table.replace(/(?<=ss)es$|s$/, ''), table);

export function Entities({ table }: { table: EntityTable }) {
    const m = model.value!;
    const columns = useMemo(() => entityColumns(m, table), [m, table, chosenUnit.value, measure.value]);
    const sort = sortOf(table, columns, defaultSort(m, table));
    const found = useMemo(() => filterRows(m, table, columns, matcher.value), [m, table, columns, matcher.value]);
    const rows = useMemo(
        () =>
            sortRows(
                found,
                columns.find((c) => c.key === sort.key),
                sort.descending,
            ),
        [found, columns, sort.key, sort.descending],
    );
    const ofFunctions = table === 'functions';
    return (
        <div class="fill">
            <Grid
                name={table}
                label={table}
                columns={columns}
                rows={rows}
                sort={sort}
                onSort={(next) => setSort(table, next)}
                selected={ofFunctions ? subject.value : -1}
                onSelect={(row) => {
                    if (ofFunctions) selectFunction(row);
                }}
                onOpen={(row) => {
                    if (ofFunctions) recentre(row);
                }}
                cell={(c, row) =>
                    c.key === 'name' && ofFunctions ? (
                        <Name text={nameOf(m.functions[row]!)} whole={m.functions[row]!.name} />
                    ) : undefined
                }
                rowClass={(row) => (waits(m, table, row) ? 'waits' : '')}
                empty={search.value ? 'Nothing matches the search.' : 'The recording has no rows for this table.'}
            />
            <p class="below">
                {rows.length === m.rows(table)
                    ? named(rows.length, table)
                    : `${rows.length} of ${named(m.rows(table), table)}`}
            </p>
        </div>
    );
}
