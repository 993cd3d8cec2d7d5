// The keys that work in every view, and the list of all keys for the help. Each view handles its own keys itself.
import { isDark } from './colours';
import { choicesOf } from './data/measures';
import { fragment } from './link';
import { chooseWhole, isWhole } from './part';
import {
    chosen,
    chosenUnit,
    dark,
    details,
    helping,
    measure,
    model,
    notify,
    recentre,
    reveal,
    search,
    subject,
    path,
    unit,
    view,
    views,
    zoomed,
} from './state';
import type { Unit } from './format';
import { addTransform } from './views/transforms';

export const keyHelp: { title: string; keys: [string, string][] }[] = [
    {
        title: 'Everywhere',
        keys: [
            ['1 … 9', 'switch to a view, in the order of the tabs'],
            ['/', 'search; Enter: next match, Escape: leave'],
            ['m', 'the next measure (elapsed, application, CPU …)'],
            ['u', 'the next unit of times'],
            ['i', 'details of the selection'],
            ['g', 'callers and callees of the selection'],
            ['e', 'show the selection in the call tree'],
            ['r', 'show the selection in the flame graph'],
            ['F H', 'focus on the selected function; hide it'],
            ['R', 'collapse recursion'],
            ['y', 'copy a link to this view'],
            ['x', 'choose a part of the recording; show the whole again'],
            ['Y', 'copy the table as text; in graphs and the timeline, save a picture'],
            ['t', 'light or dark'],
            ['?', 'this help'],
        ],
    },
    {
        title: 'Tables',
        keys: [
            ['↑ ↓ PgUp PgDn Home End', 'select'],
            ['Enter', 'callers and callees'],
            ['c', 'choose columns (or right click a column title)'],
            ['click on a title', 'sort; click again to reverse'],
        ],
    },
    {
        title: 'Call tree',
        keys: [
            ['→ ←', 'open or go to the first child; close or go to the parent'],
            ['h', 'open the hot path below the selection'],
            ['*', 'open the whole branch'],
            ['-  _', 'close the branch; close all'],
            ['n N', 'next, previous match of the search'],
        ],
    },
    {
        title: 'Flame graph, inverted graph',
        keys: [
            ['click, Enter', 'zoom in (Shift-click: select only)'],
            ['Backspace, Escape, right click', 'zoom out one level'],
            ['0', 'show the whole graph'],
            ['arrows', 'select caller, callee or neighbour'],
            ['o', 'callers and callees'],
        ],
    },
    {
        title: 'Timeline',
        keys: [
            ['wheel, + −, w s', 'zoom'],
            ['drag, ← →, a d', 'move in time'],
            ['drag on the ruler, Shift-drag', 'choose a range of time for all views'],
            ['↑ ↓ PgUp PgDn', 'scroll through the threads'],
            ['double click, f, Enter', 'zoom to the call'],
            ['l', 'hide, collapse and order threads'],
            ['[ ]', 'previous, next mark'],
            ['n N', 'the next, the previous wait: its cause is shown below'],
            ['j', 'move to what ended the wait'],
            ['v b', 'arrows of all waits; line of the critical path'],
            ['0, Home', 'show the whole session'],
        ],
    },
    {
        title: 'Heat map',
        keys: [
            ['click, drag', "show the cell's time on the timeline; that of several cells"],
            ['arrows, Enter', 'select a cell; show its time on the timeline'],
        ],
    },
];

export async function copy(text: string, what: string): Promise<void> {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        const box = document.createElement('textarea');
        box.value = text;
        document.body.append(box);
        box.select();
        document.execCommand('copy');
        box.remove();
    }
    notify(`${what} copied`);
}

export const copyLink = () => copy(location.href.replace(/#.*/, '') + fragment(), 'Link');

// The path with the most inclusive time among those that end in the function.
export function largestPath(fn: number): number {
    const m = model.value!;
    const values = m.column('paths', `${measure.value}_inclusive`, m.sides === 2 ? 1 : 0);
    let largest = -1;
    for (let i = 0; i < m.paths.count; i++)
        if (m.paths.function[i] === fn && (largest < 0 || values[i]! > values[largest]!)) largest = i;
    return largest;
}

function selectedPath(): number {
    return path.value >= 0 || subject.value < 0 ? path.value : largestPath(subject.value);
}

export function showInTree(): void {
    const row = selectedPath();
    if (row < 0) return;
    reveal(row);
    view.value = 'tree';
}

export function showInFlame(): void {
    const row = selectedPath();
    if (row < 0) return;
    path.value = row;
    zoomed.value = row;
    view.value = 'flame';
}

export function nextMeasure(): void {
    const known = choicesOf(model.value!).filter((x) => model.value!.knows(`${x.key}_inclusive`));
    measure.value = known[(known.findIndex((x) => x.key === measure.value) + 1) % known.length]!.key;
}

function nextUnit(): void {
    const all: Unit[] = ['ns', 'us', 'ms', 's'];
    chosenUnit.value = all[(all.indexOf(unit.value) + 1) % all.length]!;
}

export function focusView(): void {
    document
        .querySelector<HTMLElement>('.view .grid, .view .scroller, .view .about, .view .summary')
        ?.focus({ preventScroll: true });
}

const actions: Record<string, () => void> = {
    '/': () => document.querySelector<HTMLInputElement>('.search')?.select(),
    '?': () => (helping.value = !helping.value),
    m: nextMeasure,
    u: nextUnit,
    i: () => (details.value = !details.value),
    g: () => subject.value >= 0 && recentre(subject.value),
    e: showInTree,
    r: showInFlame,
    y: () => void copyLink(),
    F: () => addTransform('focus'),
    H: () => addTransform('hide'),
    R: () => addTransform('recursion'),
    Y: () => document.querySelector<HTMLElement>('.view .copy-button, .view .save-button')?.click(),
    t: () => (dark.value = !isDark()),
    x: () => (isWhole(chosen.value) ? document.querySelector<HTMLElement>('.part-button')?.click() : chooseWhole()),
    c: () => document.querySelector<HTMLElement>('.columns-button')?.click(),
};

export function followKeys(): void {
    document.addEventListener('keydown', (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || !model.value) return;
        const target = event.target as HTMLElement;
        if (target.matches('input, select, textarea')) {
            if (!target.matches('.search')) return;
            if (event.key === 'Enter')
                document.dispatchEvent(new CustomEvent('dwell:next', { detail: event.shiftKey }));
            else if (event.key === 'Escape') {
                if (search.value) search.value = '';
                else focusView();
            } else if (event.key === 'ArrowDown') focusView();
            else return;
            event.preventDefault();
            return;
        }
        if (helping.value && event.key === 'Escape') helping.value = false;
        else if (/^[1-9]$/.test(event.key)) view.value = views[Number(event.key) - 1]!.key;
        else if (actions[event.key]) actions[event.key]!();
        else return;
        event.preventDefault();
    });
}
