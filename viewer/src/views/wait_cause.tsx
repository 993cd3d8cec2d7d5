// What the timeline shows of waits below its lanes: what a single wait was for and what ended it, and what is drawn.
import { shownText, threadName } from '../data/names';
import type { Container } from '../data/container';
import type { Model, Side } from '../data/model';
import { rowsIn, textIn, waitAt, waitsFacts } from '../data/waits';
import { nanoseconds, shortDuration, shortened, visible } from '../format';
import { selectFunction, showsArrows, showsCritical } from '../state';

function FunctionLink({ m, name }: { m: Model; name: string }) {
    const row = m.functions.findIndex((f) => f.name === name);
    const text = <bdi>{shortened(shownText(m, name), 200)}</bdi>;
    return row < 0 ? (
        text
    ) : (
        <a class="go" onClick={() => selectFunction(row)}>
            {text}
        </a>
    );
}

export function WaitCause({
    m,
    side,
    block,
    row,
    onShow,
    onAct,
    onClose,
}: {
    m: Model;
    side: Side;
    block: Container;
    row: number;
    onShow: () => void;
    onAct: () => void;
    onClose: () => void;
}) {
    const wait = waitAt(block, row);
    const time = (ticks: number) => shortDuration(Number(nanoseconds(ticks, m.facts[side]!.ticks_per_second)));
    const path = (key: string) => (wait.byPath < 0 ? '' : textIn(block, 'by_path', key, wait.byPath));
    const object = wait.byLock < 0 ? path('waits_for') : textIn(block, 'by_lock', 'waits_for', wait.byLock);
    const thread = m.facts[side]!.threads[wait.thread];
    const ender = wait.waker >= 0 ? m.facts[side]!.threads[wait.waker] : undefined;
    const waker = ender && threadName(ender);
    const cause = path('cause');
    const causing = path('cause_function').replace('(outside functions)', '');
    const joined = cause === 'waker' && !causing && waker;
    return (
        <p class="wait-cause" role="status">
            <span>
                <b>{visible(thread ? threadName(thread) : '')}</b> waited {time(wait.end - wait.begin)}
                {object && ` for ${shortened(shownText(m, object), 200)}`}
                {path('function') && (
                    <>
                        {' in '}
                        <FunctionLink m={m} name={path('function')} />
                    </>
                )}
            </span>
            <span>
                {joined ? null : cause === 'none' || !cause ? (
                    'The cause is unknown.'
                ) : (
                    <>
                        {cause === 'holder' ? 'held by ' : 'woken by '}
                        <b>{visible(path('cause_thread') || waker || 'a thread')}</b>
                        {causing && (
                            <>
                                {' in '}
                                <FunctionLink m={m} name={causing} />
                            </>
                        )}
                    </>
                )}
                {waker && `${joined ? '' : '; '}ended by ${visible(waker)} at ${time(wait.woken)}`}
            </span>
            <button onClick={onShow} title="Zoom to the wait">
                Show the wait
            </button>
            <button onClick={onAct} disabled={!waker} title="Move to what ended the wait (j)">
                Go to the act
            </button>
            <button onClick={onClose} aria-label="Close the wait">
                ×
            </button>
        </p>
    );
}

// Arrows and the critical path, if the recording has them. The path of a single thread is all of it.
export function WaitToggles({ m, side, waits }: { m: Model; side: Side; waits: Container | null }) {
    if (!waits) return null;
    const facts = waitsFacts(waits);
    const shown = rowsIn(waits, 'waits');
    return (
        <>
            {facts.causes && facts.waits > 0 && (
                <button
                    aria-pressed={showsArrows.value}
                    title={`Arrows of all waits, from what ended each to its end (v); the selected wait has one${shown < facts.waits ? `, of the ${shown} longest of ${facts.waits} waits` : ''}`}
                    onClick={() => (showsArrows.value = !showsArrows.value)}
                >
                    Arrows
                </button>
            )}
            {facts.critical && m.facts[side]!.timeline!.lanes.length > 1 && (
                <button
                    class="critical-toggle"
                    aria-pressed={showsCritical.value}
                    title="The critical path as a line over the threads (b)"
                    onClick={() => (showsCritical.value = !showsCritical.value)}
                >
                    Critical path
                </button>
            )}
        </>
    );
}
