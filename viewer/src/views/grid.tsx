// A table that draws only the visible rows. TanStack's table keeps the columns and their widths; its virtualizer
// computes which rows are visible.
import {
    type ColumnDef,
    type ColumnSizingState,
    type TableState,
    createTable,
    getCoreRowModel,
} from '@tanstack/table-core';
import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { copy } from '../keys';
import { isNarrow, nameWidth } from '../narrow';
import type { Sort } from '../state';
import { ColumnMenu } from './column_menu';
import { type GridColumn, shownColumns } from './columns';

const rowHeight = 24;
const headHeight = 48;
// Browsers cannot lay out an element higher than about 17 million pixels.
const maxRows = 690000;

export interface GridProps {
    name: string; // key of the table's sort order and chosen columns
    label: string; // for screen readers
    columns: GridColumn[];
    rows: ArrayLike<number>;
    sort: Sort;
    onSort(sort: Sort): void;
    selected: number; // a row of the model, not an index into `rows`; -1 if none is selected
    onSelect(row: number): void;
    onClick?(row: number): void; // replaces onSelect for clicks
    onOpen?(row: number): void;
    onKey?(event: KeyboardEvent, row: number, index: number): boolean;
    cell?(column: GridColumn, row: number): ComponentChildren;
    rowClass?(row: number): string;
    rowLevel?(row: number): number;
    rowExpanded?(row: number): boolean | undefined;
    empty?: string;
}

// The width of an element without its scroll bars.
function useWidth(element: { current: HTMLDivElement | null }): number {
    const [width, setWidth] = useState(window.innerWidth);
    useLayoutEffect(() => {
        const measure = () => setWidth(element.current!.clientWidth);
        const observed = new ResizeObserver(measure);
        measure();
        observed.observe(element.current!);
        return () => observed.disconnect();
    }, []);
    return width;
}

// The name has all the width that the other columns leave.
function useColumns(name: string, all: GridColumn[], sort: Sort, width: number) {
    const least = isNarrow.value ? Math.min(all[0]!.width, nameWidth.value) : Math.max(all[0]!.width, 0.25 * width);
    const shown = shownColumns(name, all, sort, width, least);
    const others = all.slice(1).reduce((sum, c) => sum + (shown.has(c.key) ? c.width : 0), 0);
    const first = Math.max(least, width - others);
    const [sizing, setSizing] = useState<ColumnSizingState>({});
    const [sizingInfo, setSizingInfo] = useState<TableState['columnSizingInfo'] | null>(null);
    const definitions = useMemo<ColumnDef<number>[]>(() => {
        const groups: ColumnDef<number>[] = [];
        for (const c of all) {
            const size = c === all[0] ? first : c.width;
            const own = { id: c.key, size, minSize: 40, maxSize: 4000, accessorFn: (row: number) => row };
            const last = groups.at(-1);
            if (c.group && last?.header === c.group && 'columns' in last) last.columns!.push(own);
            else groups.push({ id: `group:${c.key}`, header: c.group ?? '', columns: [own] });
        }
        return groups;
    }, [all, first]);
    const [table] = useState(() =>
        createTable<number>({
            data: [],
            columns: definitions,
            state: {},
            onStateChange: () => {},
            renderFallbackValue: null,
            columnResizeMode: 'onChange',
            getCoreRowModel: getCoreRowModel(),
        }),
    );
    const visibility = Object.fromEntries(all.map((c) => [c.key, shown.has(c.key)]));
    table.setOptions((before) => ({
        ...before,
        columns: definitions,
        state: {
            ...table.initialState,
            columnVisibility: visibility,
            columnSizing: sizing,
            columnSizingInfo: sizingInfo ?? table.initialState.columnSizingInfo,
        },
        onColumnSizingChange: (change) => setSizing((old) => (typeof change === 'function' ? change(old) : change)),
        onColumnSizingInfoChange: (change) =>
            setSizingInfo((old) => {
                const from = old ?? table.initialState.columnSizingInfo;
                return typeof change === 'function' ? change(from) : change;
            }),
    }));
    return { table, shown };
}

