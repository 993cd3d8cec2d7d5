// The views of the flame graph and the inverted graph.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { FlameChart } from '../charts/flame';
import { InvertedFrames, TreeFrames } from '../charts/frames';
import { change, heat, ofKind, palette } from '../colours';
import { heatOf, hottestOf } from '../heat';
import { nameOf } from '../data/names';
import { type ColumnKey, isOffCpu, measureName, measureTitle } from '../data/measures';
import type { Model, Side } from '../data/model';
import { Yielder } from '../data/yielder';
import { percent, shortened, visible } from '../format';
import {
    colouring,
    drawnSide,
    found,
    invertedZoom,
    measure,
    model,
    path,
    recentre,
    selectFunction,
    selectPath,
    zoomed,
} from '../state';
import { sourceText } from './entities';
import { type Line, Values } from './values';

function sideOf(m: Model): Side {
    return m.sides === 2 ? drawnSide.value : 0;
}

// Sums a column over several paths, for nodes of the inverted graph.
function sumOver(column: ArrayLike<number>, rows: ArrayLike<number>): number {
    let all = 0;
    for (let i = 0; i < rows.length; i++) all += column[rows[i]!]!;
    return all;
}

interface Painted {
    origins: ArrayLike<number>; // paths whose exclusive time counts
    extent: 'inclusive' | 'exclusive';
    function: number;
    value: number;
    most: number; // the largest value in the graph
}

function colourOf(m: Model, p: Painted): string {
    if (colouring.value === 'module') return ofKind(m.functions[p.function]!.module);
    const key = `${measure.value}_${p.extent}`;
    if (m.sides === 2) {
        const scale = ([0, 1] as Side[]).map((s) => 1e9 / m.facts[s]!.ticks_per_second);
        const [a, b] = ([0, 1] as Side[]).map((s) => sumOver(m.column('paths', key, s), p.origins) * scale[s]!);
        const whole = Math.max(m.total(key, 0) * scale[0]!, m.total(key, 1) * scale[1]!);
        // A change of a tenth of the total has the strongest colour.
        return change(whole > 0 ? ((b! - a!) / whole) * 10 : 0);
    }
    if (p.extent === 'inclusive') return heatOf(m, 'paths', p.origins[0]!, measure.value, 0);
    // A frame of the inverted graph has the colour of the function at its top.
    if (m.facts[0]!.off_cpu && !isOffCpu(m, measure.value) && p.origins.length < 10000) {
        const elapsed = sumOver(m.column('paths', 'elapsed_exclusive', 0), p.origins);
        if (elapsed > 0 && sumOver(m.column('paths', 'blocked_exclusive', 0), p.origins) > elapsed / 2)
            return palette().wait;
    }
    return heat(p.value / p.most);
}

const shortenedTip = (name: string) => visible(name.length > 600 ? `${name.slice(0, 600)}…` : name);

function Head({ m, node }: { m: Model; node: number }) {
    const f = m.functions[node]!;
    return (
        <>
            <p class="tip-name">
                <bdi>{shortenedTip(nameOf(f))}</bdi>
            </p>
            <p class="where">
                {shortened(m.modules[f.module]?.name ?? '', 200)} {sourceText(f.file, f.line)}
            </p>
        </>
    );
}

function pathLines(m: Model, row: number): Line[] {
    const line = (title: string, key: ColumnKey): Line => ({
        title,
        key,
        get: (side) => m.column('paths', key, side)[row]!,
    });
    const of = measure.value;
    const lines = [
        line(`${measureTitle(m, of)} inclusive`, `${of}_inclusive`),
        line(`${measureTitle(m, of)} exclusive`, `${of}_exclusive`),
        line('Calls', 'calls'),
    ];
    if (of !== 'blocked') lines.push(line('Blocked inclusive', 'blocked_inclusive'));
    return lines;
}

function Legend({ m }: { m: Model }) {
    const shares = [0.01, 0.1, 0.45, 1];
    return (
        <>
            <span class="legend">
                {colouring.value === 'module' ? (
                    'one colour per module'
                ) : m.sides === 2 ? (
                    <>
                        {[-1, -0.2, 0, 0.2, 1].map((by) => (
                            <i key={by} style={{ background: change(by) }} />
                        ))}{' '}
                        less … more than in A
                    </>
                ) : (
                    <>
                        exclusive time: little{' '}
                        {shares.map((s) => (
                            <i key={s} style={{ background: heat(s) }} />
                        ))}{' '}
                        most; <i style={{ background: palette().wait }} /> waiting
                    </>
                )}
            </span>
            <label>
                Colour{' '}
                <select
                    value={colouring.value}
                    onChange={(e) => (colouring.value = e.currentTarget.value as 'heat' | 'module')}
                >
                    <option value="heat">{m.sides === 2 ? 'by change' : 'by exclusive time'}</option>
                    <option value="module">by module</option>
                </select>
            </label>
            {m.sides === 2 && (
                <label>
                    Widths{' '}
                    <select
                        value={drawnSide.value}
                        onChange={(e) => (drawnSide.value = Number(e.currentTarget.value) as Side)}
                    >
                        <option value={0}>of A (base)</option>
                        <option value={1}>of B (new)</option>
                    </select>
                </label>
            )}
        </>
    );
}

function captionOf(m: Model, what: string): string {
    const titles = m.facts.map((f) => shortened(f.title, 100)).join(' and ');
    return `${titles}: ${what} by ${measureName(m, measure.value)} time`;
}

function SaveButton({ saving }: { saving: { current: () => void } }) {
    return (
        <button class="save-button" title="Save the whole graph as a picture (Y)" onClick={() => saving.current()}>
            Save picture
        </button>
    );
}

