// The view of threads over time. Wheel and keys zoom; detail is fetched for the visible range.
import { select } from 'd3-selection';
import { type D3ZoomEvent, type ZoomBehavior, zoom as makeZoom, zoomIdentity, zoomTransform } from 'd3-zoom';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Drawing, useCanvas } from '../charts/canvas';
import { barsOf, linesOf } from '../charts/activity_bars';
import { type Laid, headHeight, layLanes, rowHeight } from '../charts/lanes';
import { type Hit, type Mark, type Span, drawTimeline } from '../charts/timeline_draw';
import { shadeRange } from '../charts/range_shade';
import { Tip, type TipAt } from '../charts/tip';
import { ofKind } from '../colours';
import { heatOf } from '../heat';
import type { TimelineFacts } from '../data/facts';
import type { Model, Side } from '../data/model';
import { nameOf } from '../data/names';
import { Activity } from '../data/activity';
import { type ProcessLanes, orderLanes } from '../data/threads';
import { Tiles } from '../data/tiles';
import { findWait, nextWait, rowsIn, waitAt } from '../data/waits';
import { nanoseconds, shortDuration, shortened, plural } from '../format';
import { canChooseTime, chooseRange, chosenThreads, snapped } from '../part';
import {
    chosen,
    colouring,
    foldedLanes,
    found,
    hiddenLanes,
    laneOrder,
    measure,
    model,
    ownOrder,
    path,
    range,
    recentre,
    selectFunction,
    showsArrows,
    showsCritical,
    source,
    timelineSide,
} from '../state';
import { savePicture } from '../picture';
import { beginsRange, useRangeDrag } from './range_drag';
import { ThreadMenu, toggled } from './thread_menu';
import { HitTip } from './timeline_tip';
import { useWaits } from './wait_block';
import { WaitCause, WaitToggles } from './wait_cause';

function marksOf(m: Model, side: Side): Mark[] {
    const { tables } = m.containers[side]!;
    const facts = m.facts[side]!;
    const list: Mark[] = [];
    for (const [table, names, event] of [
        ['marks', facts.mark_names, false],
        ['events', facts.event_names, true],
    ] as const) {
        const { rows = 0, columns = {} } = tables[table] ?? {};
        for (let i = 0; i < rows; i++) {
            const text = names?.[columns.name?.[i] ?? 0] ?? '';
            const number = columns.number?.[i] ?? 0;
            const type = columns.type ? ` (${columns.type[i]})` : '';
            list.push({
                time: columns.time?.[i] ?? 0,
                thread: columns.thread?.[i] ?? -1,
                text: shortened(event ? text + type : text || `mark ${number}`, 300),
                event,
                number,
            });
        }
    }
    return list.sort((a, b) => a.time - b.time);
}

function clampedRange(span: [number, number], facts: TimelineFacts): [number, number] {
    const whole = facts.end - facts.start;
    const width = Math.max(Math.min(span[1] - span[0], whole), Math.min(whole, 16));
    const from = Math.max(facts.start, Math.min(span[0], facts.end - width));
    return [from, from + width];
}

// The lanes of the chosen threads.
function shownLanes(m: Model, side: Side, facts: TimelineFacts): TimelineFacts {
    const threads = chosenThreads(m, chosen.value);
    if (!threads) return facts;
    return { ...facts, lanes: facts.lanes.filter((lane) => threads[m.rowOf('threads', lane.thread, side)]) };
}

function chosenRange(m: Model, side: Side): [number, number] | null {
    const wanted = chosen.value.ranges[side];
    return wanted && m.facts[side]!.parts ? snapped(m.facts[side]!, wanted) : null;
}

function useColours(m: Model, side: Side) {
    return (fn: number) => {
        const row = m.rowOf('functions', fn, side);
        return colouring.value === 'module'
            ? ofKind(m.functions[row]!.module)
            : heatOf(m, 'functions', row, measure.value, side);
    };
}

