// The view of facts about the recording itself.
import { count, nanoseconds, shortDuration, visible } from '../format';
import { model } from '../state';

const shownElsewhere = new Set([
    'functions',
    'modules',
    'threads',
    'processes',
    'timeline',
    'tables',
    'remarks',
    'session',
    'mark_names',
    'event_names',
    'title',
    'duration_ticks',
    'recorded_seconds',
]);

function textOf(value: unknown): string {
    if (value === null || value === undefined || value === '') return '—';
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    if (typeof value === 'number') return count(value);
    return typeof value === 'string' ? visible(value) : JSON.stringify(value);
}

function flatten(value: Record<string, unknown>, prefix = ''): [string, string][] {
    return Object.entries(value).flatMap(([key, one]): [string, string][] => {
        if (
            (!prefix && shownElsewhere.has(key)) ||
            one === null ||
            one === '' ||
            one === false ||
            (Array.isArray(one) && one.length === 0)
        )
            return [];
        if (one && typeof one === 'object' && !Array.isArray(one))
            return flatten(one as Record<string, unknown>, `${prefix}${key}.`);
        return [
            [
                prefix + key,
                Array.isArray(one) && one.every((x) => typeof x !== 'object')
                    ? one.map(textOf).join(', ')
                    : textOf(one),
            ],
        ];
    });
}

export function About() {
    const m = model.value!;
    return (
        <div class="about" tabIndex={0}>
            {m.facts.map((f, side) => (
                <section key={side}>
                    <h2>
                        {m.sides === 2 ? `${side ? 'B' : 'A'}: ` : ''}
                        {visible(f.title)}
                    </h2>
                    <table>
                        <tbody>
                            {f.duration_ticks > 0 && !f.samples && (
                                <tr>
                                    <th>duration</th>
                                    <td>{shortDuration(Number(nanoseconds(f.duration_ticks, f.ticks_per_second)))}</td>
                                </tr>
                            )}
                            {flatten(f).map(([key, text]) => (
                                <tr key={key}>
                                    <th>{key.replaceAll('_', ' ')}</th>
                                    <td>{text}</td>
                                </tr>
                            ))}
                            <tr>
                                <th>functions, paths</th>
                                <td>
                                    {count(f.functions.length)}, {count(m.containers[side]!.tables.paths?.rows ?? 0)}
                                </td>
                            </tr>
                            <tr>
                                <th>threads, processes</th>
                                <td>
                                    {count(f.threads.length)}, {count(f.processes.length)}
                                </td>
                            </tr>
                        </tbody>
                    </table>
                </section>
            ))}
        </div>
    );
}
