// The choice of a part of the recording: a button with a panel of threads and times, and a bar that names the part.
import { threadName } from '../data/names';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Model, Side } from '../data/model';
import { copy } from '../keys';
import { shortened } from '../format';
import {
    canChooseTime,
    chooseRange,
    chooseThreads,
    chooseWhole,
    chosenThreads,
    isWhole,
    optionsOf,
    rangeWords,
    snapped,
    threadIdentity,
    threadWords,
    timeOf,
} from '../part';
import { chosen, model } from '../state';

const maxThreads = 1000;

const sidesOf = (m: Model): Side[] => (m.sides === 2 ? [0, 1] : [0]);
const sideName = (m: Model, side: Side): string => (m.sides === 2 ? `${side ? 'B' : 'A'}: ` : '');
const canChoose = (m: Model): boolean => m.facts.some((f) => f.parts);

// Parses a time such as 1.5ms. Returns ticks, or NaN.
export function parseTime(text: string, perSecond: number): number {
    const [, number, unit] = /^\s*(\d+(?:\.\d*)?)\s*(ns|us|µs|ms|s)\s*$/.exec(text) ?? [];
    const scale = { ns: 1e9, us: 1e6, µs: 1e6, ms: 1e3, s: 1 }[unit ?? ''];
    return number && scale ? (Number(number) * perSecond) / scale : NaN;
}

function TimeFields({ m, side }: { m: Model; side: Side }) {
    const facts = m.facts[side]!;
    const borders = facts.parts!.borders;
    const [from, to] = chosen.value.ranges[side]
        ? snapped(facts, chosen.value.ranges[side])
        : [borders[0]!, borders.at(-1)!];
    const [problem, setProblem] = useState('');
    const field = (label: string, value: number, set: (ticks: number) => [number, number]) => (
        <label>
            {label}{' '}
            <input
                type="text"
                size={10}
                value={timeOf(facts, value)}
                onChange={(e) => {
                    const ticks = parseTime(e.currentTarget.value, facts.ticks_per_second);
                    const next = set(ticks);
                    const good = next[0] < next[1];
                    setProblem(good ? '' : 'a time such as 1.5ms; the first before the last');
                    if (good) chooseRange(side, next);
                }}
            />
        </label>
    );
    return (
        <p class="part-times">
            {sideName(m, side)}
            {field('from', from, (ticks) => [ticks, to])} {field('to', to, (ticks) => [from, ticks])}{' '}
            <button disabled={!chosen.value.ranges[side]} onClick={() => chooseRange(side, null)}>
                All times
            </button>
            {problem && <span class="more">{problem}</span>}
        </p>
    );
}

function Threads({ m }: { m: Model }) {
    const rows = chosenThreads(m, chosen.value);
    const set = (next: boolean[]) =>
        chooseThreads(
            next.every(Boolean) || !next.includes(true)
                ? []
                : m.threads.flatMap((_, row) => (next[row] ? [threadIdentity(m, row)] : [])),
        );
    const isOn = (row: number) => !rows || rows[row] === true;
    const setRows = (list: number[], on: boolean) => {
        const next = m.threads.map((_, row) => isOn(row));
        for (const row of list) next[row] = on;
        set(next);
    };
    const only = (list: number[]) => set(m.threads.map((_, row) => list.includes(row)));
    const choice = (list: number[], text: string, key: string, strong: boolean) => (
        <p key={key} class={strong ? 'part-process' : 'part-thread'}>
            <label>
                <input
                    type="checkbox"
                    checked={list.every(isOn)}
                    onChange={(e) => setRows(list, e.currentTarget.checked)}
                />{' '}
                {text}
            </label>{' '}
            <button class="small" onClick={() => only(list)}>
                only
            </button>
        </p>
    );
    const of = (process: number) => m.threads.flatMap((t, row) => (t.process === process ? [row] : []));
    return (
        <div class="part-threads">
            {m.processes.map((p, process) => {
                const list = of(process);
                return [
                    choice(list, `process ${shortened(p.name, 60)} (${p.id})`, `p${process}`, true),
                    ...list.slice(0, maxThreads).map((row) => {
                        const t = m.threads[row]!;
                        return choice([row], `${shortened(threadName(t), 60)} (${t.id})`, `t${row}`, false);
                    }),
                ];
            })}
        </div>
    );
}

