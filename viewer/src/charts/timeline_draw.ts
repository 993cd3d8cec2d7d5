// Draws the timeline: the ruler, marks, and for each thread its calls with its off-CPU times below them.
import { scaleLinear } from 'd3-scale';
import { inkOn, palette } from '../colours';
import { type Rows, type Piece, firstEnding } from '../data/tiles';
import type { Activity } from '../data/activity';
import { type ActivityHit, drawActivity } from './activity_draw';
import { type Drawing, fitted, font } from './canvas';
import { type Bar, drawBars, linesOf } from './activity_bars';
import { hatch } from './hatch';
import { type WaitScene, drawWaits } from './wait_arrows';
import {
    type Lane,
    activityHeight,
    gap,
    groupIndent,
    headHeight,
    markHeight,
    offCpuHeight,
    rowHeight,
    rulerHeight,
    titleHeight,
} from './lanes';

export interface Span {
    thread: number;
    depth: number;
    function: number; // number in the side's own session; -1 for several short calls
    start: number;
    length: number;
    count: number;
}

export interface Hit {
    x: number;
    y: number;
    width: number;
    height: number;
    readonly span?: Span;
    offCpu?: { kind: number; thread: number; start: number; length: number; count: number };
    mark?: number;
    event?: number;
    lane?: Lane;
    activity?: ActivityHit;
    bar?: Bar;
    wait?: number; // the arrow of a single wait
}

export interface Mark {
    time: number;
    thread: number;
    text: string;
    event: boolean;
    number: number;
}

export interface TimelineScene {
    from: number;
    to: number;
    scrolled: number;
    perSecond: number;
    lanes: Lane[];
    pieces: Piece[];
    marks: Mark[];
    bars: Bar[];
    selected: Span | null;
    nameOf(fn: number): string;
    colourOf(fn: number): string;
    isFound(fn: number): boolean;
    searching: boolean;
    activity: Activity;
    complete: boolean;
    waits: WaitScene | null;
}

// Formats a time in the unit of the latest visible time, or a smaller unit if that needs too many decimals.
export function timeText(ns: number, step: number, latest: number): string {
    for (const [unit, scale] of [
        ['s', 1e9],
        ['ms', 1e6],
        ['µs', 1e3],
        ['ns', 1],
    ] as const) {
        const decimals = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
        if (unit === 'ns' || (latest >= scale && decimals <= 5))
            return `${(ns / scale).toFixed(Math.min(decimals, 5))} ${unit}`;
    }
    return '';
}

export function drawTimeline(d: Drawing, scene: TimelineScene): Hit[] {
    const { context, width, height } = d;
    const colours = palette();
    const hits: Hit[] = [];
    const scale = width / (scene.to - scene.from);
    const xOf = (time: number) => (time - scene.from) * scale;
    const top = headHeight(scene.marks.length, linesOf(scene.bars));
    context.fillStyle = colours.back;
    context.fillRect(0, 0, width, height);
    context.font = font;
    context.textBaseline = 'middle';

    context.save();
    context.beginPath();
    context.rect(0, top, width, height - top);
    context.clip();
    const steps = gridLines(scene, width);
    context.fillStyle = colours.line;
    context.globalAlpha = 0.5;
    for (const ns of steps.list) context.fillRect(Math.round(xOf((ns * scene.perSecond) / 1e9)), top, 1, height);
    context.globalAlpha = 1;
    const painted = { ...scene, colourOf: coloursOf(scene) };
    for (const lane of scene.lanes) {
        const y = top + lane.top - scene.scrolled;
        if (y > height || top + lane.bottom - scene.scrolled < top) continue;
        drawLane(d, painted, lane, y, xOf, hits);
    }
    if (scene.waits) hits.push(...drawWaits(d, { ...scene, top }, scene.waits));
    context.fillStyle = colours.faint;
    context.globalAlpha = 0.55;
    for (const m of scene.marks) if (!m.event) context.fillRect(Math.round(xOf(m.time)), top, 1, height);
    context.globalAlpha = 1;
    context.restore();
    drawRuler(d, scene, steps, xOf, hits);
    hits.push(...drawBars(d, scene.bars, headHeight(scene.marks.length, 0), xOf));
    return hits;
}

function gridLines(scene: TimelineScene, width: number): { list: number[]; step: number } {
    const toNs = 1e9 / scene.perSecond;
    const list = scaleLinear()
        .domain([scene.from * toNs, scene.to * toNs])
        .ticks(Math.max(2, Math.floor(width / 130)));
    return { list, step: list.length > 1 ? list[1]! - list[0]! : 1 };
}