function useVirtualizer(count: number, element: { current: HTMLDivElement | null }) {
    const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
    const options = {
        count,
        getScrollElement: () => element.current,
        estimateSize: () => rowHeight,
        overscan: 12,
        scrollPaddingStart: headHeight + 4,
        observeElementRect,
        observeElementOffset,
        scrollToFn: elementScroll,
        onChange: () => redraw(),
    };
    const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, HTMLDivElement>(options));
    virtualizer.setOptions(options);
    useLayoutEffect(() => virtualizer._didMount(), []);
    useLayoutEffect(() => virtualizer._willUpdate());
    return virtualizer;
}

export function indexOfRow(rows: ArrayLike<number>, row: number): number {
    return row < 0 ? -1 : Array.prototype.indexOf.call(rows, row);
}

export function Grid(props: GridProps) {
    const { columns, rows, sort } = props;
    const scroller = useRef<HTMLDivElement>(null);
    const { table, shown } = useColumns(props.name, columns, sort, useWidth(scroller));
    const byKey = useMemo(() => new Map(columns.map((c) => [c.key, c])), [columns]);
    const count = Math.min(rows.length, maxRows);
    const virtualizer = useVirtualizer(count, scroller);
    const index = useMemo(() => indexOfRow(rows, props.selected), [rows, props.selected]);
    const [menu, setMenu] = useState<{ x: number; y: number } | null>(null);

    useEffect(() => {
        if (index >= 0 && index < count) virtualizer.scrollToIndex(index, { align: 'auto' });
    }, [props.selected, index >= 0]);

    const [groups, leaves] = table.getHeaderGroups();
    const headers = leaves?.headers ?? [];
    const template = headers.map((h) => `${h.getSize()}px`).join(' ');
    const width = headers.reduce((sum, h) => sum + h.getSize(), 0);

    const move = (to: number) => {
        const next = Math.max(0, Math.min(count - 1, to));
        if (count > 0) props.onSelect(rows[next]!);
    };
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (props.onKey?.(event, props.selected, index)) {
            event.preventDefault();
            return;
        }
        const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / rowHeight) - 2);
        const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, j: 1, k: -1 };
        if (event.key in steps) move(index < 0 ? 0 : index + steps[event.key]!);
        else if (event.key === 'Home') move(0);
        else if (event.key === 'End') move(count - 1);
        else if (event.key === 'Enter' && props.selected >= 0) props.onOpen?.(props.selected);
        else return;
        event.preventDefault();
    };
    const sortBy = (key: string) => {
        const numeric = byKey.get(key)!.numeric;
        props.onSort({ key, descending: sort.key === key ? !sort.descending : numeric });
    };

    const openMenu = (e: MouseEvent) => {
        e.preventDefault();
        setMenu({ x: e.clientX, y: e.clientY });
    };

    return (
        <div class="grid-frame">
            <div
                class="grid"
                ref={scroller}
                tabIndex={0}
                role={props.rowLevel ? 'treegrid' : 'grid'}
                aria-label={props.label}
                aria-rowcount={count + 1}
                onKeyDown={onKeyDown}
            >
                <div class="grid-head" style={{ width: `${width}px` }} onContextMenu={openMenu}>
                    <div class="groups" style={{ gridTemplateColumns: template }} aria-hidden="true">
                        {groups?.headers.map((h) => (
                            <div key={h.id} class="group" style={{ gridColumn: `span ${h.colSpan}` }}>
                                {h.column.columnDef.header as string}
                            </div>
                        ))}
                    </div>
                    <div role="row" class="heads" style={{ gridTemplateColumns: template }}>
                        {headers.map((h) => {
                            const c = byKey.get(h.id)!;
                            const sorted = sort.key === c.key;
                            return (
                                <div
                                    key={c.key}
                                    role="columnheader"
                                    class={`head ${c.numeric ? 'numeric' : ''} ${sorted ? 'sorted' : ''}`}
                                    title={c.numeric ? `${c.hint} (in conditions: ${c.key})` : c.hint}
                                    data-key={c.key}
                                    aria-sort={sorted ? (sort.descending ? 'descending' : 'ascending') : undefined}
                                >
                                    <button tabIndex={-1} onClick={() => sortBy(c.key)}>
                                        {sorted && <span class="arrow">{sort.descending ? '▾' : '▴'}</span>}
                                        {c.title}
                                    </button>
                                    <span
                                        class="sizer"
                                        onMouseDown={h.getResizeHandler()}
                                        onTouchStart={h.getResizeHandler()}
                                        onDblClick={() => h.column.resetSize()}
                                    />
                                </div>
                            );
                        })}
                    </div>
                </div>
                <div class="grid-body" style={{ height: `${virtualizer.getTotalSize()}px`, width: `${width}px` }}>
                    {virtualizer.getVirtualItems().map((item) => {
                        const row = rows[item.index];
                        if (row === undefined) return null;
                        const selected = row === props.selected;
                        return (
                            <div
                                key={item.index}
                                role="row"
                                aria-rowindex={item.index + 2}
                                aria-selected={selected}
                                data-row={row}
                                aria-level={props.rowLevel?.(row)}
                                aria-expanded={props.rowExpanded?.(row)}
                                class={`row ${selected ? 'selected' : ''} ${props.rowClass?.(row) ?? ''}`}
                                style={{ transform: `translateY(${item.start}px)`, gridTemplateColumns: template }}
                                onClick={() => (props.onClick ?? props.onSelect)(row)}
                                onDblClick={() => props.onOpen?.(row)}
                            >
                                {headers.map((h) => cellOf(byKey.get(h.id)!, row, props))}
                            </div>
                        );
                    })}
                </div>
                {rows.length === 0 && <p class="nothing">{props.empty ?? 'No rows.'}</p>}
            </div>
            <button
                class="columns-button"
                title="Choose columns (c)"
                aria-label="Choose columns"
                onClick={(e) => {
                    const box = e.currentTarget.getBoundingClientRect();
                    setMenu({ x: box.left, y: box.bottom });
                }}
            >
                columns ▾
            </button>
            <button
                class="copy-button"
                title="Copy the table as text, separated by tabs (Y)"
                aria-label={`Copy the table: ${props.label}`}
                onClick={() =>
                    void copy(
                        tableText(
                            headers.map((h) => byKey.get(h.id)!),
                            props,
                        ),
                        'Table',
                    )
                }
            >
                copy
            </button>
            {menu && (
                <ColumnMenu
                    name={props.name}
                    columns={columns}
                    shown={shown}
                    sort={sort}
                    at={menu}
                    onClose={() => setMenu(null)}
                />
            )}
            {rows.length > maxRows && (
                <p class="cut">
                    Only the first {maxRows.toLocaleString('en')} rows are shown. Close branches or search.
                </p>
            )}
        </div>
    );
}

