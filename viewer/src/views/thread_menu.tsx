// The menu of the timeline's threads: which are shown and collapsed, and their order.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type LaneOrder, type ProcessLanes, laneOrders, moved } from '../data/threads';
import { shortened } from '../format';
import { foldedLanes, hiddenLanes, laneOrder, ownOrder } from '../state';

const maxListed = 1000;

export function toggled(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
    const next = new Set(set);
    if (!next.delete(key)) next.add(key);
    return next;
}

function Item({
    groups,
    one,
    inside,
}: {
    groups: ProcessLanes[];
    one: { key: string; name: string; id: number };
    inside: boolean;
}) {
    const name = `${shortened(one.name, 60)} (${one.id})`;
    const [hidden, folded] = [hiddenLanes.value.has(one.key), foldedLanes.value.has(one.key)];
    const move = (by: 1 | -1) => {
        ownOrder.value = moved(groups, one.key, by);
        laneOrder.value = 'own';
    };
    return (
        <li class={inside ? 'inside' : ''} data-key={one.key}>
            <label>
                <input
                    type="checkbox"
                    aria-label={`Show ${name}`}
                    checked={!hidden}
                    onChange={() => (hiddenLanes.value = toggled(hiddenLanes.value, one.key))}
                />{' '}
                {name}
            </label>
            <button
                aria-label={`${folded ? 'Expand' : 'Collapse'} ${name}`}
                aria-expanded={!folded}
                title={folded ? 'Expand' : 'Collapse'}
                onClick={() => (foldedLanes.value = toggled(foldedLanes.value, one.key))}
            >
                {folded ? '▸' : '▾'}
            </button>
            <button aria-label={`Move ${name} up`} title="Move up" onClick={() => move(-1)}>
                ↑
            </button>
            <button aria-label={`Move ${name} down`} title="Move down" onClick={() => move(1)}>
                ↓
            </button>
        </li>
    );
}

export function ThreadMenu({ groups, onClose }: { groups: ProcessLanes[]; onClose: () => void }) {
    const box = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        const outside = (e: Event) => {
            const target = e.target as Element;
            if (!box.current?.contains(target) && !target.closest('.threads-button')) onClose();
        };
        const escape = (e: KeyboardEvent) => {
            if (e.key !== 'Escape') return;
            e.stopPropagation();
            onClose();
            document.querySelector<HTMLElement>('.threads-button')?.focus();
        };
        document.addEventListener('mousedown', outside);
        document.addEventListener('keydown', escape, true);
        box.current?.querySelector<HTMLElement>('select')?.focus();
        return () => {
            document.removeEventListener('mousedown', outside);
            document.removeEventListener('keydown', escape, true);
        };
    }, []);
    const threads = groups.flatMap((group) => group.threads);
    const several = groups.length > 1;
    const items = groups.flatMap((group) => [
        ...(several ? [<Item key={group.key} groups={groups} one={group} inside={false} />] : []),
        ...group.threads.map((one) => <Item key={one.key} groups={groups} one={one} inside={several} />),
    ]);
    return (
        <div class="menu thread-menu" role="dialog" aria-label="Threads" ref={box}>
            <label>
                Order{' '}
                <select
                    value={laneOrder.value}
                    onChange={(e) => (laneOrder.value = e.currentTarget.value as LaneOrder)}
                >
                    {Object.entries(laneOrders).map(([key, title]) => (
                        <option key={key} value={key} disabled={key === 'own' && ownOrder.value.length === 0}>
                            {title}
                        </option>
                    ))}
                </select>
            </label>
            <p class="actions">
                <button onClick={() => (hiddenLanes.value = new Set())}>Show all</button>
                <button onClick={() => (hiddenLanes.value = new Set(threads.map((one) => one.key)))}>Hide all</button>
                <button onClick={() => (foldedLanes.value = new Set(threads.map((one) => one.key)))}>
                    Collapse all
                </button>
                <button onClick={() => (foldedLanes.value = new Set())}>Expand all</button>
            </p>
            <ul>{items.slice(0, maxListed)}</ul>
            {items.length > maxListed && <p class="where">{items.length - maxListed} more are not listed</p>}
        </div>
    );
}
