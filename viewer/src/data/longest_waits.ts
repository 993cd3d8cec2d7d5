// Where the time was blocked: by function and caller, as in the second table of a report.
import type { Model, Side } from './model';

export interface WaitRow {
    function: number;
    caller: number; // -1: none
    blocked: number; // ticks
    calls: number;
}

// The rows with the most blocked time, the longest first.
export function longestWaits(m: Model, side: Side, most: number): WaitRow[] {
    const rows = new Map<number, WaitRow>();
    const blocked = m.column('paths', 'blocked_exclusive', side);
    const calls = m.column('paths', 'calls', side);
    const { parent, function: called, count } = m.paths;
    for (let i = 0; i < count; i++) {
        if (!blocked[i]) continue;
        const caller = parent[i]! < 0 ? -1 : called[parent[i]!]!;
        const key = (caller + 1) * m.functions.length + called[i]!;
        const row = rows.get(key);
        if (row) {
            row.blocked += blocked[i]!;
            row.calls += calls[i]!;
        } else rows.set(key, { function: called[i]!, caller, blocked: blocked[i]!, calls: calls[i]! });
    }
    return [...rows.values()].sort((a, b) => b.blocked - a.blocked || a.function - b.function).slice(0, most);
}
