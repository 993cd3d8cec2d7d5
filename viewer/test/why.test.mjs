// Slow calls: what they do more of than usual ones, as dwell why says it, and how long both took.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { column, fragmentWith, rowsOf, view } from './support/browser.mjs';
import { container } from './support/container.mjs';
import { testProgram } from './support/dwell.mjs';
import { browser, recordings } from './support/fixtures.mjs';
import { shop } from './support/sessions.mjs';

const row = (path, what, slow, usual, more = {}) => ({
    path,
    kind: 'cpu',
    object: { kind: null, name: null },
    what,
    where: path.at(-1),
    caused_by: null,
    meanwhile: null,
    slow_calls: 3,
    usual_calls: 197,
    slow_ns: slow,
    usual_ns: usual,
    difference_ns: slow - usual,
    share_percent: (slow - usual) / 100,
    ci95_ns: 12,
    times: null,
    estimated: false,
    ...more,
});

const explained = {
    function: 2, // handle
    answer: 'the slowest 3 of 200 calls of handle take 10.000 us more: 9.000 us blocked on mutex m, held by <evict>',
    calls: 200,
    cut: 2,
    slow: { calls: 3, min_ns: 16000, mean_ns: 16000 },
    usual: { calls: 197, min_ns: 1000, mean_ns: 6000 },
    difference_ns: 10000,
    rows: [
        row(['handle', 'lookup'], 'blocked on mutex m', 9000, 0, {
            kind: 'blocked',
            object: { kind: 'mutex', name: 'm' },
            caused_by: 'held by <evict>',
            meanwhile: '100 % working in evict',
        }),
        row(['handle', 'parse'], 'cpu', 5000, 3000, { slow_calls: 42, times: '14 times as many' }),
        row(['handle'], 'cpu', 2000, 3000, { slow_calls: null, usual_calls: null, estimated: true }),
    ],
    left_out: 4,
    factors: [{ name: 'thread', value: 'worker\u202e', slow_share: 1, usual_share: 0.25 }],
};

const durations = {
    function: [0, 0, 0, 1],
    ns: [1000, 2000, 16000, 5],
    slow: [0, 0, 3, 1],
    usual: [100, 97, 0, 1],
};

const explaining = (facts = {}) =>
    shop({
        why: { block: 0, file: "it's.data", functions: [2], ...facts },
        blocks: [container({ functions: [explained] }, { durations })],
    });

const viewport = { width: 1900, height: 900 };

const open = (fragment, facts) =>
    browser.open(browser.write('why', [explaining(facts)]), { fragment: `#${fragment}`, viewport });

async function select(page, name) {
    await page.fill('.search', `/^${name}$/`);
    await page.waitForFunction(() => document.querySelectorAll('[aria-label=functions] .row').length === 1);
    await page.click('[aria-label=functions] .row');
}

test('the details of a function lead to why its slow calls are slow', async () => {
    const page = await open('view=functions&unit=ns');
    await select(page, 'handle');
    await page.click('.details button >> text=Why are the slow calls slow?');
    await fragmentWith(page, 'view=why');
    await page.fill('.search', '');
    assert.equal(await page.textContent('.why-view h2'), 'Why are the slow calls slow? handle');
    assert.equal(await page.textContent('.why-view .answer'), explained.answer);
    const rows = await rowsOf(page, 'what slow calls do more of');
    assert.deepEqual(column(rows, 'difference'), ['+9000', '+2000', '−1000']);
    assert.deepEqual(column(rows, 'share'), ['90.0 %', '20.0 %', '−10.0 %']);
    assert.deepEqual(column(rows, 'what'), ['blocked on mutex m', 'cpu', 'cpu']);
    assert.deepEqual(column(rows, 'caused_by'), ['held by <evict>', '', '']);
    assert.deepEqual(column(rows, 'where'), ['lookup', 'parse', '~ handle']);
    assert.deepEqual(column(rows, 'slow'), ['9000', '5000', '2000']);
    assert.deepEqual(column(rows, 'usual'), ['0', '3000', '3000']);
    assert.deepEqual(column(rows, 'slow_calls'), ['3', '42', '']);
    assert.deepEqual(column(rows, 'usual_calls'), ['197', '197', '']);
    assert.deepEqual(column(rows, 'times'), ['', '14 times as many', '']);
    const below = (await page.textContent('.why-view .below')).replace(/\u2009/g, '');
    assert.match(below, /^3 rows · 4 rows with less difference are left out · 2 calls were not recorded as a whole/);
    await page.click('[aria-label="what slow calls do more of"] .row');
    assert.equal(
        (await page.textContent('.why-view .cause-paths')).trim(),
        'handle › lookupmeanwhile: 100 % working in evict',
    );
    assert.deepEqual(
        await page.$$eval('[aria-label="what else differs"] tbody td', (cells) => cells.map((c) => c.textContent)),
        ['100.0 %', '25.0 %', 'thread worker⟨202E⟩'],
    );
    await browser.done(page);
});

