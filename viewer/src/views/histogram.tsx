// The view of how long the calls of the selected function took.
import { type Bucket, type Duration, bucketsOf, callsIn, durationsOf, percentileOf } from '../data/calls';
import type { SessionFacts } from '../data/facts';
import { type Model, type Side, ownFunction } from '../data/model';
import { nameOf } from '../data/names';
import { count, percent, shortDuration, visible } from '../format';
import { chosenThreads, periodsOf, timeOf } from '../part';
import { chosen, model, subject } from '../state';
import { useBlock } from './block';
import { WhyButton, hasWhy } from './why';

const resolutionOf = (facts: SessionFacts): string =>
    `below the resolution (${timeOf(facts, facts.calls!.resolution)})`;

const rangeText = (facts: SessionFacts, b: Bucket): string =>
    b.below ? resolutionOf(facts) : `${shortDuration(b.begin)} … ${shortDuration(b.end)}`;

// "min and median below the resolution (20 ns) · 90 % 48 ns", as dwell histogram says it: zeros would look exact.
function timesText(facts: SessionFacts, durations: Duration[]): string {
    const times: [string, number][] = [
        ['min', durations[0]!.ticks],
        ['median', percentileOf(durations, 0.5)],
        ['90 %', percentileOf(durations, 0.9)],
        ['99 %', percentileOf(durations, 0.99)],
        ['max', durations.at(-1)!.ticks],
    ];
    const { resolution, rounded } = facts.calls!;
    const below = times.filter(([, ticks]) => ticks < resolution).map(([title]) => title);
    const last = below.pop();
    return [
        ...(last ? [`${below.length ? `${below.join(', ')} and ` : ''}${last} ${resolutionOf(facts)}`] : []),
        ...times.filter(([, ticks]) => ticks >= resolution).map(([title, ticks]) => `${title} ${timeOf(facts, ticks)}`),
        ...(rounded ? ['all within half a percent'] : []),
    ].join(' · ');
}

function OneHistogram({ m, side }: { m: Model; side: Side }) {
    const facts = m.facts[side]!;
    const block = useBlock(side, facts.calls?.block, facts.calls);
    const name = m.sides === 2 ? `${side ? 'B' : 'A'}: ` : '';
    if (!facts.calls) return <p class="where">{name}this page holds no single calls</p>;
    if (typeof block === 'string') return <p class="where">{block}</p>;
    if (!block) return <p class="where">Reading …</p>;
    const range = chosen.value.ranges[side];
    const periods = range && facts.parts ? periodsOf(facts.parts.borders, range) : null;
    const merged = chosenThreads(m, chosen.value);
    const threads = merged && facts.threads.map((_, row) => merged[m.rowOf('threads', row, side)]!);
    const durations = durationsOf(facts, block, ownFunction(m, side, subject.value), periods, threads);
    const buckets = bucketsOf(facts, durations);
    const calls = callsIn(durations);
    const most = Math.max(1, ...buckets.map((b) => b.calls));
    const { periods: joined } = facts.calls;
    const borders = facts.parts?.borders ?? [];
    const snapped = periods && [
        Math.floor(periods[0] / joined) * joined,
        Math.min(Math.ceil(periods[1] / joined) * joined, borders.length - 1),
    ];
    return (
        <section class="histogram">
            <p>
                {name}
                <strong>{count(calls)}</strong> completed calls
                {snapped &&
                    ` that ended from ${timeOf(facts, borders[snapped[0]!]!)} to ${timeOf(facts, borders[snapped[1]!]!)}`}
                {calls > 0 && ` · ${timesText(facts, durations)}`}
            </p>
            <table>
                <thead>
                    <tr>
                        <th>Elapsed</th>
                        <th>Calls</th>
                        <th>%</th>
                        <th />
                    </tr>
                </thead>
                <tbody>
                    {buckets.map((b) => (
                        <tr key={b.begin}>
                            <td>{rangeText(facts, b)}</td>
                            <td>{count(b.calls)}</td>
                            <td>{percent(b.calls / calls)}</td>
                            <td class="bar-cell">
                                <i style={{ width: `${(100 * b.calls) / most}%` }} />
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

export function HistogramView() {
    const m = model.value!;
    if (subject.value < 0) return <p class="wait">Select a function first.</p>;
    return (
        <div class="scroller text-view" tabIndex={0}>
            <h2>
                <bdi>{visible(nameOf(m.functions[subject.value]!))}</bdi>
            </h2>
            <OneHistogram key={0} m={m} side={0} />
            {m.sides === 2 && <OneHistogram key={1} m={m} side={1} />}
            {hasWhy(m) && (
                <p>
                    <WhyButton />
                </p>
            )}
        </div>
    );
}
