// Formats numbers, times and names for display.
import type { SessionFacts } from './data/facts';

// Converts ticks to whole nanoseconds, rounded as in the reports.
export function nanoseconds(ticks: number, perSecond: number): bigint {
    const negative = ticks < 0;
    const per = BigInt(Math.round(perSecond));
    const ns = (BigInt(Math.abs(Math.round(ticks))) * 1000000000n + per / 2n) / per;
    return negative ? -ns : ns;
}

export type Unit = 'ns' | 'us' | 'ms' | 's';
export const units: Record<Unit, { text: string; digits: number }> = {
    ns: { text: 'ns', digits: 0 },
    us: { text: 'µs', digits: 3 },
    ms: { text: 'ms', digits: 6 },
    s: { text: 's', digits: 9 },
};

// The unit of a column: times of one column always have the same.
export function unitFor(largest: number): Unit {
    if (largest >= 10e9) return 's';
    if (largest >= 10e6) return 'ms';
    if (largest >= 10e3) return 'us';
    return 'ns';
}

const thin = '\u2009'; // between groups of digits

export function grouped(digits: string): string {
    return digits.length < 5 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, thin);
}

export function count(value: number | bigint): string {
    return value < 0 ? `−${grouped(String(-value))}` : grouped(String(value));
}

// A number with its noun, which has a plural unless it is one.
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

// Columns have the unit of the session's time, unless their longest time is shorter than the unit. Most can then be
// compared with each other.
export function unitOfColumn(longest: number, common: Unit): Unit {
    return longest === 0 || longest >= 10 ** units[common].digits ? common : unitFor(longest);
}

// Three digits after the point, or as many as three significant digits need.
function decimalsOf(ns: bigint, unit: Unit): number {
    const { digits } = units[unit];
    const before = digits - String(ns < 0n ? -ns : ns).length; // zeros between the point and the first digit
    return ns === 0n ? Math.min(3, digits) : Math.min(digits, Math.max(3, before + 3));
}

// A duration in `unit`, without the unit's name.
export function duration(ns: bigint, unit: Unit, decimals = decimalsOf(ns, unit)): string {
    const { digits } = units[unit];
    const shift = 10n ** BigInt(digits - decimals);
    const size = ns < 0n ? -ns : ns;
    const rounded = (size + shift / 2n) / shift;
    const text = rounded.toString().padStart(decimals + 1, '0');
    const whole = grouped(text.slice(0, text.length - decimals));
    const sign = ns < 0n && rounded > 0n ? '−' : '';
    return sign + whole + (decimals ? `.${text.slice(-decimals)}` : '');
}

// A duration with its unit and at least three significant digits.
export function shortDuration(ns: number): string {
    const size = Math.abs(ns);
    const sign = ns < 0 ? '−' : '';
    for (const [unit, scale] of [
        ['s', 1e9],
        ['ms', 1e6],
        ['µs', 1e3],
    ] as const)
        if (size >= scale) {
            const value = size / scale;
            return `${sign}${value >= 100 ? value.toFixed(1) : value >= 10 ? value.toFixed(2) : value.toFixed(3)} ${unit}`;
        }
    return `${sign}${Number.isInteger(size) ? size : size.toFixed(1)} ns`;
}

// How long a run took. Empty if that is unknown.
export function lengthOf(f: SessionFacts): string {
    const ticks = f.run_ticks || f.duration_ticks;
    return ticks > 0 && !f.samples ? shortDuration((ticks * 1e9) / f.ticks_per_second) : '';
}

export function percent(share: number, decimals = 1): string {
    if (!Number.isFinite(share)) return '';
    const text = (Math.abs(share) * 100).toFixed(decimals);
    return `${share < 0 && Number(text) !== 0 ? '−' : ''}${text} %`;
}

export function signed(text: string): string {
    return text.startsWith('−') || /^[0.\s]*$/.test(text) ? text : `+${text}`;
}

// eslint-disable-next-line no-control-regex
const hidden = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

// Names come from the recorded program: invisible and bidirectional control characters are shown as their code point.
export function visible(name: string): string {
    return name.replace(hidden, (c) => `⟨${c.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}⟩`);
}

const maxNameLength = 400;

// Shortens a name to one line by leaving out its middle; the details show it in full.
export function shortened(name: string, length = maxNameLength): string {
    const text = name.length > length ? `${name.slice(0, length * 0.7)}…${name.slice(-length * 0.2)}` : name;
    return visible(text);
}

// The file's name without its folders, which backslashes separate in paths of Windows.
export function shortFile(file: string | null): string {
    if (!file) return '';
    const back = /^([a-z]:\\|\\\\)/i.test(file) ? file.lastIndexOf('\\') : -1;
    return file.slice(Math.max(file.lastIndexOf('/'), back) + 1);
}

export function timeUnit(facts: SessionFacts[]): Unit {
    return unitFor(Math.max(...facts.map((f) => (f.duration_ticks * 1e9) / f.ticks_per_second)));
}
