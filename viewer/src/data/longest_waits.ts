// Where the time was blocked: by function and caller, as in the second table of a report.
import type { Model, Side } from './model';

export interface WaitRow {
    function: number; // -1: the caller waited as recording changed its code
    caller: number; // -1: none
    blocked: number; // ticks
    calls: number;
}

const keyOf = (m: Model, called: number, caller: number) => (caller + 1) * m.functions.length + called;

// What recording kept functions waiting has rows of its own, as in a report. It is known of the whole session.
function addOfRecording(m: Model, side: Side, rows: Map<number, WaitRow>) {
    for (const [called, caller, ticks, waits] of m.facts[side]!.recording_waits ?? []) {
        const row = rows.get(keyOf(m, called, caller));
        if (!row) continue;
        const blocked = Math.min(ticks, row.blocked);
        row.blocked -= blocked;
        const own = rows.get(-1 - called);
        if (own) {
            own.blocked += blocked;
            own.calls += waits;
        } else rows.set(-1 - called, { function: -1, caller: called, blocked, calls: waits });
    }
}

// The rows with the most blocked time, the longest first. `whole`: all of the session is shown as it was recorded.
export function longestWaits(m: Model, side: Side, most: number, whole: boolean): WaitRow[] {
    const rows = new Map<number, WaitRow>();
    const blocked = m.column('paths', 'blocked_exclusive', side);
    const calls = m.column('paths', 'calls', side);
    const { parent, function: called, count } = m.paths;
    for (let i = 0; i < count; i++) {
        if (!blocked[i]) continue;
        const caller = parent[i]! < 0 ? -1 : called[parent[i]!]!;
        const key = keyOf(m, called[i]!, caller);
        const row = rows.get(key);
        if (row) {
            row.blocked += blocked[i]!;
            row.calls += calls[i]!;
        } else rows.set(key, { function: called[i]!, caller, blocked: blocked[i]!, calls: calls[i]! });
    }
    if (whole) addOfRecording(m, side, rows);
    return [...rows.values()]
        .filter((row) => row.blocked > 0)
        .sort((a, b) => b.blocked - a.blocked || a.function - b.function)
        .slice(0, most);
}
