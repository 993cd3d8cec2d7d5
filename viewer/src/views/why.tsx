// The view of why the slow calls of the selected function were slow: a sentence, how long the calls of both sets took,
// and what the slow ones did more of, as dwell why says it.
import { useMemo } from 'preact/hooks';
import type { Container } from '../data/container';
import { type Model, type Side, ownFunction } from '../data/model';
import { nameOf } from '../data/names';
import { type Why, type WhyBar, type WhyRow, distributions, shellWord, whysIn } from '../data/why';
import { count, percent, shortDuration, visible, plural } from '../format';
import { copy } from '../keys';
import { isWhole } from '../part';
import { chosen, chosenUnit, model, selectFunction, subject, view } from '../state';
import { useBlock } from './block';
import type { GridColumn } from './columns';
import { Name } from './name';
import { RowTable, countColumn, nanosecondsColumn, textColumn } from './row_table';
import { NoWaits, SideChoice, waitSide } from './wait_block';

export const whyTitle = 'Why are the slow calls slow?';

export const hasWhy = (m: Model): boolean => m.facts.some((f) => f.why);

// For views of a function.
export const WhyButton = () => (
    <button title="What the slow calls do more of than the usual ones" onClick={() => (view.value = 'why')}>
        {whyTitle}
    </button>
);

// ---- how long the calls took ----

const [width, height, foot] = [640, 120, 18];

function stepsOf(bars: WhyBar[], key: 'slow' | 'usual'): string {
    const most = Math.max(...bars.map((bar) => bar[key])) || 1;
    const x = (i: number) => ((i * width) / bars.length).toFixed(1);
    const y = (share: number) => (height - (height - 6) * (share / most)).toFixed(1);
    return `M0 ${height}${bars.map((bar, i) => `L${x(i)} ${y(bar[key])}L${x(i + 1)} ${y(bar[key])}`).join('')}L${width} ${height}Z`;
}

// Each set fills the height, as the slow calls are few.
function Distributions({ why, bars }: { why: Why; bars: WhyBar[] }) {
    if (!bars.length) return null;
    const [first, last] = [bars[0]!.begin, bars.at(-1)!.end];
    const set = (key: 'slow' | 'usual') => `${count(why[key].calls)} ${key}, ${shortDuration(why[key].mean_ns)} a call`;
    return (
        <figure class="distributions">
            <svg
                viewBox={`0 0 ${width} ${height + foot}`}
                role="img"
                aria-label={`How long the calls took: ${set('usual')}; ${set('slow')}`}
            >
                <path class="usual" d={stepsOf(bars, 'usual')} />
                <path class="slow" d={stepsOf(bars, 'slow')} />
                <line x1="0" x2={width} y1={height} y2={height} />
                {[0, 1, 2, 3, 4].map((i) => (
                    <text
                        key={i}
                        x={(i * width) / 4}
                        y={height + 13}
                        text-anchor={i === 0 ? 'start' : i === 4 ? 'end' : 'middle'}
                    >
                        {shortDuration(Math.round(first * (last / first) ** (i / 4)))}
                    </text>
                ))}
                {bars.map((bar, i) => (
                    <rect
                        key={i}
                        class="bar"
                        x={(i * width) / bars.length}
                        y="0"
                        width={width / bars.length}
                        height={height}
                    >
                        <title>
                            {`${shortDuration(Math.round(bar.begin))} … ${shortDuration(Math.round(bar.end))}: ${percent(bar.usual)} of the usual calls, ${percent(bar.slow)} of the slow ones`}
                        </title>
                    </rect>
                ))}
            </svg>
            <figcaption>
                <i class="swatch usual" /> {set('usual')} <i class="swatch slow" /> {set('slow')}. Each set fills the
                height.
            </figcaption>
        </figure>
    );
}

// ---- what they did ----

const timeColumn = (
    rows: WhyRow[],
    key: string,
    title: string,
    hint: string,
    of: (row: WhyRow) => number | null,
    options: { change?: boolean; shown?: boolean } = {},
): GridColumn => nanosecondsColumn(key, title, hint, rows.length, (row) => of(rows[row]!), options);

