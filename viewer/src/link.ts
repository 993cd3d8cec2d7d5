// Writes what is shown into the URL's fragment and restores it from there. Links name rows by hashes of their names
// (data/identity.ts). So a link fits every page of the same recording, and a live page after the next fetch.
import { effect } from '@preact/signals';
import { activityKinds } from './data/activity';
import { identify, locate } from './data/identity';
import { type Measure, choicesOf } from './data/measures';
import type { Model } from './data/model';
import type { Transform, TransformKind } from './data/transform';
import { type LaneOrder, laneOrders } from './data/threads';
import type { Unit } from './format';
import * as state from './state';

const maxBranches = 400;
const maxLanes = 400;

function textOf(m: Model): string {
    const p = new URLSearchParams();
    const put = (key: string, value: string, standard = '') => {
        if (value !== standard) p.set(key, value);
    };
    put('view', state.view.value);
    put('by', state.measure.value);
    put('search', state.search.value);
    put('path', identify(m, 'paths', state.path.value));
    put('function', identify(m, 'functions', state.subject.value));
    const open = state.expanded.value.list(maxBranches);
    p.set('open', open.map((row) => identify(m, 'paths', row)).join('.'));
    put(
        'sort',
        Object.entries(state.sorts.value)
            .map(([table, s]) => `${table}:${s.key}${s.descending ? '-' : ''}`)
            .join(';'),
    );
    put(
        'columns',
        Object.entries(state.columns.value)
            .map(([table, keys]) => `${table}:${keys.join(',')}`)
            .join(';'),
    );
    put('zoom', identify(m, 'paths', state.zoomed.value));
    put('inverted', state.invertedZoom.value.map((row) => identify(m, 'functions', row)).join('.'));
    put('colour', state.colouring.value, 'heat');
    put('widths', String(state.drawnSide.value), '1');
    put('time', state.range.value?.map((t) => Math.round(t)).join('-') ?? '');
    put('transform', state.transforms.value.map((t) => `${t.kind}.${t.function}`).join(';'));
    put('lanes', state.laneOrder.value, 'recorded');
    put('order', state.ownOrder.value.slice(0, maxLanes).join('.'));
    put('hidden', [...state.hiddenLanes.value].slice(0, maxLanes).join('.'));
    put('folded', [...state.foldedLanes.value].slice(0, maxLanes).join('.'));
    put('part', state.chosen.value.ranges.map((r) => (r ? r.map(Math.round).join('-') : '')).join(';'), ';');
    put('only', state.chosen.value.threads.join('.'));
    put('session', String(state.timelineSide.value), '0');
    put('waits', state.waitsBy.value, 'path');
    put('critical', state.criticalTable.value, 'functions');
    put('heat', state.heatKind.value, 'cpu');
    put('arrows', state.showsArrows.value ? '1' : '0', '0');
    put('band', state.showsCritical.value ? '1' : '0', '1');
    put('unit', state.chosenUnit.value, 'auto');
    put('details', state.details.value ? '1' : '0', '1');
    return p.toString().replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%3B', ';');
}

function pairs(text: string | null): [string, string][] {
    return (text ?? '')
        .split(';')
        .filter(Boolean)
        .map((one) => {
            const at = one.indexOf(':');
            return [one.slice(0, at), one.slice(at + 1)];
        });
}

const listOf = (text: string): string[] => text.split('.').filter(Boolean);

function oneOf<T extends string>(text: string | null, all: readonly T[], fallback: T): T {
    return all.includes(text as T) ? (text as T) : fallback;
}

