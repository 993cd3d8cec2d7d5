// The choice of the measure: four that answer most questions, and the others in a list.
import type { ValueFacts } from '../data/facts';
import { choicesOf } from '../data/measures';
import type { Model } from '../data/model';
import { count } from '../format';
import { measure } from '../state';

const front = ['cpu', 'elapsed', 'application', 'blocked'];

const others = (all: ValueFacts[]): ValueFacts[] => all.filter((x) => !front.includes(x.key));

// Times of several threads are a sum, which can be longer than the run.
function hintOf(m: Model, x: ValueFacts): string {
    if (!m.knows(`${x.key}_inclusive`)) return 'unavailable: the recording has no such data';
    const threads = m.facts.at(-1)!.threads.length;
    const sum = x.kind === 'time' && threads > 1 && !m.facts[0]!.samples;
    return x.meanings[0]! + (sum ? `; summed over ${count(threads)} threads` : '');
}

export function MeasureChoice({ m }: { m: Model }) {
    const all = choicesOf(m);
    const more = others(all);
    const chosen = more.find((x) => x.key === measure.value);
    return (
        <div class="measure-choice">
            <div class="measures" role="radiogroup" aria-label="Measure">
                {front
                    .map((key) => all.find((x) => x.key === key))
                    .filter((x) => x !== undefined)
                    .map((x) => (
                        <button
                            key={x.key}
                            role="radio"
                            aria-checked={measure.value === x.key}
                            disabled={!m.knows(`${x.key}_inclusive`)}
                            title={hintOf(m, x)}
                            onClick={() => (measure.value = x.key)}
                        >
                            {x.title}
                        </button>
                    ))}
            </div>
            {more.length > 0 && (
                <select
                    class={`more-measures ${chosen ? 'chosen' : ''}`}
                    aria-label="More measures"
                    title={chosen ? hintOf(m, chosen) : 'More measures (m: the next one)'}
                    value={chosen?.key ?? ''}
                    onChange={(e) => {
                        measure.value = e.currentTarget.value;
                        e.currentTarget.blur();
                    }}
                >
                    <option value="" disabled hidden>
                        more
                    </option>
                    {more.map((x) => (
                        <option key={x.key} value={x.key} disabled={!m.knows(`${x.key}_inclusive`)}>
                            {x.title}
                        </option>
                    ))}
                </select>
            )}
        </div>
    );
}
