// The first view and the frame of the page: names as in text, columns that fit, tabs and measures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { column, rowsOf, view } from './support/browser.mjs';
import { sessionIn } from './support/container.mjs';
import { sample } from './support/dwell.mjs';
import { browser, recordings } from './support/fixtures.mjs';
import { session, shop, shopTree, timed } from './support/sessions.mjs';

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((e) => e.textContent.replace(/\u2009/g, '')));
const rowsIn = (page, kind) =>
    page.$$eval(`.summary-rows.${kind} tbody tr`, (all) =>
        all.map((row) => [...row.cells].map((c) => c.textContent.replace(/\u2009/g, '').trim())),
    );

test('the page opens with the run, the functions that work, and what waits', async () => {
    const page = await browser.open(browser.write('summary', [shop()]), { fragment: '#view=&by=cpu&unit=ns' });
    await page.waitForSelector('[data-view=summary][aria-selected=true]');
    assert.equal(await page.locator('.answer').count(), 0); // the session has none
    assert.deepEqual((await rowsIn(page, 'work')).slice(0, 3), [
        ['parse', '9200', '23.1 %', '9200', '240', 'libstore.so.2', 'store.c:13'],
        ['lookup', '9195', '23.1 %', '17895', '180', 'shop', 'main.c:14'],
        ['walk', '8700', '21.8 %', '8700', '680', 'libstore.so.2', ''],
    ]);
    assert.deepEqual(await rowsIn(page, 'waiting'), [
        ['wait_for_work', '19.00 µs', '94.5 %', '11', 'serve'],
        ['load', '700 ns', '3.5 %', '1', 'main'],
        ['lookup', '400 ns', '2.0 %', '150', 'handle'],
    ]);
    await page.click('.summary-rows.waiting a >> nth=0');
    await page.waitForSelector('[data-view=callers][aria-selected=true]');
    assert.equal(await page.textContent('.centre h2'), 'wait_for_work');
    await browser.done(page);
});

test('waits of the recording have rows of their own', async () => {
    const made = shop({ recordingWaits: [['lookup', 'handle', 300, 2]] });
    const page = await browser.open(browser.write('recording', [made]), { fragment: '#view=&by=cpu&unit=ns' });
    await page.waitForSelector('.summary-rows.waiting');
    assert.deepEqual(await rowsIn(page, 'waiting'), [
        ['wait_for_work', '19.00 µs', '94.5 %', '11', 'serve'],
        ['load', '700 ns', '3.5 %', '1', 'main'],
        ['recording changes code', '300 ns', '1.5 %', '2', 'lookup'],
        ['lookup', '100 ns', '0.5 %', '150', 'handle'],
    ]);
    await browser.done(page);
});

test('one of anything has no plural', async () => {
    const page = await browser.open(browser.write('one', [session([['main', 1, 100, 0, 0]])]), {
        fragment: '#view=functions',
    });
    await page.waitForSelector('.below');
    assert.equal((await page.textContent('.below')).trim(), '1 function');
    await browser.done(page);
});

test('the sentence and the names are those of dwell report', async () => {
    const data = recordings.record('first.data', [sample('cplusplus')]);
    const file = recordings.view('first', data);
    const text = recordings.run('report', '--color', 'never', data).split('\n');
    const said = text[0].slice(text[0].indexOf(': ') + 2);
    const page = await browser.open(file, { fragment: '#view=', viewport: { width: 1440, height: 900 } });
    assert.ok(said.startsWith('ran '), said);
    assert.equal(await page.textContent('.answer'), said);
    await view(page, 'functions');
    const names = column(await rowsOf(page, 'functions'), 'name');
    const whole = recordings.json('report', '--limit', '0', data).rows.map((row) => row.function);
    assert.ok(whole.some((name) => name.includes('vector<shop::Order, std::allocator<')));
    assert.ok(!names.some((name) => /vector<shop::Order, std::allocator<|__cxx11/.test(name)));
    await page.fill('.search', '/vector<shop::Order, std::allocator</'); // the whole name is found, too
    await page.waitForFunction((n) => document.querySelectorAll('.row').length < n, names.length);
    assert.ok((await rowsOf(page, 'functions')).length > 0);
    await browser.done(page);
});

