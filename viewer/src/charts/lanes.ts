// The layout of the timeline: a lane for each shown thread with its title, activity, calls and off-CPU strip. With several
// processes, each has a lane of its own above its threads', which shows their activity together.

export const rowHeight = 17;
export const titleHeight = 20;
export const activityHeight = 17;
export const offCpuHeight = 9;
export const gap = 8;
export const rulerHeight = 26;
export const markHeight = 18;
export const groupIndent = 14;
export const barHeight = 16;
export const maxBarLines = 4;

// The height of what stays above the lanes: the ruler, marks, and lines of activities.
export const headHeight = (marks: number, barLines: number): number =>
    rulerHeight + (marks ? markHeight : 0) + barLines * barHeight;

export interface Lane {
    key: string; // names the thread or process in links
    thread: number; // -1: the lane of a process
    threads: number[]; // of which the lane shows the activity
    title: string;
    grouped: boolean; // below the lane of its process
    top: number;
    rows: number; // drawn rows, at most `depth`
    depth: number;
    folded: boolean;
    bottom: number;
}

// What is laid out, in its order.
export interface Laid {
    key: string;
    thread: number;
    threads: number[];
    title: string;
    depth: number;
    grouped: boolean;
}

const defaultRows = 32;

export function layLanes(
    list: Laid[],
    folded: ReadonlySet<string>,
    whole: ReadonlySet<string>,
): { lanes: Lane[]; height: number } {
    let top = 0;
    const lanes = list.map((one) => {
        const isFolded = folded.has(one.key);
        const { depth } = one;
        const rows = isFolded ? Math.min(1, depth) : whole.has(one.key) ? depth : Math.min(depth, defaultRows);
        const calls = one.thread < 0 ? 0 : rows * rowHeight + offCpuHeight;
        const bottom = top + titleHeight + activityHeight + calls + gap;
        const lane = { ...one, top, rows, folded: isFolded, bottom };
        top = bottom;
        return lane;
    });
    return { lanes, height: top };
}
