// The values of one row, for tooltips and details.
import { type ColumnKey, isCount } from '../data/measures';
import type { Model, Side } from '../data/model';
import { nanoseconds, percent, shortDuration, signed, count } from '../format';

export function oneValue(m: Model, key: ColumnKey, ticks: number, side: Side): string {
    if (isCount(m, key) || m.facts[0]!.samples) return count(Math.round(ticks));
    return shortDuration(Number(nanoseconds(ticks, m.facts[side]!.ticks_per_second)));
}

export interface Line {
    title: string;
    key: ColumnKey;
    get(side: Side): number;
}

// One line for each value; with two sessions, both values and their change.
export function Values({ m, lines }: { m: Model; lines: Line[] }) {
    const scale = (key: ColumnKey, side: Side) => (isCount(m, key) ? 1 : 1e9 / m.facts[side]!.ticks_per_second);
    return (
        <table class="values">
            {m.sides === 2 && (
                <thead>
                    <tr>
                        <th />
                        <th>A</th>
                        <th>B</th>
                        <th>Δ</th>
                    </tr>
                </thead>
            )}
            <tbody>
                {lines
                    .filter((l) => m.knows(l.key))
                    .map((l) => {
                        const total = m.total(l.key, (m.sides - 1) as Side);
                        const share =
                            l.key.endsWith('clusive') && total > 0 ? percent(l.get((m.sides - 1) as Side) / total) : '';
                        if (m.sides === 1)
                            return (
                                <tr key={l.title}>
                                    <th>{l.title}</th>
                                    <td>{oneValue(m, l.key, l.get(0), 0)}</td>
                                    <td>{share}</td>
                                </tr>
                            );
                        const [a, b] = [l.get(0) * scale(l.key, 0), l.get(1) * scale(l.key, 1)];
                        const by = isCount(m, l.key) ? count(b - a) : shortDuration(Math.round(b - a));
                        return (
                            <tr key={l.title}>
                                <th>{l.title}</th>
                                <td>{oneValue(m, l.key, l.get(0), 0)}</td>
                                <td>{oneValue(m, l.key, l.get(1), 1)}</td>
                                <td class={b > a ? 'more' : b < a ? 'less' : ''}>
                                    {signed(by)}
                                    {a > 0 ? ` (${signed(percent((b - a) / a))})` : ''}
                                </td>
                            </tr>
                        );
                    })}
            </tbody>
        </table>
    );
}
