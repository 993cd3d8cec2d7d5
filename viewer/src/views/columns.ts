// The columns of values, which all tables share.
import type { ValueFacts } from '../data/facts';
import { type ColumnKey, extents, isCount, isMeasure } from '../data/measures';
import type { Model, Side, TableName, Values } from '../data/model';
import { hasTiming, intervalOf, isKnownAt, signOf, timingMeanings, timingOf } from '../data/timing';
import {
    type Unit,
    count,
    duration,
    nanoseconds,
    percent,
    signed,
    timeUnit,
    unitOfColumn,
    units,
    plural,
} from '../format';
import { waitsByName } from '../heat';
import { isNarrow } from '../narrow';
import { type Sort, columns as chosenColumns, measure, sorts } from '../state';

export interface GridColumn {
    key: string;
    title: string;
    group?: string; // a common title above neighbouring columns
    hint: string;
    width: number;
    numeric: boolean;
    shown: boolean; // by default
    kept?: boolean; // by default also where the columns before it do not fit
    text(row: number): string;
    sortBy(row: number): number | string;
    share?(row: number): number; // length of the cell's bar, 0 to 1
    tone?(row: number): string; // CSS classes of the cell
    tip?(row: number): string | undefined; // a tooltip of the cell
    whole?: number; // 100 %, in the unit of sortBy
    perNanosecond?: number; // units of sortBy in a nanosecond, of times only
}

interface Quantity {
    key: ColumnKey;
    title: string;
    group?: string;
    hint: string;
    value: ValueFacts;
}

// The keys of the chosen measure and, if it is time on the CPU, of the waits that it does not contain.
function leading(model: Model): string[] {
    const own = model.facts[0]!.values.find((v) => v.key === measure.value);
    return own?.whole && isMeasure(own) ? [own.key, ...own.parts!.slice(0, 1)] : [measure.value];
}

// The columns of the chosen measure first, and then in the order of the session's list of values: sums, values of single
// calls, percentages.
function quantities(model: Model): Quantity[] {
    const first = leading(model);
    const rank = (v: ValueFacts) =>
        first.includes(v.key) ? first.indexOf(v.key) - 9 : v.kind === 'percent' ? 2 : v.completed ? 1 : 0;
    return [...model.facts[0]!.values]
        .sort((a, b) => rank(a) - rank(b))
        .flatMap((value): Quantity[] =>
            isMeasure(value)
                ? extents.map((extent, i) => ({
                      key: `${value.key}_${extent}`,
                      title: extent,
                      group: value.title,
                      hint: `${value.title} ${extent}: ${value.meanings[i]}`,
                      value,
                  }))
                : [
                      {
                          key: value.key,
                          title: value.title,
                          hint: value.meanings[0]!,
                          value,
                      },
                  ],
        );
}

type ChosenUnit = Unit | 'auto';

// The unit of a column whose longest time is that many nanoseconds.
function columnUnit(model: Model, longest: number, chosen: ChosenUnit): Unit {
    return chosen === 'auto' ? unitOfColumn(longest, timeUnit(model.facts)) : chosen;
}

function largest(values: Values, isKnown: (row: number) => boolean): number {
    let most = 0;
    for (let row = 0; row < values.length; row++) if (isKnown(row) && values[row]! > most) most = values[row]!;
    return most;
}

// A value as text in a unit.
export function valueText(model: Model, key: ColumnKey, ticks: number, side: Side, unit: Unit): string {
    if (isCount(model, key) || model.facts[0]!.samples) return count(ticks);
    return duration(nanoseconds(ticks, model.facts[side]!.ticks_per_second), unit);
}

// A value as exact text with its unit.
export function exactText(model: Model, key: ColumnKey, ticks: number, side: Side): string {
    if (isCount(model, key)) return count(ticks);
    if (model.facts[0]!.samples) return plural(ticks, 'sample');
    return `${count(nanoseconds(ticks, model.facts[side]!.ticks_per_second))} ns`;
}

const empty = '—';

