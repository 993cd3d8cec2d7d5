// A drag on the timeline's ruler, or with Shift on its lanes, chooses a range of time.
import { useEffect, useRef } from 'preact/hooks';
import { rulerHeight } from '../charts/lanes';

interface Drag {
    // The time at a place of the canvas, in pixels from its left edge.
    timeAt(x: number): number;
    onMove(range: [number, number] | null): void;
    onEnd(range: [number, number]): void;
}

const minPixels = 4;

export const beginsRange = (event: MouseEvent): boolean => event.shiftKey || event.offsetY < rulerHeight;

// Returns whether the last click ended a drag.
export function useRangeDrag(element: { current: HTMLCanvasElement | null }, possible: boolean, drag: Drag) {
    const latest = useRef(drag);
    const ended = useRef(false);
    latest.current = drag;
    useEffect(() => {
        const canvas = element.current!;
        let start: number | null = null;
        const rangeTo = (x: number): [number, number] | null => {
            if (start === null || Math.abs(x - start) < minPixels) return null;
            const [a, b] = [latest.current.timeAt(start), latest.current.timeAt(x)];
            return a < b ? [a, b] : [b, a];
        };
        const onDown = (event: PointerEvent) => {
            ended.current = false;
            if (!possible || event.button || !beginsRange(event)) return;
            start = event.offsetX;
            canvas.setPointerCapture(event.pointerId);
        };
        const onMove = (event: PointerEvent) => {
            if (start !== null) latest.current.onMove(rangeTo(event.offsetX));
        };
        const onUp = (event: PointerEvent) => {
            const range = rangeTo(event.offsetX);
            start = null;
            latest.current.onMove(null);
            if (!range) return;
            ended.current = true;
            latest.current.onEnd(range);
        };
        const onCancel = () => {
            start = null;
            latest.current.onMove(null);
        };
        canvas.addEventListener('pointerdown', onDown);
        canvas.addEventListener('pointermove', onMove);
        canvas.addEventListener('pointerup', onUp);
        canvas.addEventListener('pointercancel', onCancel);
        return () => {
            canvas.removeEventListener('pointerdown', onDown);
            canvas.removeEventListener('pointermove', onMove);
            canvas.removeEventListener('pointerup', onUp);
            canvas.removeEventListener('pointercancel', onCancel);
        };
    }, [possible]);
    return ended;
}
