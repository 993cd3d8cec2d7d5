// The view of facts about the recording itself, in words, and of what its values and colours mean.
import type { SessionFacts } from '../data/facts';
import { count, nanoseconds, shortDuration, visible, plural } from '../format';
import { model } from '../state';
import { ColourMeanings, ValueMeanings } from './meanings';

const modes: Record<string, string> = {
    trace: 'trace: every call with its time',
    profile: 'profile: sums by call path; the times of single calls are not recorded',
    ring: 'ring: every call with its time, of the last part of the run',
};

const text = (value: unknown): string => (typeof value === 'string' ? visible(value) : '');
const lines = (f: SessionFacts, key: string): string[] => (f[key] as string[] | undefined) ?? [];

// Titles and texts of the facts; those with an empty text are not shown.
function factLines(f: SessionFacts, paths: number): [string, string][] {
    const number = (key: string) => f.session[key] ?? 0;
    const time = (ticks: number) => shortDuration(Number(nanoseconds(ticks, f.ticks_per_second)));
    const host = (f.host ?? {}) as Record<string, string>;
    const events = [
        [number('events'), 'events'],
        [number('os_events'), 'OS events'],
        [number('lost_events'), 'lost events'],
        [number('pauses'), 'pauses'],
    ] as const;
    return [
        ['Command', text(f.command)],
        ['Recorded', text(f.recorded)],
        ['Duration', f.duration_ticks > 0 && !f.samples ? time(f.duration_ticks) : ''],
        ['Session file', text(f.path)],
        ['Shown part', text(f.slice)],
        [
            'Host',
            ['node', 'system', 'release', 'machine']
                .map((key) => text(host[key]))
                .filter(Boolean)
                .join(' '),
        ],
        ['Mode', f.imported ? 'imported from the report of another profiler' : (modes[f.mode] ?? text(f.mode))],
        ['Clock', f.clock ? `${text(f.clock)}, ${count(f.ticks_per_second)} ticks a second` : ''],
        [
            'Contains',
            events
                .filter(([n]) => n > 0)
                .map(([n, what]) => `${count(n)} ${what}`)
                .join(', '),
        ],
        ['Paused for', number('paused') > 0 ? time(number('paused')) : ''],
        ['Functions', `${count(f.functions.length)}, on ${count(paths)} call paths`],
        ['Threads', `${count(f.threads.length)}, of ${plural(f.processes.length, 'process', 'processes')}`],
        ['Modules', f.modules.map((one) => text(one.name)).join(', ')],
        ['Written by', `dwell ${text(f.dwell)}`],
    ];
}

// What holds for the times of the recording, in sentences.
function sentences(f: SessionFacts): string[] {
    if (f.samples) return ['The values are numbers of samples, not times. Calls are unknown.'];
    return [
        f.complete ? 'The recording has ended.' : 'The recording has not ended.',
        f.overhead ? 'The times do not contain the overhead of the probes.' : 'The times contain the probes’ overhead.',
        f.off_cpu
            ? 'Blocked, preempted and CPU times are known.'
            : 'Blocked, preempted and CPU times are unknown: the recording has no context switches with times.',
        f.application
            ? 'Application times are known.'
            : 'Application times are unknown: the recording has no OS events.',
        ...(f.application_bounds ? [`Application time is ${f.application_bounds}.`] : []),
        ...(f.partial_paths ? ['Call paths begin at one function. Numbers of events are unknown.'] : []),
        ...(f.events_left_out ? [`The page lacks ${count(f.events_left_out as number)} trace events.`] : []),
        ...lines(f, 'notes').map(visible),
    ];
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
                            {factLines(f, m.containers[side]!.tables.paths?.rows ?? 0)
                                .filter(([, said]) => said)
                                .map(([title, said]) => (
                                    <tr key={title + said}>
                                        <th>{title}</th>
                                        <td>{said}</td>
                                    </tr>
                                ))}
                        </tbody>
                    </table>
                    <ul>
                        {sentences(f).map((one) => (
                            <li key={one}>{one}</li>
                        ))}
                    </ul>
                </section>
            ))}
            <section>
                <h3>What the values mean</h3>
                <ValueMeanings m={m} />
                <h3>What the colours mean</h3>
                <ColourMeanings />
                <p>The key ? lists the keys and explains the search.</p>
            </section>
        </div>
    );
}