function foundShare(m: Model, side: Side): string {
    const flags = found.value;
    if (!flags) return '';
    const values = m.column('paths', `${measure.value}_inclusive`, side);
    const total = m.total(`${measure.value}_inclusive`, side);
    const { count, function: called, end } = m.paths;
    let matched = 0;
    for (let i = 0; i < count;) {
        if (flags[called[i]!]) {
            matched += values[i]!;
            i = end[i]!;
        } else i++;
    }
    return total > 0 ? `${percent(matched / total)} match` : '';
}

export function Flame() {
    const m = model.value!;
    const side = sideOf(m);
    const frames = useMemo(() => new TreeFrames(m, measure.value, side), [m, measure.value, side]);
    const saving = useRef(() => {});
    const matched = useMemo(() => foundShare(m, side), [m, side, measure.value, found.value]);
    return (
        <div class="fill">
            <FlameChart
                frames={frames}
                label="Flame graph"
                caption={captionOf(m, 'flame graph')}
                saving={saving}
                up
                zoom={zoomed.value}
                onZoom={(node) => (zoomed.value = node)}
                selected={path.value}
                onSelect={selectPath}
                onOpen={(node) => node >= 0 && recentre(frames.functionOf(node))}
                text={(node) => shortened(nameOf(m.functions[frames.functionOf(node)]!), 300)}
                colour={(node) =>
                    colourOf(m, {
                        origins: [node],
                        extent: 'inclusive',
                        function: frames.functionOf(node),
                        value: frames.value(node),
                        most: frames.total,
                    })
                }
                found={found.value}
                tip={(node) => (
                    <>
                        <Head m={m} node={frames.functionOf(node)} />
                        <Values m={m} lines={pathLines(m, node)} />
                    </>
                )}
            />
            <p class="below bar">
                <button
                    disabled={zoomed.value < 0}
                    onClick={() => (zoomed.value = -1)}
                    title="Show the whole graph (0)"
                >
                    Whole
                </button>
                <SaveButton saving={saving} />
                <Legend m={m} /> <span>{matched}</span>
                <span class="hint">
                    width: {measureName(m, measure.value)} inclusive; click: zoom in, Backspace: out
                </span>
            </p>
        </div>
    );
}

let made = 0;

export function InvertedGraph() {
    const m = model.value!;
    const side = sideOf(m);
    const one = useMemo(() => {
        const yielder = new Yielder();
        return { yielder, frames: new InvertedFrames(m, measure.value, side, yielder), number: made++ };
    }, [m, measure.value, side]);
    useEffect(() => () => one.yielder.stop(), [one]);
    return <InvertedOf key={one.number} m={m} side={side} frames={one.frames} />;
}

function InvertedOf({ m, side, frames }: { m: Model; side: Side; frames: InvertedFrames }) {
    const [zoom, setZoom] = useState(-1);
    const [chosen, choose] = useState(-1);
    const saving = useRef(() => {});
    const [, setReady] = useState(0);
    // A link names the zoomed node by the functions from its root.
    useEffect(() => {
        if (zoom >= 0 || invertedZoom.value.length === 0) return;
        let node = -1;
        for (const f of invertedZoom.value) {
            const children = frames.children(node, () => setReady((n) => n + 1));
            if (!children) return;
            const next = children.find((child) => frames.functionOf(child) === f);
            if (next === undefined) break;
            node = next;
        }
        setZoom(node);
    });
    const hottest = hottestOf(m, 'functions', measure.value, side) || 1;
    const zoomTo = (node: number) => {
        const stack: number[] = [];
        for (let at = node; at >= 0; at = frames.parent(at)) stack.push(frames.functionOf(at));
        invertedZoom.value = stack.reverse();
        setZoom(node);
    };
    const lines = (node: number): Line[] => {
        const { origins } = frames.rowsOf(node);
        const key = `${measure.value}_exclusive`;
        return [
            {
                title: `${measureTitle(m, measure.value)} exclusive`,
                key,
                get: (s) => sumOver(m.column('paths', key, s), origins),
            },
            { title: 'Calls', key: 'calls', get: (s) => sumOver(m.column('paths', 'calls', s), origins) },
        ];
    };
    return (
        <div class="fill">
            <FlameChart
                frames={frames}
                label="Inverted graph"
                caption={captionOf(m, 'inverted graph')}
                saving={saving}
                up={false}
                zoom={zoom}
                onZoom={zoomTo}
                selected={chosen}
                onSelect={(node) => {
                    choose(node);
                    if (frames.pathOf(node) >= 0) selectPath(frames.pathOf(node));
                    else {
                        path.value = -1;
                        selectFunction(frames.functionOf(node));
                    }
                }}
                onOpen={(node) => node >= 0 && recentre(frames.functionOf(node))}
                text={(node) => shortened(nameOf(m.functions[frames.functionOf(node)]!), 300)}
                colour={(node) =>
                    colourOf(m, {
                        origins: frames.rowsOf(node).origins,
                        extent: 'exclusive',
                        function: frames.functionOf(node),
                        value: frames.value(node),
                        most: hottest,
                    })
                }
                found={found.value}
                tip={(node) => (
                    <>
                        <Head m={m} node={frames.functionOf(node)} />
                        <Values m={m} lines={lines(node)} />
                    </>
                )}
            />
            <p class="below bar">
                <button disabled={zoom < 0} onClick={() => zoomTo(-1)} title="Show the whole graph (0)">
                    Whole
                </button>
                <SaveButton saving={saving} />
                <Legend m={m} />
                <span class="hint">
                    top: functions by {measureName(m, measure.value)} exclusive; below each: its callers
                </span>
            </p>
        </div>
    );
}
