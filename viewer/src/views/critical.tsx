// The view of the critical path: its functions and segments, the threads' slack, and what less time of functions would
// bring.
import { useMemo } from 'preact/hooks';
import type { Container } from '../data/container';
import { nameOf as shownName, threadName } from '../data/names';
import type { Model, Side } from '../data/model';
import { columnOf, places, rowsIn, waitsFacts } from '../data/waits';
import { count, percent, shortDuration, nanoseconds, shortened, visible } from '../format';
import { isWhole } from '../part';
import { type CriticalTable, chosen, chosenUnit, criticalTable, model, range, recentre, view } from '../state';
import type { GridColumn } from './columns';
import { Choice, RowTable, shareColumn, textColumn, timeColumn } from './row_table';
import { NoWaits, SideChoice, useWaits, waitSide } from './wait_block';

const choices = [
    ['functions', 'functions'],
    ['segments', 'segments'],
    ['threads', 'threads'],
    ['ranking', 'what if'],
] as const;

interface Shown {
    table: string;
    columns: GridColumn[];
    searched: (row: number) => string;
    standard: { key: string; descending: boolean };
    onOpen?: (row: number) => void;
    note?: string;
}

function shownTable(m: Model, side: Side, block: Container, which: CriticalTable): Shown {
    const facts = waitsFacts(block).critical!;
    const length = facts.to - facts.from;
    const get = (table: string, key: string) => columnOf(block, table, key);
    const time = (
        table: string,
        key: string,
        title: string,
        hint: string,
        value: (row: number) => number,
        options: Parameters<typeof timeColumn>[7] = {},
    ) => timeColumn(m, side, key, title, hint, rowsIn(block, table), value, options);
    const functionRow = (table: string, row: number) => {
        const own = get(table, 'function')[row]!;
        return own < 0 ? -1 : m.rowOf('functions', own, side);
    };
    const nameOf = (table: string) => (row: number) => {
        const fn = functionRow(table, row);
        return fn < 0 ? (places[get(table, 'place')[row] ?? 0] ?? '') : shortened(shownName(m.functions[fn]!));
    };
    const threadOf = (table: string) => (row: number) => {
        const t = m.facts[side]!.threads[get(table, 'thread')[row]!];
        return t ? `${shortened(threadName(t), 100)} (${t.id})` : 'unknown';
    };
    const open = (table: string) => (row: number) => {
        if (functionRow(table, row) >= 0) recentre(functionRow(table, row));
    };
    if (which === 'functions') {
        const value = (key: string) => (row: number) => get('critical', key)[row]!;
        const total = (row: number) => value('work')(row) + value('runnable')(row) + value('outside')(row);
        const name = nameOf('critical');
        return {
            table: 'critical',
            columns: [
                textColumn('name', 'Function', 300, 'function that was innermost on the path', name),
                time('critical', 'total', 'Total', 'time on the path, exclusive', total, {
                    whole: length,
                    tone: 'bar-hot',
                }),
                shareColumn('path_percent', 'Path %', 'share of the path', (row) => total(row) / length),
                time('critical', 'work', 'Work', 'on the CPU', value('work'), { whole: length, tone: 'bar-hot' }),
                time('critical', 'runnable', 'Runnable', 'was to run and did not', value('runnable'), {
                    whole: length,
                }),
                time('critical', 'outside', 'Outside', 'waited for something that is not recorded', value('outside'), {
                    whole: length,
                }),
            ],
            searched: name,
            standard: { key: 'total', descending: true },
            onOpen: open('critical'),
        };
    }
    if (which === 'segments') {
        const [begins, ends] = [get('segments', 'begin'), get('segments', 'end')];
        const [name, thread] = [nameOf('segments'), threadOf('segments')];
        return {
            table: 'segments',
            columns: [
                textColumn('thread', 'Thread', 220, 'thread that the path was on', thread),
                time('segments', 'from', 'From', 'begin, since the recording began', (row) => begins[row]!),
                time('segments', 'to', 'To', 'end, since the recording began', (row) => ends[row]!),
                time('segments', 'length', 'Length', 'how long', (row) => ends[row]! - begins[row]!, {
                    whole: length,
                    tone: 'bar-hot',
                }),
                textColumn('function', 'Mostly in', 300, 'the function with most time in the segment', name),
            ],
            searched: (row) => `${name(row)} ${thread(row)}`,
            standard: { key: 'from', descending: false },
            onOpen: (row) => {
                const margin = (ends[row]! - begins[row]!) / 5;
                range.value = [begins[row]! - margin, ends[row]! + margin];
                view.value = 'timeline';
            },
            note:
                facts.segments > begins.length
                    ? `${count(facts.segments - begins.length)} shorter segments are left out`
                    : 'Enter shows a segment on the timeline',
        };
    }
    if (which === 'threads') {
        const thread = threadOf('slack');
        return {
            table: 'slack',
            columns: [
                textColumn('thread', 'Thread', 240, 'thread that was recorded in the part', thread),
                time(
                    'slack',
                    'on_path',
                    'On path',
                    'time that the path was on the thread',
                    (row) => get('slack', 'on_path')[row]!,
                    {
                        whole: length,
                        tone: 'bar-hot',
                    },
                ),
                shareColumn(
                    'path_percent',
                    'Path %',
                    'share of the path',
                    (row) => get('slack', 'on_path')[row]! / length,
                ),
                time(
                    'slack',
                    'slack',
                    'Slack',
                    'waited for other threads, or had ended',
                    (row) => get('slack', 'slack')[row]!,
                    {
                        whole: length,
                    },
                ),
            ],
            searched: thread,
            standard: { key: 'on_path', descending: true },
        };
    }
    const name = nameOf('ranking');
    const change = (key: string, title: string, hint: string, predicted: string) =>
        time('ranking', key, title, hint, (row) => get('ranking', predicted)[row]! - facts.replayed, {
            whole: length,
            change: true,
            tone: 'bar-less less',
        });
    const hint = (less: number) => `change of the run's length if the function took ${less} % less`;
    const column = (less: number) => change(`gain_${less}`, `${less} % less`, hint(less), `less_${less}`);
    const most = change(
        'most_50',
        '50 % less, at most',
        `${hint(50)}, and all waits without a known cause depended on it`,
        'least_50',
    );
    const off = facts.replayed / length - 1;
    return {
        table: 'ranking',
        columns: [
            textColumn('name', 'Function', 300, 'function whose own time would be shorter', name),
            time(
                'ranking',
                'time',
                'Own time',
                'exclusive time of all threads of the run',
                (row) => get('ranking', 'time')[row]!,
            ),
            column(10),
            column(50),
            ...(facts.ranged ? [most] : []),
            column(100),
        ],
        searched: name,
        standard: { key: 'gain_50', descending: false },
        onOpen: open('ranking'),
        note: `a replay with nothing changed is ${Math.abs(off) < 5e-5 ? 'as long as the recorded run' : `${percent(Math.abs(off), 2)} ${off > 0 ? 'longer' : 'shorter'} than the recorded run`}${facts.ranged ? `. ${percent(facts.unknown / length, 1)} of the path are waits without a known cause, which may depend on any function: a prediction is a range` : ''}`,
    };
}

