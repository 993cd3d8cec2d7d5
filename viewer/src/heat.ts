// The heat of rows: their exclusive time relative to the hottest row's. Rows that mostly wait are grey instead.
import { heat, palette } from './colours';
import { type Measure, isOffCpu } from './data/measures';
import type { Model, Side, TableName, Values } from './data/model';

const minWaitShare = 0.002; // of the total: rows with less exclusive time are never grey

// True if the row's function is one that only waits, by its name. Only imported reports have such functions.
export function waitsByName(model: Model, table: TableName, row: number): boolean {
    if (table === 'functions') return model.functions[row]!.waits;
    return table === 'paths' && model.functions[model.paths.function[row]!]!.waits;
}

export function waitsByItself(model: Model, table: TableName, row: number, side: Side): boolean {
    if (!model.facts[side]!.off_cpu) return waitsByName(model, table, row);
    const elapsed = model.column(table, 'elapsed_exclusive', side)[row]!;
    return (
        elapsed > minWaitShare * model.total('elapsed_exclusive', side) &&
        model.column(table, 'blocked_exclusive', side)[row]! > elapsed / 2
    );
}

// By column, the value of the hottest row.
const hottest = new WeakMap<Values, number>();

function hottestValue(model: Model, table: TableName, values: Values, side: Side, waiting: boolean): number {
    let most = hottest.get(values);
    const [elapsed, blocked] = [
        model.column(table, 'elapsed_exclusive', side),
        model.column(table, 'blocked_exclusive', side),
    ];
    const least = minWaitShare * model.total('elapsed_exclusive', side);
    const waits = (row: number) =>
        waitsByName(model, table, row) || (waiting && blocked[row]! > elapsed[row]! / 2 && elapsed[row]! > least);
    if (most === undefined) {
        most = 0;
        for (let row = 0; row < values.length; row++) if (values[row]! > most && !waits(row)) most = values[row]!;
        hottest.set(values, most);
    }
    return most;
}

// The largest exclusive time of all rows that do not mostly wait.
export function hottestOf(model: Model, table: TableName, measure: Measure, side: Side): number {
    const waiting = model.facts[side]!.off_cpu && !isOffCpu(model, measure);
    return hottestValue(model, table, model.column(table, `${measure}_exclusive`, side), side, waiting);
}

// Where the measure itself is waiting, waiting rows are not grey.
export function heatOf(model: Model, table: TableName, row: number, measure: Measure, side: Side): string {
    const waiting = model.facts[side]!.off_cpu && !isOffCpu(model, measure);
    if ((waiting && waitsByItself(model, table, row, side)) || waitsByName(model, table, row)) return palette().wait;
    const values = model.column(table, `${measure}_exclusive`, side);
    const most = hottestOf(model, table, measure, side);
    return heat(most > 0 ? values[row]! / most : 0);
}
