// A part of a recording, chosen by time and threads, shows the values of dwell's reports of the same part.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { boxOf, rowsOf, view } from './support/browser.mjs';
import { sample } from './support/dwell.mjs';
import { browser, recordings } from './support/fixtures.mjs';
import { session as made, shop } from './support/sessions.mjs';
import { container } from './support/container.mjs';

const keys = ['elapsed', 'application', 'blocked', 'preempted', 'cpu', 'overhead'].flatMap((m) => [
    `${m}_inclusive`,
    `${m}_exclusive`,
]);
const all = ['calls', ...keys].join(',');
const fragment =
    `#unit=ns&by=elapsed&view=functions&details=0` +
    `&columns=tree:${all};functions:module,${all};modules:path,${all};threads:id,${all};processes:id,${all}`;
const wide = { width: 3000, height: 900 };
const single = { functions: 'function', modules: 'module', threads: 'thread', processes: 'process' };
const byText = (a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

// The options of the part that the page shows.
const optionsOf = async (page) =>
    (await page.getAttribute('.part-bar button:last-child', 'title')).replace(/^.*commands: /, '').split(' ');

const cells = (row, text) => [String(row.calls), ...keys.map((key) => text(row[key], row[`${key}_ns`]))];
const ofPage = (row) => cells(row, (shown) => (shown === '—' ? null : Number(shown)));
const ofReport = (row) => cells(row, (_, ns) => ns ?? null);

async function checkPart(page, session) {
    const options = await optionsOf(page);
    for (const table of Object.keys(single)) {
        await view(page, table);
        const said = recordings.json('report', '--limit', '0', '--by', single[table], ...options, session).rows;
        assert.ok(said.length > 0);
        // Text and the page number threads of equal names, so their ids tell them apart.
        const mine = (await rowsOf(page, table)).map((row) => [row.id ?? row.name, ofPage(row)]);
        const theirs = said.map((row) => [String(row.tid ?? row.pid ?? row[single[table]]), ofReport(row)]);
        assert.deepEqual(mine.sort(byText), theirs.sort(byText), `${table} ${options.join(' ')}`);
    }
    const tree = recordings.json('tree', '--min', '0', '--depth', '1000', ...options, session).rows;
    await view(page, 'tree');
    await page.click('button:has-text("Open all")');
    await page.waitForFunction(
        (n) => document.querySelector('.below').textContent.includes(`${n} shown`),
        tree.length.toLocaleString('en'),
    );
    const shown = await rowsOf(page, 'Call tree');
    assert.deepEqual(
        shown.map((row) => [row.level, row.name.replace(/^\d*[▾▸]?/, ''), ofPage(row)]),
        tree.map((row) => [row.depth, row.function, ofReport(row)]),
        `tree ${options.join(' ')}`,
    );
}

// A range of time may have no events: threads do not run all the time.
async function checkPartOfTime(page, session) {
    await checkPart(page, session).catch((error) => {
        if (!/no events|length > 0/.test(error.message)) throw error;
    });
}

// The borders of the periods in a page.
function bordersOf(file) {
    const [, text] = /data-part="session" data-session="0">([^<]*)</.exec(readFileSync(file, 'utf8'));
    const bytes = gunzipSync(Buffer.from(text, 'base64'));
    return JSON.parse(bytes.subarray(12, 12 + bytes.readUInt32LE(8)).toString()).parts.borders;
}

for (const [name, command, options] of [
    ['recursion', () => [sample('fib'), '16'], []],
    ['threads', () => [sample('threads'), '3', '300'], []],
    ['processes', () => [sample('processes'), '2'], []],
])
    test(`${name}: a range of time is that of dwell report --from --to`, async () => {
        const session = recordings.record(`${name}.data`, command(), ...options);
        const file = recordings.view(name, session);
        const list = bordersOf(file);
        assert.ok(list.length > 100, `${list.length} borders`);
        const at = (share) => list[Math.round(share * (list.length - 1))];
        for (const [from, to] of [
            [at(0), at(1)],
            [at(0.3), at(0.71)],
            [at(0.6), at(0.61)],
        ]) {
            const part = await browser.open(file, { fragment: `${fragment}&part=${from}-${to};`, viewport: wide });
            await part.waitForSelector('.part-bar');
            await checkPartOfTime(part, session);
            await browser.done(part);
        }
    });

// A forked child's first period can be the recorder's alone. `dwell tree` has its path then, without time.
test("a path whose time in the part was all the recorder's has a row, as in dwell tree", async () => {
    const columns = (rows, keys) => Object.fromEntries(keys.map((key) => [key, rows.map((row) => row[key] ?? 0)]));
    const amount = (period, node, elapsed, more) => ({ period, node, elapsed, shortest: 1, ...more });
    const block = container(
        {},
        {
            nodes: columns(
                [
                    { parent: -1, path: 0 },
                    { parent: 0, path: 1 },
                    { parent: 0, path: 2 },
                ],
                ['parent', 'thread', 'path', 'sampled'],
            ),
            amounts: columns(
                [
                    amount(0, 0, 50, { calls: 1 }),
                    amount(0, 1, 30, { runtime: 30 }),
                    amount(1, 1, 20, { runtime: 5, calls: 1 }),
                    amount(1, 2, 70, { calls: 1 }),
                ],
                ['period', 'node', 'elapsed', 'runtime', 'calls', 'shortest', 'longest'],
            ),
        },
    );
    const options = {
        parts: { block: 0, borders: [0, 100, 200] },
        blocks: [block],
        processes: [{ id: 4711, name: 'fork', probes: { in_callee: 0, in_caller: 0, first_callee: 0 } }],
    };
    const tree = [
        [
            'main',
            1,
            50,
            0,
            0,
            [
                ['start_child', 1, 15, 0, 0],
                ['work', 1, 70, 0, 0],
            ],
        ],
    ];
    const page = await browser.open(browser.write('recorder', [made(tree, options)]), {
        fragment: '#view=tree&unit=ns&by=elapsed&part=0-100;',
    });
    await page.waitForSelector('.part-bar');
    await page.click('button:has-text("Open all")');
    await page.waitForFunction(() => /shown/.test(document.querySelector('.below').textContent));
    const rows = await rowsOf(page, 'Call tree');
    assert.deepEqual(
        rows.map((row) => [row.level, row.name.replace(/^\d*[▾▸]?/, ''), row.calls, row.elapsed_inclusive]),
        [
            [1, 'main', '1', '50'],
            [2, 'start_child', '0', '0'],
        ],
    );
    await browser.done(page);
});

test('chosen threads are those of dwell report --thread, with a range, too, and whatever was recorded', async () => {
    for (const options of [[], ['--mode=profile']]) {
        const session = recordings.record('chosen.data', [sample('threads'), '3', '300'], ...options);
        const page = await browser.open(recordings.view('chosen', session), { fragment, viewport: wide });
        await page.click('.part-button');
        await page.click('.part-thread:nth-of-type(3) button');
        await page.waitForSelector('.part-bar');
        await page.keyboard.press('Escape');
        assert.match(await page.textContent('.part-bar'), /thread/);
        await checkPart(page, session);
        if (options.length === 0) {
            await view(page, 'timeline');
            const box = await boxOf(page, '.timeline');
            await page.mouse.move(box.x + 200, box.y + 10);
            await page.mouse.down();
            await page.mouse.move(box.x + box.width - 300, box.y + 12, { steps: 3 });
            await page.mouse.up();
            await page.waitForFunction(() => /snapped to/.test(document.querySelector('.part-bar').textContent));
            assert.deepEqual((await optionsOf(page)).filter((_, i) => i % 2 === 0).sort(), [
                '--from',
                '--thread',
                '--to',
            ]);
            await checkPartOfTime(page, session);
            await page.keyboard.press('x');
            await page.waitForFunction(() => !document.querySelector('.part-bar'));
            const rows = recordings.json('report', '--limit', '0', '--by', 'thread', session).rows;
            await view(page, 'threads');
            assert.equal((await rowsOf(page, 'threads')).length, rows.length);
        }
        await browser.done(page);
    }
});

// The view of the calls of fib: what it says above, and its rows as [begin in ns, calls]. Below the resolution, the
// begin is null.
async function histogramOf(page) {
    await page.fill('.search', '/^fib$/');
    await page.waitForFunction(() => document.querySelectorAll('[aria-label=functions] .row').length === 1);
    await page.click('[aria-label=functions] .row');
    await view(page, 'histogram');
    await page.waitForSelector('.histogram tbody tr');
    const plain = (text) => text.replace(/\u2009/g, '');
    const rows = await page.$$eval('.histogram tbody tr', (all) =>
        all.map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent)),
    );
    const scales = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };
    return {
        text: plain(await page.textContent('.histogram p')),
        rows: rows.map(([range, calls]) => {
            const [, number, unit] = /^([\d.]+) (\S+) …/.exec(range) ?? [];
            return [number === undefined ? null : Math.round(Number(number) * scales[unit]), Number(plain(calls))];
        }),
    };
}

