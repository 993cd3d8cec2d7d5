// The view of the call tree. Every row has the values of its call path, not scaled or estimated.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { nameOf } from '../data/names';
import { measureName } from '../data/measures';
import type { Model, Side } from '../data/model';
import { Order, hotPath, shownRows, workOf } from '../data/open';
import { childrenOf, hasChildren } from '../data/paths';
import { Yielder, Stopped } from '../data/yielder';
import { shortened } from '../format';
import { waitsByName } from '../heat';
import {
    expanded,
    found,
    measure,
    model,
    path,
    recentre,
    reveal,
    search,
    selectPath,
    setSort,
    chosenUnit,
} from '../state';
import { type GridColumn, sortOf, valueColumns, waits } from './columns';
import { sourceText } from './entities';
import { Grid } from './grid';
import { Name } from './name';

const maxIndentedDepth = 26; // deeper rows are not indented further and show their depth as a number

// Deep rows are indented by smaller steps, to leave room for names.
function indent(depth: number): number {
    return 12 * Math.min(depth, 18) + 4 * Math.max(0, Math.min(depth, maxIndentedDepth) - 18);
}

function treeColumns(m: Model): GridColumn[] {
    const of = (row: number) => m.functions[m.paths.function[row]!]!;
    const text = (
        key: string,
        title: string,
        width: number,
        hint: string,
        shown: boolean,
        get: (row: number) => string,
    ): GridColumn => ({
        key,
        title,
        hint,
        width,
        numeric: false,
        shown,
        text: get,
        sortBy: get,
    });
    return [
        text('name', 'Call path', m.sides === 2 ? 320 : 380, 'the function and its callers above it', true, (row) =>
            nameOf(of(row)),
        ),
        ...valueColumns(m, 'paths', chosenUnit.value),
        text('module', 'Module', 130, 'executable or shared library of the function', true, (row) =>
            shortened(m.modules[of(row).module]?.name ?? '', 200),
        ),
        text('source', 'Source', 150, 'source file and line', true, (row) => sourceText(of(row).file, of(row).line)),
    ];
}

function workOfPaths(m: Model): Float64Array {
    const values = m.column('paths', `${measure.value}_inclusive`, (m.sides - 1) as Side);
    return workOf(m.paths, values, (row) => waitsByName(m, 'paths', row));
}

// Opens the hot path below `from`. If none of the roots has half of the work, it begins at the one with the most.
export function openHotPath(from: number): void {
    const m = model.value!;
    const work = workOfPaths(m);
    let last = hotPath(m.paths, work, from).at(-1);
    if (last === undefined && from < 0) {
        const roots = childrenOf(m.paths, -1).filter((row) => work[row]! > 0);
        if (!roots.length) return;
        from = roots.reduce((a, b) => (work[b]! > work[a]! ? b : a));
        last = hotPath(m.paths, work, from).at(-1) ?? from;
    }
    if (last !== undefined) reveal(last);
    else if (hasChildren(m.paths, from)) expanded.value = expanded.value.with([from], true);
}

function defaultOrder(m: Model) {
    return { key: m.sides === 2 ? `${measure.value}_inclusive_new` : `${measure.value}_inclusive`, descending: true };
}

function useRows(m: Model, columns: GridColumn[], sort: { key: string; descending: boolean }): number[] {
    const [rows, setRows] = useState<number[]>([]);
    const order = useMemo(() => {
        const column = columns.find((c) => c.key === sort.key);
        if (!column || (m.sides === 1 && !m.reordered && sort.key === 'elapsed_inclusive' && sort.descending))
            return new Order(m.paths, null);
        const sign = sort.descending ? -1 : 1;
        return new Order(m.paths, (a, b) => {
            const [x, y] = [column.sortBy(a), column.sortBy(b)];
            return x < y ? -sign : x > y ? sign : a - b;
        });
    }, [m, columns, sort.key, sort.descending]);
    // A layout effect, so that the rows of a small tree are ready before the next key is handled.
    useLayoutEffect(() => {
        const yielder = new Yielder();
        shownRows(m.paths, expanded.value, order, yielder)
            .then(setRows)
            .catch((e) => {
                if (!(e instanceof Stopped)) throw e;
            });
        return () => yielder.stop();
    }, [m, order, expanded.value]);
    return rows;
}

// The rows whose functions match the search, in preorder.
function useMatches(m: Model): Int32Array {
    const flags = found.value;
    return useMemo(() => {
        if (!flags) return new Int32Array(0);
        const rows = new Int32Array(m.paths.count);
        let count = 0;
        for (let i = 0; i < rows.length; i++) if (flags[m.paths.function[i]!]) rows[count++] = i;
        return rows.slice(0, count);
    }, [m, flags]);
}

export function nextMatch(matches: Int32Array, from: number, backwards: boolean): number {
    if (matches.length === 0) return -1;
    let low = 0;
    let high = matches.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (backwards ? matches[middle]! < from : matches[middle]! <= from) low = middle + 1;
        else high = middle;
    }
    const index = backwards ? low - 1 : low;
    return matches[(index + matches.length) % matches.length]!;
}

