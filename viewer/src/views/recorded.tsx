// The view of the recorded values of the selected function: how long the calls with each value took, as dwell values
// says it, and a picture of single calls, their time against a value.
import { useMemo, useState } from 'preact/hooks';
import { type Model, type Side, ownFunction } from '../data/model';
import { nameOf } from '../data/names';
import {
    type RecordedValue,
    type ValueRow,
    type ValuedFunction,
    type Word,
    axisOf,
    frequent,
    valuedIn,
} from '../data/recorded';
import { shellWord } from '../data/why';
import { count, percent, shortDuration, visible, plural } from '../format';
import { isWhole } from '../part';
import { chosen, chosenUnit, model, selectFunction, subject, view } from '../state';
import { useBlock } from './block';
import type { GridColumn } from './columns';
import { Name } from './name';
import { RowTable, countColumn, nanosecondsColumn, textColumn } from './row_table';
import { NoWaits, SideChoice, waitSide } from './wait_block';

export const hasValues = (m: Model): boolean => m.facts.some((f) => f.recorded_values);

// For views of a function.
export const ValuesButton = () => (
    <button title="How long its calls took, by the values of its arguments" onClick={() => (view.value = 'recorded')}>
        Values
    </button>
);

// ---- single calls ----

const [width, height, left, foot] = [640, 220, 56, 18];
const colours = 6;

const wordText = (word: Word): string => (word === null ? 'unreadable' : visible(String(word)));
const numberText = (value: number): string => Number(value.toPrecision(3)).toString();

// A point for each call. A value beyond the axis' kind, such as zero on a logarithmic one, makes the axis linear.
function Scatter({ f, which, colour }: { f: ValuedFunction; which: number; colour: number }) {
    const points = f.calls.filter((call) => typeof call[which + 1] === 'number');
    const x = useMemo(() => axisOf(points.map((call) => call[which + 1] as number)), [f, which]);
    const y = useMemo(() => axisOf(points.map((call) => Math.max(1, call[0]))), [f, which]);
    const words = useMemo(
        () =>
            colour < 0
                ? []
                : frequent(
                      f.calls.map((c) => c[colour + 1]!),
                      colours,
                  ),
        [f, colour],
    );
    if (!points.length) return null;
    const toneOf = (word: Word): number => (words.includes(word) ? words.indexOf(word) : colours);
    const name = f.values[which]!.name;
    return (
        <figure class="scatter">
            <svg
                viewBox={`0 0 ${left + width + 8} ${height + foot}`}
                role="img"
                aria-label={`The time of ${plural(points.length, 'call')} against ${visible(name)}`}
            >
                <line x1={left} x2={left + width} y1={height} y2={height} />
                <line x1={left} x2={left} y1="0" y2={height} />
                {x.marks.map((mark, i) => (
                    <text
                        key={i}
                        x={left + x.at(mark) * width}
                        y={height + 13}
                        text-anchor={x.marks.length === 1 ? 'middle' : i === 0 ? 'start' : i === 4 ? 'end' : 'middle'}
                    >
                        {numberText(mark)}
                    </text>
                ))}
                {y.marks.map((mark, i) => (
                    <text key={i} x={left - 4} y={height - 4 - y.at(mark) * (height - 14)} text-anchor="end">
                        {shortDuration(Math.round(mark))}
                    </text>
                ))}
                {points.map((call, i) => (
                    <circle
                        key={i}
                        class={colour < 0 ? 'tone-0' : `tone-${toneOf(call[colour + 1]!)}`}
                        cx={left + x.at(call[which + 1] as number) * width}
                        cy={height - 4 - y.at(Math.max(1, call[0])) * (height - 14)}
                        r="2.5"
                    >
                        <title>
                            {[
                                shortDuration(call[0]),
                                ...f.values.map((v, j) => `${visible(v.name)} ${wordText(call[j + 1]!)}`),
                            ].join(', ')}
                        </title>
                    </circle>
                ))}
            </svg>
            <figcaption>
                Time against {visible(name)}
                {x.logarithmic && ', which is logarithmic'}: {count(points.length)} of {count(f.values[which]!.calls)}{' '}
                calls.
                {words.map((word, i) => (
                    <span key={i}>
                        {' '}
                        <i class={`swatch tone-${i}`} /> {wordText(word)}
                    </span>
                ))}
                {colour >= 0 && f.calls.some((call) => !words.includes(call[colour + 1]!)) && (
                    <span>
                        {' '}
                        <i class={`swatch tone-${colours}`} /> others
                    </span>
                )}
            </figcaption>
        </figure>
    );
}

// ---- the table ----

type TimeKey = 'elapsed_inclusive_ns' | 'cpu_inclusive_ns' | 'blocked_inclusive_ns' | 'p50_ns' | 'p99_ns' | 'max_ns';

const timeColumn = (rows: ValueRow[], key: TimeKey, title: string, hint: string, bar = false): GridColumn =>
    nanosecondsColumn(key, title, hint, rows.length, (row) => rows[row]![key], { width: 112, bar });