function drawRuler(
    { context, width }: Drawing,
    scene: TimelineScene,
    steps: { list: number[]; step: number },
    xOf: (time: number) => number,
    hits: Hit[],
): void {
    const colours = palette();
    context.fillStyle = colours.raised;
    context.fillRect(0, 0, width, rulerHeight);
    context.fillStyle = colours.line;
    context.fillRect(0, rulerHeight - 1, width, 1);
    for (const ns of steps.list) {
        const x = Math.round(xOf((ns * scene.perSecond) / 1e9));
        context.fillStyle = colours.faint;
        context.fillRect(x, rulerHeight - 7, 1, 6);
        context.fillStyle = colours.ink;
        context.fillText(timeText(ns, steps.step, (scene.to * 1e9) / scene.perSecond), x + 4, rulerHeight / 2);
    }
    if (!scene.marks.length) return;
    context.fillStyle = colours.back;
    context.fillRect(0, rulerHeight, width, markHeight);
    context.fillStyle = colours.line;
    context.fillRect(0, rulerHeight + markHeight - 1, width, 1);
    let free = -Infinity;
    scene.marks.forEach((m, i) => {
        const x = xOf(m.time);
        if (x < -200 || x > width) return;
        const y = rulerHeight;
        context.fillStyle = m.event ? colours.faint : colours.accent;
        if (x > free || !m.event) {
            context.beginPath();
            if (m.event) context.arc(x, y + markHeight / 2, 3, 0, 7);
            else {
                context.moveTo(x, y + markHeight - 2);
                context.lineTo(x - 4, y + 4);
                context.lineTo(x + 4, y + 4);
            }
            context.fill();
        }
        hits.push({ x: x - 5, y, width: 10, height: markHeight, mark: i });
        if (x < free) return;
        const next = scene.marks[i + 1];
        const text = fitted(context, m.text, Math.min(240, next ? xOf(next.time) - x - 12 : 240));
        if (!text) return;
        context.fillStyle = colours.ink;
        context.fillText(text, x + 7, y + markHeight / 2);
        free = x + 7 + context.measureText(text).width;
    });
}

function drawLane(
    d: Drawing,
    scene: TimelineScene,
    lane: Lane,
    y: number,
    xOf: (time: number) => number,
    hits: Hit[],
): void {
    const { context, width, height } = d;
    const colours = palette();
    const calls = y + titleHeight + activityHeight;
    const strip = calls + lane.rows * rowHeight;
    const firstRow = Math.max(0, Math.floor((rulerHeight - calls) / rowHeight));
    const lastRow = Math.min(lane.rows, Math.ceil((height - calls) / rowHeight));
    for (const piece of lane.thread < 0 ? [] : scene.pieces) {
        const left = Math.max(piece.from, scene.from);
        const right = Math.min(piece.to, scene.to);
        if (left >= right) continue;
        drawOffCpu(d, lane, piece, calls, strip, left, right, xOf, hits);
        for (let depth = firstRow; depth < lastRow; depth++)
            drawRow(d, scene, lane, piece, depth, calls + depth * rowHeight, left, right, xOf, hits);
    }
    const activity = drawActivity(d, scene.activity, lane, scene, scene.pieces, y + titleHeight);
    hits.push({ x: 0, y: y + titleHeight, width, height: activityHeight, activity });
    // The title is drawn last, above the calls that scroll under it.
    context.fillStyle = colours.raised;
    context.fillRect(0, y, width, titleHeight - 2);
    context.fillStyle = colours.ink;
    const more =
        lane.depth > lane.rows
            ? `   ${lane.rows} of ${lane.depth} rows: click to show ${lane.folded ? 'them' : 'all'}`
            : '';
    const title = `${lane.folded ? '▸' : '▾'} ${lane.title}`;
    const left = 6 + (lane.grouped ? groupIndent : 0);
    context.fillText(title, left, y + titleHeight / 2 - 1);
    if (more) {
        context.fillStyle = colours.faint;
        context.fillText(more, left + context.measureText(title).width + 12, y + titleHeight / 2 - 1);
    }
    hits.push({ x: 0, y, width, height: titleHeight - 2, lane });
    context.fillStyle = colours.line;
    context.fillRect(0, y + lane.bottom - lane.top - gap / 2, width, 1);
}

// A frame draws thousands of calls. Few of them are looked at, so the rest of a call is read only then.
class SpanHit implements Hit {
    readonly height = rowHeight;

    constructor(
        readonly x: number,
        readonly y: number,
        readonly width: number,
        private readonly rows: Rows,
        private readonly row: number,
        private readonly begin: number,
    ) {}

    get span(): Span {
        const value = (column: string) => this.rows.column(column)[this.row]!;
        const before = value('before');
        return {
            thread: value('thread'),
            depth: value('depth'),
            function: value('function'),
            start: this.begin + value('start') - before,
            length: before + value('length') + value('after'),
            count: value('count'),
        };
    }
}

