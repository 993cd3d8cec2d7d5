// The view of waits: the tables of `dwell waits`, and the graph of threads and locks.
import { shownText, threadName } from '../data/names';
import { useMemo } from 'preact/hooks';
import type { Container } from '../data/container';
import type { Model, Side } from '../data/model';
import { columnOf, rowsIn, textIn, waitsFacts } from '../data/waits';
import { shortDuration, shortened, nanoseconds, visible, plural } from '../format';
import { isWhole } from '../part';
import { type WaitsBy, chosen, chosenUnit, model, recentre, search, waitsBy } from '../state';
import type { GridColumn } from './columns';
import { Choice, RowTable, countColumn, shareColumn, textColumn, timeColumn } from './row_table';
import { NoWaits, SideChoice, useWaits, waitSide } from './wait_block';
import { WaitGraph } from './wait_graph';

const choices = [
    ['path', 'by path'],
    ['lock', 'by lock'],
    ['function', 'by function'],
    ['thread', 'by thread'],
    ['waker', 'by waker'],
    ['graph', 'graph'],
] as const;

// The column of texts that comes first.
const firsts: Record<WaitsBy, string> = {
    path: 'function',
    lock: 'waits_for',
    function: 'function',
    thread: 'thread',
    waker: 'cause_function',
    graph: '',
};

const texts = [
    ['function', 'Waiting function', 200, 'the function that waited, or called what waited'],
    ['waits_for', 'Waits for', 170, 'the object, or the call if the object is unknown'],
    ['thread', 'Thread', 130, 'the thread that waited'],
    ['cause', 'Cause', 76, 'holder: held the lock when the wait began; waker: ended the wait; none: unknown'],
    ['cause_function', 'Caused by', 170, 'the function of the holder or of the waker'],
    ['cause_thread', 'In thread', 130, 'the thread of the holder or of the waker'],
    ['module', 'Module', 120, 'module of the waiting function'],
    ['object.kind', 'Kind', 90, 'kind of object'],
    ['object.name', 'Name', 150, 'name of the object'],
    ['object.made.function', 'Made in', 190, 'the function that made the object'],
    ['object.made.module', 'Made in module', 120, 'module of the function that made the object'],
    ['path', 'Path', 300, 'the call path that waited'],
    ['cause_path', 'Caused by path', 300, 'the call path of the holder or of the waker'],
] as const;
const hiddenTexts = new Set([
    'module',
    'object.kind',
    'object.name',
    'object.made.function',
    'object.made.module',
    'path',
    'cause_path',
]);

export const waitConditions = [
    { key: 'waits', numeric: true },
    { key: 'total', numeric: true, whole: 1, perNanosecond: 1 },
    { key: 'max', numeric: true, whole: 1, perNanosecond: 1 },
    { key: 'share_percent', numeric: true, whole: 1 },
];

const pathWords = (m: Model, path: string): string => shortened(shownText(m, path).replaceAll(';', ' → '), 3000);

function waitColumns(m: Model, side: Side, block: Container, by: WaitsBy): GridColumn[] {
    const table = `by_${by}`;
    const rows = rowsIn(block, table);
    const get = (key: string) => columnOf(block, table, key);
    const [total, max] = [get('total'), get('max')];
    const whole = m.total('blocked_inclusive', side) || undefined;
    const shares = columnOf(block, table, 'share_percent');
    const ofTexts = texts
        .filter(([key]) => rows === 0 || get(key).some((n) => n > 0))
        .map(([key, title, width, hint]) => ({
            ...textColumn(
                key,
                title,
                width,
                hint,
                (row) => shortened(shownText(m, textIn(block, table, key, row))),
                !hiddenTexts.has(key),
            ),
            kept: key === 'cause' || key === 'cause_function',
        }));
    const first = ofTexts.filter((c) => c.key === firsts[by]);
    const numbers = [
        ...(waitsFacts(block).counted ? [countColumn('waits', 'Waits', 'number of waits', get('waits'))] : []),
        timeColumn(m, side, 'total', 'Total', 'blocked time', rows, (row) => total[row]!, { whole }),
        ...(waitsFacts(block).counted
            ? [timeColumn(m, side, 'max', 'Longest', 'the longest wait', rows, (row) => max[row]!)]
            : []),
        shareColumn(
            'share_percent',
            'Thread %',
            'share of the elapsed time of the threads that waited',
            (row) => shares[row]! / 1e5,
        ),
    ];
    return [...first, ...numbers, ...ofTexts.filter((c) => c.key !== firsts[by])];
}

