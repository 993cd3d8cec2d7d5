// The layout of the timeline: a lane for each thread with its title, its calls and its off-CPU strip.
import type { TimelineFacts } from '../data/facts';

export const rowHeight = 17;
export const titleHeight = 20;
export const offCpuHeight = 9;
export const gap = 8;
export const rulerHeight = 26;
export const markHeight = 18;

export interface Lane {
    thread: number;
    top: number;
    rows: number; // drawn rows, at most `depth`
    depth: number;
    folded: boolean;
    bottom: number;
}

const defaultRows = 32;

export function layLanes(
    facts: TimelineFacts,
    folded: ReadonlySet<number>,
    whole: ReadonlySet<number>,
): { lanes: Lane[]; height: number } {
    let top = 0;
    const lanes = facts.lanes.map(({ thread, depth }) => {
        const isFolded = folded.has(thread);
        const rows = isFolded ? Math.min(1, depth) : whole.has(thread) ? depth : Math.min(depth, defaultRows);
        const bottom = top + titleHeight + rows * rowHeight + offCpuHeight + gap;
        const lane = { thread, top, rows, depth, folded: isFolded, bottom };
        top = bottom;
        return lane;
    });
    return { lanes, height: top };
}
