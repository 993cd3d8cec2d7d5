// The block of waits of the session that the views of waits show, or why there is none.
import type { ComponentChildren } from 'preact';
import type { Container } from '../data/container';
import type { Model, Side } from '../data/model';
import { source, timelineSide } from '../state';
import { useBlock } from './block';

// The block, or a sentence while there is none.
export function useWaits(m: Model, side: Side): Container | string {
    const facts = m.facts[side]!;
    const block = useBlock(side, facts.waits?.block, facts.waits);
    if (!facts.waits)
        return facts.imported
            ? 'Imported reports have no waits.'
            : source.value?.live && !facts.complete
              ? 'Waits are shown when the recording has ended: what ends a wait may not be recorded yet.'
              : 'This page holds no waits.';
    return block ?? 'Reading …';
}

export const waitSide = (m: Model): Side => (m.sides === 2 ? timelineSide.value : 0);

// Why a view of waits shows nothing. The other recording may have what this one lacks.
export const NoWaits = ({ m, children }: { m: Model; children: ComponentChildren }) => (
    <p class="wait">
        {children} <SideChoice m={m} />
    </p>
);

// Chooses between two recordings, as on the timeline.
export function SideChoice({ m }: { m: Model }) {
    if (m.sides === 1) return null;
    return (
        <label>
            Session{' '}
            <select
                value={timelineSide.value}
                onChange={(e) => (timelineSide.value = Number(e.currentTarget.value) as Side)}
            >
                <option value={0}>A (base)</option>
                <option value={1}>B (new)</option>
            </select>
        </label>
    );
}