// How the time of a row is known, in words, unless it was measured.
export function timingTip(model: Model, table: TableName, key: ColumnKey, row: number, side: Side): string | undefined {
    if (!model.facts[side]!.timing) return undefined;
    const timing = timingOf(model, table, row, side);
    const timed = model.column(table, 'timed_calls', side)[row]!;
    const all = model.column(table, 'calls', side)[row]!;
    if (key === 'calls' && timed < all)
        return `${count(timed)} of ${plural(all, 'call')} ${timed === 1 ? 'was' : 'were'} timed`;
    const interval = intervalOf(model, table, key, row, side);
    if (interval > 0) {
        const samples = plural(model.column(table, 'samples', side)[row]!, 'sample');
        return `estimated: ± ${exactText(model, key, interval, side)} (95 % interval), ${samples} in it`;
    }
    return timing === 'counted' || signOf(model, table, key, row, side) ? timingMeanings[timing] : undefined;
}

// Values of single calls are unknown if no call was completed.
function isCompleted(model: Model, table: TableName, q: Quantity, row: number, side: Side): boolean {
    if (!isKnownAt(model, table, q.key, row, side)) return false;
    return !q.value.completed || model.column(table, 'min', side)[row]! <= model.column(table, 'max', side)[row]!;
}

function single(model: Model, table: TableName, q: Quantity, chosen: ChosenUnit, shares: boolean): GridColumn[] {
    if (q.value.kind === 'percent') return [percentage(model, table, q.value)];
    const known = model.knows(q.key);
    const values = known ? model.column(table, q.key, 0) : new Uint8Array(0);
    const total = model.total(q.key, 0);
    const time = q.value.kind === 'time' && !model.facts[0]!.samples;
    const isKnown = (row: number) => known && isCompleted(model, table, q, row, 0);
    const perNanosecond = model.facts[0]!.ticks_per_second / 1e9;
    const unit = columnUnit(model, time ? largest(values, isKnown) / perNanosecond : 0, chosen);
    const leads = leading(model).includes(q.value.key);
    const bounds = q.value.key === 'application' ? model.facts[0]!.application_bounds : null;
    const hint = known
        ? q.hint + (bounds ? `. It is ${bounds}` : '')
        : `${q.hint} (unavailable: the recording has no such data)`;
    const title = q.group && (bounds ? `${q.group}*` : q.group);
    const group = title && (time ? `${title} (${units[unit].text})` : title);
    const main: GridColumn = {
        key: q.key,
        title: time && !group ? `${q.title} (${units[unit].text})` : q.title,
        group,
        hint: time ? `${hint}, in ${units[unit].text}` : hint,
        width: isMeasure(q.value) || time ? 92 : 100,
        numeric: true,
        shown: (q.value.shown || leads) && (known || !isMeasure(q.value)),
        text: (row) =>
            isKnown(row) ? signOf(model, table, q.key, row, 0) + valueText(model, q.key, values[row]!, 0, unit) : empty,
        sortBy: (row) => (isKnown(row) ? values[row]! : -1),
        tip: (row) => timingTip(model, table, q.key, row, 0),
        whole: total,
        perNanosecond: time ? perNanosecond : undefined,
    };
    if (!isMeasure(q.value)) return [main];
    const share = (row: number) => (isKnown(row) && total > 0 ? values[row]! / total : 0);
    main.share = share;
    main.tone = () => toneOf(q.value);
    return [
        main,
        {
            key: `${q.key}_percent`,
            title: '%',
            group,
            hint: `${hint}; share of the session's total`,
            width: 76,
            numeric: true,
            shown: shares && (q.value.share_shown || q.value.key === measure.value) && known,
            text: (row) =>
                isKnown(row) && total > 0 ? signOf(model, table, q.key, row, 0) + percent(share(row)) : empty,
            sortBy: (row) => (isKnown(row) ? values[row]! : -1),
            tip: (row) => timingTip(model, table, q.key, row, 0),
            whole: total,
        },
    ];
}