function Tables({ m, side, block }: { m: Model; side: Side; block: Container }) {
    const which = criticalTable.value;
    const shown = useMemo(() => shownTable(m, side, block, which), [m, side, block, which, chosenUnit.value]);
    return (
        <RowTable
            key={shown.table}
            name={`critical-${which}`}
            label={`critical path: ${which}`}
            columns={shown.columns}
            count={rowsIn(block, shown.table)}
            standard={shown.standard}
            searched={shown.searched}
            onOpen={shown.onOpen}
            note={shown.note}
        />
    );
}

export function Critical() {
    const m = model.value!;
    const side = waitSide(m);
    const block = useWaits(m, side);
    if (typeof block === 'string') return <NoWaits m={m}>{block}</NoWaits>;
    const { critical, causes } = waitsFacts(block);
    if (!critical)
        return (
            <NoWaits m={m}>
                {m.facts[side]!.mode === 'profile'
                    ? 'Mode profile keeps no order of events, and so no critical path: record in mode trace or ring.'
                    : !causes
                      ? 'The causes of waits were not recorded, so there is no critical path across threads: record again.'
                      : 'The critical path needs the whole recording. This page holds a part; dwell critical has the paths of parts.'}
            </NoWaits>
        );
    const text = (ticks: number) => shortDuration(Number(nanoseconds(ticks, m.facts[side]!.ticks_per_second)));
    const thread = m.facts[side]!.threads[critical.thread];
    return (
        <div class="fill waits-view">
            <div class="bar above">
                <Choice
                    label="Critical path"
                    all={choices}
                    value={criticalTable.value}
                    onChoose={(next) => (criticalTable.value = next)}
                />
                <SideChoice m={m} />
                <span class="where">
                    {text(critical.to - critical.from)}, from {text(critical.from)} to {text(critical.to)}
                    {thread ? `, ends on ${visible(threadName(thread))} (${thread.id})` : ''}
                    {critical.unknown_origins > 0 ? '; it is unknown which thread made its first thread' : ''}
                    {isWhole(chosen.value) ? '' : '. It is that of the whole recording'}
                </span>
            </div>
            <Tables key={side} m={m} side={side} block={block} />
        </div>
    );
}
