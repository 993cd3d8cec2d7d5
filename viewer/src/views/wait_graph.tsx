// The graph of threads and locks: who waited, for what, and whose act ended the waits.
import { useMemo } from 'preact/hooks';
import type { Container } from '../data/container';
import { type GraphNode, causeNames, graphOf, layGraph, maxNodes } from '../data/waits';
import { count, shortened } from '../format';
import { useFocus } from './row_table';

const [nodeWidth, nodeHeight, rowGap, top] = [210, 34, 14, 30];
const columnGap = 150;
const width = 3 * nodeWidth + 2 * columnGap;
const titles = ['waited', 'for', 'ended by'];
const xOf = (column: number) => column * (nodeWidth + columnGap);

export function WaitGraph({
    block,
    nameOf,
    timeOf,
    onOpen,
}: {
    block: Container;
    nameOf: (thread: number) => string;
    timeOf: (ticks: number) => string;
    onOpen: (node: GraphNode) => void;
}) {
    useFocus();
    const graph = useMemo(() => graphOf(block, nameOf), [block]);
    const places = useMemo(() => layGraph(graph), [graph]);
    const most = Math.max(1, ...graph.edges.map((e) => e.total));
    const rows = 1 + Math.max(0, ...places.values());
    const byKey = new Map(graph.nodes.map((n) => [n.key, n]));
    const yOf = (key: string) => top + places.get(key)! * (nodeHeight + rowGap);
    if (graph.nodes.length === 0)
        return <p class="wait">No thread waited for a lock, a thread or another object that threads share.</p>;
    return (
        <div class="scroller wait-graph" tabIndex={0} role="group" aria-label="Graph of threads and locks">
            <svg viewBox={`0 0 ${width} ${top + rows * (nodeHeight + rowGap)}`} style={{ maxWidth: `${width}px` }}>
                <defs>
                    <marker
                        id="wait-head"
                        viewBox="0 0 8 8"
                        refX="7"
                        refY="4"
                        markerWidth="8"
                        markerHeight="8"
                        markerUnits="userSpaceOnUse"
                        orient="auto"
                    >
                        <path class="head-shape" d="M0 0L8 4L0 8z" />
                    </marker>
                </defs>
                {titles.map((title, column) => (
                    <text key={title} class="column-title" x={xOf(column)} y={16}>
                        {title}
                    </text>
                ))}
                {graph.edges.map((e) => {
                    const [from, to] = [byKey.get(e.from)!, byKey.get(e.to)!];
                    const [x1, x2] = [xOf(from.column) + nodeWidth, xOf(to.column) - 2];
                    const [y1, y2] = [yOf(e.from) + nodeHeight / 2, yOf(e.to) + nodeHeight / 2];
                    const middle = (x1 + x2) / 2;
                    const what =
                        to.column === 1
                            ? `${from.name} waited for ${to.name}`
                            : `waits for ${from.name} ended by ${to.name}, the ${causeNames[e.cause]}`;
                    return (
                        <g key={`${e.from} ${e.to} ${e.cause}`} class={`edge ${causeNames[e.cause]}`}>
                            <title>{`${what}: ${timeOf(e.total)} in ${count(e.waits)} waits`}</title>
                            <path
                                d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`}
                                style={{ strokeWidth: `${1 + (5 * e.total) / most}px` }}
                                marker-end="url(#wait-head)"
                            />
                            <text x={x1 + (x2 - x1) * 0.5} y={y1 + (y2 - y1) * 0.5 - 5}>
                                {timeOf(e.total)}
                            </text>
                        </g>
                    );
                })}
                {graph.nodes.map((n) => (
                    <g
                        key={n.key}
                        class={`node ${n.column === 1 ? 'object' : 'thread'}`}
                        transform={`translate(${xOf(n.column)} ${yOf(n.key)})`}
                        tabindex={0}
                        role="button"
                        aria-label={`${n.name}: ${timeOf(n.total)}`}
                        onClick={() => onOpen(n)}
                        onKeyDown={(event) => {
                            if (event.key !== 'Enter' && event.key !== ' ') return;
                            event.preventDefault();
                            onOpen(n);
                        }}
                    >
                        <title>{`${shortened(n.name, 1000)}: ${timeOf(n.total)}; click for its rows`}</title>
                        <rect width={nodeWidth} height={nodeHeight} rx={n.column === 1 ? 3 : 16} />
                        <text x={12} y={14}>
                            {shortened(n.name, 30)}
                        </text>
                        <text class="time" x={12} y={28}>
                            {timeOf(n.total)}
                        </text>
                    </g>
                ))}
            </svg>
            {graph.left > 0 && (
                <p class="where">
                    The graph shows the longest waits, with at most {maxNodes} threads and objects. {count(graph.left)}{' '}
                    shorter sums are left out; the tables have them.
                </p>
            )}
        </div>
    );
}