// Calls without events are no part of a number: it is unknown then.
function callsColumn(rows: WhyRow[], key: 'slow_calls' | 'usual_calls', title: string, hint: string): GridColumn {
    const values = Float64Array.from(rows, (row) => row[key] ?? 0);
    const column = countColumn(key, title, hint, values);
    return { ...column, text: (row) => (rows[row]![key] === null ? '' : column.text(row)) };
}

function columnsOf(rows: WhyRow[]): GridColumn[] {
    const text = (key: string, title: string, width: number, hint: string, of: (row: WhyRow) => string, shown = true) =>
        textColumn(key, title, width, hint, (row) => visible(of(rows[row]!)), shown);
    return [
        text('what', 'What', 190, 'what the time was', (row) => row.what),
        timeColumn(
            rows,
            'difference',
            'More',
            'how much more time it took in a slow call',
            (row) => row.difference_ns,
            {
                change: true,
            },
        ),
        {
            key: 'share',
            title: 'Share',
            hint: 'share of what a slow call takes more',
            width: 84,
            numeric: true,
            shown: true,
            text: (row) => (rows[row]!.share_percent === null ? '' : percent(rows[row]!.share_percent / 100, 1)),
            sortBy: (row) => rows[row]!.share_percent ?? 0,
            whole: 100,
        },
        text('caused_by', 'Caused by', 200, 'who made it wait', (row) => row.caused_by ?? ''),
        text(
            'where',
            'Where',
            300,
            'the innermost functions of the call path; ~ if times are estimates by samples',
            (row) => (row.estimated ? `~ ${row.where}` : row.where),
        ),
        timeColumn(rows, 'slow', 'Slow', 'time in a slow call', (row) => row.slow_ns),
        timeColumn(rows, 'usual', 'Usual', 'time in a usual call', (row) => row.usual_ns),
        callsColumn(rows, 'slow_calls', 'Slow calls', 'calls of the path, waits or page faults, in all slow calls'),
        callsColumn(rows, 'usual_calls', 'Usual calls', 'calls of the path, waits or page faults, in all usual calls'),
        text('times', 'As often', 150, 'how much more often a slow call does it', (row) => row.times ?? ''),
        text('kind', 'Kind', 80, 'kind of time', (row) => row.kind, false),
        text('object', 'Object', 160, 'what was waited for', (row) => row.object.name ?? '', false),
        text('path', 'Path', 400, 'call path from the function on', (row) => row.path.join(' › '), false),
        timeColumn(rows, 'ci95', '± 95 %', 'half of the interval in which the difference is', (row) => row.ci95_ns, {
            shown: false,
        }),
    ];
}

const AboutRow = ({ row }: { row: WhyRow }) => (
    <p class="cause-paths">
        {visible(row.path.join(' › '))}
        {row.meanwhile && (
            <>
                <br />
                meanwhile: {visible(row.meanwhile)}
            </>
        )}
    </p>
);