function columnsOf(value: RecordedValue): GridColumn[] {
    const { rows } = value;
    return [
        // The order of the rows is that of the values.
        {
            ...textColumn('value', visible(value.name), 220, 'the value, or a range', (row) =>
                visible(rows[row]!.value),
            ),
            sortBy: (row) => row,
        },
        countColumn(
            'calls',
            'Calls',
            'completed calls with this value',
            Float64Array.from(rows, (row) => row.calls),
        ),
        {
            key: 'share',
            title: 'Share',
            hint: 'share of all calls with values',
            width: 84,
            numeric: true,
            shown: true,
            text: (row) => percent(rows[row]!.calls_percent / 100, 1),
            sortBy: (row) => rows[row]!.calls_percent,
            whole: 100,
        },
        timeColumn(rows, 'elapsed_inclusive_ns', 'Elapsed', 'elapsed inclusive time of these calls', true),
        timeColumn(rows, 'cpu_inclusive_ns', 'CPU', 'CPU inclusive time of these calls'),
        timeColumn(rows, 'blocked_inclusive_ns', 'Blocked', 'blocked inclusive time of these calls'),
        timeColumn(rows, 'p50_ns', 'P50', 'half of the calls take no longer'),
        timeColumn(rows, 'p99_ns', 'P99', '99 % of the calls take no longer'),
        timeColumn(rows, 'max_ns', 'Max', 'the longest call'),
    ];
}

// ---- the view ----

function Choice({
    label,
    names,
    value,
    set,
}: {
    label: string;
    names: [number, string][];
    value: number;
    set: (value: number) => void;
}) {
    return (
        <label>
            {label}{' '}
            <select value={value} onChange={(e) => set(Number(e.currentTarget.value))}>
                {names.map(([number, name]) => (
                    <option key={number} value={number}>
                        {name}
                    </option>
                ))}
            </select>
        </label>
    );
}

function Valued({ f }: { f: ValuedFunction }) {
    const [which, setWhich] = useState(0);
    const [colour, setColour] = useState(-1);
    const value = f.values[which]!;
    const columns = useMemo(() => columnsOf(value), [value, chosenUnit.value]);
    const names = f.values.map((v, i): [number, string] => [i, visible(v.name)]);
    const others = names.filter(([i]) => i !== which);
    const tone = colour === which ? -1 : colour;
    return (
        <>
            <div class="bar choices">
                {names.length > 1 && <Choice label="By" names={names} value={which} set={setWhich} />}
                {value.number && others.length > 0 && (
                    <Choice label="Colour" names={[[-1, 'none'], ...others]} value={tone} set={setColour} />
                )}
            </div>
            {value.number && <Scatter f={f} which={which} colour={tone} />}
            <RowTable
                key={which}
                name="values"
                label={`calls by ${visible(value.name)}`}
                columns={columns}
                count={value.rows.length}
                standard={{ key: 'value', descending: false }}
                searched={(row) => value.rows[row]!.value}
                note={[
                    value.left_out > 0 &&
                        `${plural(value.left_out, 'more value')} ${value.left_out === 1 ? 'is' : 'are'} left out`,
                    value.without > 0 &&
                        `${plural(value.without, 'call')} ${value.without === 1 ? 'has' : 'have'} no values`,
                    plural(value.calls, 'completed call'),
                ]
                    .filter(Boolean)
                    .join(' · ')}
            />
        </>
    );
}

function Others({ m, side, list }: { m: Model; side: Side; list: ValuedFunction[] }) {
    const { file, functions } = m.facts[side]!.recorded_values!;
    const named = subject.value >= 0 ? shellWord(m.functions[subject.value]!.name) : 'FUNCTION';
    return (
        <div class="scroller text-view" tabIndex={0}>
            {list.length > 0 && (
                <>
                    <h3>Functions with values</h3>
                    <ul class="explained">
                        {list.map((f) => {
                            const row = m.rowOf('functions', f.function, side);
                            return (
                                <li key={f.function}>
                                    <a class="go" onClick={() => selectFunction(row)}>
                                        <Name text={nameOf(m.functions[row]!)} />
                                    </a>
                                    : {f.values.map((v) => visible(v.name)).join(', ')}
                                </li>
                            );
                        })}
                    </ul>
                </>
            )}
            {functions.length === 0 && (
                <p>
                    The recording is too long for a table of its values in the page. This command shows them:{' '}
                    <code>{visible(`dwell values ${named} ${shellWord(file)}`)}</code>
                </p>
            )}
        </div>
    );
}

export function RecordedView() {
    const m = model.value!;
    const side = waitSide(m);
    const facts = m.facts[side]!;
    const block = useBlock(side, facts.recorded_values?.block ?? undefined, facts.recorded_values);
    if (!facts.recorded_values)
        return (
            <NoWaits m={m}>
                This page holds no recorded values. Record them: dwell record --values FUNCTION, and make the page by
                dwell view --with-values. They can be secrets.
            </NoWaits>
        );
    if (typeof block === 'string') return <NoWaits m={m}>{block}</NoWaits>;
    if (!block && facts.recorded_values.block !== null) return <p class="wait">Reading …</p>;
    const list = block ? valuedIn(block) : [];
    const own = subject.value < 0 ? -1 : ownFunction(m, side, subject.value);
    const found = list.find((f) => f.function === own);
    return (
        <div class="fill why-view recorded-view">
            <div class="bar above">
                <h2>
                    {found ? (
                        <>
                            Values of <Name text={nameOf(m.functions[subject.value]!)} />
                        </>
                    ) : (
                        'Select a function with values'
                    )}
                </h2>
                <SideChoice m={m} />
                {found && list.length > 1 && (
                    <button title="The other functions with values" onClick={() => (subject.value = -1)}>
                        Others
                    </button>
                )}
                {!isWhole(chosen.value) && <span class="where">They are those of the whole recording</span>}
            </div>
            {found ? <Valued key={`${side} ${own}`} f={found} /> : <Others m={m} side={side} list={list} />}
        </div>
    );
}
