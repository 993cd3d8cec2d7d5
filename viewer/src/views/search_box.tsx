// The search field, and beside it why its text cannot be used.
import { useMemo } from 'preact/hooks';
import type { Model } from '../data/model';
import { problemOf } from '../search';
import { type View, matcher, model, search, view } from '../state';
import { valueColumns } from './columns';
import { type EntityTable, entityColumns } from './entities';
import { waitConditions } from './waits';

const tables: View[] = ['functions', 'modules', 'threads', 'processes'];

function shownProblem(m: Model, which: View): string {
    const by = matcher.value;
    if (by.problem || (by.conditions.length === 0 && by.unfinished.length === 0)) return by.problem;
    if (tables.includes(which)) return problemOf(by, entityColumns(m, which as EntityTable));
    if (which === 'waits') return problemOf(by, waitConditions);
    const problem = problemOf(by, valueColumns(m, 'functions', 'ns', false));
    if (problem || by.conditions.length === 0 || which === 'callers') return problem;
    return `${by.conditions[0]!.text}: conditions filter the tables only`;
}

export function SearchBox() {
    const m = model.value!;
    const problem = useMemo(() => shownProblem(m, view.value), [m, matcher.value, view.value]);
    return (
        <div class="search-field">
            <input
                class={`search ${problem ? 'wrong' : ''}`}
                type="search"
                placeholder="Search (/)"
                aria-label="Search"
                aria-invalid={problem !== ''}
                aria-describedby={problem ? 'search-problem' : undefined}
                spellcheck={false}
                value={search.value}
                onInput={(e) => (search.value = e.currentTarget.value)}
            />
            {problem && (
                <p class="search-problem" id="search-problem" role="alert">
                    {problem}
                </p>
            )}
        </div>
    );
}