// The part that a link names.
export function partOf(fragment: string): state.Chosen {
    const p = new URLSearchParams(fragment.replace(/^#/, ''));
    const [a, b] = (p.get('part') ?? '').split(';').map((text): [number, number] | null => {
        const [from, to] = text.split('-').map(Number);
        return from !== undefined && to !== undefined && from < to ? [from, to] : null;
    });
    return { ranges: [a ?? null, b ?? null], threads: (p.get('only') ?? '').split('.').filter(Boolean) };
}

// The transforms that a link names.
export function transformsIn(fragment: string): Transform[] {
    const kinds: TransformKind[] = ['focus', 'hide', 'recursion'];
    const text = new URLSearchParams(fragment.replace(/^#/, '')).get('transform') ?? '';
    return text
        .split(';')
        .map((one): Transform => {
            const [kind, identity = ''] = one.split('.');
            return { kind: kind as TransformKind, function: identity };
        })
        .filter((one) => kinds.includes(one.kind));
}

// Returns true if the link lists the open branches.
export function restore(m: Model, fragment: string): boolean {
    const p = new URLSearchParams(fragment.replace(/^#/, ''));
    const get = (key: string) => p.get(key) ?? '';
    state.view.value = oneOf(
        p.get('view'),
        state.views.map((v) => v.key),
        'summary',
    );
    // Without a choice, time on the CPU: elapsed times are mostly those of functions that wait.
    const by = oneOf<Measure>(
        p.get('by'),
        choicesOf(m).map((x) => x.key),
        'cpu',
    );
    state.measure.value = m.knows(`${by}_inclusive`) ? by : 'elapsed';
    state.search.value = get('search');
    const part = partOf(fragment);
    if (JSON.stringify(part) !== JSON.stringify(state.chosen.peek())) state.chosen.value = part;
    state.path.value = locate(m, 'paths', get('path'));
    state.subject.value = locate(m, 'functions', get('function'));
    state.sorts.value = Object.fromEntries(
        pairs(p.get('sort')).map(([table, key]) => [
            table,
            { key: key.replace(/-$/, ''), descending: key.endsWith('-') },
        ]),
    );
    state.columns.value = Object.fromEntries(pairs(p.get('columns')).map(([table, keys]) => [table, keys.split(',')]));
    state.zoomed.value = locate(m, 'paths', get('zoom'));
    state.invertedZoom.value = get('inverted')
        ? get('inverted')
              .split('.')
              .map((one) => locate(m, 'functions', one))
              .filter((row) => row >= 0)
        : [];
    state.colouring.value = oneOf(p.get('colour'), ['heat', 'module'] as const, 'heat');
    state.drawnSide.value = get('widths') === '0' ? 0 : 1;
    const time = get('time').split('-').map(Number);
    state.range.value =
        time.length === 2 && time.every(Number.isFinite) && time[0]! < time[1]! ? [time[0]!, time[1]!] : null;
    state.laneOrder.value = oneOf(p.get('lanes'), Object.keys(laneOrders) as LaneOrder[], 'recorded');
    state.ownOrder.value = listOf(get('order'));
    state.hiddenLanes.value = new Set(listOf(get('hidden')));
    state.foldedLanes.value = new Set(listOf(get('folded')));
    state.timelineSide.value = get('session') === '1' ? 1 : 0;
    state.waitsBy.value = oneOf(
        p.get('waits'),
        ['path', 'lock', 'function', 'thread', 'waker', 'graph'] as const,
        'path',
    );
    state.criticalTable.value = oneOf(
        p.get('critical'),
        ['functions', 'segments', 'threads', 'ranking'] as const,
        'functions',
    );
    state.heatKind.value = oneOf(p.get('heat'), activityKinds, 'cpu');
    state.showsArrows.value = get('arrows') === '1';
    state.showsCritical.value = get('band') !== '0';
    state.chosenUnit.value = oneOf<Unit | 'auto'>(p.get('unit'), ['auto', 'ns', 'us', 'ms', 's'], 'auto');
    state.details.value = get('details') !== '0';
    if (!p.has('open')) return false;
    state.expanded.value.flags.fill(0);
    const rows = get('open')
        .split('.')
        .map((one) => locate(m, 'paths', one))
        .filter((row) => row >= 0);
    state.expanded.value = state.expanded.value.with(rows, true);
    return true;
}

export function fragment(): string {
    return state.model.value ? `#${textOf(state.model.value)}` : '';
}

// What Back undoes: views, central functions, and where the graphs, the timeline and the part begin and end.
const placeNow = (): string => `${state.view.value}/${state.view.value === 'callers' ? state.subject.value : ''}`;
const zoomNow = (): string =>
    JSON.stringify([state.range.value, state.zoomed.value, state.invertedZoom.value, state.chosen.value]);

const oneZoom = 1000; // milliseconds: later steps are undone alone

// Keeps the fragment up to date. A change of view or of the central function makes an entry in the browser's history, and
// so does a zoom or another range. The turns of a wheel make one together.
export function followState(): void {
    let timer = 0;
    let written = location.hash;
    let [place, zoom, zoomedAt] = ['', '', -Infinity];
    effect(() => {
        const m = state.model.value;
        if (!m) return;
        const now = `#${textOf(m)}`;
        const [here, range] = [placeNow(), zoomNow()];
        clearTimeout(timer);
        timer = window.setTimeout(() => {
            if (!place) [place, zoom] = [here, range];
            if (now === written) return;
            written = now;
            const url = location.pathname + location.search + now;
            try {
                const zooms = range !== zoom && performance.now() - zoomedAt > oneZoom;
                if (place && (here !== place || zooms)) history.pushState(null, '', url);
                else history.replaceState(null, '', url);
            } catch {
                location.hash = now;
            }
            if (range !== zoom) zoomedAt = performance.now();
            [place, zoom] = [here, range];
        }, 150);
    });
    window.addEventListener('popstate', () => {
        if (!state.model.value || location.hash === written) return;
        written = location.hash;
        restore(state.model.value, location.hash);
        [place, zoom, zoomedAt] = [placeNow(), zoomNow(), -Infinity];
    });
}