function WaitTable({ m, side, block, by }: { m: Model; side: Side; block: Container; by: WaitsBy }) {
    const table = `by_${by}`;
    const columns = useMemo(() => waitColumns(m, side, block, by), [m, side, block, by, chosenUnit.value]);
    const text = (key: string, row: number) => textIn(block, table, key, row);
    const functionOf = (row: number): number => {
        const [name, module] = [text('function', row), text('module', row)];
        return m.functions.findIndex((f) => f.name === name && m.modules[f.module]?.name === module);
    };
    const left = waitsFacts(block).left_out[table] ?? 0;
    return (
        <RowTable
            key={table}
            name={`waits-${by}`}
            label={`waits by ${by}`}
            columns={columns}
            count={rowsIn(block, table)}
            standard={{ key: 'total', descending: true }}
            searched={(row) => texts.map(([key]) => `${text(key, row)} ${shownText(m, text(key, row))}`).join(' ')}
            onOpen={(row) => functionOf(row) >= 0 && recentre(functionOf(row))}
            note={left > 0 ? `${plural(left, 'row')} with less time ${left === 1 ? 'is' : 'are'} left out` : undefined}
            about={(row) => (
                <dl>
                    {text('path', row) && (
                        <div>
                            <dt>Waited in</dt>
                            <dd>{pathWords(m, text('path', row))}</dd>
                        </div>
                    )}
                    {text('cause_path', row) && (
                        <div>
                            <dt>{text('cause', row) === 'holder' ? 'Held in' : 'Woken in'}</dt>
                            <dd>{pathWords(m, text('cause_path', row))}</dd>
                        </div>
                    )}
                    {functionOf(row) >= 0 && (
                        <button onClick={() => recentre(functionOf(row))}>Callers &amp; callees</button>
                    )}
                </dl>
            )}
        />
    );
}

export function Waits() {
    const m = model.value!;
    const side = waitSide(m);
    const block = useWaits(m, side);
    if (typeof block === 'string') return <NoWaits m={m}>{block}</NoWaits>;
    const facts = waitsFacts(block);
    const by = waitsBy.value;
    const perSecond = m.facts[side]!.ticks_per_second;
    const nameOf = (thread: number) => {
        const t = m.facts[side]!.threads[thread];
        return t ? `${visible(threadName(t))} (${t.id})` : 'a thread';
    };
    return (
        <div class="fill waits-view">
            <div class="bar above">
                <Choice label="Waits" all={choices} value={by} onChoose={(next) => (waitsBy.value = next)} />
                <SideChoice m={m} />
                <span class="where">
                    {facts.causes
                        ? m.facts[side]!.mode === 'profile' &&
                          'Mode profile records holders, joined threads and children, and no wakers. '
                        : 'The causes of waits were not recorded: record again to see them. '}
                    {!isWhole(chosen.value) && 'The waits are those of the whole recording.'}
                </span>
            </div>
            {by === 'graph' ? (
                <WaitGraph
                    key={side}
                    block={block}
                    nameOf={nameOf}
                    timeOf={(ticks) => shortDuration(Number(nanoseconds(ticks, perSecond)))}
                    onOpen={(node) => {
                        waitsBy.value = node.column === 1 ? 'lock' : node.column === 0 ? 'thread' : 'waker';
                        search.value =
                            node.column === 1
                                ? node.name
                                : threadName(m.facts[side]!.threads[node.number] ?? { name: '' });
                    }}
                />
            ) : (
                <WaitTable key={`${by}/${side}`} m={m} side={side} block={block} by={by} />
            )}
        </div>
    );
}
