// A flame graph on a canvas. Drawing visits only frames that are wide enough to be seen.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { inkOn, palette } from '../colours';
import { savePicture } from '../picture';
import { type Drawing, fitted, font, useCanvas } from './canvas';
import type { Frames } from './frames';
import { Tip, type TipAt } from './tip';

const rowHeight = 20;
const minWidth = 0.7; // pixels

interface Drawn {
    node: number;
    x: number;
    width: number;
    row: number;
}

export interface FlameProps {
    frames: Frames;
    label: string;
    caption: string; // of a saved picture
    saving: { current: () => void }; // is set to what saves a picture
    up: boolean; // roots are at the bottom
    zoom: number;
    onZoom(node: number): void;
    selected: number;
    onSelect(node: number): void;
    onOpen(node: number): void;
    text(node: number): string;
    colour(node: number): string;
    found: Uint8Array | null; // by function, 1 if it matches the search
    tip(node: number): ComponentChildren;
}

function stackTo(frames: Frames, node: number): number[] {
    const stack: number[] = [];
    for (let at = node; at >= 0; at = frames.parent(at)) stack.push(at);
    return stack.reverse();
}

export function FlameChart(props: FlameProps) {
    const { frames, zoom } = props;
    const scroller = useRef<HTMLDivElement>(null);
    const drawn = useRef<Drawn[]>([]);
    const [rows, setRows] = useState(1);
    const [tip, setTip] = useState<(TipAt & { node: number }) | null>(null);
    const hovered = useRef(-1);
    const above = useMemo(() => stackTo(frames, zoom), [frames, zoom]);

    const draw = ({ context, width, height }: Drawing, scrolled = scroller.current?.scrollTop ?? 0) => {
        frames.begin?.();
        const colours = palette();
        const whole = Math.max(rows * rowHeight, height);
        const yOf = (row: number) => (props.up ? whole - (row + 1) * rowHeight : row * rowHeight) - scrolled;
        context.fillStyle = colours.back;
        context.fillRect(0, 0, width, height);
        context.font = font;
        context.textBaseline = 'middle';
        const list: Drawn[] = [];
        let deepest = 1;

        const frame = (node: number, x: number, w: number, row: number) => {
            deepest = Math.max(deepest, row + 1);
            list.push({ node, x, width: w, row });
            const y = yOf(row);
            if (y + rowHeight < 0 || y > height) return;
            const dim = props.found !== null && !props.found[frames.functionOf(node)];
            const fill = dim ? colours.merged : props.found ? colours.mark : props.colour(node);
            context.fillStyle = fill;
            context.fillRect(x, y, Math.max(minWidth, w - (w > 3 ? 1 : 0)), rowHeight - 1);
            if (w > 24) {
                const text = fitted(context, props.text(node), w - 8);
                context.fillStyle = dim ? colours.faint : props.found ? '#1b1f24' : inkOn(fill);
                if (text) context.fillText(text, x + 4, y + rowHeight / 2);
            }
            if (node === props.selected || node === hovered.current) {
                context.strokeStyle = node === props.selected ? colours.accent : colours.ink;
                context.lineWidth = node === props.selected ? 2 : 1;
                context.strokeRect(x + 1, y + 1, Math.max(1, w - 3), rowHeight - 3);
            }
        };
        const pending: Drawn[] = [];
        const below = (node: number, x: number, w: number, row: number) => {
            const value = node < 0 ? frames.total : frames.value(node);
            const children = frames.children(node, redraw);
            if (!children || value <= 0) return;
            const scale = w / value;
            let at = x;
            for (const child of children) {
                const own = frames.value(child) * scale;
                if (own < minWidth) break;
                pending.push({ node: child, x: at, width: own, row });
                at += own;
            }
        };
        above.forEach((node, row) => frame(node, 0, width, row));
        if (zoom < 0) frames.children(-1, redraw);
        below(zoom, 0, width, above.length);
        while (pending.length) {
            const next = pending.pop()!;
            frame(next.node, next.x, next.width, next.row);
            below(next.node, next.x, next.width, next.row + 1);
        }
        drawn.current = list;
        if (deepest !== rows) setRows(deepest);
    };
    const { canvas, redraw, element } = useCanvas((d) => draw(d));
    const save = () => {
        const { width } = element.current!.getBoundingClientRect();
        savePicture(`${props.label.toLowerCase().replace(' ', '-')}.png`, props.caption, width, rows * rowHeight, (d) =>
            draw(d, 0),
        );
        redraw();
    };
    props.saving.current = save;

    // Scrolls to the roots at first and after zooming.
    const rooted = useRef(false);
    useEffect(() => {
        const box = scroller.current!;
        if (props.up && (!rooted.current || box.scrollTop + box.clientHeight < box.scrollHeight))
            box.scrollTop = box.scrollHeight;
        rooted.current = rows > 1;
    }, [rows, zoom]);

    const at = (event: MouseEvent): number => {
        const box = element.current!.getBoundingClientRect();
        const [x, y] = [event.clientX - box.left, event.clientY - box.top + scroller.current!.scrollTop];
        const whole = Math.max(rows * rowHeight, box.height);
        const row = Math.floor((props.up ? whole - y : y) / rowHeight);
        return drawn.current.find((d) => d.row === row && x >= d.x && x < d.x + Math.max(d.width, 1))?.node ?? -1;
    };
    const hover = (event: MouseEvent) => {
        const node = at(event);
        if (node !== hovered.current) {
            hovered.current = node;
            redraw();
        }
        setTip(node < 0 ? null : { node, x: event.clientX, y: event.clientY });
    };
    const leave = () => {
        hovered.current = -1;
        setTip(null);
        redraw();
    };
    const out = () => {
        if (zoom >= 0) props.onZoom(frames.parent(zoom));
    };
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const { key } = event;
        const selected = props.selected;
        const siblings = () => frames.children(selected < 0 ? -1 : frames.parent(selected), redraw) ?? [];
        const goUp = props.up ? 'ArrowDown' : 'ArrowUp';
        const goDown = props.up ? 'ArrowUp' : 'ArrowDown';
        const choose = (node: number | undefined) => node !== undefined && node >= 0 && props.onSelect(node);
        if (key === 'Enter' || key === '+') props.onZoom(selected);
        else if (key === 'Backspace' || key === 'Escape' || key === '-') out();
        else if (key === '0') props.onZoom(-1);
        else if (key === 'o') props.onOpen(selected);
        else if (key === goUp) choose(selected < 0 ? siblings()[0] : frames.parent(selected));
        else if (key === goDown) choose(frames.children(selected, redraw)?.[0]);
        else if (key === 'ArrowRight') choose(siblings()[siblings().indexOf(selected) + 1]);
        else if (key === 'ArrowLeft') choose(siblings()[siblings().indexOf(selected) - 1]);
        else return;
        event.preventDefault();
        event.stopPropagation();
    };
    return (
        <div
            class="scroller"
            ref={scroller}
            tabIndex={0}
            role="application"
            aria-label={props.label}
            onKeyDown={onKeyDown}
            onScroll={redraw}
            data-frames={rows}
        >
            <div style={{ height: `${rows * rowHeight}px`, minHeight: '100%' }}>
                <canvas
                    ref={canvas}
                    onMouseMove={hover}
                    onMouseLeave={leave}
                    onClick={(e) => {
                        const node = at(e);
                        scroller.current!.focus({ preventScroll: true });
                        if (node < 0) return;
                        props.onSelect(node);
                        if (!e.shiftKey) props.onZoom(node);
                        setTip(null);
                    }}
                    onContextMenu={(e) => {
                        e.preventDefault();
                        out();
                    }}
                />
            </div>
            {tip && <Tip at={tip}>{props.tip(tip.node)}</Tip>}
        </div>
    );
}