function Factors({ why }: { why: Why }) {
    if (!why.factors.length) return null;
    return (
        <section class="factors">
            <h3>What else differs</h3>
            <table aria-label="what else differs">
                <thead>
                    <tr>
                        <th>Slow calls</th>
                        <th>Usual calls</th>
                        <th>have</th>
                    </tr>
                </thead>
                <tbody>
                    {why.factors.map((factor) => (
                        <tr key={`${factor.name} ${factor.value}`}>
                            <td>{percent(factor.slow_share)}</td>
                            <td>{percent(factor.usual_share)}</td>
                            <td class="text">
                                {factor.name} {visible(factor.value)}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

function Explained({ why, block, which }: { why: Why; block: Container; which: number }) {
    const columns = useMemo(() => columnsOf(why.rows), [why, chosenUnit.value]);
    const bars = useMemo(() => distributions(block, which), [block, which]);
    return (
        <>
            <p class="answer">{visible(why.answer)}</p>
            <Distributions why={why} bars={bars} />
            <RowTable
                name="why"
                label="what slow calls do more of"
                columns={columns}
                count={why.rows.length}
                standard={{ key: 'difference', descending: why.difference_ns >= 0 }}
                searched={(row) => `${why.rows[row]!.path.join(' ')} ${why.rows[row]!.what}`}
                about={(row) => <AboutRow row={why.rows[row]!} />}
                note={[
                    why.left_out > 0 &&
                        `${plural(why.left_out, 'row')} with less difference ${why.left_out === 1 ? 'is' : 'are'} left out`,
                    why.cut > 0 &&
                        `${plural(why.cut, 'call was', 'calls were')} not recorded as a whole, and in neither set`,
                    'times are means of a call; both sets add up',
                ]
                    .filter(Boolean)
                    .join(' · ')}
            />
            <Factors why={why} />
        </>
    );
}

// ---- other functions ----

function Command({ m, side }: { m: Model; side: Side }) {
    const f = m.functions[subject.value]!;
    const command = `dwell why ${shellWord(f.name)} ${shellWord(m.facts[side]!.why!.file)}`;
    return (
        <p>
            The page explains the functions with most time. For <bdi>{visible(nameOf(f))}</bdi>, this command does:{' '}
            <code>{visible(command)}</code>{' '}
            <button class="small" onClick={() => void copy(command, 'Command')}>
                copy
            </button>
        </p>
    );
}

function Others({ m, side, whys }: { m: Model; side: Side; whys: Why[] }) {
    return (
        <div class="scroller text-view" tabIndex={0}>
            {subject.value >= 0 && <Command m={m} side={side} />}
            {whys.length > 0 && (
                <>
                    <h3>Explained in this page</h3>
                    <ul class="explained">
                        {whys.map((why) => {
                            const row = m.rowOf('functions', why.function, side);
                            return (
                                <li key={why.function}>
                                    <a class="go" onClick={() => selectFunction(row)}>
                                        <Name text={nameOf(m.functions[row]!)} />
                                    </a>
                                    : {visible(why.answer)}
                                </li>
                            );
                        })}
                    </ul>
                </>
            )}
            {whys.length === 0 && subject.value < 0 && (
                <p>
                    The page explains no function: those of the recording have few calls, or it is too long. dwell why
                    FUNCTION {visible(m.facts[side]!.why!.file)} does.
                </p>
            )}
        </div>
    );
}

export function WhyView() {
    const m = model.value!;
    const side = waitSide(m);
    const facts = m.facts[side]!;
    const block = useBlock(side, facts.why?.block ?? undefined, facts.why);
    if (!facts.why)
        return (
            <NoWaits m={m}>
                {facts.complete
                    ? 'This page holds no single calls.'
                    : 'Slow calls are explained when the recording has ended.'}
            </NoWaits>
        );
    if (typeof block === 'string') return <NoWaits m={m}>{block}</NoWaits>;
    if (!block && facts.why.block !== null) return <p class="wait">Reading …</p>;
    const whys = block ? whysIn(block) : [];
    const own = subject.value < 0 ? -1 : ownFunction(m, side, subject.value);
    const which = whys.findIndex((why) => why.function === own);
    return (
        <div class="fill why-view">
            <div class="bar above">
                <h2>
                    {subject.value < 0 ? (
                        'Select a function'
                    ) : (
                        <>
                            {whyTitle} <Name text={nameOf(m.functions[subject.value]!)} />
                        </>
                    )}
                </h2>
                <SideChoice m={m} />
                {which >= 0 && (
                    <button title="The other functions that the page explains" onClick={() => (subject.value = -1)}>
                        Others
                    </button>
                )}
                {!isWhole(chosen.value) && <span class="where">It is that of the whole recording</span>}
            </div>
            {which < 0 || !block ? (
                <Others m={m} side={side} whys={whys} />
            ) : (
                <Explained key={`${side} ${which}`} why={whys[which]!} block={block} which={which} />
            )}
        </div>
    );
}
