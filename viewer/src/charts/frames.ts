// What flame graphs are made of: nodes with values, children ordered from the largest.
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

    constructor(
        private readonly model: Model,
        measure: string,
        side: Side,
    ) {
        this.values = model.column('paths', `${measure}_inclusive`, side);
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
    origins: Int32Array; // paths whose own time it is
    current: Int32Array; // where each of them stands at this depth
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
    private places: Int32Array | undefined;

    constructor(
        private readonly model: Model,
        measure: string,
        side: Side,
        private readonly slices: Slices,
    ) {
        this.own = model.column('paths', `${measure}_exclusive`, side);
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

    // Paths by the function that each stands at: counted first, so that each group is a stretch of one array.
    private *split(parent: number, origins: Int32Array, current: Int32Array): Generator<void, number[]> {
        const called = this.model.paths.function;
        const place = (this.places ??= new Int32Array(this.model.functions.length).fill(-1));
        const [functions, counts, values]: number[][] = [[], [], []];
        const groups = new Int32Array(current.length);
        for (let i = 0; i < current.length; i++) {
            const fn = called[current[i]!]!;
            let group = place[fn]!;
            if (group < 0) {
                place[fn] = group = functions!.push(fn) - 1;
                counts!.push(0);
                values!.push(0);
            }
            groups[i] = group;
            counts![group] = counts![group]! + 1;
            values![group] = values![group]! + this.own[origins[i]!]!;
        }
        for (const fn of functions!) place[fn] = -1;
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
                asked: false,
            });
            return this.nodes.length - 1;
        });
        return made.sort((a, b) => this.value(b) - this.value(a) || a - b);
    }

    // A step up from where a node's paths stand; those at the top of their stack end there.
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
            if (this.slices.due) await this.slices.pause();
        }
    }

    private async groupAbove(node: number): Promise<void> {
        await this.turn();
        const [origins, current] = this.above(node);
        this.nodes[node]!.children = await this.group(node, origins, current);
    }

    private async turn(): Promise<void> {
        if (this.slices.due) await this.slices.pause();
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
