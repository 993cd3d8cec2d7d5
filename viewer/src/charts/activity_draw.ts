// Draws the activity of a lane: in each pixel, from the bottom, time on the CPU, preempted and blocked.
import { palette } from '../colours';
import type { Activity, Shares, Window } from '../data/activity';
import type { Piece } from '../data/tiles';
import type { Drawing } from './canvas';
import { hatch } from './hatch';
import { type Lane, activityHeight } from './lanes';

export interface ActivityHit {
    threads: number[];
    shares: Shares; // ticks by pixel
    perPixel: number; // ticks
}

// The lane's height is one thread, or the largest number of threads that were in calls at once.
export function drawActivity(
    { context, width }: Drawing,
    activity: Activity,
    lane: Pick<Lane, 'threads'>,
    range: { from: number; to: number },
    pieces: Piece[],
    y: number,
    laneHeight = activityHeight,
): ActivityHit {
    const colours = palette();
    const w: Window = { ...range, width: Math.max(1, Math.floor(width)) };
    const perPixel = (w.to - w.from) / w.width;
    const shares = activity.shares(lane.threads, w, pieces);
    let most = perPixel;
    if (lane.threads.length > 1)
        for (let x = 0; x < w.width; x++)
            most = Math.max(most, shares.cpu[x]! + shares.blocked[x]! + shares.preempted[x]!);
    const height = laneHeight - 3;
    const parts = [
        [shares.cpu, colours.busy],
        [shares.preempted, hatch(context, colours.preempted, colours.back)],
        [shares.blocked, colours.wait],
    ] as const;
    for (let x = 0; x < w.width; x++) {
        let bottom = y + height;
        for (const [values, colour] of parts) {
            const own = Math.min(bottom - y, (values[x]! / most) * height);
            if (own < 0.05) continue;
            context.fillStyle = colour;
            context.fillRect(x, bottom - own, 1, own);
            bottom -= own;
        }
    }
    context.fillStyle = colours.line;
    context.fillRect(0, y + height, width, 1);
    return { threads: lane.threads, shares, perPixel };
}
