// The values that a session has, with their titles and meanings. The session's header describes them (facts.ts,
// "values").
import type { SessionFacts, ValueFacts } from './facts';

export type Measure = string; // key of a value with an inclusive and an exclusive form
export type Extent = 'inclusive' | 'exclusive';
export type ColumnKey = string; // `${Measure}_${Extent}`, or the key of a value without these forms

export const extents: Extent[] = ['inclusive', 'exclusive'];

export const isMeasure = (v: ValueFacts): boolean => v.meanings.length === extents.length;

interface Described {
    facts: SessionFacts[];
}

export const measuresOf = (m: Described): ValueFacts[] => m.facts[0]!.values.filter(isMeasure);

// The measures that views can be drawn by. Overhead is not the program's own time, so it only has columns.
export const choicesOf = (m: Described): ValueFacts[] => measuresOf(m).filter((v) => !v.of_probes);

const byColumn = new WeakMap<SessionFacts, Map<ColumnKey, ValueFacts>>();

export function valueOf(facts: SessionFacts, key: ColumnKey): ValueFacts | undefined {
    let values = byColumn.get(facts);
    if (!values) {
        const columns = (v: ValueFacts) => (isMeasure(v) ? extents.map((extent) => `${v.key}_${extent}`) : [v.key]);
        values = new Map(facts.values.flatMap((v) => columns(v).map((column) => [column, v] as const)));
        byColumn.set(facts, values);
    }
    return values.get(key);
}

export const isCount = (m: Described, key: ColumnKey): boolean => valueOf(m.facts[0]!, key)?.kind === 'count';

const measureOf = (m: Described, key: Measure): ValueFacts | undefined => valueOf(m.facts[0]!, `${key}_inclusive`);

export const measureTitle = (m: Described, key: Measure): string => measureOf(m, key)?.title ?? key;

// The measure's name within a sentence.
export function measureName(m: Described, key: Measure): string {
    const title = measureTitle(m, key);
    return /^[A-Z]{2}/.test(title) ? title : title[0]!.toLowerCase() + title.slice(1);
}

export const isOffCpu = (m: Described, key: Measure): boolean => measureOf(m, key)?.off_cpu ?? false;
