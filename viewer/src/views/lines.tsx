// The table of the lines from which the selected function calls others, with their values.
import { useMemo } from 'preact/hooks';
import type { Container } from '../data/container';
import { type Called, type LineFacts, lineColumn, lineFacts, lineTotal, linesOf } from '../data/lines';
import { measureTitle } from '../data/measures';
import { type Model, type Side, ownFunction } from '../data/model';
import { count, percent, visible } from '../format';
import { isWhole } from '../part';
import { chosen, measure, selectFunction, subject, transforms } from '../state';
import { useBlock } from './block';
import { exactText } from './columns';
import { Name } from './name';
import { oneValue } from './values';

// The block of lines of a side; null if there is none, or while it is read.
export function useLines(m: Model, side: Side): Container | string | null {
    const { lines } = m.facts[side]!;
    return useBlock(side, lines?.block, lines);
}

function CalledFunctions({ m, side, called }: { m: Model; side: Side; called: Called }) {
    const facts = m.facts[side]!.functions;
    return (
        <>
            {called.functions.map((own, i) => (
                <span key={own}>
                    {i > 0 && ', '}
                    <a class="go" onClick={() => selectFunction(m.rowOf('functions', own, side))}>
                        <Name text={facts[own]!.name} />
                    </a>
                </span>
            ))}
        </>
    );
}

// Where the line is, if it is not in the selected function itself.
function placeOf(line: LineFacts, name: string): string {
    const inlined = line.inlined ? `, in ${line.inlined}` : '';
    return line.function && line.function !== name ? `${line.function}${inlined}` : inlined.slice(2);
}

function Lines({ m, side, block }: { m: Model; side: Side; block: Container }) {
    const facts = m.facts[side]!;
    const own = ownFunction(m, side, subject.value);
    const keys = [`${measure.value}_inclusive`, `${measure.value}_exclusive`];
    const [inclusive, exclusive] = keys.map((key) => lineColumn(m, facts, block, key));
    const calls = lineColumn(m, facts, block, 'calls');
    const total = lineTotal(m, facts, block, measure.value);
    const names = lineFacts(block);
    const rows = useMemo(() => linesOf(block, own), [block, own]);
    const sorted = rows.toSorted((a, b) => inclusive![b.line]! - inclusive![a.line]! || a.line - b.line);
    const known = m.knows(keys[0]!);
    const cell = (key: string, value: number) => (
        <td title={known ? exactText(m, key, value, side) : ''}>{known ? oneValue(m, key, value, side) : '—'}</td>
    );
    if (own < 0 || rows.length === 0)
        return <p class="where">No instrumented function was called from this function.</p>;
    return (
        <table class="line-values">
            <thead>
                <tr>
                    <th>Calls</th>
                    <th>{measureTitle(m, measure.value)} incl.</th>
                    <th>%</th>
                    <th>{measureTitle(m, measure.value)} excl.</th>
                    <th class="text">Line</th>
                    <th class="text">Called</th>
                    <th class="text">In</th>
                </tr>
            </thead>
            <tbody>
                {sorted.map((row) => {
                    const line = names[row.line]!;
                    return (
                        <tr key={row.line}>
                            <td>{count(calls[row.line]!)}</td>
                            {cell(keys[0]!, inclusive![row.line]!)}
                            <td>{known ? percent(inclusive![row.line]! / (total || 1)) : '—'}</td>
                            {cell(keys[1]!, exclusive![row.line]!)}
                            <td class="text" title={line.file ? visible(`${line.file}:${line.line}`) : ''}>
                                {visible(line.source)}
                            </td>
                            <td class="text">
                                <CalledFunctions m={m} side={side} called={row} />
                            </td>
                            <td class="text">
                                {visible(placeOf(line, facts.functions[own]!.name))}
                                {row.shared && <span class="where"> with calls from other functions</span>}
                            </td>
                        </tr>
                    );
                })}
            </tbody>
        </table>
    );
}

export function LineTable({ m, side }: { m: Model; side: Side }) {
    const block = useLines(m, side);
    const name = m.sides === 2 ? `${side ? 'B' : 'A'}: ` : '';
    if (!m.facts[side]!.lines)
        return (
            <p class="where">
                {name}the lines of calls have values if the session was recorded with dwell record --call-sites.
            </p>
        );
    if (typeof block === 'string') return <p class="where">{block}</p>;
    if (!block) return <p class="where">Reading …</p>;
    return (
        <section>
            <p>
                {name}values of the calls from each line, as in dwell report --by line
                {!(isWhole(chosen.value) && transforms.value.length === 0) && (
                    <strong> · of the whole recording, without transforms</strong>
                )}
            </p>
            <Lines m={m} side={side} block={block} />
        </section>
    );
}
