// The first view: what the run was and where its time went, in one sentence, in sums, and in the rows that matter.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useCanvas } from '../charts/canvas';
import { drawActivity } from '../charts/activity_draw';
import { palette } from '../colours';
import { Activity } from '../data/activity';
import type { SessionFacts, TimelineFacts } from '../data/facts';
import { longestWaits } from '../data/longest_waits';
import { measureTitle } from '../data/measures';
import type { Model, Side } from '../data/model';
import { nameOf } from '../data/names';
import { count, lengthOf, nanoseconds, percent, plural, shortDuration, visible } from '../format';
import { isWhole } from '../part';
import { chosen, chosenUnit, measure, model, recentre, transforms, view } from '../state';
import { valueColumns, waits } from './columns';
import { sourceText } from './entities';
import { Name } from './name';

const [maxWork, maxWaits] = [10, 5];
const stripHeight = 44;

// Titles and texts of the run's facts; those with an empty text are not shown.
function factsOfRun(m: Model, side: Side): [string, string][] {
    const f = m.facts[side]!;
    const time = (key: string) => shortDuration(Number(nanoseconds(m.total(key, side), f.ticks_per_second)));
    const known = (key: string) => m.knows(key) && !f.samples;
    const threads = f.threads.length;
    const share = m.total('cpu_inclusive', side) / (m.total('elapsed_inclusive', side) || 1);
    const text = (value: unknown) => (typeof value === 'string' ? visible(value) : '');
    const recorded = isWhole(chosen.value)
        ? text(f.overhead_reached)
              .replace(/^recording /, '')
              .replace(/, left out here.*$/, '')
        : '';
    return [
        ['Command', text(f.command)],
        ['Recorded', [text(f.recorded), f.complete ? '' : 'still running'].filter(Boolean).join(', ')],
        ['Ran', lengthOf(f)],
        ['Threads', f.imported ? '' : `${count(threads)} of ${plural(f.processes.length, 'process', 'processes')}`],
        [
            'Elapsed',
            f.samples
                ? plural(m.total('elapsed_inclusive', side), 'sample')
                : `${time('elapsed_inclusive')}${threads > 1 ? `, summed over ${count(threads)} threads` : ''}`,
        ],
        ['CPU', known('cpu_inclusive') ? `${time('cpu_inclusive')}, ${percent(share)} of elapsed` : ''],
        ['Blocked', known('blocked_inclusive') ? time('blocked_inclusive') : ''],
        ['Calls', f.session.enters ? count(f.session.enters) : ''],
        [
            'Probes',
            !recorded && known('overhead_inclusive') && f.overhead
                ? `${time('overhead_inclusive')} of CPU time left out`
                : '',
        ],
        ['Recording', recorded],
        ['Part', text(f.slice)],
    ];
}

function Run({ m, side }: { m: Model; side: Side }) {
    const f = m.facts[side]!;
    const isAll = isWhole(chosen.value) && transforms.value.length === 0;
    return (
        <section class="run" aria-label="Run">
            {f.answer && isAll && (
                <p class="answer">
                    {m.sides === 2 && <b class={side ? 'side-b' : 'side-a'}>{side ? 'B ' : 'A '}</b>}
                    {visible(f.answer)}
                </p>
            )}
            <dl class="run-facts">
                {factsOfRun(m, side)
                    .filter(([, said]) => said)
                    .map(([title, said]) => (
                        <div key={title}>
                            <dt>{title}</dt>
                            <dd>{said}</dd>
                        </div>
                    ))}
            </dl>
        </section>
    );
}

// The activity of all threads over the run. A click shows the timeline.
function Strip({ m, facts, timeline }: { m: Model; facts: SessionFacts; timeline: TimelineFacts }) {
    const activity = useMemo(() => new Activity(m.containers[0]!, timeline.start, timeline.bin), [m]);
    const threads = timeline.lanes.map((lane) => lane.thread);
    const { canvas } = useCanvas((d) => {
        d.context.fillStyle = palette().back;
        d.context.fillRect(0, 0, d.width, d.height);
        drawActivity(d, activity, { threads }, { from: timeline.start, to: timeline.end }, [], 0, stripHeight);
    });
    const length = shortDuration(Number(nanoseconds(timeline.end - timeline.start, facts.ticks_per_second)));
    return (
        <section>
            <h2>
                Activity of {plural(threads.length, 'thread')} over {length}
            </h2>
            <button
                class="strip"
                style={{ height: `${stripHeight}px` }}
                aria-label="Show the timeline"
                title="On the CPU, preempted and blocked, over time; a click shows the timeline"
                onClick={() => (view.value = 'timeline')}
            >
                <canvas ref={canvas} />
            </button>
            <p class="legend">
                <i class="swatch-busy" /> CPU <i class="swatch-wait" /> blocked <i class="swatch-preempted" /> preempted
            </p>
        </section>
    );
}

