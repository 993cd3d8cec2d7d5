// Chooses the timeline's blocks that show a range, fetches them and caches them.
import type { Container, Column } from './container';
import type { TimelineFacts } from './facts';

export interface Rows {
    count: number;
    column(key: string): Column;
    // The rows of a thread at a depth: the first one, and the one past the last.
    at(thread: number, depth: number): [number, number];
}

export interface Tile {
    begin: number;
    stretch: number;
    spans: Rows;
    offCpu: Rows;
}

// A range of time and the tile to draw it from.
export interface Piece {
    tile: Tile;
    from: number;
    to: number;
}

const maxDepth = 4096;

function rowsOf(container: Container, table: string, byDepth: boolean): Rows {
    const { rows = 0, columns = {} } = container.tables[table] ?? {};
    const none = new Uint8Array(rows);
    const column = (key: string) => columns[key] ?? none;
    const [thread, depth] = [column('thread'), byDepth ? column('depth') : none];
    const ranges = new Map<number, [number, number]>();
    for (let i = 0; i < rows; i++) {
        const key = thread[i]! * maxDepth + depth[i]!;
        const range = ranges.get(key);
        if (range) range[1] = i + 1;
        else ranges.set(key, [i, i + 1]);
    }
    return { count: rows, column, at: (t, d) => ranges.get(t * maxDepth + d) ?? [0, 0] };
}

// The first row that ends at or after a time. The rows are sorted by start and do not overlap.
export function firstEnding(rows: Rows, [low, high]: [number, number], time: number): number {
    const [start, length] = [rows.column('start'), rows.column('length')];
    const last = high;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (start[middle]! + length[middle]! < time) low = middle + 1;
        else high = middle;
    }
    return Math.min(low, last);
}

const maxTiles = 96;

export class Tiles {
    private readonly loaded = new Map<number, Tile>();
    private readonly requested = new Set<number>();
    problem = '';

    constructor(
        private readonly facts: TimelineFacts,
        private readonly fetchBlock: (number: number) => Promise<Container>,
        private readonly ready: () => void,
    ) {}

    // Uses the level whose resolution is that of the screen, and coarser levels for tiles that are not loaded yet.
    pieces(from: number, to: number, perPixel: number): Piece[] {
        const { levels, start } = this.facts;
        let level = levels.findIndex((l) => l.resolution <= perPixel);
        if (level < 0) level = levels.length - 1;
        if (level < 0) return [];
        const pieces: Piece[] = [];
        const { stretch } = levels[level]!;
        const last = Math.floor((Math.min(to, this.facts.end) - start) / stretch);
        for (let segment = Math.max(0, Math.floor((from - start) / stretch)); segment <= last; segment++) {
            const begin = start + segment * stretch;
            this.add(pieces, level, begin, begin + stretch);
        }
        return pieces;
    }

    private add(pieces: Piece[], level: number, from: number, to: number): void {
        const { levels, start } = this.facts;
        let wanted = true;
        for (let j = level; j >= 0; j--) {
            const { stretch, blocks } = levels[j]!;
            const block = blocks[String(Math.floor((from - start) / stretch))];
            if (block === undefined || block < 0) continue;
            const tile = this.loaded.get(block);
            if (tile) {
                // Keeps the map in the order of last use.
                this.loaded.delete(block);
                this.loaded.set(block, tile);
                pieces.push({ tile, from, to });
                return;
            }
            if (wanted) this.fetch(block);
            wanted = false;
        }
    }

    private fetch(block: number): void {
        if (this.requested.has(block)) return;
        this.requested.add(block);
        this.fetchBlock(block)
            .then((container) => {
                const { begin, stretch } = container.header as { begin: number; stretch: number };
                this.loaded.set(block, {
                    begin,
                    stretch,
                    spans: rowsOf(container, 'spans', true),
                    offCpu: rowsOf(container, 'off_cpu', false),
                });
                for (const old of this.loaded.keys()) {
                    if (this.loaded.size <= maxTiles) break;
                    this.loaded.delete(old);
                    this.requested.delete(old);
                }
            })
            .catch((error: Error) => (this.problem = error.message))
            .finally(this.ready);
    }
}