const maxCopied = 100000; // rows

// The table as text: a line for each row, with the shown columns separated by tabs. Names in trees are indented.
function tableText(columns: GridColumn[], props: GridProps): string {
    const plain = (text: string) =>
        text
            .replaceAll('\u2009', '')
            .replaceAll('−', '-')
            .replace(/[\t\n]/g, ' ');
    const lines = [columns.map((c) => plain(c.group ? `${c.group} ${c.title}` : c.title)).join('\t')];
    for (let i = 0; i < Math.min(props.rows.length, maxCopied); i++) {
        const row = props.rows[i]!;
        const indent = '  '.repeat((props.rowLevel?.(row) ?? 1) - 1);
        lines.push(indent + columns.map((c) => plain(c.text(row))).join('\t'));
    }
    return `${lines.join('\n')}\n`;
}

function cellOf(c: GridColumn, row: number, props: GridProps) {
    const own = props.cell?.(c, row);
    if (own !== undefined)
        return (
            <div key={c.key} role="gridcell" class={`cell ${c.numeric ? 'numeric' : ''}`} data-key={c.key}>
                {own}
            </div>
        );
    const share = c.share?.(row) ?? 0;
    return (
        <div
            key={c.key}
            role="gridcell"
            class={`cell ${c.numeric ? 'numeric' : ''} ${c.tone?.(row) ?? ''}`}
            data-key={c.key}
            title={c.tip?.(row)}
            style={share > 0.0005 ? { '--share': `${Math.min(100, share * 100).toFixed(2)}%` } : undefined}
        >
            {c.text(row)}
        </div>
    );
}
