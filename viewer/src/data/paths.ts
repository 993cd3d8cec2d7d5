// The call tree as rows in depth-first preorder: a row's subtree is the rows from it up to its end.

export interface Paths {
    count: number;
    parent: Int32Array;
    function: Uint32Array;
    end: Uint32Array;
    depth: Uint32Array;
}

export function makePaths(parent: Int32Array, functions: Uint32Array): Paths {
    const count = parent.length;
    const end = new Uint32Array(count);
    const depth = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
        end[i] = i + 1;
        if (parent[i]! >= i) throw new Error('the call tree is not in preorder');
        depth[i] = parent[i]! < 0 ? 0 : depth[parent[i]!]! + 1;
    }
    for (let i = count - 1; i >= 0; i--) {
        const above = parent[i]!;
        if (above >= 0 && end[i]! > end[above]!) end[above] = end[i]!;
    }
    return { count, parent, function: functions, end, depth };
}

// The children of a path, or the roots if `row` is -1.
export function childrenOf(paths: Paths, row: number): number[] {
    const list: number[] = [];
    const end = row < 0 ? paths.count : paths.end[row]!;
    for (let child = row + 1; child < end; child = paths.end[child]!) list.push(child);
    return list;
}

export function hasChildren(paths: Paths, row: number): boolean {
    return paths.end[row]! > row + 1;
}

// The rows from the root to the row itself.
export function stackOf(paths: Paths, row: number): number[] {
    const stack: number[] = [];
    for (let at = row; at >= 0; at = paths.parent[at]!) stack.push(at);
    return stack.reverse();
}

export function addUp(paths: Paths, exclusive: ArrayLike<number>): Float64Array {
    const sums = new Float64Array(exclusive);
    for (let i = paths.count - 1; i >= 0; i--) {
        const above = paths.parent[i]!;
        if (above >= 0) sums[above] = sums[above]! + sums[i]!;
    }
    return sums;
}

// By path, 1 if its function is not already open further up.
export function outermost(paths: Paths, functionCount: number): Uint8Array {
    const first = new Uint8Array(paths.count);
    const open = new Uint32Array(functionCount);
    const stack: number[] = [];
    for (let i = 0; i < paths.count; i++) {
        while (stack.length > paths.depth[i]!) {
            const left = paths.function[stack.pop()!]!;
            open[left] = open[left]! - 1;
        }
        const entered = paths.function[i]!;
        if (open[entered] === 0) first[i] = 1;
        open[entered] = open[entered]! + 1;
        stack.push(i);
    }
    return first;
}
