// Recorded values: the table of dwell values, and a picture of single calls.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { column, fragmentWith, rowsOf } from './support/browser.mjs';
import { container } from './support/container.mjs';
import { browser, recordings } from './support/fixtures.mjs';
import { shop } from './support/sessions.mjs';

const row = (value, calls, ns, more = {}) => ({
    value,
    calls,
    calls_percent: calls / 2,
    elapsed_inclusive_ns: ns,
    elapsed_inclusive_percent: 50,
    cpu_inclusive_ns: ns,
    blocked_inclusive_ns: 0,
    p50_ns: 10,
    p99_ns: 20,
    max_ns: 30,
    ...more,
});

const valued = {
    function: 2, // handle
    values: [
        {
            name: 'n',
            number: true,
            calls: 200,
            without: 3,
            rows: [row('-1', 50, 500), row('2', 150, 4500, { cpu_inclusive_ns: null })],
            left_out: 7,
        },
        { name: '<kind>', number: false, calls: 200, without: 0, rows: [row('GET', 200, 5000)], left_out: 0 },
    ],
    calls: [
        [10, -1, 'GET'],
        [1000, 2, 'PUT\u202e'],
        [20, null, 'GET'],
    ],
};

const viewport = { width: 1900, height: 900 };

const open = (fragment, facts = {}) =>
    browser.open(
        browser.write('recorded', [
            shop({
                recorded_values: { block: 0, file: "it's.data", functions: [2], ...facts },
                blocks: [container({ functions: [valued] }, {})],
            }),
        ]),
        { fragment: `#${fragment}`, viewport },
    );

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent));

test('the details of a function lead to the table of its values', async () => {
    const page = await open('view=functions&unit=ns');
    await page.fill('.search', '/^handle$/');
    await page.waitForFunction(() => document.querySelectorAll('[aria-label=functions] .row').length === 1);
    await page.click('[aria-label=functions] .row');
    await page.click('.details button >> text=Values');
    await fragmentWith(page, 'view=recorded');
    await page.fill('.search', '');
    assert.equal(await page.textContent('.recorded-view h2'), 'Values of handle');
    const rows = await rowsOf(page, 'calls by n');
    assert.deepEqual(column(rows, 'value'), ['-1', '2']);
    assert.deepEqual(column(rows, 'calls'), ['50', '150']);
    assert.deepEqual(column(rows, 'share'), ['25.0 %', '75.0 %']);
    assert.deepEqual(column(rows, 'elapsed_inclusive_ns'), ['500', '4500']);
    assert.deepEqual(column(rows, 'cpu_inclusive_ns'), ['500', '']);
    assert.deepEqual(column(rows, 'p50_ns'), ['10', '10']);
    assert.deepEqual(column(rows, 'p99_ns'), ['20', '20']);
    assert.deepEqual(column(rows, 'max_ns'), ['30', '30']);
    assert.match(
        await page.textContent('.recorded-view .below'),
        /^2 rows · 7 more values are left out · 3 calls have no values · 200 completed calls/,
    );
    await page.selectOption('.choices select', { label: '<kind>' });
    assert.deepEqual(column(await rowsOf(page, 'calls by <kind>'), 'value'), ['GET']);
    assert.equal(await page.locator('.scatter').count(), 0, 'texts have no axis');
    await browser.done(page);
});

// Both calls with a number are points, at the ends of the axes. The other one has no place.
test('single calls are points, coloured by another value', async () => {
    const page = await open('view=recorded');
    await page.click('.explained a');
    await page.waitForSelector('.scatter');
    assert.equal(await page.getAttribute('.scatter svg', 'aria-label'), 'The time of 2 calls against n');
    assert.deepEqual(await texts(page, '.scatter circle title'), [
        '10 ns, n -1, <kind> GET',
        '1.000 µs, n 2, <kind> PUT⟨202E⟩',
    ]);
    const places = () =>
        page.$$eval('.scatter circle', (all) =>
            all.map((one) => [one.getAttribute('class'), one.getAttribute('cx'), one.getAttribute('cy')]),
        );
    assert.deepEqual(await places(), [
        ['tone-0', '56', '216'],
        ['tone-0', '696', '10'],
    ]);
    assert.deepEqual(await texts(page, '.scatter text'), [
        ...['-1', '-0.25', '0.5', '1.25', '2'],
        ...['10 ns', '32 ns', '100 ns', '316 ns', '1.000 µs'],
    ]);
    await page.selectOption('.choices label:last-child select', { label: '<kind>' });
    assert.deepEqual(
        (await places()).map(([tone]) => tone),
        ['tone-0', 'tone-1'],
    );
    assert.match(await page.textContent('.scatter figcaption'), /2 of 200 calls\. +GET +PUT⟨202E⟩$/);
    await browser.done(page);
});

test('a page without values says how to have them, and one without a table which command does', async () => {
    const none = await browser.open(browser.write('no-values', [shop()]), { fragment: '#view=recorded' });
    assert.match(await none.textContent('.wait'), /no recorded values.*dwell view --with-values/s);
    assert.equal(await none.locator('.details button >> text=Values').count(), 0);
    await browser.done(none);
    const long = await open('view=recorded', { block: null, functions: [] });
    assert.equal(await long.textContent('.recorded-view code'), "dwell values FUNCTION 'it'\\''s.data'");
    await browser.done(long);
});

test('rows are those of dwell values, and secrets stay out of a page unless asked for', async () => {
    const source = fileURLToPath(new URL('../../tests/e2e/programs/values/valued.c', import.meta.url));
    const program = recordings.path('valued');
    execFileSync('gcc', ['-O2', '-g', '-finstrument-functions', '-o', program, source, '-lpthread', '-lm']);
    const session = recordings.record('valued.data', [program, 'calls', '500'], '--values', 'work:n,text');
    const said = recordings.json('values', 'work:n', session);
    const held = await browser.open(recordings.view('held', session), { fragment: '#view=recorded', viewport });
    assert.match(await held.textContent('.wait'), /no recorded values/);
    await browser.done(held);
    const page = await browser.open(recordings.view('valued', '--with-values', session), {
        fragment: '#view=recorded&unit=ns',
        viewport,
    });
    await page.click('.explained a');
    const rows = await rowsOf(page, 'calls by n');
    for (const [key, of] of [
        ['calls', 'calls'],
        ['elapsed_inclusive_ns', 'elapsed_inclusive_ns'],
        ['max_ns', 'max_ns'],
    ])
        assert.deepEqual(
            rows.map((one) => Number(one[key].replace(/\u2009/g, ''))),
            said.rows.map((one) => one[of]),
            key,
        );
    assert.equal(await page.locator('.scatter circle').count(), 500);
    await browser.done(page);
});