test('threads of equal names have the titles of text, in tables, on the timeline and in the choice of a part', async () => {
    const data = recordings.record('titles.data', [sample('threads'), '3', '40']);
    const file = recordings.view('titles', data);
    const titles = sessionIn(file).header.threads.map((t) => t.title);
    assert.deepEqual(titles.toSorted(), ['main#1', 'worker#2', 'worker#3', 'worker#4']);
    for (const title of titles) assert.ok(recordings.run('report', '--by', 'thread', data).includes(title));
    const page = await browser.open(file, { fragment: '#view=threads' });
    assert.deepEqual(column(await rowsOf(page, 'threads'), 'name').toSorted(), titles.toSorted());
    await view(page, 'timeline');
    await page.waitForFunction(() => document.querySelector('.timeline').dataset.lanes.includes('worker#2 ('));
    await page.click('.part-button');
    assert.match(await page.textContent('.part-thread >> nth=1'), /#\d \(\d+\)/);
    await browser.done(page);
});

const names = (page) => texts(page, '.tab-list button');

test('six views are tabs, the others are under More; a chosen one of these is a tab', async () => {
    const page = await browser.open(browser.write('tabs', [timed()]), { fragment: '#view=' });
    const first = ['Summary', 'Call tree', 'Flame graph', 'Timeline', 'Functions', 'Waits'];
    assert.deepEqual(await names(page), first);
    await page.click('.more-button');
    assert.deepEqual(await texts(page, '.more-menu [role=menuitem]'), [
        'Inverted graph',
        'Callers & callees',
        'Critical path',
        'Heat map',
        'Modules',
        'Threads',
        'Processes',
        'Calls',
        'Slow calls',
        'Values',
        'Lines',
        'About',
    ]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-view=modules][aria-selected=true]');
    assert.deepEqual(await names(page), [...first, 'Modules']);
    await page.click('.more-button');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.more-menu', { state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement.className), 'more-button');
    await browser.done(page);
});

test('four measures are up front, the others in a list', async () => {
    const page = await browser.open(browser.write('measures', [shop()]), { fragment: '#view=functions' });
    assert.deepEqual(await texts(page, '.measures button'), ['CPU', 'Elapsed', 'Application', 'Blocked']);
    await page.selectOption('.more-measures', 'preempted');
    await page.waitForSelector('.head[data-key=preempted_exclusive][aria-sort=descending]');
    assert.equal(await page.locator('.measures [aria-checked=true]').count(), 0);
    assert.equal(await page.inputValue('.more-measures'), 'preempted');
    await browser.done(page);
});

test('elapsed time of several threads says that it is a sum', async () => {
    const threads = [0, 1].map((i) => ({ id: 4711 + i, process: 0, name: `shop ${i}` }));
    for (const [made, said] of [
        [{ threads, threadShares: [0.5, 0.5] }, '60.00 µs, summed over 2 threads'],
        [{}, '60.00 µs'],
    ]) {
        const page = await browser.open(browser.write('sum', [shop(made)]), { fragment: '#view=' });
        const facts = await page.$$eval('.run-facts > div', (all) =>
            Object.fromEntries(all.map((e) => [...e.children].map((c) => c.textContent))),
        );
        assert.equal(facts.Elapsed, said);
        const hint = await page.getAttribute('.measures button:has-text("Elapsed")', 'title');
        assert.equal(/; summed over 2 threads$/.test(hint), made.threads !== undefined);
        await browser.done(page);
    }
});

test('one figure says how much recording disturbed the run, as text does', async () => {
    for (const [made, said] of [
        [
            { overhead_reached: 'recording added 17 % to the CPU time (10 % asked)' },
            'added 17 % to the CPU time (10 % asked)',
        ],
        [
            { overhead_reached: 'probes added 4.9 % to the CPU time, left out here (--raw)' },
            'probes added 4.9 % to the CPU time',
        ],
        [{ overhead_reached: null }, undefined],
    ]) {
        const page = await browser.open(browser.write('overhead', [shop(made)]), { fragment: '#view=' });
        const facts = await page.$$eval('.run-facts > div', (all) =>
            Object.fromEntries(all.map((e) => [...e.children].map((c) => c.textContent))),
        );
        assert.equal(facts.Recording, said);
        if (said) assert.equal(facts.Probes, undefined);
        await browser.done(page);
    }
});

// A name of 200 characters, and times of minutes.
const wideTree = [
    [`library::${'component::'.repeat(18)}run(std::string const&)`, 12345678, 98_765_432_109, 3e9, 2e9, shopTree],
];

test('no table scrolls sideways at 1440 pixels, and the name has the most room', async () => {
    const file = browser.write('wide-names', [session(wideTree)]);
    for (const name of ['tree', 'functions', 'modules', 'threads', 'processes', 'callers']) {
        const page = await browser.open(file, {
            fragment: `#view=${name}`,
            viewport: { width: 1440, height: 900 },
        });
        await page.waitForSelector('.grid .head');
        if (['tree', 'functions'].includes(name)) await page.click('.view .row >> nth=0'); // with the details
        await page.waitForFunction(() =>
            [...document.querySelectorAll('.grid')].every((e) => e.scrollWidth <= e.clientWidth),
        );
        for (const grid of await page.$$('.grid')) {
            const heads = await grid.$$eval('.head', (all) => all.map((e) => e.clientWidth));
            assert.ok(heads.length >= 5 && heads.slice(1).every((w) => w < heads[0]), `${name}: ${heads}`);
        }
        await browser.done(page);
    }
});
