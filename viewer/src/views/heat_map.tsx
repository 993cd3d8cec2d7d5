// The view of a long run's rhythm: a column for each second (or more), cut into cells of a fiftieth. A click on a cell
// shows its time on the timeline, and a drag shows that of several ones.
import { useMemo, useRef, useState } from 'preact/hooks';
import { useCanvas } from '../charts/canvas';
import { cellAt, drawHeatMap, layHeatMap } from '../charts/heat_map_draw';
import { Tip, type TipAt } from '../charts/tip';
import type { ActivityKind } from '../data/activity';
import type { TimelineFacts } from '../data/facts';
import { HeatCells } from '../data/heat_cells';
import type { Model, Side } from '../data/model';
import { nanoseconds, percent, shortDuration } from '../format';
import { heatKind, model, range, timelineSide, view } from '../state';

export function HeatMap() {
    const m = model.value!;
    const side: Side = m.sides === 2 ? timelineSide.value : 0;
    const facts = m.facts[side]!.timeline;
    const cells = useMemo(() => facts && HeatCells.of(m.containers[side]!, facts), [m, side]);
    if (!facts) return <p class="wait">This recording has no single calls: record in mode trace or ring.</p>;
    if (!cells) return <p class="wait">This run is shorter than two seconds: the timeline shows all of it.</p>;
    return <HeatMapOf key={side} m={m} side={side} facts={facts} cells={cells} />;
}

function HeatMapOf({ m, side, facts, cells }: { m: Model; side: Side; facts: TimelineFacts; cells: HeatCells }) {
    const perSecond = m.facts[side]!.ticks_per_second;
    const timeOf = (ticks: number) => shortDuration(Number(nanoseconds(Math.round(ticks), perSecond)));
    const names: Record<ActivityKind, string> = {
        cpu: m.facts[side]!.off_cpu ? 'CPU' : 'in calls',
        blocked: 'blocked',
        preempted: 'preempted',
    };
    const { kinds } = cells;
    const kind = kinds.includes(heatKind.value) ? heatKind.value : (kinds[0] ?? 'cpu');
    const size = useRef({ width: 1000, height: 500 });
    const begun = useRef(-1); // the cell where a drag began
    const [selected, setSelected] = useState<[number, number] | null>(null);
    const [tip, setTip] = useState<(TipAt & { cell: number }) | null>(null);
    const { canvas, element } = useCanvas((d) => {
        size.current = d;
        drawHeatMap(d, cells, kind, layHeatMap(cells, d.width, d.height), selected, (cell) =>
            timeOf(cell * cells.width),
        );
    });
    const cellUnder = (event: MouseEvent): number => {
        const box = element.current!.getBoundingClientRect();
        const lay = layHeatMap(cells, size.current.width, size.current.height);
        return cellAt(cells, lay, event.clientX - box.left, event.clientY - box.top);
    };
    const show = ([one, other]: [number, number]) => {
        range.value = cells.rangeOf(one, other);
        view.value = 'timeline';
    };
    const move = (event: MouseEvent) => {
        const cell = cellUnder(event);
        setTip(cell < 0 ? null : { cell, x: event.clientX, y: event.clientY });
        if (begun.current >= 0 && cell >= 0)
            setSelected([Math.min(begun.current, cell), Math.max(begun.current, cell)]);
    };
    const release = (event: MouseEvent) => {
        const cell = cellUnder(event);
        if (begun.current >= 0 && cell >= 0) show([begun.current, cell]);
        begun.current = -1;
    };
    const onKeyDown = (event: KeyboardEvent) => {
        const steps: Record<string, number> = {
            ArrowUp: -1,
            ArrowDown: 1,
            ArrowLeft: -cells.perColumn,
            ArrowRight: cells.perColumn,
        };
        const step = steps[event.key];
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (step !== undefined) {
            const next = selected ? selected[0] + step : 0;
            if (next >= 0 && next < cells.count) setSelected([next, next]);
        } else if (event.key === 'Enter' && selected) show(selected);
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    const textOf = (cell: number): string => {
        const [from, to] = cells.rangeOf(cell, cell);
        const parts = kinds.map((one) => `${percent(cells.value(one, cell) / (to - from))} ${names[one]}`);
        return `${timeOf(from - facts.start)} … ${timeOf(to - facts.start)}: ${parts.join(', ')}`;
    };
    // Whole milliseconds: a cell has a whole number of ticks, so fifty of them can be some nanoseconds short of a second.
    const millisecond = 1e6;
    const ofColumn = Number(nanoseconds(cells.width * cells.perColumn, perSecond));
    const column = shortDuration(Math.round(ofColumn / millisecond) * millisecond);
    return (
        <div class="fill">
            <div class="scroller heat-map" tabIndex={0} role="application" aria-label="Heat map" onKeyDown={onKeyDown}>
                <canvas
                    ref={canvas}
                    onMouseDown={(event) => (begun.current = cellUnder(event))}
                    onMouseMove={move}
                    onMouseUp={release}
                    onMouseLeave={() => {
                        setTip(null);
                        begun.current = -1;
                    }}
                />
                {tip && (
                    <Tip at={tip}>
                        <p class="where">{textOf(tip.cell)}</p>
                    </Tip>
                )}
            </div>
            <p class="below bar">
                <label>
                    Colour{' '}
                    <select value={kind} onChange={(e) => (heatKind.value = e.currentTarget.value as ActivityKind)}>
                        {kinds.map((one) => (
                            <option key={one} value={one}>
                                {names[one]}
                            </option>
                        ))}
                    </select>
                </label>
                <span class="range" aria-live="polite">
                    {selected ? textOf(selected[0]) : `a column is ${column}, a cell ${timeOf(cells.width)}`}
                </span>
                <span class="hint">
                    the share of a cell can exceed 100 % where several threads run; click or drag: show on the timeline
                </span>
            </p>
        </div>
    );
}
