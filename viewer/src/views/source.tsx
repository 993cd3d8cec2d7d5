// The view of the selected function's source text. Lines at which functions begin show their values.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Model, Side } from '../data/model';
import { measureTitle } from '../data/measures';
import { visible } from '../format';
import { measure, model, selectFunction, subject } from '../state';
import { useBlock } from './block';
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

function Text({ m, side, file }: { m: Model; side: Side; file: SourceFile }) {
    const here = useRef<HTMLTableRowElement>(null);
    const wanted = m.functions[subject.value]!.line;
    const functions = useMemo(() => functionsOf(m, file.path), [m, file]);
    const lines = useMemo(() => file.text.split('\n').slice(0, maxLines), [file]);
    const values = m.column('functions', `${measure.value}_exclusive`, side);
    useEffect(() => here.current?.scrollIntoView({ block: 'center' }), [file, wanted]);
    return (
        <table class="source">
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
        <div class="scroller text-view" tabIndex={0}>
            <h2>
                <bdi>{visible(f.name)}</bdi>
            </h2>
            {file ? (
                <>
                    <p>
                        {visible(file.path)}:{f.line} · {measureTitle(m, measure.value)} exclusive of the functions that
                        begin at a line
                        {file.newer && (
                            <strong class="more"> · the file is newer than the binary: lines may differ</strong>
                        )}
                    </p>
                    <Text m={m} side={side} file={file} />
                </>
            ) : (
                <p>{missing}</p>
            )}
        </div>
    );
}
