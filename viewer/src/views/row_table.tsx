// A table of rows that are no functions, threads or modules: with columns of texts and of times, sorting and search.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Column } from '../data/container';
import type { Model, Side } from '../data/model';
import {
    count,
    duration,
    nanoseconds,
    percent,
    signed,
    timeUnit,
    unitFor,
    unitOfColumn,
    units,
    plural,
} from '../format';
import { focusView } from '../keys';
import { problemOf } from '../search';
import { type Sort, chosenUnit, matcher, search, setSort } from '../state';
import { type GridColumn, sortOf } from './columns';
import { meets, sortRows } from './entities';
import { Grid } from './grid';

export function textColumn(
    key: string,
    title: string,
    width: number,
    hint: string,
    text: (row: number) => string,
    shown = true,
): GridColumn {
    return { key, title, hint, width, numeric: false, shown, text, sortBy: text };
}

export function countColumn(key: string, title: string, hint: string, values: Column): GridColumn {
    const value = (row: number) => values[row] ?? 0;
    return {
        key,
        title,
        hint,
        width: 80,
        numeric: true,
        shown: true,
        text: (row) => count(value(row)),
        sortBy: value,
    };
}

// A column of ticks. `whole` is 100 %, for bars and conditions. `change` shows the sign.
export function timeColumn(
    m: Model,
    side: Side,
    key: string,
    title: string,
    hint: string,
    rows: number,
    value: (row: number) => number,
    options: { whole?: number; change?: boolean; tone?: string } = {},
): GridColumn {
    const perSecond = m.facts[side]!.ticks_per_second;
    let most = 0;
    for (let row = 0; row < rows; row++) most = Math.max(most, Math.abs(value(row)));
    const common = timeUnit(m.facts);
    const unit = chosenUnit.value === 'auto' ? unitOfColumn((most * 1e9) / perSecond, common) : chosenUnit.value;
    const { whole, tone = 'bar-wait' } = options;
    const text = (row: number) => duration(nanoseconds(value(row), perSecond), unit);
    return {
        key,
        title: `${title} (${units[unit].text})`,
        hint: `${hint}, in ${units[unit].text}`,
        width: options.change ? 140 : 110,
        numeric: true,
        shown: true,
        text: options.change ? (row) => signed(text(row)) : text,
        sortBy: value,
        share: whole ? (row) => Math.abs(value(row)) / whole : undefined,
        tone: () => tone,
        whole,
        perNanosecond: perSecond / 1e9,
    };
}

// A column of nanoseconds, of which some may be unknown. `bar` shows the share of all rows, `change` the sign.
export function nanosecondsColumn(
    key: string,
    title: string,
    hint: string,
    rows: number,
    value: (row: number) => number | null,
    options: { change?: boolean; shown?: boolean; width?: number; bar?: boolean } = {},
): GridColumn {
    const values = Array.from({ length: rows }, (_, row) => Math.abs(value(row) ?? 0));
    const unit = chosenUnit.value === 'auto' ? unitFor(Math.max(0, ...values)) : chosenUnit.value;
    const whole = options.bar ? values.reduce((sum, ns) => sum + ns, 0) : 0;
    const text = (row: number) => {
        const ns = value(row);
        return ns === null ? '' : duration(BigInt(ns), unit);
    };
    return {
        key,
        title: `${title} (${units[unit].text})`,
        hint: `${hint}, in ${units[unit].text}`,
        width: options.width ?? 100,
        numeric: true,
        shown: options.shown ?? true,
        text: options.change ? (row) => signed(text(row)) : text,
        sortBy: (row) => value(row) ?? 0,
        share: whole > 0 ? (row) => values[row]! / whole : undefined,
        perNanosecond: 1,
    };
}

export function shareColumn(key: string, title: string, hint: string, value: (row: number) => number): GridColumn {
    return {
        key,
        title,
        hint,
        width: 84,
        numeric: true,
        shown: true,
        text: (row) => percent(value(row), 2),
        sortBy: value,
        whole: 1,
    };
}

// Choices of a view, such as its tables.
export function Choice<T extends string>({
    label,
    all,
    value,
    onChoose,
}: {
    label: string;
    all: readonly (readonly [T, string])[];
    value: T;
    onChoose: (next: T) => void;
}) {
    return (
        <div class="choices" role="radiogroup" aria-label={label}>
            {all.map(([key, title]) => (
                <button key={key} role="radio" aria-checked={value === key} onClick={() => onChoose(key)}>
                    {title}
                </button>
            ))}
        </div>
    );
}

// The block was read after the view was opened, so the view had nothing to focus then.
export function useFocus(): void {
    useEffect(() => {
        if (document.activeElement === document.body) focusView();
    }, []);
}

export function RowTable({
    name,
    label,
    columns,
    count: all,
    standard,
    searched,
    onOpen,
    rowClass,
    note,
    about,
}: {
    name: string;
    label: string;
    columns: GridColumn[];
    count: number;
    standard: Sort;
    searched: (row: number) => string; // the text in which the search looks
    onOpen?: (row: number) => void;
    rowClass?: (row: number) => string;
    note?: string;
    about?: (row: number) => ComponentChildren; // more about the selected row
}) {
    const [selected, setSelected] = useState(-1);
    useFocus();
    const sort = sortOf(name, columns, standard);
    const by = matcher.value;
    const found = useMemo(() => {
        const filters = !by.empty && !problemOf(by, columns);
        const fits = meets(filters ? by.conditions : [], columns);
        const rows: number[] = [];
        for (let row = 0; row < all; row++)
            if ((!filters || by.matches(searched(row), '', '')) && fits(row)) rows.push(row);
        return rows;
    }, [columns, by, all]);
    const rows = useMemo(
        () =>
            sortRows(
                found,
                columns.find((c) => c.key === sort.key),
                sort.descending,
            ),
        [found, columns, sort.key, sort.descending],
    );
    return (
        <>
            <Grid
                name={name}
                label={label}
                columns={columns}
                rows={rows}
                sort={sort}
                onSort={(next) => setSort(name, next)}
                selected={selected}
                onSelect={setSelected}
                onOpen={onOpen}
                rowClass={rowClass}
                empty={search.value ? 'Nothing matches the search.' : 'There are no rows.'}
            />
            {about && selected >= 0 && selected < all && <div class="row-about">{about(selected)}</div>}
            <p class="below">
                {rows.length === all ? plural(all, 'row') : `${rows.length} of ${plural(all, 'row')}`}
                {note ? ` · ${note}` : ''}
            </p>
        </>
    );
}