test('calls are those of dwell slowest, in at least 20 buckets, and follow the chosen threads', async () => {
    const session = recordings.record('calls.data', [sample('fib'), '14']);
    const page = await browser.open(recordings.view('calls', session), { fragment: '#view=functions' });
    const all = recordings.json('slowest', '--limit', '0', session, 'fib').rows.map((row) => row.elapsed_inclusive_ns);
    const { text, rows } = await histogramOf(page);
    assert.ok(rows.length >= 20, `${rows.length} rows`);
    assert.match(text, new RegExp(`^${all.length} completed`));
    // Those below the resolution come first; all others are between the borders.
    const first = rows[0][0] === null ? 1 : 0;
    const below = first ? rows[0][1] : 0;
    const known = all.sort((a, b) => a - b).slice(below);
    const counted = rows.slice(first).map(([begin], i, list) => {
        const end = list[i + 1]?.[0] ?? Infinity;
        return [begin, known.filter((ns) => ns >= begin && ns < end).length];
    });
    assert.deepEqual(rows.slice(first), counted);
    // The same words as on the terminal. The times are exact, up to the digits that are shown.
    const said = recordings.run('histogram', session, 'fib').split('\n')[1];
    const scales = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };
    for (const [title, rank] of [
        ['median', Math.ceil(0.5 * all.length)],
        ['90 %', Math.ceil(0.9 * all.length)],
        ['99 %', Math.ceil(0.99 * all.length)],
        ['max', all.length],
    ]) {
        const [, number, unit] = new RegExp(`${title} ([\\d.]+) ([nµm]?s)`).exec(text) ?? [];
        assert.equal(number === undefined, rank <= below, `${title}: ${text}`);
        if (number === undefined) continue;
        const exact = all[rank - 1];
        assert.ok(Math.abs(number * scales[unit] - exact) <= 0.0005 * exact, `${title} ${number} ${unit}: ${exact} ns`);
    }
    const resolution = /below the resolution \(.*?\)/;
    assert.equal(resolution.exec(text)?.[0], resolution.exec(said)?.[0]);
    await browser.done(page);
});

