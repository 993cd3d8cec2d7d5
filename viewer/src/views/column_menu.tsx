// The menu in which the columns of a table are chosen.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Sort, columns as chosenColumns } from '../state';
import type { GridColumn } from './columns';

interface Props {
    name: string;
    columns: GridColumn[];
    shown: Set<string>;
    sort: Sort;
    at: { x: number; y: number };
    onClose: () => void;
}

export function ColumnMenu({ name, columns, shown, sort, at, onClose }: Props) {
    const box = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        const outside = (e: Event) => {
            if (!box.current?.contains(e.target as Node)) onClose();
        };
        const escape = (e: KeyboardEvent) => {
            if (e.key !== 'Escape') return;
            e.stopPropagation();
            onClose();
        };
        document.addEventListener('mousedown', outside);
        document.addEventListener('keydown', escape, true);
        box.current?.querySelector<HTMLElement>('input')?.focus();
        return () => {
            document.removeEventListener('mousedown', outside);
            document.removeEventListener('keydown', escape, true);
        };
    }, []);
    const toggle = (key: string) => {
        const next = new Set(shown);
        if (!next.delete(key)) next.add(key);
        chosenColumns.value = {
            ...chosenColumns.value,
            [name]: columns.filter((c) => next.has(c.key)).map((c) => c.key),
        };
    };
    const reset = () => {
        const { [name]: _, ...rest } = chosenColumns.value;
        chosenColumns.value = rest;
    };
    const left = Math.min(at.x, window.innerWidth - 260);
    return (
        <div
            class="menu"
            ref={box}
            style={{ left: `${left}px`, top: `${at.y}px`, maxHeight: `${window.innerHeight - at.y - 12}px` }}
        >
            <button onClick={reset}>Default columns</button>
            {columns.slice(1).map((c) => (
                <label key={c.key} title={c.key === sort.key ? 'The table is sorted by this column.' : c.hint}>
                    <input
                        type="checkbox"
                        checked={shown.has(c.key)}
                        disabled={c.key === sort.key}
                        onChange={() => toggle(c.key)}
                    />{' '}
                    {c.group ? `${c.group} ${c.title}` : c.title}
                </label>
            ))}
        </div>
    );
}
