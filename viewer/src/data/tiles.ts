// The timeline's blocks: which of them show a range, and those that were fetched already.
import type { Container, Column } from './container';
import type { TimelineFacts } from './facts';

export interface Rows {
    count: number;
    column(key: string): Column;
    // First and last + 1 of the rows of a thread at a depth.
    at(thread: number, depth: number): [number, number];
}

export interface Tile {
    begin: number;
    stretch: number;
    spans: Rows;
    away: Rows;
}

// What is to be drawn between two times, from one tile.
export interface Piece {
    tile: Tile;
    from: number;
    to: number;
}

const deepest = 4096;

function rowsOf(container: Container, table: string, byDepth: boolean): Rows {
    const { rows = 0, columns = {} } = container.tables[table] ?? {};
    const none = new Uint8Array(rows);
    const column = (key: string) => columns[key] ?? none;
    const [thread, depth] = [column('thread'), byDepth ? column('depth') : none];
    const places = new Map<number, [number, number]>();
    for (let i = 0; i < rows; i++) {
        const key = thread[i]! * deepest + depth[i]!;
        const place = places.get(key);
        if (place) place[1] = i + 1;
        else places.set(key, [i, i + 1]);
    }
    return { count: rows, column, at: (t, d) => places.get(t * deepest + d) ?? [0, 0] };
}

// The first row of a run that ends behind a time; the rows are in the order of their starts and do not overlap.
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

const mostTiles = 96;

export class Tiles {
    private readonly loaded = new Map<number, Tile>();
    private readonly asked = new Set<number>();
    problem = '';

    constructor(
        private readonly facts: TimelineFacts,
        private readonly fetchBlock: (number: number) => Promise<Container>,
        private readonly ready: () => void,
    ) {}

    // By the level whose resolution is that of the screen; what is not there yet is shown coarser.
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
                // The most recently used ones are the last.
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
        if (this.asked.has(block)) return;
        this.asked.add(block);
        this.fetchBlock(block)
            .then((container) => {
                const { begin, stretch } = container.header as { begin: number; stretch: number };
                this.loaded.set(block, {
                    begin,
                    stretch,
                    spans: rowsOf(container, 'spans', true),
                    away: rowsOf(container, 'away', false),
                });
                for (const old of this.loaded.keys()) {
                    if (this.loaded.size <= mostTiles) break;
                    this.loaded.delete(old);
                    this.asked.delete(old);
                }
            })
            .catch((error: Error) => (this.problem = error.message))
            .finally(this.ready);
    }
}
