// The view of the lines of the selected function: their values, and the source text. Lines of the text show the values of
// the functions that begin there, of the calls from there, and with samples their own time.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { nameOf } from '../data/names';
import type { Container } from '../data/container';
import { type LineSamples, lineColumn, linesInFile, samplesInFile } from '../data/lines';
import { measureTitle } from '../data/measures';
import type { Model, Side } from '../data/model';
import { count, visible, plural } from '../format';
import { measure, model, selectFunction, subject } from '../state';
import { useBlock } from './block';
import { exactText } from './columns';
import { LineTable, useLines } from './lines';
import { oneValue } from './values';

interface SourceFile {
    path: string;
    newer: boolean;
    text: string;
}

const maxLines = 20000;

// By line, the functions that begin there.
function functionsOf(m: Model, path: string): Map<number, number[]> {
    const lines = new Map<number, number[]>();
    m.functions.forEach((f, row) => {
        if (f.file !== path || !f.line) return;
        const list = lines.get(f.line);
        if (list) list.push(row);
        else lines.set(f.line, [row]);
    });
    return lines;
}

// The values of the calls from one line of text. Calls from different functions there have a row each.
function CallCells({ m, side, block, rows }: { m: Model; side: Side; block: Container; rows: number[] | undefined }) {
    const key = `${measure.value}_inclusive`;
    const facts = m.facts[side]!;
    const calls = lineColumn(m, facts, block, 'calls');
    const times = lineColumn(m, facts, block, key);
    return (
        <>
            <td class="value calls">{rows?.map((row) => count(calls[row]!)).join('\n')}</td>
            <td class="value time" title={rows?.map((row) => exactText(m, key, times[row]!, side)).join('\n')}>
                {rows?.map((row) => oneValue(m, key, times[row]!, side)).join('\n')}
            </td>
        </>
    );
}

// The times that are divided by samples.
const restOf = (m: Model) => (m.knows('cpu_exclusive') ? 'cpu_exclusive' : 'elapsed_exclusive');

// The time of functions themselves at one line, by samples.
function SelfCell({ m, side, own }: { m: Model; side: Side; own: LineSamples | undefined }) {
    const key = restOf(m);
    if (!own) return <td class="value self" />;
    const tip = `estimated: ± ${exactText(m, key, own.interval, side)} (95 % interval), ${plural(own.samples, 'sample')}`;
    return (
        <td class="value self" title={`${exactText(m, key, own.self, side)}, ${tip}`}>
            ~{oneValue(m, key, own.self, side)}
        </td>
    );
}

function Text({ m, side, file, texts }: { m: Model; side: Side; file: SourceFile; texts: Container }) {
    const read = useLines(m, side);
    const block = read && typeof read !== 'string' ? read : null;
    const calls = useMemo(() => (block ? linesInFile(block, file.path) : null), [block, file]);
    const samples = useMemo(() => samplesInFile(m.facts[side]!, texts, file.path), [m, side, texts, file]);
    const here = useRef<HTMLTableRowElement>(null);
    const wanted = m.functions[subject.value]!.line;
    const functions = useMemo(() => functionsOf(m, file.path), [m, file]);
    const lines = useMemo(() => file.text.split('\n').slice(0, maxLines), [file]);
    const values = m.column('functions', `${measure.value}_exclusive`, side);
    useEffect(() => here.current?.scrollIntoView({ block: 'center' }), [file, wanted]);
    return (
        <table class="source">
            <thead>
                <tr>
                    <th title="of the functions that begin at the line">Begins</th>
                    {block && <th title="of the calls from the line">Calls</th>}
                    {block && <th title="inclusive, of the calls from the line">Time</th>}
                    {samples.size > 0 && (
                        <th title="of the functions themselves at the line, estimated by samples">Self</th>
                    )}
                    <th />
                    <th />
                </tr>
            </thead>
            <tbody>
                {lines.map((line, i) => {
                    const rows = functions.get(i + 1);
                    const sum = rows?.reduce((all, row) => all + values[row]!, 0);
                    return (
                        <tr key={i} ref={i + 1 === wanted ? here : null} class={i + 1 === wanted ? 'selected' : ''}>
                            <td class="value">
                                {rows && (
                                    <a class="go" onClick={() => selectFunction(rows[0]!)}>
                                        {oneValue(m, `${measure.value}_exclusive`, sum!, side)}
                                    </a>
                                )}
                            </td>
                            {block && <CallCells m={m} side={side} block={block} rows={calls?.get(i + 1)} />}
                            {samples.size > 0 && <SelfCell m={m} side={side} own={samples.get(i + 1)} />}
                            <td class="number">{i + 1}</td>
                            <td class="line">{visible(line.replaceAll('\t', '    '))}</td>
                        </tr>
                    );
                })}
            </tbody>
        </table>
    );
}

export function SourceView() {
    const m = model.value!;
    const side: Side = m.sides === 2 ? 1 : 0;
    const facts = m.facts[side]!;
    const block = useBlock(side, facts.sources?.block, facts.sources);
    if (subject.value < 0) return <p class="wait">Select a function first.</p>;
    const f = m.functions[subject.value]!;
    const files = block && typeof block !== 'string' ? (block.header.files as SourceFile[]) : [];
    const file = files.find((one) => one.path === f.file);
    const missing = !facts.sources
        ? 'This page holds no source text. dwell view --source adds it.'
        : typeof block === 'string'
          ? block
          : !block
            ? 'Reading …'
            : `This page does not hold the source file of this function${f.file ? `, ${visible(f.file)}` : ''}.`;
    return (
        <div class="text-view lines-view">
            <div class={file ? 'line-tables' : 'scroller'} tabIndex={0}>
                <h2>
                    <bdi>{visible(nameOf(f))}</bdi>
                </h2>
                {m.sides === 2 && <LineTable key={0} m={m} side={0} />}
                <LineTable key={1} m={m} side={side} />
                <p>
                    {file ? (
                        <>
                            {visible(file.path)}:{f.line} · {measureTitle(m, measure.value)} exclusive of the functions
                            that begin at a line
                            {facts.lines && ', and calls and inclusive values of the calls from it'}
                            {file.newer && (
                                <strong class="more"> · the file is newer than the binary: lines may differ</strong>
                            )}
                        </>
                    ) : (
                        missing
                    )}
                </p>
            </div>
            {file && (
                <div class="scroller" tabIndex={0}>
                    <Text m={m} side={side} file={file} texts={block as Container} />
                </div>
            )}
        </div>
    );
}