// The lanes that are shown. A folded process hides its threads.
function laidOut(groups: ProcessLanes[], hidden: ReadonlySet<string>, folded: ReadonlySet<string>): Laid[] {
    const grouped = groups.length > 1;
    return groups.flatMap((group) => {
        const threads = hidden.has(group.key) ? [] : group.threads.filter((one) => !hidden.has(one.key));
        const own: Laid[] = threads.map((one) => ({
            key: one.key,
            thread: one.thread,
            threads: [one.thread],
            title: `${shortened(one.name, 100)} (${one.id})`,
            depth: one.depth,
            grouped,
        }));
        if (!grouped || own.length === 0) return own;
        const title = `${shortened(group.name, 100)} (${group.id}): ${plural(own.length, 'thread')}`;
        const all = threads.map((one) => one.thread);
        const head: Laid = { key: group.key, thread: -1, threads: all, title, depth: 0, grouped: false };
        return folded.has(group.key) ? [head] : [head, ...own];
    });
}

export function Timeline() {
    const m = model.value!;
    const side: Side = m.sides === 2 ? timelineSide.value : 0;
    const facts = m.facts[side]!.timeline;
    if (!facts || facts.lanes.length === 0 || facts.end <= facts.start)
        return (
            <p class="wait">
                This recording has no timeline: only the modes trace and ring record when calls happened.
            </p>
        );
    return <TimelineOf key={side} m={m} side={side} facts={facts} />;
}