// Each function's colour is found once a frame.
function coloursOf(scene: TimelineScene): (fn: number) => string {
    const found = new Map<number, string>();
    return (fn) => {
        let colour = found.get(fn);
        if (colour === undefined) found.set(fn, (colour = scene.colourOf(fn)));
        return colour;
    };
}

function drawRow(
    d: Drawing,
    scene: TimelineScene,
    lane: Lane,
    piece: Piece,
    depth: number,
    y: number,
    left: number,
    right: number,
    xOf: (time: number) => number,
    hits: Hit[],
): void {
    const { context } = d;
    const colours = palette();
    const { spans, begin } = piece.tile;
    const [first, last] = spans.at(lane.thread, depth);
    const [starts, lengths, functions] = [spans.column('start'), spans.column('length'), spans.column('function')];
    let drawnTo = -Infinity;
    let filled = '';
    for (let i = firstEnding(spans, [first, last], left - begin); i < last; i++) {
        const start = begin + starts[i]!;
        if (start >= right) break;
        const x = Math.max(xOf(start), xOf(left));
        const end = Math.min(xOf(start + lengths[i]!), xOf(right));
        // Draws only the first of several calls in one pixel.
        if (end <= drawnTo) continue;
        const fn = functions[i]!;
        const dim = scene.searching && (fn < 0 || !scene.isFound(fn));
        const fill = dim || fn < 0 ? colours.merged : scene.searching ? colours.mark : scene.colourOf(fn);
        if (fill !== filled) context.fillStyle = filled = fill;
        const w = Math.max(0.8, end - x - (end - x > 3 ? 0.6 : 0));
        context.fillRect(x, y, w, rowHeight - 1);
        drawnTo = x + Math.max(w, 0.5);
        if (end - x < 2) {
            if (hits.length < 20000) hits.push(new SpanHit(x, y, 2, spans, i, begin));
            continue;
        }
        const hit = new SpanHit(x, y, end - x, spans, i, begin);
        hits.push(hit);
        if (scene.selected && sameSpan(scene.selected, hit.span)) {
            context.strokeStyle = colours.accent;
            context.lineWidth = 2;
            context.strokeRect(x + 1, y + 1, Math.max(1, end - x - 2), rowHeight - 3);
        }
        if (end - x < 24) continue;
        // The name is drawn once, in the first visible piece of the call.
        const { span } = hit;
        if (Math.max(span.start, scene.from) < left - 1e-9) continue;
        const room = Math.min(xOf(span.start + span.length), d.width) - x;
        const text = fitted(
            context,
            fn < 0 ? `${span.count} calls` : span.count > 1 ? `${scene.nameOf(fn)} ×${span.count}` : scene.nameOf(fn),
            Math.min(room, end - x) - 6,
        );
        if (!text) continue;
        filled = '';
        context.fillStyle = dim ? colours.faint : fn < 0 ? colours.faint : scene.searching ? '#1b1f24' : inkOn(fill);
        context.fillText(text, x + 3, y + rowHeight / 2);
    }
}

export function sameSpan(a: Span, b: Span): boolean {
    return a.thread === b.thread && a.depth === b.depth && a.start === b.start && a.length === b.length;
}

function drawOffCpu(
    d: Drawing,
    lane: Lane,
    piece: Piece,
    calls: number,
    strip: number,
    left: number,
    right: number,
    xOf: (time: number) => number,
    hits: Hit[],
): void {
    const { context } = d;
    const colours = palette();
    const { offCpu, begin } = piece.tile;
    const [first, last] = offCpu.at(lane.thread, 0);
    const [starts, lengths, kinds] = [offCpu.column('start'), offCpu.column('length'), offCpu.column('kind')];
    for (let i = firstEnding(offCpu, [first, last], left - begin); i < last; i++) {
        const start = begin + starts[i]!;
        if (start >= right) break;
        const x = Math.max(xOf(start), xOf(left));
        const end = Math.min(xOf(start + lengths[i]!), xOf(right));
        const preempted = kinds[i] === 1;
        const w = Math.max(0.8, end - x);
        context.fillStyle = preempted ? hatch(context, colours.preempted, colours.back) : colours.wait;
        context.fillRect(x, strip, w, offCpuHeight - 2);
        // Also drawn faintly behind the calls, to show which calls were off the CPU.
        if (w >= 2) {
            context.fillStyle = colours.wait;
            context.globalAlpha = 0.3;
            context.fillRect(x, calls, w, strip - calls);
            context.globalAlpha = 1;
        }
        const before = offCpu.column('before')[i]!;
        const length = before + lengths[i]! + offCpu.column('after')[i]!;
        hits.push({
            x,
            y: strip,
            width: Math.max(2, end - x),
            height: offCpuHeight,
            offCpu: {
                kind: kinds[i]!,
                thread: lane.thread,
                start: start - before,
                length,
                count: offCpu.column('count')[i] || 1,
            },
        });
    }
}