test('calls are in at least 20 buckets, with exact percentiles, and short ones are below the resolution', async () => {
    const block = (rows) =>
        container(
            {},
            {
                calls: Object.fromEntries(
                    ['function', 'thread', 'period', 'ticks', 'calls'].map((key, i) => [
                        key,
                        rows.map((row) => row[i]),
                    ]),
                ),
            },
        );
    // By number in the session's functions: parse is 3, lookup 4. 300 calls of parse from 100.0 to 364.1 µs, which differ by 883 or 884 ns; some of lookup, half of them too short.
    const parse = Array.from({ length: 300 }, (_, i) => [3, 0, 0, 100000 + Math.floor((i * 265000) / 300), 1]);
    const lookup = [
        [4, 0, 0, 0, 50],
        [4, 0, 0, 19, 30],
        [4, 0, 0, 20, 10],
        [4, 0, 0, 31, 9],
        [4, 0, 0, 1234567, 1],
    ];
    const calls = { block: 0, periods: 1, rounded: false, resolution: 20 };
    const page = await browser.open(browser.write('calls', [shop({ calls, blocks: [block([...parse, ...lookup])] })]), {
        fragment: '#view=histogram',
    });
    const shown = async (name) => {
        await page.fill('.search', `/^${name}$/`);
        await view(page, 'functions');
        await page.waitForFunction(() => document.querySelectorAll('[aria-label=functions] .row').length === 1);
        await page.click('[aria-label=functions] .row');
        await view(page, 'histogram');
        await page.waitForSelector('.histogram tbody tr');
        return [
            await page.textContent('.histogram p'),
            await page.$$eval('.histogram tbody tr', (all) =>
                all.map((row) => [...row.cells].slice(0, 2).map((c) => c.textContent)),
            ),
        ];
    };
    const [text, rows] = await shown('parse');
    assert.equal(
        text,
        '300 completed calls · min 100.0 µs · median 231.6 µs · 90 % 337.6 µs · 99 % 361.5 µs · max 364.1 µs',
    );
    assert.equal(rows.length, 27);
    assert.deepEqual(rows[0], ['100.0 µs … 110.0 µs', '12']);
    assert.deepEqual(rows.at(-1), ['360.0 µs … 370.0 µs', '5']);
    assert.equal(
        rows.reduce((sum, [, n]) => sum + Number(n), 0),
        300,
    );
    const [short, few] = await shown('lookup');
    assert.equal(
        short,
        '100 completed calls · min and median below the resolution (20 ns) · 90 % 20 ns · 99 % 31 ns · max 1.235 ms',
    );
    assert.deepEqual(few.slice(0, 3), [
        ['below the resolution (20 ns)', '80'],
        ['20 ns … 25 ns', '10'],
        ['25 ns … 30 ns', '0'],
    ]);
    assert.ok(few.length >= 20);
    await browser.done(page);
});