function TimelineOf({ m, side, facts }: { m: Model; side: Side; facts: TimelineFacts }) {
    const scroller = useRef<HTMLDivElement>(null);
    const hits = useRef<Hit[]>([]);
    const size = useRef({ width: 1000, height: 500 });
    const [whole, setWhole] = useState<ReadonlySet<string>>(new Set());
    const [choosing, setChoosing] = useState(false);
    const [tip, setTip] = useState<(TipAt & { hit: Hit; column: number }) | null>(null);
    const [selected, setSelected] = useState<Span | null>(null);
    const [selectedWait, setSelectedWait] = useState(-1);
    const read = useWaits(m, side);
    const waits = typeof read === 'string' ? null : read;
    const redrawLater = useRef(() => {});
    const perSecond = m.facts[side]!.ticks_per_second;
    const toNs = (ticks: number) => Number(nanoseconds(Math.round(ticks), perSecond));
    const [dragged, setDragged] = useState<[number, number] | null>(null);
    const shown = useMemo(() => shownLanes(m, side, facts), [facts, chosen.value]);
    const groups = useMemo(
        () => orderLanes(m, side, shown, laneOrder.value, ownOrder.value),
        [m, side, shown, laneOrder.value, ownOrder.value],
    );
    const { lanes, height } = useMemo(
        () => layLanes(laidOut(groups, hiddenLanes.value, foldedLanes.value), foldedLanes.value, whole),
        [groups, hiddenLanes.value, foldedLanes.value, whole],
    );
    const activity = useMemo(() => new Activity(m.containers[side]!, facts.start, facts.bin), [m, side]);
    const tiles = useMemo(
        () =>
            new Tiles(
                facts,
                (block) => source.value!.block(side, block),
                () => redrawLater.current(),
            ),
        [facts, side],
    );
    const marks = useMemo(() => marksOf(m, side), [m, side]);
    const bars = useMemo(() => barsOf(m, side), [m, side]);
    const colourOf = useColours(m, side);
    // The canvas is drawn after the render. Reading these here renders and draws again when they change.
    const highlighted = found.value;
    void measure.value;
    const [arrows, critical] = [showsArrows.value, showsCritical.value && facts.lanes.length > 1];
    const [from, to] = clampedRange(range.value ?? [facts.start, facts.end], facts);
    const top = headHeight(marks.length, linesOf(bars));
    const part = dragged ?? chosenRange(m, side);

    const draw = (d: Drawing, scrolled = scroller.current?.scrollTop ?? 0): Hit[] => {
        const drawn = drawTimeline(d, {
            from,
            to,
            perSecond,
            lanes,
            marks,
            bars,
            selected,
            scrolled,
            pieces: tiles.pieces(from, to, (to - from) / d.width),
            nameOf: (fn) => shortened(nameOf(m.functions[m.rowOf('functions', fn, side)]!), 200),
            colourOf,
            isFound: (fn) => highlighted?.[m.rowOf('functions', fn, side)] === 1,
            searching: highlighted !== null,
            activity,
            complete: facts.complete,
            waits: waits && { block: waits, arrows, critical, selected: selectedWait },
        });
        if (part)
            shadeRange(
                d,
                ((part[0] - from) / (to - from)) * d.width,
                ((part[1] - from) / (to - from)) * d.width,
                !!dragged,
            );
        return drawn;
    };
    const { canvas, redraw, element } = useCanvas((d) => {
        size.current = d;
        hits.current = draw(d);
    });
    const save = () => {
        const { title } = m.facts[side]!;
        const caption = `${shortened(title, 100)}: ${shortDuration(toNs(from))} … ${shortDuration(toNs(to))}`;
        savePicture('timeline.png', caption, size.current.width, height + top, (d) => draw(d, 0));
    };
    redrawLater.current = redraw;

    const setRange = (next: [number, number]) => {
        const [a, b] = clampedRange(next, facts);
        range.value = a <= facts.start && b >= facts.end ? null : [a, b];
    };
    const zoomBy = (factor: number, centre = (from + to) / 2) =>
        setRange([centre - (centre - from) * factor, centre + (to - centre) * factor]);

    useZoom(element, facts, [from, to], setRange, scroller, canChooseTime(m.facts[side]!));
    const dragEnded = useRangeDrag(element, canChooseTime(m.facts[side]!), {
        timeAt: (x) => from + (x / size.current.width) * (to - from),
        onMove: setDragged,
        onEnd: (next) => chooseRange(side, next),
    });

    const hitAt = (event: MouseEvent): Hit | undefined => {
        const box = element.current!.getBoundingClientRect();
        const [x, y] = [event.clientX - box.left, event.clientY - box.top];
        return hits.current.findLast((h) => x >= h.x && x < h.x + h.width && y >= h.y && y < h.y + h.height);
    };
    const click = (event: MouseEvent) => {
        scroller.current!.focus({ preventScroll: true });
        const hit = dragEnded.current ? undefined : hitAt(event);
        if (hit?.lane) {
            const { lane } = hit;
            if (!lane.folded && lane.depth > lane.rows) setWhole(new Set([...whole, lane.key]));
            else foldedLanes.value = toggled(foldedLanes.value, lane.key);
        } else if (hit?.wait !== undefined) {
            setSelectedWait(hit.wait);
        } else if (hit?.offCpu) {
            const { kind, thread, start, length } = hit.offCpu;
            setSelectedWait(waits && kind === 0 ? findWait(waits, thread, start, start + length) : -1);
        } else if (hit?.bar) {
            const { time, length } = hit.bar;
            if (length > 0 && canChooseTime(m.facts[side]!)) chooseRange(side, [time, time + length]);
        } else if (hit?.span) {
            setSelected(hit.span);
            if (hit.span.function >= 0) {
                path.value = -1;
                selectFunction(m.rowOf('functions', hit.span.function, side));
            }
        }
    };
    const zoomToSpan = (span: Span) => setRange([span.start - span.length * 0.05, span.start + span.length * 1.05]);
    const toMark = (forwards: boolean) => {
        const middle = (from + to) / 2;
        const margin = (to - from) / 1e6;
        const next = forwards
            ? marks.find((x) => x.time > middle + margin)
            : marks.findLast((x) => x.time < middle - margin);
        if (next) setRange([next.time - (to - from) / 2, next.time + (to - from) / 2]);
    };
    const shownThreads = new Set(lanes.map((one) => one.thread));
    const toWait = (forwards: boolean) => {
        const next = waits && nextWait(waits, shownThreads, selectedWait, (from + to) / 2, forwards);
        if (!next) return;
        setSelectedWait(next.row);
        if (next.end < from || next.begin > to) setRange([next.begin - (to - from) / 2, next.begin + (to - from) / 2]);
    };
    const toAct = () => {
        const wait = waits && selectedWait >= 0 ? waitAt(waits, selectedWait) : null;
        if (!wait || wait.waker < 0) return;
        const lane = lanes.find((one) => one.thread === wait.waker);
        if (lane) scroller.current!.scrollTop = Math.max(0, lane.top - 60);
        setRange([wait.woken - (to - from) / 2, wait.woken + (to - from) / 2]);
    };
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const width = to - from;
        const { key } = event;
        const box = scroller.current!;
        if (key === '+' || key === '=' || key === 'w') zoomBy(0.5);
        else if (key === '-' || key === 's') zoomBy(2);
        else if (key === 'ArrowRight' || key === 'd') setRange([from + width / 5, to + width / 5]);
        else if (key === 'ArrowLeft' || key === 'a') setRange([from - width / 5, to - width / 5]);
        else if (key === 'ArrowDown') box.scrollTop += rowHeight * 3;
        else if (key === 'ArrowUp') box.scrollTop -= rowHeight * 3;
        else if (key === 'PageDown') box.scrollTop += box.clientHeight - 80;
        else if (key === 'PageUp') box.scrollTop -= box.clientHeight - 80;
        else if (key === '0' || key === 'Home') range.value = null;
        else if ((key === 'f' || key === 'Enter') && selected) zoomToSpan(selected);
        else if (key === 'o' && selected && selected.function >= 0)
            recentre(m.rowOf('functions', selected.function, side));
        else if (key === 'l') setChoosing(true);
        else if (key === 'v') showsArrows.value = !arrows;
        else if (key === 'b') showsCritical.value = !showsCritical.value;
        else if (key === 'n' || key === 'N') toWait(key === 'n');
        else if (key === 'j') toAct();
        else if (key === ']') toMark(true);
        else if (key === '[') toMark(false);
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    return (
        <div class="fill">
            <div
                class="scroller timeline"
                ref={scroller}
                tabIndex={0}
                role="application"
                aria-label="Timeline"
                data-lanes={JSON.stringify(lanes.slice(0, 100).map((one) => [one.title, one.top]))}
                onKeyDown={onKeyDown}
                onScroll={redraw}
            >
                <div style={{ height: `${height + top}px`, minHeight: '100%' }}>
                    <canvas
                        ref={canvas}
                        onClick={click}
                        onDblClick={(e) => {
                            const hit = hitAt(e);
                            if (hit?.span) zoomToSpan(hit.span);
                        }}
                        onMouseMove={(e) => {
                            const hit = e.buttons ? undefined : hitAt(e);
                            const column = e.clientX - element.current!.getBoundingClientRect().left;
                            setTip(hit && !hit.lane ? { hit, column, x: e.clientX, y: e.clientY } : null);
                        }}
                        onMouseLeave={() => setTip(null)}
                    />
                </div>
                {tip && (
                    <Tip at={tip}>
                        <HitTip m={m} side={side} hit={tip.hit} column={tip.column} marks={marks} toNs={toNs} />
                    </Tip>
                )}
            </div>
            {waits && selectedWait >= 0 && selectedWait < rowsIn(waits, 'waits') && (
                <WaitCause
                    m={m}
                    side={side}
                    block={waits}
                    row={selectedWait}
                    onShow={() => {
                        const { begin, end } = waitAt(waits, selectedWait);
                        setRange([begin - (end - begin) * 0.1, end + (end - begin) * 0.1]);
                    }}
                    onAct={toAct}
                    onClose={() => setSelectedWait(-1)}
                />
            )}
            <p class="below bar">
                <button
                    onClick={() => (range.value = null)}
                    disabled={range.value === null}
                    title="Show the whole session (0)"
                >
                    Whole
                </button>
                <button onClick={() => zoomBy(0.5)} title="Zoom in (+, w)" aria-label="Zoom in">
                    +
                </button>
                <button onClick={() => zoomBy(2)} title="Zoom out (-, s)" aria-label="Zoom out">
                    −
                </button>
                <button
                    class="threads-button"
                    aria-haspopup="dialog"
                    aria-expanded={choosing}
                    title="Hide, collapse and order threads (l)"
                    onClick={() => setChoosing(!choosing)}
                >
                    Threads ▾
                </button>
                {choosing && <ThreadMenu groups={groups} onClose={() => setChoosing(false)} />}
                <button class="save-button" title="Save all threads as a picture (Y)" onClick={save}>
                    Save picture
                </button>
                <WaitToggles m={m} side={side} waits={waits} />
                <span class="range">
                    {shortDuration(toNs(from))} … {shortDuration(toNs(to))} ({shortDuration(toNs(to - from))})
                </span>
                {m.sides === 2 && (
                    <label>
                        Session{' '}
                        <select
                            value={side}
                            onChange={(e) => {
                                timelineSide.value = Number(e.currentTarget.value) as Side;
                                range.value = null;
                            }}
                        >
                            <option value={0}>A (base)</option>
                            <option value={1}>B (new)</option>
                        </select>
                    </label>
                )}
                <label>
                    Colour{' '}
                    <select
                        value={colouring.value}
                        onChange={(e) => (colouring.value = e.currentTarget.value as 'heat' | 'module')}
                    >
                        <option value="heat">by exclusive time</option>
                        <option value="module">by module</option>
                    </select>
                </label>
                <span class="legend">
                    <i class="swatch-busy" /> CPU <i class="swatch-wait" /> blocked <i class="swatch-preempted" />{' '}
                    preempted <i class="swatch-merged" /> short calls
                </span>
                {!facts.complete && (
                    <span title="dwell view --detail SIZE keeps more detail">some detail is left out</span>
                )}
                {tiles.problem && <span class="more">{tiles.problem}</span>}
                <span class="hint">wheel: zoom; drag: move; drag on the ruler: choose a part; ?: keys</span>
            </p>
        </div>
    );
}

