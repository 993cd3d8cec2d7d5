// How hot rows are: their own time, as a share of what the hottest has. Rows whose own time is mostly waiting are not hot.
import { heat, palette } from './colours';
import { type Measure, isOffCpu } from './data/measures';
import type { Model, Side, TableName, Values } from './data/model';

const noticed = 0.002; // of the whole: what has less of its own is not said to wait

export function waitsByItself(model: Model, table: TableName, row: number, side: Side): boolean {
    const elapsed = model.column(table, 'elapsed_exclusive', side)[row]!;
    return (
        elapsed > noticed * model.total('elapsed_exclusive', side) &&
        model.column(table, 'blocked_exclusive', side)[row]! > elapsed / 2
    );
}

const hottest = new WeakMap<Values, number>();

function mostOf(model: Model, table: TableName, values: Values, side: Side, waiting: boolean): number {
    let most = hottest.get(values);
    const [elapsed, blocked] = [
        model.column(table, 'elapsed_exclusive', side),
        model.column(table, 'blocked_exclusive', side),
    ];
    const least = noticed * model.total('elapsed_exclusive', side);
    if (most === undefined) {
        most = 0;
        for (let row = 0; row < values.length; row++)
            if (values[row]! > most && !(waiting && blocked[row]! > elapsed[row]! / 2 && elapsed[row]! > least))
                most = values[row]!;
        hottest.set(values, most);
    }
    return most;
}

// The most own time of any row that works.
export function hottestOf(model: Model, table: TableName, measure: Measure, side: Side): number {
    const waiting = model.facts[side]!.away && !isOffCpu(model, measure);
    return mostOf(model, table, model.column(table, `${measure}_exclusive`, side), side, waiting);
}

// Where waiting itself is looked at, it is as hot as anything.
export function heatOf(model: Model, table: TableName, row: number, measure: Measure, side: Side): string {
    const waiting = model.facts[side]!.away && !isOffCpu(model, measure);
    if (waiting && waitsByItself(model, table, row, side)) return palette().wait;
    const values = model.column(table, `${measure}_exclusive`, side);
    const most = hottestOf(model, table, measure, side);
    return heat(most > 0 ? values[row]! / most : 0);
}