test('source text is in the page only on request, and marks the line of the function', async () => {
    const session = recordings.record('source.data', [sample('fib'), '10']);
    for (const options of [[], ['--source']]) {
        const page = await browser.open(recordings.view('source', ...options, session), {
            fragment: '#view=functions',
        });
        await page.fill('.search', '/^fib$/');
        await page.waitForFunction(() => document.querySelectorAll('[aria-label=functions] .row').length === 1);
        await page.click('[aria-label=functions] .row');
        await view(page, 'source');
        if (options.length === 0) {
            assert.match(await page.textContent('.text-view'), /holds no source text/);
        } else {
            await page.waitForSelector('.source tr.selected');
            assert.match(await page.textContent('.source tr.selected .line'), /fib\(|^\{/); // name or body
        }
        await browser.done(page);
    }
});

test('lines of a function have the values of the report by line, with call sites', async () => {
    for (const options of [[], ['--call-sites']]) {
        const session = recordings.record('lines.data', [sample('cplusplus')], ...options);
        const page = await browser.open(recordings.view('lines', '--source', session), {
            fragment: '#view=functions&by=elapsed',
        });
        await page.fill('.search', '/^main$/');
        await page.waitForFunction(() => document.querySelectorAll('[aria-label=functions] .row').length === 1);
        await page.click('[aria-label=functions] .row');
        await view(page, 'source');
        await page.waitForSelector('.source tr.selected');
        if (options.length === 0) {
            assert.match(await page.textContent('.text-view'), /recorded with dwell record --call-sites\./);
            assert.equal(await page.locator('.line-values, .source .time').count(), 0);
            await browser.done(page);
            continue;
        }
        await page.waitForSelector('.line-values tbody tr');
        await page.waitForSelector('.source .time');
        const digits = (text) => text.replace(/\D/g, '');
        const mine = await page.$$eval('.line-values tbody tr', (rows) =>
            rows.map(({ cells }) => [
                cells[4].textContent,
                cells[0].textContent,
                cells[1].title,
                cells[3].title,
                cells[5].querySelector('a').textContent,
            ]),
        );
        const said = recordings
            .json('report', '--limit', '0', '--by', 'line', session)
            .rows.filter((row) => row.function === 'main' && !row.inlined);
        assert.ok(said.length > 2);
        assert.deepEqual(
            mine.map((row) => [row[0], ...row.slice(1, 4).map(digits), row[4]]).sort(byText),
            said
                .map((row) => [
                    row.source,
                    String(row.calls),
                    String(row.elapsed_inclusive_ns),
                    String(row.elapsed_exclusive_ns),
                    row.called,
                ])
                .sort(byText),
        );
        // The same beside the text of these lines.
        const text = await page.$$eval('.source tbody tr', (rows) =>
            rows.map((row) => [row.querySelector('.calls').textContent, row.querySelector('.time').title]),
        );
        for (const row of said)
            assert.deepEqual(text[row.line - 1].map(digits), [String(row.calls), String(row.elapsed_inclusive_ns)]);
        await browser.done(page);
    }
});
