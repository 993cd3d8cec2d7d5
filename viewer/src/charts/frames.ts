// The nodes of flame graphs and inverted graphs with their values. Children are sorted from the largest.
import type { Model, Side } from '../data/model';
import { Order } from '../data/open';
import { type Yielder, Stopped } from '../data/yielder';

export interface Frames {
    total: number;
    // Called before each drawing.
    begin?(): void;
    // Returns undefined if the children are not computed yet; then calls `ready` once they are.
    children(node: number, ready: () => void): number[] | undefined;
    parent(node: number): number;
    value(node: number): number;
    functionOf(node: number): number;
    // The path of the node; -1 if it stands for several.
    pathOf(node: number): number;
}

export class TreeFrames implements Frames {
    readonly total: number;
    private readonly values: ArrayLike<number>;
    private readonly order: Order;

    constructor(
        private readonly model: Model,
        measure: string,
        side: Side,
    ) {
        this.values = model.column('paths', `${measure}_inclusive`, side);
        const values = this.values;
        const inFileOrder = model.sides === 1 && !model.reordered && measure === 'elapsed';
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
    origins: Int32Array; // paths whose exclusive time the node's value sums up
    current: Int32Array; // for each of them, its ancestor at the node's depth
    children: number[] | undefined;
    requested: boolean;
}

const budget = 16; // milliseconds per drawing to compute new nodes

// The inverted graph: functions by their exclusive time, and below each its callers. Nodes are computed when needed.
export class InvertedFrames implements Frames {
    total = 0;
    private readonly nodes: Inverted[] = [];
    private roots: number[] | undefined;
    private requested = false;
    private readonly waiting = new Set<() => void>();
    private readonly own: ArrayLike<number>;

    private deadline = Infinity;
    private groupOf: Int32Array | undefined;

    constructor(
        private readonly model: Model,
        measure: string,
        side: Side,
        private readonly yielder: Yielder,
    ) {
        this.own = model.column('paths', `${measure}_exclusive`, side);
    }

    begin(): void {
        this.deadline = performance.now() + budget;
    }

    children(node: number, ready: () => void): number[] | undefined {
        if (node < 0) {
            if (!this.requested) {
                this.requested = true;
                this.run(this.beginRoots());
            }
            if (!this.roots) this.waiting.add(ready);
            return this.roots;
        }
        const one = this.nodes[node]!;
        if (!one.requested && performance.now() > this.deadline) {
            ready(); // the next drawing computes it
            return undefined;
        }
        if (!one.requested) {
            one.requested = true;
            // Small nodes are computed immediately.
            if (one.origins.length < 2000) one.children = this.groupNow(node);
            else this.run(this.groupAbove(node));
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
        const { count } = this.model.paths;
        const all = new Int32Array(count);
        let length = 0;
        for (let i = 0; i < count; i++) if (this.own[i]! > 0) all[length++] = i;
        const origins = all.slice(0, length);
        this.roots = await this.group(-1, origins, origins);
        this.total = this.roots.reduce((sum, node) => sum + this.value(node), 0);
    }

    // Groups paths by the function at their current step: counted first, so that each group is a range of one array.
    private *split(parent: number, origins: Int32Array, current: Int32Array): Generator<void, number[]> {
        const called = this.model.paths.function;
        const numbers = (this.groupOf ??= new Int32Array(this.model.functions.length).fill(-1));
        const [functions, counts, values]: number[][] = [[], [], []];
        const groups = new Int32Array(current.length);
        for (let i = 0; i < current.length; i++) {
            const fn = called[current[i]!]!;
            let group = numbers[fn]!;
            if (group < 0) {
                numbers[fn] = group = functions!.push(fn) - 1;
                counts!.push(0);
                values!.push(0);
            }
            groups[i] = group;
            counts![group] = counts![group]! + 1;
            values![group] = values![group]! + this.own[origins[i]!]!;
        }
        for (const fn of functions!) numbers[fn] = -1;
        yield;
        const ends = new Int32Array(functions!.length);
        for (let g = 1; g < ends.length; g++) ends[g] = ends[g - 1]! + counts![g - 1]!;
        const starts = ends.slice();
        const [from, at] = [new Int32Array(current.length), new Int32Array(current.length)];
        for (let i = 0; i < current.length; i++) {
            const end = ends[groups[i]!]!++;
            from[end] = origins[i]!;
            at[end] = current[i]!;
        }
        yield;
        const made = functions!.map((fn, g) => {
            const [start, end] = [starts[g]!, ends[g]!];
            this.nodes.push({
                function: fn,
                parent,
                value: values![g]!,
                origins: from.subarray(start, end),
                current: at.subarray(start, end),
                children: undefined,
                requested: false,
            });
            return this.nodes.length - 1;
        });
        return made.sort((a, b) => this.value(b) - this.value(a) || a - b);
    }

    // Moves a node's paths one caller up; paths that are at their root are dropped.
    private above(node: number): [Int32Array, Int32Array] {
        const { parent } = this.model.paths;
        const { origins, current } = this.nodes[node]!;
        const [from, at] = [new Int32Array(origins.length), new Int32Array(origins.length)];
        let length = 0;
        for (let i = 0; i < origins.length; i++) {
            const up = parent[current[i]!]!;
            if (up < 0) continue;
            from[length] = origins[i]!;
            at[length++] = up;
        }
        return [from.subarray(0, length), at.subarray(0, length)];
    }

    private groupNow(node: number): number[] {
        const steps = this.split(node, ...this.above(node));
        for (;;) {
            const step = steps.next();
            if (step.done) return step.value;
        }
    }

    private async group(node: number, origins: Int32Array, current: Int32Array): Promise<number[]> {
        await this.turn();
        const steps = this.split(node, origins, current);
        for (;;) {
            const step = steps.next();
            if (step.done) return step.value;
            if (this.yielder.due) await this.yielder.pause();
        }
    }

    private async groupAbove(node: number): Promise<void> {
        await this.turn();
        const [origins, current] = this.above(node);
        this.nodes[node]!.children = await this.group(node, origins, current);
    }

    private async turn(): Promise<void> {
        if (this.yielder.due) await this.yielder.pause();
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

    rowsOf(node: number): { origins: Int32Array; current: Int32Array } {
        return this.nodes[node]!;
    }
}