function toneOf(value: ValueFacts): string {
    return value.off_cpu || value.of_probes ? 'bar-wait' : 'bar-hot';
}

// The column of a percentage of two of the row's exclusive values.
function percentage(model: Model, table: TableName, value: ValueFacts): GridColumn {
    const [part, whole] = [`${value.parts![0]}_exclusive`, `${value.whole}_exclusive`];
    const share = (row: number) => {
        const all = model.column(table, whole, 0)[row]!;
        return all > 0 ? model.column(table, part, 0)[row]! / all : 0;
    };
    return {
        key: `${value.key}_percent`,
        title: value.title,
        hint: value.meanings[0]!,
        width: 76,
        numeric: true,
        shown: value.shown && value.known,
        text: (row) => (value.known && isKnownAt(model, table, whole, row, 0) ? percent(share(row)) : empty),
        sortBy: (row) => (value.known ? share(row) : -1),
        whole: 1,
    };
}

// The columns base, new and change. Changes are in nanoseconds, as the clocks of the sessions may differ.
function compared(model: Model, table: TableName, q: Quantity, chosen: ChosenUnit): GridColumn[] {
    if (!model.knows(q.key) || q.value.kind === 'percent') return [];
    const shown = q.value.share_shown || q.value.key === measure.value;
    const sides: Values[] = [model.column(table, q.key, 0), model.column(table, q.key, 1)];
    const time = q.value.kind === 'time' && !model.facts[0]!.samples;
    const scale = ([0, 1] as Side[]).map((s) => (time ? 1e9 / model.facts[s]!.ticks_per_second : 1));
    const exact = (row: number, side: Side): bigint =>
        time
            ? nanoseconds(sides[side]![row]!, model.facts[side]!.ticks_per_second)
            : BigInt(Math.round(sides[side]![row]!));
    const change = (row: number) => sides[1]![row]! * scale[1]! - sides[0]![row]! * scale[0]!;
    const totals = ([0, 1] as Side[]).map((s) => model.total(q.key, s) * scale[s]!);
    const whole = Math.max(totals[0]!, totals[1]!);
    const longest = sides.map(
        (values, side) => largest(values, (row) => isCompleted(model, table, q, row, side as Side)) * scale[side]!,
    );
    const unit = columnUnit(model, time ? Math.max(...longest) : 0, chosen);
    const group = (q.group ? `${q.group} ${q.title}` : q.title) + (time ? ` (${units[unit].text})` : '');
    const columns: GridColumn[] = ([0, 1] as Side[]).map((side) => ({
        key: `${q.key}_${side ? 'new' : 'base'}`,
        title: side ? 'B' : 'A',
        group,
        hint: `${q.hint}; ${side ? 'new (B)' : 'base (A)'}${time ? `, in ${units[unit].text}` : ''}`,
        width: 88,
        numeric: true,
        shown,
        text: (row) =>
            isKnownAt(model, table, q.key, row, side)
                ? signOf(model, table, q.key, row, side) + valueText(model, q.key, sides[side]![row]!, side, unit)
                : empty,
        tip: (row) => timingTip(model, table, q.key, row, side),
        sortBy: (row) => sides[side]![row]! * scale[side]!,
        share: !isMeasure(q.value)
            ? undefined
            : (row) => (totals[side] ? (sides[side]![row]! * scale[side]!) / totals[side] : 0),
        tone: () => toneOf(q.value),
        whole: totals[side],
        perNanosecond: time ? 1 : undefined,
    }));
    const tone = (row: number) => {
        const by = change(row);
        return by > 0 ? 'more' : by < 0 ? 'less' : '';
    };
    columns.push(
        {
            key: `${q.key}_change`,
            title: 'Δ',
            group,
            hint: `${q.hint}; new minus base`,
            width: 96,
            numeric: true,
            shown,
            text: (row) => {
                const by = exact(row, 1) - exact(row, 0);
                return signed(time ? duration(by, unit) : count(by));
            },
            sortBy: change,
            share: (row) => (whole > 0 ? Math.min(1, Math.abs(change(row)) / whole) : 0),
            tone: (row) => `bar-${tone(row)} ${tone(row)}`,
            whole,
            perNanosecond: time ? 1 : undefined,
        },
        {
            key: `${q.key}_change_percent`,
            title: 'Δ %',
            group,
            hint: `${q.hint}; change relative to base`,
            width: 84,
            numeric: true,
            shown,
            text: (row) => {
                const [from, to] = [Number(exact(row, 0)), Number(exact(row, 1))];
                if (from <= 0) return to > 0 ? 'new' : empty;
                return to >= 10 * from ? `×${(to / from).toFixed(0)}` : signed(percent((to - from) / from));
            },
            sortBy: (row) => {
                const from = sides[0]![row]! * scale[0]!;
                return from > 0 ? change(row) / from : change(row) > 0 ? Infinity : 0;
            },
            tone,
        },
    );
    return columns;
}

