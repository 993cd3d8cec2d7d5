// The graph of threads and locks: who waited, for what, and whose act ended the waits.
import { useMemo } from 'preact/hooks';
import type { Container } from '../data/container';
import { type Graph, type GraphEdge, type GraphNode, causeNames, graphOf, layGraph, maxNodes } from '../data/waits';
import { count, shortened, plural } from '../format';
import { useFocus } from './row_table';

const [nodeWidth, nodeHeight, rowGap, top] = [210, 34, 14, 30];
const columnGap = 150;
const width = 3 * nodeWidth + 2 * columnGap;
const titles = ['waited', 'for', 'ended by'];
const xOf = (column: number) => column * (nodeWidth + columnGap);

const topOf = (place: number) => top + place * (nodeHeight + rowGap);
const [letterWidth, labelHeight] = [7, 14];

// Where the edges have their times: at the first place along each where no label is yet. An edge without room has none,
// but its tooltip. The longest waits come first.
function placeLabels(
    { nodes, edges }: Graph,
    places: Map<string, number>,
    timeOf: (ticks: number) => string,
): Map<GraphEdge, { x: number; y: number }> {
    const columns = new Map(nodes.map((n) => [n.key, n.column]));
    const labels = new Map<GraphEdge, { x: number; y: number }>();
    const taken: { x: number; y: number; half: number }[] = [];
    for (const e of [...edges].sort((a, b) => b.total - a.total)) {
        const [x1, x2] = [xOf(columns.get(e.from)!) + nodeWidth, xOf(columns.get(e.to)!) - 2];
        const [y1, y2] = [e.from, e.to].map((key) => topOf(places.get(key)!) + nodeHeight / 2) as [number, number];
        const half = (timeOf(e.total).length * letterWidth) / 2;
        for (const t of [0.5, 0.4, 0.6, 0.3, 0.7]) {
            // A point of the edge's curve, whose inner points are halfway between the columns.
            const inner = 3 * t * (1 - t);
            const x = (1 - t) ** 3 * x1 + (inner * (x1 + x2)) / 2 + t ** 3 * x2;
            const y = ((1 - t) ** 3 + inner * (1 - t)) * y1 + (inner * t + t ** 3) * y2 - 5;
            if (x - half < Math.min(x1, x2) || x + half > Math.max(x1, x2)) continue;
            if (taken.some((o) => Math.abs(o.x - x) < o.half + half && Math.abs(o.y - y) < labelHeight)) continue;
            taken.push({ x, y, half });
            labels.set(e, { x, y });
            break;
        }
    }
    return labels;
}

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
    const labels = useMemo(() => placeLabels(graph, places, timeOf), [graph, places]);
    const yOf = (key: string) => topOf(places.get(key)!);
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
                            <title>{`${what}: ${timeOf(e.total)} in ${plural(e.waits, 'wait')}`}</title>
                            <path
                                d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`}
                                style={{ strokeWidth: `${1 + (5 * e.total) / most}px` }}
                                marker-end="url(#wait-head)"
                            />
                            {labels.has(e) && (
                                <text x={labels.get(e)!.x} y={labels.get(e)!.y}>
                                    {timeOf(e.total)}
                                </text>
                            )}
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
