// Draws arrows from wakers to the threads that waited, and the critical path, over the lanes of the timeline.
import { palette } from '../colours';
import type { Container } from '../data/container';
import { type Wait, columnOf, rowsIn, waitAt } from '../data/waits';
import type { Drawing } from './canvas';
import { type Lane, activityHeight, offCpuHeight, rowHeight, titleHeight } from './lanes';

export interface WaitScene {
    block: Container;
    arrows: boolean;
    critical: boolean;
    selected: number; // a single wait; -1 if there is none
}

interface View {
    from: number;
    to: number;
    top: number;
    scrolled: number;
    lanes: Lane[];
}

export interface ArrowHit {
    x: number;
    y: number;
    width: number;
    height: number;
    wait: number;
}

const minPixels = 4; // a shorter wait has no arrow until the user zooms in, and shorter segments no line between lanes
const maxArrows = 400;

// Where the calls of a lane are drawn, and its off-CPU strip.
function placeOf(view: View, lane: Lane): { calls: number; strip: number } {
    const calls = view.top + lane.top - view.scrolled + titleHeight + activityHeight;
    return { calls, strip: calls + lane.rows * rowHeight };
}

function drawHead(context: CanvasRenderingContext2D, x: number, y: number, down: boolean): void {
    const by = down ? -7 : 7;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x - 4, y + by);
    context.lineTo(x + 4, y + by);
    context.fill();
}

function drawArrow(d: Drawing, view: View, wait: Wait, lanes: Map<number, Lane>, isSelected: boolean): ArrowHit | null {
    const [from, to] = [lanes.get(wait.waker), lanes.get(wait.thread)];
    if (!from || !to || from === to) return null;
    const scale = d.width / (view.to - view.from);
    const [x1, x2] = [(wait.woken - view.from) * scale, (wait.end - view.from) * scale];
    if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > d.width) return null;
    const [a, b] = [placeOf(view, from), placeOf(view, to)];
    const down = a.calls < b.calls;
    const y1 = down ? a.strip : a.calls;
    const y2 = down ? b.calls : b.strip + offCpuHeight - 2;
    const { context } = d;
    const colours = palette();
    context.strokeStyle = context.fillStyle = isSelected ? colours.arrowChosen : colours.arrow;
    context.lineWidth = isSelected ? 2.5 : 1.2;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    context.fillRect(x1 - 2, y1 - 2, 4, 4);
    drawHead(context, x2, y2, down);
    return { x: x2 - 6, y: down ? y2 - 8 : y2 - 1, width: 12, height: 10, wait: wait.row };
}

// All arrows, or that of the selected wait. The waits are sorted, the longest first.
function drawArrows(d: Drawing, view: View, scene: WaitScene, lanes: Map<number, Lane>): ArrowHit[] {
    const { block } = scene;
    const hits: ArrowHit[] = [];
    const [begins, ends, wakers] = ['begin', 'end', 'waker'].map((key) => columnOf(block, 'waits', key));
    const shortest = (minPixels * (view.to - view.from)) / d.width;
    for (let i = 0; scene.arrows && i < rowsIn(block, 'waits') && hits.length < maxArrows; i++) {
        if (ends![i]! - begins![i]! < shortest) break;
        if (wakers![i]! < 0 || i === scene.selected || ends![i]! < view.from || begins![i]! > view.to) continue;
        const hit = drawArrow(d, view, waitAt(block, i), lanes, false);
        if (hit) hits.push(hit);
    }
    if (scene.selected >= 0 && wakers![scene.selected]! >= 0) {
        const hit = drawArrow(d, view, waitAt(block, scene.selected), lanes, true);
        if (hit) hits.push(hit);
    }
    return hits;
}

// A line above the calls of each segment's thread, and thin ones where the path changes the thread. Where it changes
// every few pixels, these would hide the calls, so they need a segment beside them that can be seen.
function drawCritical(d: Drawing, view: View, block: Container, lanes: Map<number, Lane>): void {
    const { context, width } = d;
    const scale = width / (view.to - view.from);
    const [threads, begins, ends] = ['thread', 'begin', 'end'].map((key) => columnOf(block, 'segments', key));
    const colour = palette().critical;
    const drawnTo = new Map<Lane, number>();
    let before: { y: number; end: number; pixels: number } | null = null;
    context.fillStyle = colour;
    for (let i = 0; i < rowsIn(block, 'segments'); i++) {
        if (ends![i]! < view.from) continue;
        if (begins![i]! > view.to) break;
        const lane = lanes.get(threads![i]!);
        if (!lane) {
            before = null;
            continue;
        }
        const { calls } = placeOf(view, lane);
        const x = Math.max(0, (begins![i]! - view.from) * scale);
        const end = Math.min(width, (ends![i]! - view.from) * scale);
        if (end > (drawnTo.get(lane) ?? -1)) {
            const w = Math.max(1, end - x);
            context.fillRect(x, calls - 3, w, 3);
            drawnTo.set(lane, x + w);
        }
        const pixels = (ends![i]! - begins![i]!) * scale;
        const isSeen = before && Math.max(pixels, before.pixels) >= minPixels;
        if (before && isSeen && before.end === begins![i]! && before.y !== calls) {
            const [up, low] = [Math.min(before.y, calls) - 3, Math.max(before.y, calls)];
            context.globalAlpha = 0.5;
            context.fillRect(x - 0.5, up, 1, low - up);
            context.globalAlpha = 1;
        }
        before = { y: calls, end: ends![i]!, pixels };
    }
}

export function drawWaits(d: Drawing, view: View, scene: WaitScene): ArrowHit[] {
    const { context, width, height } = d;
    const lanes = new Map(view.lanes.filter((one) => one.thread >= 0).map((one) => [one.thread, one]));
    context.save();
    context.beginPath();
    context.rect(0, view.top, width, height - view.top);
    context.clip();
    if (scene.critical) drawCritical(d, view, scene.block, lanes);
    const hits = drawArrows(d, view, scene, lanes);
    context.restore();
    return hits;
}
