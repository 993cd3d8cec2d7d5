// Shades the times outside of the chosen range of the timeline, and outlines a range that is being dragged.
import { palette } from '../colours';
import type { Drawing } from './canvas';

export function shadeRange({ context, width, height }: Drawing, from: number, to: number, dragged: boolean): void {
    const colours = palette();
    context.save();
    context.fillStyle = colours.back;
    context.globalAlpha = dragged ? 0.35 : 0.65;
    if (from > 0) context.fillRect(0, 0, from, height);
    if (to < width) context.fillRect(to, 0, width - to, height);
    context.globalAlpha = 1;
    context.fillStyle = colours.faint;
    for (const x of [from, to]) if (x >= 0 && x <= width) context.fillRect(Math.round(x) - 1, 0, 2, height);
    context.restore();
}
