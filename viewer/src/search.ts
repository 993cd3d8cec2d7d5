// Parses the search box: words that must all occur in the name, module:WORD, file:WORD, /pattern/,
// and conditions on columns, such as calls>1000 or elapsed_exclusive>=1.5ms or application_inclusive>5%.

export interface Condition {
    column: string;
    operator: string;
    number: number;
    unit: string; // '', '%' or a unit of time
    text: string; // as typed
}

// What a condition must know of a table's column.
export interface Conditional {
    key: string;
    numeric: boolean;
    whole?: number; // 100 %
    perNanosecond?: number; // of times only
}

export interface Matcher {
    empty: boolean;
    problem: string;
    conditions: Condition[];
    unfinished: { column: string; text: string }[]; // words with an operator, but no number
    // `name` has a line for each name of the row.
    matches(name: string, module: string, file: string): boolean;
}

const condition = /^([a-z_]+)(<=|>=|<|>|=)(\d+(?:\.\d+)?)(%|ns|us|µs|ms|s)?$/;
const conditionStart = /^([a-z_]+)(?:<=|>=|<|>|=)/;

export function makeMatcher(text: string): Matcher {
    const conditions: Condition[] = [];
    const unfinished: Matcher['unfinished'] = [];
    const tests: ((name: string, module: string, file: string) => boolean)[] = [];
    let problem = '';
    const pattern = /^\/(.*)\/(i?)$/.exec(text.trim());
    if (pattern) {
        try {
            const compiled = new RegExp(pattern[1]!, pattern[2]);
            tests.push((name) => name.split('\n').some((one) => compiled.test(one)));
        } catch (error) {
            const reason = (error as Error).message.split(': ').at(-1)!.toLowerCase();
            problem = `not a valid regular expression: ${reason}`;
        }
    } else {
        for (const word of text.trim().toLowerCase().split(/\s+/)) {
            const parsed = condition.exec(word);
            if (parsed)
                conditions.push({
                    column: parsed[1]!,
                    operator: parsed[2]!,
                    number: Number(parsed[3]),
                    unit: parsed[4] ?? '',
                    text: word,
                });
            else if (word.startsWith('module:'))
                tests.push((_, module) => module.toLowerCase().includes(word.slice(7)));
            else if (word.startsWith('file:')) tests.push((_, __, file) => file.toLowerCase().includes(word.slice(5)));
            else if (word) {
                const start = conditionStart.exec(word);
                if (start) unfinished.push({ column: start[1]!, text: word });
                tests.push((name) => name.toLowerCase().includes(word));
            }
        }
    }
    return {
        empty: tests.length === 0 && conditions.length === 0 && !problem,
        problem,
        conditions,
        unfinished,
        matches: (name, module, file) => tests.every((test) => test(name, module, file)),
    };
}

// Says why a search cannot filter a table with these columns. Returns an empty text if it can.
export function problemOf(by: Matcher, columns: readonly Conditional[]): string {
    if (by.problem) return by.problem;
    const columnOf = (key: string) => columns.find((one) => one.key === key && one.numeric);
    for (const { column, text } of by.unfinished)
        if (columnOf(column)) return `${text}: a number must follow, as in ${column}>1000`;
    for (const c of by.conditions) {
        const column = columnOf(c.column);
        if (!column) return `${c.text}: this table has no column of numbers with the key ${c.column}`;
        if (c.unit === '%' && !column.whole) return `${c.text}: ${c.column} has no percentage`;
        if (c.unit && c.unit !== '%' && !column.perNanosecond) return `${c.text}: ${c.column} is not a time`;
    }
    return '';
}

const scales: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };

// True if a column's value meets the condition. `whole` is 100 % in the unit of `value`. `perNanosecond` is one nanosecond
// in that unit, or 0 if the value is no time.
export function holds(c: Condition, value: number, whole: number, perNanosecond = 0): boolean {
    let limit = c.number;
    if (c.unit === '%') limit = (c.number / 100) * whole;
    else if (perNanosecond) limit = c.number * (scales[c.unit] ?? 1) * perNanosecond;
    if (c.operator === '<') return value < limit;
    if (c.operator === '<=') return value <= limit;
    if (c.operator === '>') return value > limit;
    if (c.operator === '>=') return value >= limit;
    return value === limit;
}