// How the times of a row are known.
function timingColumn(model: Model, table: TableName): GridColumn {
    return {
        key: 'timing',
        title: 'Timing',
        hint: Object.entries(timingMeanings)
            .map(([timing, meaning]) => `${timing}: ${meaning}`)
            .join('; '),
        width: 76,
        numeric: false,
        shown: true,
        text: (row) => timingOf(model, table, row, 0),
        tip: (row) => timingMeanings[timingOf(model, table, row, 0)],
        sortBy: (row) => timingOf(model, table, row, 0),
    };
}

export function valueColumns(model: Model, table: TableName, unit: ChosenUnit, shares = true): GridColumn[] {
    const all = quantities(model);
    const timing = hasTiming(model) ? [timingColumn(model, table)] : [];
    if (model.sides === 1) return [...all.flatMap((q) => single(model, table, q, unit, shares)), ...timing];
    // The columns of the default sort key, the change of exclusive time, come first.
    const own = table === 'functions' || table === 'modules';
    const first = `${measure.value}_exclusive`;
    if (own) all.sort((a, b) => Number(b.key === first) - Number(a.key === first));
    return all.flatMap((q) => compared(model, table, q, unit));
}

// True if a row was blocked for more than half of its exclusive time, or only waits by its name: it is drawn grey.
export function waits(model: Model, table: TableName, row: number): boolean {
    if (!model.facts[0]!.off_cpu) return waitsByName(model, table, row);
    const side = (model.sides - 1) as Side;
    const whole = model.column(table, 'elapsed_exclusive', side)[row]!;
    return whole > 0 && model.column(table, 'blocked_exclusive', side)[row]! > whole / 2;
}

// The name, the chosen columns, and always the one that the table is sorted by. If the user chose none, they are the usual
// ones as far as they fit into the table's width beside a name of `nameWidth` pixels.
export function shownColumns(
    name: string,
    all: GridColumn[],
    sort: Sort,
    width: number,
    nameWidth: number,
): Set<string> {
    const chosen = chosenColumns.value[name];
    if (chosen)
        return new Set(all.map((c) => c.key).filter((key, i) => i === 0 || key === sort.key || chosen.includes(key)));
    const kept = all.filter((c, i) => i === 0 || c.key === sort.key || (c.kept && !isNarrow.value));
    const shown = new Set(kept.map((c) => c.key));
    let room = width - nameWidth - kept.reduce((sum, c) => sum + (c === all[0] ? 0 : c.width), 0);
    for (const c of all) {
        if (!c.shown || shown.has(c.key)) continue;
        room -= c.width;
        if (room < 0) break;
        shown.add(c.key);
    }
    return shown;
}

// The order that the user chose for a table, if it still has the column; otherwise the standard one.
export function sortOf(name: string, columns: GridColumn[], standard: Sort): Sort {
    const has = (sort: Sort | undefined) => columns.some((c) => c.key === sort?.key);
    const chosen = sorts.value[name];
    if (chosen && has(chosen)) return chosen;
    return has(standard) ? standard : { key: columns[0]!.key, descending: false };
}