export function Tree() {
    const m = model.value!;
    const columns = useMemo(() => treeColumns(m), [m, chosenUnit.value, measure.value]);
    const sort = sortOf('tree', columns, defaultOrder(m));
    const rows = useRows(m, columns, sort);
    const matches = useMatches(m);
    const hot = useMemo(() => new Set(hotPath(m.paths, workOfPaths(m), -1)), [m, measure.value]);
    const frame = useRef<HTMLDivElement>(null);

    const toggle = (row: number, open = !expanded.value.has(row)) => {
        if (hasChildren(m.paths, row)) expanded.value = expanded.value.with([row], open);
    };
    const wholeBranch = (row: number, open: boolean) => {
        const end = row < 0 ? m.paths.count : m.paths.end[row]!;
        expanded.value.flags.fill(open ? 1 : 0, Math.max(0, row), end);
        expanded.value = expanded.value.with([], true);
    };
    const step = (backwards: boolean) => {
        const next = nextMatch(matches, path.value, backwards);
        if (next >= 0) reveal(next);
    };
    const onKey = (event: KeyboardEvent, row: number) => {
        const { key } = event;
        if (key === 'n' || key === 'N') step(key === 'N');
        else if (key === 'h') openHotPath(row);
        else if (key === '*') wholeBranch(row, true);
        else if (key === '-') wholeBranch(row, false);
        else if (key === '_') wholeBranch(-1, false);
        else if (row < 0) return false;
        else if (key === 'ArrowRight' || key === 'l') {
            if (!expanded.value.has(row)) toggle(row, true);
            else if (hasChildren(m.paths, row)) selectPath(rows[rows.indexOf(row) + 1] ?? row);
        } else if (key === 'ArrowLeft') {
            if (expanded.value.has(row) && hasChildren(m.paths, row)) toggle(row, false);
            else if (m.paths.parent[row]! >= 0) selectPath(m.paths.parent[row]!);
        } else if (key === ' ') toggle(row);
        else return false;
        return true;
    };
    // Enter in the search box selects the next match.
    useLayoutEffect(() => {
        const next = (e: Event) => step((e as CustomEvent<boolean>).detail);
        document.addEventListener('dwell:next', next);
        return () => document.removeEventListener('dwell:next', next);
    });

    const of = (row: number) => m.functions[m.paths.function[row]!]!;
    const nameCell = (row: number) => {
        const depth = m.paths.depth[row]!;
        const open = expanded.value.has(row);
        return (
            <span class="branch" style={{ paddingLeft: `${indent(depth)}px` }}>
                {depth > maxIndentedDepth && <small class="depth">{depth}</small>}
                <button
                    tabIndex={-1}
                    class={`twist ${hasChildren(m.paths, row) ? '' : 'leaf'}`}
                    aria-label={open ? 'Close' : 'Open'}
                    onClick={(e) => {
                        e.stopPropagation();
                        if (e.altKey) wholeBranch(row, !open);
                        else toggle(row);
                        selectPath(row);
                    }}
                >
                    {hasChildren(m.paths, row) ? (open ? '▾' : '▸') : ''}
                </button>
                <Name text={nameOf(of(row))} whole={of(row).name} />
            </span>
        );
    };
    return (
        <div class="fill" ref={frame}>
            <Grid
                name="tree"
                label="Call tree"
                columns={columns}
                rows={rows}
                sort={sort}
                onSort={(next) => setSort('tree', next)}
                selected={path.value}
                onSelect={selectPath}
                onOpen={(row) => recentre(m.paths.function[row]!)}
                onKey={onKey}
                cell={(c, row) => (c.key === 'name' ? nameCell(row) : undefined)}
                rowClass={(row) => `${waits(m, 'paths', row) ? 'waits' : ''} ${hot.has(row) ? 'hot' : ''}`}
                rowLevel={(row) => m.paths.depth[row]! + 1}
                rowExpanded={(row) => (hasChildren(m.paths, row) ? expanded.value.has(row) : undefined)}
            />
            <p class="below">
                <button onClick={() => openHotPath(path.value)} title="Open the hot path below the selection (h)">
                    Hot path
                </button>{' '}
                <button onClick={() => wholeBranch(-1, true)} title="Open all branches">
                    Open all
                </button>{' '}
                <button onClick={() => wholeBranch(-1, false)} title="Close all branches (_)">
                    Close all
                </button>{' '}
                {search.value && found.value ? (
                    <>
                        {matches.length.toLocaleString('en')} of {m.paths.count.toLocaleString('en')} paths match; Enter
                        or n: next match
                    </>
                ) : (
                    <>
                        {m.paths.count.toLocaleString('en')} call paths, {rows.length.toLocaleString('en')} shown; hot:{' '}
                        {measureName(m, measure.value)} inclusive
                    </>
                )}
            </p>
        </div>
    );
}