// Connects d3's zoom, which handles wheel, drag and touch, to the shown range. Keys and links change the range, too.
function useZoom(
    element: { current: HTMLCanvasElement | null },
    facts: TimelineFacts,
    shown: [number, number],
    setRange: (next: [number, number]) => void,
    scroller: { current: HTMLDivElement | null },
    choosable: boolean,
): void {
    const behaviour = useRef<ZoomBehavior<HTMLCanvasElement, unknown> | null>(null);
    const latest = useRef({ setRange, facts, choosable, shown });
    latest.current = { setRange, facts, choosable, shown };
    const width = useRef(0);
    // Sets d3's zoom to the shown range and the canvas's width. A window may change its width without a render.
    const fit = useRef(() => {
        const canvas = element.current!;
        const { start, end } = latest.current.facts;
        const [from, to] = latest.current.shown;
        const whole = end - start;
        width.current = canvas.clientWidth;
        const pixels = width.current || 1;
        const k = whole / (to - from);
        const x = -((from - start) / whole) * k * pixels;
        behaviour
            .current!.scaleExtent([1, Math.max(1, whole / 16)])
            .extent([
                [0, 0],
                [pixels, 1],
            ])
            .translateExtent([
                [0, -Infinity],
                [pixels, Infinity],
            ]);
        // Skips changes that d3's zoom made itself.
        const had = zoomTransform(canvas);
        const off = (value: number, other: number) => Math.abs(value - other) > 1e-6 * Math.max(1, Math.abs(other));
        if (off(had.k, k) || off(had.x, x))
            behaviour.current!.transform(select(canvas), zoomIdentity.translate(x, 0).scale(k));
    }).current;
    useLayoutEffect(() => {
        const canvas = element.current!;
        let lastY = 0;
        behaviour.current = makeZoom<HTMLCanvasElement, unknown>()
            .filter((event: MouseEvent) => {
                if (canvas.clientWidth !== width.current) fit();
                return (
                    !event.button &&
                    !(event.type === 'dblclick') &&
                    !(event.type === 'mousedown' && latest.current.choosable && beginsRange(event))
                );
            })
            .on(
                'start',
                (event: D3ZoomEvent<HTMLCanvasElement, unknown>) =>
                    (lastY = (event.sourceEvent as MouseEvent | null)?.clientY ?? 0),
            )
            .on('zoom', (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
                const by = event.sourceEvent as MouseEvent | null;
                if (!by) return; // the transform was set below, not by the user
                const { k, x } = event.transform;
                const { start, end } = latest.current.facts;
                const width = (end - start) / k;
                const from = start - (x / k / canvas.clientWidth) * (end - start);
                latest.current.setRange([from, from + width]);
                if (by.type === 'mousemove') {
                    scroller.current!.scrollTop += lastY - by.clientY;
                    lastY = by.clientY;
                }
            });
        select(canvas).call(behaviour.current).on('dblclick.zoom', null);
        return () => {
            select(canvas).on('.zoom', null);
        };
    }, []);
    useLayoutEffect(fit);
}
