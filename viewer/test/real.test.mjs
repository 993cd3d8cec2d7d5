// Pages of real recordings show the same values as dwell's reports, to the nanosecond.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsOf, view } from './support/browser.mjs';
import { sessionIn } from './support/container.mjs';
import { sample } from './support/dwell.mjs';
import { browser, recordings } from './support/fixtures.mjs';

const keys = ['elapsed', 'application', 'blocked', 'preempted', 'cpu', 'overhead'].flatMap((m) => [
    `${m}_inclusive`,
    `${m}_exclusive`,
]);
const all = ['calls', ...keys, 'page_faults_inclusive', 'page_faults_exclusive', 'min', 'max'].join(',');

// A row of a report, formatted like the page's cells.
function asCells(row) {
    const cells = {
        calls: String(row.calls),
        page_faults_inclusive: row.page_faults,
        page_faults_exclusive: row.page_faults_exclusive,
    };
    for (const key of [...keys, 'min', 'max']) cells[key] = row[`${key}_ns`];
    for (const key of Object.keys(cells))
        cells[key] = cells[key] === null || cells[key] === undefined ? '—' : String(cells[key]);
    return cells;
}

const only = (row, like) => Object.fromEntries(Object.keys(like).map((key) => [key, row[key]]));

const single = { functions: 'function', modules: 'module', threads: 'thread', processes: 'process' };
// Names of more than 400 characters lose their middle in tables.
const inTable = (name) => (name.length > 400 ? `${name.slice(0, 280)}…${name.slice(-80)}` : name);
// Fails on the first row that differs.
function assertSame(mine, theirs, what) {
    for (let i = 0; i < Math.max(mine.length, theirs.length); i++) assert.deepEqual(mine[i], theirs[i], what);
}
const byText = (a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
const report = (session, table) => recordings.json('report', '--limit', '0', '--by', single[table], session).rows;

for (const [name, command] of [
    ['recursion', () => [sample('fib'), '12']],
    ['threads', () => [sample('threads'), '3', '40']],
    ['processes', () => [sample('processes'), '2']],
    ['cplusplus', () => [sample('cplusplus')]],
]) {
    test(`${name}: the call tree, functions, modules, threads and processes are those of the reports`, async () => {
        const session = recordings.record(`${name}.data`, command());
        const fragment = `#by=elapsed&unit=ns&view=functions&details=0&columns=tree:${all};functions:module,source,${all};modules:path,${all};threads:id,process,${all};processes:id,${all}`;
        const file = recordings.view(name, session);
        const { header } = sessionIn(file);
        const shown = new Map(header.functions.map((f) => [f.name, f.shown ?? f.name]));
        const titles = new Map(header.threads.map((t) => [t.id, t.title ?? t.name]));
        const nameIn = (table, row) =>
            table === 'threads'
                ? titles.get(row.tid)
                : inTable(table === 'functions' ? shown.get(row.function) : row[single[table]]);
        const page = await browser.open(file, {
            fragment,
            viewport: { width: 3000, height: 900 },
        });

        for (const table of Object.keys(single)) {
            await view(page, table);
            const said = report(session, table);
            const like = asCells(said[0]);
            const mine = (await rowsOf(page, table)).map((row) => [
                row.name,
                row.module ?? row.path ?? row.id,
                only(row, like),
            ]);
            const theirs = said.map((row) => [
                nameIn(table, row),
                table === 'functions' ? row.module : String(row.path ?? row.tid ?? row.pid),
                asCells(row),
            ]);
            assertSame(mine.sort(byText), theirs.sort(byText), table);
        }

        // All values of all paths, siblings in the order of dwell tree.
        const tree = recordings.json(
            'tree',
            '--sort',
            'elapsed_inclusive',
            '--min',
            '0',
            '--depth',
            '1000',
            session,
        ).rows;
        await view(page, 'tree');
        await page.click('button:has-text("Open all")');
        await page.waitForFunction(
            (n) => document.querySelector('.below').textContent.includes(`, ${n} shown`),
            tree.length.toLocaleString('en'),
        );
        const rows = await rowsOf(page, 'Call tree');
        assertSame(
            rows.map((row) => [row.level, row.name.replace(/^\d*[▾▸]?/, ''), only(row, asCells(tree[0]))]),
            tree.map((row) => [row.depth, inTable(shown.get(row.function)), asCells(row)]),
            'tree',
        );
        await browser.done(page);
    });
}

test('the sums of the activity strip are the CPU, blocked and preempted times of each thread', () => {
    const session = recordings.record('strip.data', [sample('threads'), '3', '400']);
    const { header, tables } = sessionIn(recordings.view('strip', session));
    const said = report(session, 'threads');
    const toNs = (ticks) =>
        (BigInt(ticks) * 1000000000n + BigInt(header.ticks_per_second) / 2n) / BigInt(header.ticks_per_second);
    assert.equal(said.length, 4);
    for (const row of said) {
        const thread = header.threads.findIndex((one) => one.id === row.tid);
        for (const kind of ['cpu', 'blocked', 'preempted']) {
            const own = tables.activity[kind].filter((_, i) => tables.activity.thread[i] === thread);
            const sum = own.reduce((all, one) => all + one, 0);
            assert.equal(Number(toNs(sum)), row[`${kind}_inclusive_ns`], `${row.thread} ${kind}`);
        }
    }
});

test('callers and callees are those of dwell callers', async () => {
    const session = recordings.record('callers.data', [sample('fib'), '10']);
    const file = recordings.view('callers', session);
    for (const { function: name, module } of report(session, 'functions').slice(0, 6)) {
        const said = recordings.json('callers', session, `${name}@${module}`).rows;
        const page = await browser.open(file, {
            fragment: `#by=elapsed&unit=ns&view=functions&details=0&columns=callers:${all};callees:${all}`,
            viewport: { width: 3000, height: 900 },
        });
        await page.fill('.search', `/^${name}$/`);
        await page.waitForFunction(() => document.querySelectorAll('[aria-label=functions] .row').length === 1);
        await page.click('[aria-label=functions] .row');
        await page.keyboard.press('Enter');
        await page.fill('.search', '');
        for (const [label, role] of [
            ['Callers', 'caller'],
            ['Callees', 'callee'],
        ]) {
            const mine = (await rowsOf(page, label)).map((row) => [row.name, only(row, edge(row))]);
            const theirs = said.filter((row) => row.role === role).map((row) => [row.function, edge(asCells(row))]);
            assertSame(mine.sort(byText), theirs.sort(byText), `${label} of ${name}`);
        }
        await browser.done(page);
    }
});

// The values that dwell callers prints for callers and callees.
const edge = (cells) => only(cells, Object.fromEntries(['calls', ...keys.slice(0, 4)].map((key) => [key, 0])));

test('two recordings: values before and after, and the changes, are those of dwell diff', async () => {
    const [a, b] = [
        recordings.record('a.data', [sample('threads'), '2', '30']),
        recordings.record('b.data', [sample('threads'), '3', '50']),
    ];
    const said = recordings.json('diff', '--limit', '0', '--min', '0', a, b).rows;
    const keysOf = [
        'calls',
        'elapsed_inclusive',
        'elapsed_exclusive',
        'application_inclusive',
        'application_exclusive',
    ];
    const columns = keysOf.flatMap((key) => [`${key}_base`, `${key}_new`, `${key}_change`]);
    const page = await browser.open(recordings.view('diff', a, b), {
        fragment: `#by=elapsed&unit=ns&view=functions&details=0&columns=functions:module,${columns.join(',')}`,
        viewport: { width: 3000, height: 900 },
    });
    const number = (text) => Number(text.replace('−', '-').replace('+', ''));
    const mine = (await rowsOf(page, 'functions')).map((row) => [
        row.name,
        row.module,
        columns.map((c) => number(row[c])),
    ]);
    const unit = (key) => (key === 'calls' ? '' : '_ns');
    const theirs = said.map((row) => [
        row.function,
        row.module,
        keysOf.flatMap((key) => [
            row[`${key}_before${unit(key)}`] ?? 0,
            row[`${key}_after${unit(key)}`] ?? 0,
            row[`${key}_change${unit(key)}`],
        ]),
    ]);
    assertSame(mine.sort(byText), theirs.sort(byText), 'diff');
    for (const name of ['tree', 'flame', 'inverted', 'timeline', 'about']) await view(page, name);
    await browser.done(page);
});