// Of 1000 to 16000 ns, there are 48 bars: 2000 is at a quarter, and the last bar ends at 16000.
test('the distributions of both sets are drawn over each other', async () => {
    const page = await open('view=why&function=');
    await page.click('.explained a');
    await page.waitForSelector('.distributions');
    assert.equal(
        await page.getAttribute('.distributions svg', 'aria-label'),
        'How long the calls took: 197 usual, 6.000 µs a call; 3 slow, 16.00 µs a call',
    );
    const titles = await page.$$eval('.distributions .bar title', (all) => all.map((one) => one.textContent));
    assert.equal(titles.length, 48);
    assert.deepEqual(
        titles
            .map((title, i) => [i, title])
            .filter(([, title]) => !title.endsWith(': 0.0 % of the usual calls, 0.0 % of the slow ones')),
        [
            [0, '1.000 µs … 1.059 µs: 50.8 % of the usual calls, 0.0 % of the slow ones'],
            [12, '2.000 µs … 2.119 µs: 49.2 % of the usual calls, 0.0 % of the slow ones'],
            [47, '15.10 µs … 16.00 µs: 0.0 % of the usual calls, 100.0 % of the slow ones'],
        ],
    );
    const tops = (set) =>
        page.$eval(`.distributions path.${set}`, (path) => {
            const box = path.getBBox();
            return [Math.round(box.y), Math.round(box.y + box.height)];
        });
    assert.deepEqual(await tops('usual'), [6, 120]);
    assert.deepEqual(await tops('slow'), [6, 120]);
    assert.deepEqual(await page.$$eval('.distributions text', (all) => all.map((one) => one.textContent)), [
        '1.000 µs',
        '2.000 µs',
        '4.000 µs',
        '8.000 µs',
        '16.00 µs',
    ]);
    await browser.done(page);
});

test('for a function that the page does not explain, it says which command does', async () => {
    const page = await open('view=functions');
    await select(page, 'walk');
    await page.click('.details button >> text=Why are the slow calls slow?');
    await page.waitForSelector('.explained');
    assert.equal(await page.textContent('.why-view code'), "dwell why walk 'it'\\''s.data'");
    assert.match(await page.textContent('.explained li'), /^handle: the slowest 3 of 200 calls of handle take/);
    await page.click('.explained a');
    await page.waitForSelector('.distributions');
    await page.click('.why-view button >> text=Others');
    await page.waitForSelector('.explained');
    await browser.done(page);
});

test('a page that explains nothing says why', async () => {
    const none = await open('view=why', { block: null, functions: [] });
    assert.match(await none.textContent('.why-view'), /The page explains no function.*dwell why FUNCTION it's\.data/);
    await browser.done(none);
    const sums = await browser.open(browser.write('sums', [shop()]), { fragment: '#view=why' });
    assert.match(await sums.textContent('.wait'), /This page holds no single calls/);
    assert.equal(await sums.locator('.details button >> text=slow').count(), 0);
    await browser.done(sums);
});

test('Calls leads to it, and rows are those of dwell why', async () => {
    const session = recordings.record('why.data', [testProgram('slow_calls'), 'lock']);
    const said = recordings.json('why', 'handle', session);
    const page = await browser.open(recordings.view('why', session), { fragment: '#view=functions&unit=ns', viewport });
    await select(page, 'handle');
    await view(page, 'histogram');
    await page.click('.text-view button >> text=Why are the slow calls slow?');
    await page.waitForSelector('.distributions');
    await page.fill('.search', '');
    assert.equal(await page.textContent('.why-view .answer'), said.answer);
    const rows = await rowsOf(page, 'what slow calls do more of');
    const numbers = (all) => all.sort((a, b) => a - b);
    for (const [key, of] of [
        ['slow', 'slow_ns'],
        ['usual', 'usual_ns'],
        ['slow_calls', 'slow_calls'],
    ])
        assert.deepEqual(numbers(rows.map((one) => Number(one[key]))), numbers(said.rows.map((one) => one[of])), key);
    await browser.done(page);
});
