// What the page shows of names: those of functions and threads as text reports print them. Links and searches use the
// whole names, too.
import type { FunctionFacts, ThreadFacts } from './facts';
import type { Model } from './model';

export const nameOf = (f: FunctionFacts): string => f.shown ?? f.name;

// A search may use either.
export const searchedName = (f: FunctionFacts): string => (f.shown ? `${f.shown}\n${f.name}` : f.name);

export const threadName = (t: Pick<ThreadFacts, 'name' | 'title'>): string => t.title ?? t.name;

const shownTexts = new WeakMap<Model, Map<string, string>>();

// The same for texts of rows, which have the whole names: one name, or a path of them, separated by semicolons.
export function shownText(m: Model, text: string): string {
    let shown = shownTexts.get(m);
    if (!shown) {
        shown = new Map(m.functions.filter((f) => f.shown).map((f) => [f.name, f.shown!]));
        shownTexts.set(m, shown);
    }
    if (shown.size === 0) return text;
    return text
        .split(';')
        .map((one) => shown.get(one) ?? one)
        .join(';');
}
