// The tooltip beside the mouse pointer.
import type { ComponentChildren } from 'preact';

export interface TipAt {
    x: number;
    y: number;
}

export function Tip({ at, children }: { at: TipAt; children: ComponentChildren }) {
    const left = at.x > window.innerWidth / 2;
    const top = at.y > window.innerHeight / 2;
    return (
        <div
            class="tip"
            role="tooltip"
            style={{
                [left ? 'right' : 'left']: `${(left ? window.innerWidth - at.x : at.x) + 14}px`,
                [top ? 'bottom' : 'top']: `${(top ? window.innerHeight - at.y : at.y) + 14}px`,
            }}
        >
            {children}
        </div>
    );
}
