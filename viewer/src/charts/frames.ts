// What flame graphs are made of: nodes with values, children ordered from the largest.
import type { ColumnKey } from '../data/measures';
import type { Model, Side } from '../data/model';
import { Order } from '../data/open';
import { type Slices, Stopped } from '../data/slices';

export interface Frames {
    total: number;
    // A drawing begins.
    begin?(): void;
    // undefined: not known yet; `ready` is called when they are.
    children(node: number, ready: () => void): number[] | undefined;
    parent(node: number): number;
    value(node: number): number;
    functionOf(node: number): number;
    // The path it stands for; -1: several.
    pathOf(node: number): number;
}

export class TreeFrames implements Frames {
    readonly total: number;
    private readonly values: ArrayLike<number>;
    private readonly order: Order;

    constructor(private readonly model: Model, measure: string, side: Side) {
        this.values = model.column('paths', `${measure}_inclusive` as ColumnKey, side);
        const values = this.values;
        const inFileOrder = model.sides === 1 && measure === 'elapsed';
        this.order = new Order(model.paths, inFileOrder ? null : (a, b) => values[b]! - values[a]! || a - b);
        this.total = this.order.children(-1).reduce((sum, row) => sum + values[row]!, 0);
    }

    children(node: number): number[] {
        return this.order.children(node);
    }

    parent(node: number): number {
        return this.model.paths.parent[node]!;
    }

    value(node: number): number {
        return this.values[node]!;
    }

    functionOf(node: number): number {
        return this.model.paths.function[node]!;
    }

    pathOf(node: number): number {
        return node;
    }
}

interface Inverted {
    function: number;
    parent: number;
    value: number;
    origins: number[]; // paths whose own time it is
    current: number[]; // where each of them stands at this depth
    children: number[] | undefined;
    asked: boolean;
}

const budget = 16; // ms of a drawing, for nodes that are not made yet

// From functions, by their own time, to their callers. Nodes are made when they are looked at.
export class InvertedFrames implements Frames {
    total = 0;
    private readonly nodes: Inverted[] = [];
    private roots: number[] | undefined;
    private asked = false;
    private readonly waiting = new Set<() => void>();
    private readonly own: ArrayLike<number>;

    private deadline = Infinity;

    constructor(private readonly model: Model, measure: string, side: Side, private readonly slices: Slices) {
        this.own = model.column('paths', `${measure}_exclusive` as ColumnKey, side);
    }

    begin(): void {
        this.deadline = performance.now() + budget;
    }

    children(node: number, ready: () => void): number[] | undefined {
        if (node < 0) {
            if (!this.asked) {
                this.asked = true;
                this.run(this.beginRoots());
            }
            if (!this.roots) this.waiting.add(ready);
            return this.roots;
        }
        const one = this.nodes[node]!;
        if (!one.asked && performance.now() > this.deadline) {
            ready(); // the next drawing goes on with it
            return undefined;
        }
        if (!one.asked) {
            one.asked = true;
            // Few paths are done at once.
            if (one.origins.length < 2000) one.children = this.groupNow(node);
            else this.run(this.group(node));
        }
        if (!one.children) this.waiting.add(ready);
        return one.children;
    }

    private run(work: Promise<void>): void {
        work.then(() => {
            const all = [...this.waiting];
            this.waiting.clear();
            for (const ready of all) ready();
        }).catch((e) => {
            if (!(e instanceof Stopped)) throw e;
        });
    }

    private async beginRoots(): Promise<void> {
        const { count, function: called } = this.model.paths;
        const groups = new Map<number, [number[], number[]]>();
        for (let i = 0; i < count; i++) {
            if (this.own[i]! > 0) this.put(groups, called[i]!, i, i);
            if ((i & 4095) === 0 && this.slices.due) await this.slices.pause();
        }
        const roots = this.take(-1, groups);
        this.total = roots.reduce((sum, node) => sum + this.value(node), 0);
        this.roots = roots;
    }

    private put(groups: Map<number, [number[], number[]]>, key: number, origin: number, current: number): void {
        const group = groups.get(key);
        if (group) {
            group[0].push(origin);
            group[1].push(current);
        } else groups.set(key, [[origin], [current]]);
    }

    private take(parent: number, groups: Map<number, [number[], number[]]>): number[] {
        const made = [...groups].map(([key, [origins, current]]) => {
            const value = origins.reduce((sum, row) => sum + this.own[row]!, 0);
            this.nodes.push({ function: key, parent, value, origins, current, children: undefined, asked: false });
            return this.nodes.length - 1;
        });
        return made.sort((a, b) => this.value(b) - this.value(a) || a - b);
    }

    private groupNow(node: number): number[] {
        const { parent, function: called } = this.model.paths;
        const { origins, current } = this.nodes[node]!;
        const groups = new Map<number, [number[], number[]]>();
        for (let i = 0; i < origins.length; i++) {
            const above = parent[current[i]!]!;
            if (above >= 0) this.put(groups, called[above]!, origins[i]!, above);
        }
        return this.take(node, groups);
    }

    private async group(node: number): Promise<void> {
        const { parent, function: called } = this.model.paths;
        const { origins, current } = this.nodes[node]!;
        const groups = new Map<number, [number[], number[]]>();
        for (let i = 0; i < origins.length; i++) {
            const above = parent[current[i]!]!;
            if (above >= 0) this.put(groups, called[above]!, origins[i]!, above);
            if ((i & 1023) === 0 && this.slices.due) await this.slices.pause();
        }
        this.nodes[node]!.children = this.take(node, groups);
    }

    parent(node: number): number {
        return this.nodes[node]!.parent;
    }

    value(node: number): number {
        return this.nodes[node]!.value;
    }

    functionOf(node: number): number {
        return this.nodes[node]!.function;
    }

    pathOf(node: number): number {
        const { current } = this.nodes[node]!;
        return current.length === 1 ? current[0]! : -1;
    }

    rowsOf(node: number): { origins: number[]; current: number[] } {
        return this.nodes[node]!;
    }
}