function Rows({
    kind,
    title,
    heads,
    rows,
}: {
    kind: 'work' | 'waiting';
    title: string;
    heads: string[];
    rows: { key: string; fn: number; cells: ComponentChildren[]; grey?: boolean }[];
}) {
    return (
        <section>
            <h2>{title}</h2>
            <table class={`summary-rows ${kind}`} aria-label={title}>
                <thead>
                    <tr>
                        {heads.map((head, i) => (
                            <th key={i}>{head}</th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.map(({ key, fn, cells, grey }) => (
                        <tr key={key} class={grey ? 'grey' : ''} onClick={() => recentre(fn)}>
                            {cells.map((cell, i) => (
                                <td key={i}>{cell}</td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

const link = (m: Model, fn: number) => (
    <a
        class="go"
        href="#"
        onClick={(e) => {
            e.preventDefault();
            e.stopPropagation();
            recentre(fn);
        }}
    >
        <Name text={nameOf(m.functions[fn]!)} whole={m.functions[fn]!.name} />
    </a>
);

// The functions with the most exclusive time by the chosen measure, or with the largest changes.
function Work({ m }: { m: Model }) {
    const by = measure.value;
    const keys =
        m.sides === 2
            ? ['base', 'new', 'change', 'change_percent'].map((end) => `${by}_exclusive_${end}`)
            : [`${by}_exclusive`, `${by}_exclusive_percent`, `${by}_inclusive`, 'calls'];
    const { columns, rows } = useMemo(() => {
        const all = valueColumns(m, 'functions', chosenUnit.value);
        const columns = keys.map((key) => all.find((c) => c.key === key)).filter((c) => c !== undefined);
        const main = all.find((c) => c.key === (m.sides === 2 ? `${by}_exclusive_change` : `${by}_exclusive`));
        const size = (row: number) => Math.abs(main ? (main.sortBy(row) as number) : 0);
        const rows = m.functions.map((_, row) => row).filter((row) => main && (main.sortBy(row) as number) !== 0);
        rows.sort((a, b) => size(b) - size(a) || a - b);
        return { columns, rows: rows.filter((row) => m.sides === 2 || size(row) > 0).slice(0, maxWork) };
    }, [m, by, chosenUnit.value]);
    const unit = columns[0]?.group?.match(/\(.*\)$/)?.[0] ?? '';
    const titles = columns.map((c) =>
        c.title === '%' || m.sides === 2 || !c.group ? c.title : `${c.group} ${c.title}`,
    );
    const module = (row: number) => visible(m.modules[m.functions[row]!.module]?.name ?? '');
    return (
        <Rows
            kind="work"
            title={
                m.sides === 2
                    ? `Largest changes of exclusive ${measureTitle(m, by)} ${unit}`
                    : `Work, by exclusive ${measureTitle(m, by)}`
            }
            heads={['Function', ...titles, 'Module', 'Source']}
            rows={rows.map((row) => ({
                key: String(row),
                fn: row,
                grey: waits(m, 'functions', row),
                cells: [
                    link(m, row),
                    ...columns.map((c) => c.text(row)),
                    module(row),
                    sourceText(m.functions[row]!.file, m.functions[row]!.line),
                ],
            }))}
        />
    );
}

function LongestWaits({ m, side }: { m: Model; side: Side }) {
    const whole = isWhole(chosen.value) && transforms.value.length === 0;
    const rows = useMemo(() => longestWaits(m, side, maxWaits, whole), [m, side, whole]);
    const total = m.total('blocked_inclusive', side);
    const time = (ticks: number) => shortDuration(Number(nanoseconds(ticks, m.facts[side]!.ticks_per_second)));
    if (!m.knows('blocked_inclusive') || rows.length === 0) return null;
    return (
        <Rows
            kind="waiting"
            title={`Waits, by blocked time${m.sides === 2 ? ' of B' : ''}`}
            heads={['Waits in', 'Blocked', '%', 'Calls', 'Called by']}
            rows={rows.map((row) => ({
                key: `${row.function}/${row.caller}`,
                fn: row.function < 0 ? row.caller : row.function,
                cells: [
                    row.function < 0 ? 'recording changes code' : link(m, row.function),
                    time(row.blocked),
                    percent(row.blocked / (total || 1)),
                    count(row.calls),
                    row.caller < 0 ? '(start of thread)' : link(m, row.caller),
                ],
            }))}
        />
    );
}

export function Summary() {
    const m = model.value!;
    const side = (m.sides - 1) as Side;
    const timeline = m.sides === 1 ? m.facts[0]!.timeline : null;
    return (
        <div class="summary" tabIndex={0} role="region" aria-label="Summary">
            {m.facts.map((_, one) => (
                <Run key={one} m={m} side={one as Side} />
            ))}
            {timeline && timeline.lanes.length > 0 && timeline.end > timeline.start && (
                <Strip m={m} facts={m.facts[0]!} timeline={timeline} />
            )}
            <Work m={m} />
            <LongestWaits m={m} side={side} />
        </div>
    );
}
