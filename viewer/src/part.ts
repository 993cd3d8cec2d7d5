// The chosen part of the recording, which all views show: a range of time of each session, and threads. Times are
// snapped to the borders of periods.
import { threadName } from './data/names';
import type { Container } from './data/container';
import type { SessionFacts } from './data/facts';
import { identities } from './data/identity';
import { mergeModels } from './data/merge';
import { type Model, type Side, SingleModel } from './data/model';
import { restrict } from './data/parts';
import type { Source } from './data/source';
import { Yielder } from './data/yielder';
import { nanoseconds, shortDuration, shortened } from './format';
import { type Chosen, chosen } from './state';

export const isWhole = (part: Chosen): boolean => part.threads.length === 0 && part.ranges.every((r) => !r);

export const canChooseTime = (facts: SessionFacts): boolean => (facts.parts?.borders.length ?? 0) > 2;

// The periods of a range: from the nearest border to the nearest one, and at least one period.
export function periodsOf(borders: number[], range: [number, number] | null): [number, number] {
    const last = borders.length - 1;
    if (!range) return [0, last];
    const nearest = (time: number) => {
        let low = 0;
        let high = last;
        while (low < high) {
            const middle = (low + high) >> 1;
            if ((borders[middle]! + borders[middle + 1]!) / 2 <= time) low = middle + 1;
            else high = middle;
        }
        return low;
    };
    const [first, end] = [nearest(range[0]), nearest(range[1])];
    if (first < end) return [first, end];
    let inside = 0;
    while (inside < last - 1 && borders[inside + 1]! <= (range[0] + range[1]) / 2) inside++;
    return [inside, inside + 1];
}

export function snapped(facts: SessionFacts, range: [number, number]): [number, number] {
    const borders = facts.parts!.borders;
    const [first, last] = periodsOf(borders, range);
    return [borders[first]!, borders[last]!];
}

export function chooseRange(side: Side, range: [number, number] | null): void {
    const ranges: Chosen['ranges'] = [...chosen.value.ranges];
    ranges[side] = range;
    chosen.value = { ...chosen.value, ranges };
}

export function chooseThreads(threads: string[]): void {
    chosen.value = { ...chosen.value, threads };
}

export function chooseWhole(): void {
    chosen.value = { ranges: [null, null], threads: [] };
}

export const threadIdentity = (m: Model, row: number): string => identities(m, 'threads')[row]!.toString(36);

// By row of the model's threads. Null if all are chosen, also if a live session does not have the chosen ones yet.
export function chosenThreads(m: Model, part: Chosen): boolean[] | null {
    if (part.threads.length === 0) return null;
    const wanted = new Set(part.threads);
    const rows = m.threads.map((_, row) => wanted.has(threadIdentity(m, row)));
    return rows.includes(true) ? rows : null;
}

// ---- in words ----

export const timeOf = (facts: SessionFacts, ticks: number): string =>
    shortDuration(Number(nanoseconds(ticks, facts.ticks_per_second)));

export function rangeWords(facts: SessionFacts, range: [number, number]): string {
    const [from, to] = snapped(facts, range);
    return `${timeOf(facts, from)} … ${timeOf(facts, to)} (${timeOf(facts, to - from)})`;
}

export function threadWords(m: Model, part: Chosen): string {
    const rows = chosenThreads(m, part);
    if (!rows) return '';
    const names = m.threads.filter((_, row) => rows[row]).map((t) => `${shortened(threadName(t), 40)} (${t.id})`);
    return names.length > 4
        ? `${names.length} of ${rows.length} threads`
        : `thread${names.length > 1 ? 's' : ''} ${names.join(', ')}`;
}

// The same part for dwell's commands.
export function optionsOf(m: Model, part: Chosen, side: Side): string {
    const facts = m.facts[side]!;
    const range = part.ranges[side];
    const ns = (ticks: number) => `${nanoseconds(ticks, facts.ticks_per_second)}ns`;
    const [from, to] = range ? snapped(facts, range) : [0, 0];
    const rows = chosenThreads(m, part);
    const threads = m.threads.filter((_, row) => rows?.[row]).map((t) => `--thread ${t.id}`);
    return [...(range ? [`--from ${ns(from)} --to ${ns(to)}`] : []), ...threads].join(' ');
}

// ---- the model ----

export class Parts {
    private models: SingleModel[] = [];
    private whole: Model | null = null;
    private readonly blocks = new Map<Container, Promise<Container>>();

    constructor(private readonly source: Source) {}

    // Replaces the whole sessions.
    async set(containers: Container[]): Promise<void> {
        this.blocks.clear();
        this.models = containers.map((one) => new SingleModel(one));
        this.whole = await this.join(this.models);
    }

    // The model of the chosen part.
    async model(part: Chosen): Promise<Model> {
        if (isWhole(part)) return this.whole!;
        return this.join(await Promise.all(this.models.map((_, side) => this.restricted(part, side as Side))));
    }

    private async join(models: SingleModel[]): Promise<Model> {
        const [a, b] = models;
        return b ? mergeModels(a!, b, new Yielder()) : a!;
    }

    private async restricted(part: Chosen, side: Side): Promise<SingleModel> {
        const one = this.models[side]!;
        const facts = one.facts[0]!;
        const range = part.ranges[side] ?? null;
        const merged = chosenThreads(this.whole!, part);
        const threads = merged && one.threads.map((_, row) => merged[this.whole!.rowOf('threads', row, side)]!);
        if (!facts.parts || (!range && !threads)) return one;
        const container = one.containers[0]!;
        let block = this.blocks.get(container);
        if (!block) this.blocks.set(container, (block = this.source.block(side, facts.parts.block)));
        const words = [range ? rangeWords(facts, range) : '', threads ? threadWords(this.whole!, part) : ''];
        return new SingleModel(
            restrict(container, await block, {
                periods: periodsOf(facts.parts.borders, range),
                threads,
                words: words.filter(Boolean).join(', '),
            }),
        );
    }
}
