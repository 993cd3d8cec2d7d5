// The tabs: the views that answer most questions, and the others in a menu. A chosen view of the menu is a tab, too.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { focusView } from '../keys';
import { type View, view, views } from '../state';
import { PartButton } from './part';

function choose(key: View): void {
    view.value = key;
    focusView();
}

const keyOf = (key: View): string => {
    const place = views.findIndex((v) => v.key === key) + 1;
    return place < 10 ? ` (${place})` : '';
};

function More() {
    const [open, setOpen] = useState(false);
    const box = useRef<HTMLDivElement>(null);
    const button = useRef<HTMLButtonElement>(null);
    useLayoutEffect(() => {
        if (!open) return;
        box.current!.querySelector<HTMLElement>('[role=menuitem]')?.focus();
        const outside = (e: Event) => {
            if (!box.current!.parentElement!.contains(e.target as Node)) setOpen(false);
        };
        document.addEventListener('mousedown', outside);
        return () => document.removeEventListener('mousedown', outside);
    }, [open]);
    const onKeyDown = (e: KeyboardEvent) => {
        const items = [...box.current!.querySelectorAll<HTMLElement>('[role=menuitem]')];
        const at = items.indexOf(document.activeElement as HTMLElement);
        if (e.key === 'ArrowDown') items[(at + 1) % items.length]!.focus();
        else if (e.key === 'ArrowUp') items[(at + items.length - 1) % items.length]!.focus();
        else if (e.key === 'Escape') {
            setOpen(false);
            button.current!.focus();
        } else return;
        e.preventDefault();
        e.stopPropagation();
    };
    return (
        <span class="more-views">
            <button
                ref={button}
                class="more-button"
                aria-haspopup="menu"
                aria-expanded={open}
                title="More views"
                onClick={() => setOpen(!open)}
            >
                More ▾
            </button>
            {open && (
                <div class="more-menu" role="menu" aria-label="More views" ref={box} onKeyDown={onKeyDown}>
                    {views
                        .filter((v) => v.more)
                        .map((v) => (
                            <button
                                key={v.key}
                                role="menuitem"
                                tabIndex={-1}
                                data-view={v.key}
                                title={v.title + keyOf(v.key)}
                                onClick={() => {
                                    setOpen(false);
                                    choose(v.key);
                                }}
                            >
                                {v.title}
                            </button>
                        ))}
                </div>
            )}
        </span>
    );
}

export function Tabs() {
    return (
        <nav class="tabs" aria-label="Views">
            <div class="tab-list" role="tablist">
                {views
                    .filter((v) => !v.more || view.value === v.key)
                    .map((v) => (
                        <button
                            key={v.key}
                            role="tab"
                            aria-selected={view.value === v.key}
                            data-view={v.key}
                            title={v.title + keyOf(v.key)}
                            onClick={() => choose(v.key)}
                        >
                            {v.title}
                        </button>
                    ))}
            </div>
            <More />
            <PartButton />
        </nav>
    );
}
