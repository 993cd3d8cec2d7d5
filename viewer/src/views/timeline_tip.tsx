// The tooltip of what is under the mouse pointer on the timeline.
import { nameOf, threadName } from '../data/names';
import type { Hit, Mark } from '../charts/timeline_draw';
import { activityKinds } from '../data/activity';
import type { Model, Side } from '../data/model';
import { percent, shortDuration, shortened, visible } from '../format';
import { canChooseTime } from '../part';
import { sourceText } from './entities';

export function HitTip({
    m,
    side,
    hit,
    column,
    marks,
    toNs,
}: {
    m: Model;
    side: Side;
    hit: Hit;
    column: number;
    marks: Mark[];
    toNs: (ticks: number) => number;
}) {
    if (hit.mark !== undefined) {
        const mark = marks[hit.mark]!;
        const thread = m.facts[side]!.threads[mark.thread];
        return (
            <>
                <p class="tip-name">{mark.text}</p>
                <p class="where">
                    {mark.event ? 'event' : 'mark'} at {shortDuration(toNs(mark.time))}
                    {thread ? ` on ${shortened(threadName(thread), 100)}` : ''}
                </p>
            </>
        );
    }
    if (hit.bar) {
        const { text, time, length, waited, thread } = hit.bar;
        const own = m.facts[side]!.threads[thread];
        const name = own && threadName(own);
        return (
            <>
                <p class="tip-name">{text}</p>
                <p class="where">
                    activity of {shortDuration(toNs(length))} from {shortDuration(toNs(time))}
                    {waited ? `, ${shortDuration(toNs(waited))} of it in a queue` : ''}
                    {name ? ` on ${shortened(name, 100)}` : ''}
                    {canChooseTime(m.facts[side]!) ? '; click to choose its time' : ''}
                </p>
            </>
        );
    }
    if (hit.activity) {
        const { shares, perPixel, threads } = hit.activity;
        const x = Math.floor(column);
        const names = {
            cpu: m.facts[side]!.off_cpu ? 'on the CPU' : 'in calls',
            blocked: 'blocked',
            preempted: 'preempted',
        };
        return (
            <>
                {activityKinds.map((kind) => (
                    <p key={kind} class="where">
                        {percent((shares[kind][x] ?? 0) / perPixel)} {names[kind]}
                    </p>
                ))}
                {threads.length > 1 && <p class="where">sums over {threads.length} threads</p>}
            </>
        );
    }
    if (hit.wait !== undefined) return <p class="where">what ended a wait; click for its cause</p>;
    if (hit.offCpu) {
        const { kind, start, length, count } = hit.offCpu;
        return (
            <>
                <p class="tip-name">
                    {kind === 1 ? 'preempted' : 'blocked'}
                    {count > 1 ? ` ×${count}` : ''}
                </p>
                <p class="where">
                    {shortDuration(toNs(length))} from {shortDuration(toNs(start))}
                </p>
            </>
        );
    }
    const { span } = hit;
    if (!span) return null;
    if (span.function < 0)
        return (
            <>
                <p class="tip-name">{span.count} short calls</p>
                <p class="where">
                    {shortDuration(toNs(span.length))} from {shortDuration(toNs(span.start))}; zoom in to see them
                </p>
            </>
        );
    const f = m.functions[m.rowOf('functions', span.function, side)]!;
    return (
        <>
            <p class="tip-name">
                <bdi>{visible(nameOf(f).slice(0, 600))}</bdi>
                {span.count > 1 ? ` ×${span.count}` : ''}
            </p>
            <p class="where">
                {shortened(m.modules[f.module]?.name ?? '', 200)} {sourceText(f.file, f.line)}
            </p>
            <p>
                {shortDuration(toNs(span.length))} from {shortDuration(toNs(span.start))}
            </p>
        </>
    );
}
