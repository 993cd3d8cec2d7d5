// The cells of the heat map: what all threads together did in each fiftieth of a column of the run, such as 20 ms of a
// second (docs/view-format.md).
import { type ActivityKind, activityKinds } from './activity';
import type { Container } from './container';
import type { TimelineFacts } from './facts';

export class HeatCells {
    readonly width: number; // of a cell, in ticks
    readonly perColumn: number;
    readonly count: number;
    readonly most: Record<ActivityKind, number>; // of a cell
    readonly kinds: ActivityKind[]; // of which the run has any
    private readonly values: Record<ActivityKind, Float64Array>;

    // null: the run is too short for a map.
    static of(container: Container, facts: TimelineFacts): HeatCells | null {
        return facts.heat ? new HeatCells(container, facts, facts.heat) : null;
    }

    private constructor(
        container: Container,
        private readonly facts: TimelineFacts,
        heat: { cell: number; cells: number },
    ) {
        const { rows = 0, columns = {} } = container.tables.heat ?? {};
        [this.width, this.perColumn] = [heat.cell, heat.cells];
        this.count = Math.ceil((facts.end - facts.start) / heat.cell);
        const valuesOf = (kind: ActivityKind): Float64Array => {
            const values = new Float64Array(this.count);
            for (let i = 0; i < rows; i++) values[columns.cell![i]!] = columns[kind]![i]!;
            return values;
        };
        const most = (values: Float64Array): number => values.reduce((one, other) => Math.max(one, other), 0);
        this.values = { cpu: valuesOf('cpu'), blocked: valuesOf('blocked'), preempted: valuesOf('preempted') };
        this.most = {
            cpu: most(this.values.cpu),
            blocked: most(this.values.blocked),
            preempted: most(this.values.preempted),
        };
        this.kinds = activityKinds.filter((kind) => this.most[kind] > 0);
    }

    get columns(): number {
        return Math.ceil(this.count / this.perColumn);
    }

    // Ticks of all threads together.
    value(kind: ActivityKind, cell: number): number {
        return this.values[kind][cell] ?? 0;
    }

    // From the begin of the one to the end of the other, which may be the earlier one, in ticks.
    rangeOf(one: number, other: number): [number, number] {
        const [first, last] = [Math.min(one, other), Math.max(one, other)];
        const { start, end } = this.facts;
        return [start + first * this.width, Math.min(end, start + (last + 1) * this.width)];
    }
}
