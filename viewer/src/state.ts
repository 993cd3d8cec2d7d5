// The state of the page: what is loaded, selected and shown. All that a link restores is here (link.ts).
import { searchedName } from './data/names';
import { computed, signal } from '@preact/signals';
import type { ActivityKind } from './data/activity';
import type { Measure } from './data/measures';
import type { LaneOrder } from './data/threads';
import type { Model, Side } from './data/model';
import { Branches } from './data/open';
import type { Transform } from './data/transform';
import { stackOf } from './data/paths';
import type { Source } from './data/source';
import { type Unit, timeUnit } from './format';
import { type Matcher, makeMatcher } from './search';

export type View =
    | 'summary'
    | 'tree'
    | 'flame'
    | 'inverted'
    | 'callers'
    | 'functions'
    | 'modules'
    | 'threads'
    | 'processes'
    | 'timeline'
    | 'waits'
    | 'critical'
    | 'heat'
    | 'histogram'
    | 'why'
    | 'recorded'
    | 'source'
    | 'about';

// The tabs, and those that are under "More".
export const views: { key: View; title: string; more?: boolean }[] = [
    { key: 'summary', title: 'Summary' },
    { key: 'tree', title: 'Call tree' },
    { key: 'flame', title: 'Flame graph' },
    { key: 'timeline', title: 'Timeline' },
    { key: 'functions', title: 'Functions' },
    { key: 'waits', title: 'Waits' },
    { key: 'inverted', title: 'Inverted graph', more: true },
    { key: 'callers', title: 'Callers & callees', more: true },
    { key: 'critical', title: 'Critical path', more: true },
    { key: 'heat', title: 'Heat map', more: true },
    { key: 'modules', title: 'Modules', more: true },
    { key: 'threads', title: 'Threads', more: true },
    { key: 'processes', title: 'Processes', more: true },
    { key: 'histogram', title: 'Calls', more: true },
    { key: 'why', title: 'Slow calls', more: true },
    { key: 'recorded', title: 'Values', more: true },
    { key: 'source', title: 'Lines', more: true },
    { key: 'about', title: 'About', more: true },
];

export type WaitsBy = 'path' | 'lock' | 'function' | 'thread' | 'waker' | 'graph';
export type CriticalTable = 'functions' | 'segments' | 'threads' | 'ranking';

export interface Sort {
    key: string;
    descending: boolean;
}

// The part that all views show: a range of time of each session in ticks, and threads by identity. See part.ts.
export interface Chosen {
    ranges: [[number, number] | null, [number, number] | null];
    threads: string[]; // none: all
}

export const source = signal<Source | null>(null);
export const model = signal<Model | null>(null);
export const failure = signal('');
export const progress = signal('Reading the recording …');

export const view = signal<View>('summary');
export const measure = signal<Measure>('elapsed');
export const search = signal('');
export const path = signal(-1); // the selected row of the call tree
export const subject = signal(-1); // the selected function
export const expanded = signal(new Branches(0));
export const sorts = signal<Record<string, Sort>>({});
export const columns = signal<Record<string, string[]>>({}); // by table, if the user chose columns
export const zoomed = signal(-1); // the path that fills the flame graph
export const invertedZoom = signal<number[]>([]); // functions from the inverted graph's root to the zoomed node
export const colouring = signal<'heat' | 'module'>('heat');
export const drawnSide = signal<Side>(1); // with two sessions, the one whose times set the widths
export const range = signal<[number, number] | null>(null); // shown part of the timeline, in ticks
export const chosen = signal<Chosen>({ ranges: [null, null], threads: [] });
export const transforms = signal<readonly Transform[]>([]);
export const timelineSide = signal<Side>(0);
export const laneOrder = signal<LaneOrder>('recorded');
// Threads and processes of the timeline, by the keys of data/threads.ts.
export const ownOrder = signal<readonly string[]>([]);
export const hiddenLanes = signal<ReadonlySet<string>>(new Set());
export const foldedLanes = signal<ReadonlySet<string>>(new Set());
export const waitsBy = signal<WaitsBy>('path');
export const heatKind = signal<ActivityKind>('cpu');
export const criticalTable = signal<CriticalTable>('functions');
export const showsArrows = signal(false); // on the timeline, of all waits, from wakers to waiting threads,
export const showsCritical = signal(true); // and the critical path
export const chosenUnit = signal<Unit | 'auto'>('auto');
export const details = signal(true);

export const helping = signal(false);
export const dark = signal<boolean | null>(null); // null follows the system
export const paused = signal(false); // live updates are paused
export const lost = signal(''); // the error of the last live update
export const notice = signal('');

export const matcher = computed<Matcher>(() => makeMatcher(search.value));
// By function, 1 if it matches the search.
export const found = computed<Uint8Array | null>(() => {
    const m = model.value;
    const by = matcher.value;
    if (!m || by.empty || by.conditions.length > 0) return null;
    return Uint8Array.from(m.functions, (f) =>
        Number(by.matches(searchedName(f), m.modules[f.module]?.name ?? '', f.file ?? '')),
    );
});
export const unit = computed<Unit>(() => {
    if (chosenUnit.value !== 'auto') return chosenUnit.value;
    return model.value ? timeUnit(model.value.facts) : 'ns';
});

export function setSort(table: string, sort: Sort): void {
    sorts.value = { ...sorts.value, [table]: sort };
}

export function selectFunction(row: number): void {
    subject.value = row;
    if (path.value >= 0 && model.value!.paths.function[path.value] !== row) path.value = -1;
}

export function selectPath(row: number): void {
    path.value = row;
    if (row >= 0 && model.value) subject.value = model.value.paths.function[row]!;
}

// Shows the callers and callees of a function.
export function recentre(row: number): void {
    selectFunction(row);
    view.value = 'callers';
}

// Selects a path in the call tree and opens all branches above it.
export function reveal(row: number): void {
    expanded.value = expanded.value.with(stackOf(model.value!.paths, row).slice(0, -1), true);
    selectPath(row);
}

let noticeTimer = 0;
export function notify(text: string): void {
    notice.value = text;
    clearTimeout(noticeTimer);
    noticeTimer = window.setTimeout(() => (notice.value = ''), 2500);
}
