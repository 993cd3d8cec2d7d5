// A canvas that fills its parent, has the resolution of the screen, and is drawn at most once per frame.
import type { Ref } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { effect } from '@preact/signals';
import { dark } from '../state';

export interface Drawing {
    context: CanvasRenderingContext2D;
    width: number;
    height: number;
}

export function useCanvas(draw: (d: Drawing) => void): {
    canvas: Ref<HTMLCanvasElement>;
    redraw: () => void;
    element: { current: HTMLCanvasElement | null };
} {
    const element = useRef<HTMLCanvasElement | null>(null);
    const latest = useRef(draw);
    const pending = useRef(0);
    latest.current = draw;

    const redraw = useRef(() => {
        if (pending.current) return;
        pending.current = requestAnimationFrame(() => {
            pending.current = 0;
            const canvas = element.current;
            const context = canvas?.getContext('2d', { alpha: false });
            const box = canvas?.parentElement;
            if (!canvas || !context || !box) return;
            const view = box.closest<HTMLElement>('.scroller') ?? box;
            const [width, height, scale] = [view.clientWidth, view.clientHeight, window.devicePixelRatio || 1];
            if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
                canvas.width = Math.round(width * scale);
                canvas.height = Math.round(height * scale);
                canvas.style.width = `${width}px`;
                canvas.style.height = `${height}px`;
            }
            context.setTransform(scale, 0, 0, scale, 0, 0);
            latest.current({ context, width, height });
        });
    }).current;

    useEffect(() => {
        const canvas = element.current!;
        const observed = new ResizeObserver(redraw);
        observed.observe(canvas.closest('.scroller') ?? canvas.parentElement!);
        const system = matchMedia('(prefers-color-scheme: dark)');
        system.addEventListener('change', redraw);
        const stop = effect(() => {
            void dark.value;
            redraw();
        });
        return () => {
            observed.disconnect();
            system.removeEventListener('change', redraw);
            stop();
            cancelAnimationFrame(pending.current);
            pending.current = 0;
        };
    }, []);
    useLayoutEffect(redraw);
    return { canvas: element, redraw, element };
}

export const font = "12px ui-monospace, 'SF Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace";

let characterWidth = 0;
// Cuts a text to a width; returns an empty text if fewer than three characters fit.
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
    if (!characterWidth) characterWidth = context.measureText('M').width;
    const room = Math.floor(width / characterWidth);
    if (text.length <= room) return text;
    return room < 3 ? '' : `${text.slice(0, room - 1)}…`;
}