function Panel({ m, top, onClose }: { m: Model; top: number; onClose: () => void }) {
    const box = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        const outside = (e: Event) => {
            if (!(e.target as Element).closest('.part-panel, .part-button')) onClose();
        };
        const escape = (e: KeyboardEvent) => {
            if (e.key !== 'Escape') return;
            e.stopPropagation();
            onClose();
        };
        document.addEventListener('mousedown', outside);
        document.addEventListener('keydown', escape, true);
        box.current?.querySelector<HTMLElement>('input')?.focus();
        return () => {
            document.removeEventListener('mousedown', outside);
            document.removeEventListener('keydown', escape, true);
        };
    }, []);
    return (
        <div
            class="menu part-panel"
            ref={box}
            role="dialog"
            aria-label="Part of the recording"
            style={{ top: `${top}px`, maxHeight: `${window.innerHeight - top - 12}px` }}
        >
            {sidesOf(m).map((side) =>
                m.facts[side]!.parts && canChooseTime(m.facts[side]!) ? (
                    <TimeFields key={side} m={m} side={side} />
                ) : (
                    <p key={side} class="where">
                        {sideName(m, side)}this page holds no times to choose
                    </p>
                ),
            )}
            <p class="where">Or drag on the timeline's ruler, or with Shift on its lanes.</p>
            <Threads m={m} />
        </div>
    );
}

export function PartButton() {
    const m = model.value!;
    const [top, setTop] = useState(0); // of the panel; 0 if it is closed
    if (!canChoose(m)) return null;
    return (
        <span class="part-choice">
            <button
                class="part-button"
                aria-expanded={top > 0}
                aria-pressed={!isWhole(chosen.value)}
                title="Choose threads and a range of time for all views (x)"
                onClick={(e) => setTop(top ? 0 : e.currentTarget.getBoundingClientRect().bottom)}
            >
                Part ▾
            </button>
            {top > 0 && <Panel m={m} top={top} onClose={() => setTop(0)} />}
        </span>
    );
}

// How long the shortest period is that can be chosen.
function resolutionOf(m: Model, side: Side): string {
    const { borders } = m.facts[side]!.parts!;
    const middle = Math.max(1, Math.floor(borders.length / 2));
    return timeOf(m.facts[side]!, borders[middle]! - borders[middle - 1]!);
}

export function PartBar() {
    const m = model.value!;
    const part = chosen.value;
    if (isWhole(part)) return null;
    const ranges = sidesOf(m).filter((side) => part.ranges[side] && m.facts[side]!.parts);
    const options = sidesOf(m).map((side) => optionsOf(m, part, side));
    return (
        <p class="part-bar" role="status">
            <strong>Part of the recording:</strong>{' '}
            {[
                ...ranges.map((side) => `${sideName(m, side)}${rangeWords(m.facts[side]!, part.ranges[side]!)}`),
                threadWords(m, part),
            ]
                .filter(Boolean)
                .join(', ')}
            {ranges.length > 0 && (
                <span class="where">
                    {' '}
                    · exact; times are snapped to{' '}
                    {ranges.map((side) => sideName(m, side) + resolutionOf(m, side)).join(', ')}
                </span>
            )}{' '}
            <button onClick={chooseWhole} title="Show the whole recording (x)">
                Whole recording
            </button>{' '}
            {m.sides === 1 && options[0] && (
                <button
                    title={`Copy the same part as options of dwell's commands: ${options[0]}`}
                    onClick={() => void copy(options[0]!, 'Options')}
                >
                    Copy options
                </button>
            )}
        </p>
    );
}
