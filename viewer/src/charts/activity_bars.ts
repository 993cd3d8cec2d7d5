// The activities on the timeline: bars below the marks, from begin to end, on several lines where they overlap.
import type { Model, Side } from '../data/model';
import { inkOn, ofKind, palette } from '../colours';
import { shortened } from '../format';
import { type Drawing, fitted } from './canvas';
import { barHeight, maxBarLines } from './lanes';

export interface Bar {
    time: number;
    length: number;
    waited: number; // its first part, in which it waited in a queue
    thread: number;
    text: string;
    kind: number; // equal for activities of one name
    line: number;
}

export interface BarHit {
    x: number;
    y: number;
    width: number;
    height: number;
    bar: Bar;
}

// The first line that is free at the bar's begin, or else the last one, on which bars then hide each other.
function placeBars(bars: Bar[]): void {
    const ends: number[] = [];
    for (const bar of bars) {
        let line = ends.findIndex((end) => end <= bar.time);
        if (line < 0) line = Math.min(ends.length, maxBarLines - 1);
        ends[line] = Math.max(ends[line] ?? 0, bar.time + bar.length);
        bar.line = line;
    }
}

export function barsOf(m: Model, side: Side): Bar[] {
    const { rows = 0, columns = {} } = m.containers[side]!.tables.activities ?? {};
    const names = m.facts[side]!.activity_names;
    const bars: Bar[] = [];
    for (let i = 0; i < rows; i++)
        bars.push({
            time: columns.time?.[i] ?? 0,
            length: columns.duration?.[i] ?? 0,
            waited: columns.waited?.[i] ?? 0,
            thread: columns.thread?.[i] ?? -1,
            text: shortened(names?.[columns.name?.[i] ?? 0] || 'activity', 300),
            kind: columns.name?.[i] ?? 0,
            line: 0,
        });
    bars.sort((a, b) => a.time - b.time);
    placeBars(bars);
    return bars;
}

export const linesOf = (bars: Bar[]): number => bars.reduce((lines, bar) => Math.max(lines, bar.line + 1), 0);

export function drawBars(
    { context, width }: Drawing,
    bars: Bar[],
    top: number,
    xOf: (time: number) => number,
): BarHit[] {
    const colours = palette();
    const hits: BarHit[] = [];
    const lines = linesOf(bars);
    if (!lines) return hits;
    context.fillStyle = colours.back;
    context.fillRect(0, top, width, lines * barHeight);
    const drawnTo = new Array<number>(lines).fill(-Infinity);
    for (const bar of bars) {
        const x = Math.max(0, xOf(bar.time));
        const end = Math.min(width, xOf(bar.time + bar.length));
        // Of several bars in one pixel, only the first is drawn.
        if (end < 0 || x > width || end <= drawnTo[bar.line]!) continue;
        const w = Math.max(2, end - x - 1);
        const y = top + bar.line * barHeight;
        const fill = ofKind(bar.kind);
        context.fillStyle = fill;
        context.fillRect(x, y + 1, w, barHeight - 2);
        const worked = Math.min(x + w, xOf(bar.time + bar.waited));
        if (bar.waited && worked > x) {
            // The waiting part is a line along the bar's middle.
            context.fillStyle = colours.back;
            context.fillRect(x, y + 1, worked - x, (barHeight - 2) / 3);
            context.fillRect(x, y + 1 + (2 * (barHeight - 2)) / 3, worked - x, (barHeight - 2) / 3);
        }
        drawnTo[bar.line] = x + w;
        hits.push({ x, y, width: Math.max(w, 3), height: barHeight, bar });
        const from = bar.waited ? Math.max(x, worked) : x;
        const text = x + w - from > 24 ? fitted(context, bar.text, x + w - from - 6) : '';
        if (!text) continue;
        context.fillStyle = inkOn(fill);
        context.fillText(text, from + 3, y + barHeight / 2);
    }
    context.fillStyle = colours.line;
    context.fillRect(0, top + lines * barHeight - 1, width, 1);
    return hits;
}
