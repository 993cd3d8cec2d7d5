// Times that samples estimate, and calls that were only counted: the page shows what the reports say about them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsOf, view } from './support/browser.mjs';
import { sessionIn } from './support/container.mjs';
import { sample, testProgram } from './support/dwell.mjs';
import { browser, recordings } from './support/fixtures.mjs';

const keys = ['elapsed_inclusive', 'elapsed_exclusive', 'cpu_inclusive', 'cpu_exclusive'];
const shown = ['calls', ...keys, 'timing'].join(',');

function cellOf(row, key) {
    const ns = row[`${key}_ns`];
    if (ns === null) return '—';
    const partly = row.timing === 'partly';
    return `${row[`${key}_ci95_ns`] ? '~' : partly ? '>' : ''}${ns}`;
}

const cellsOf = (row) => ({
    name: row.function,
    calls: row.calls === null ? '—' : String(row.calls),
    timing: row.timing,
    ...Object.fromEntries(keys.map((key) => [key, cellOf(row, key)])),
});

async function open(name, session) {
    const fragment = `#by=elapsed&unit=ns&view=functions&details=0&columns=functions:${shown};tree:${shown}`;
    return browser.open(recordings.view(name, session), { fragment, viewport: { width: 1900, height: 900 } });
}

const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

async function assertFunctions(page, session) {
    const rows = (await rowsOf(page, 'functions')).map((row) =>
        Object.fromEntries(['name', 'calls', 'timing', ...keys].map((key) => [key, row[key]])),
    );
    const wanted = recordings.json('report', '--limit', '0', '--by', 'function', session).rows.map(cellsOf);
    assert.deepEqual(rows.sort(byName), wanted.sort(byName));
    return wanted;
}

test('sampled functions and paths have ~, and a tooltip with the interval and the samples', async () => {
    const session = recordings.record('sampled.data', [testProgram('sampled'), '6000'], '--sample', '2000');
    const page = await open('sampled', session);
    const wanted = await assertFunctions(page, session);
    const light = wanted.find((row) => row.name === 'light');
    assert.equal(light.timing, 'sampled');
    const row = page.locator('.row', { has: page.locator('.cell[data-key=name]', { hasText: /^light$/ }) });
    const tip = await row.locator('.cell[data-key=elapsed_exclusive]').getAttribute('title');
    const report = recordings.json('report', '--filter', 'light', session).rows[0];
    assert.equal(
        tip.replaceAll('\u2009', ''),
        `estimated: ± ${report.elapsed_exclusive_ci95_ns} ns (95 % interval), ${report.samples} samples in it`,
    );
    await view(page, 'tree');
    await page.keyboard.press('*');
    const paths = await rowsOf(page, 'Call tree');
    const part = paths.find((path) => path.name.endsWith('part'));
    assert.ok(!part.elapsed_inclusive.startsWith('~'));
    assert.equal(part.timing, 'timed');
    assert.ok(paths.some((path) => path.timing === 'sampled' && path.elapsed_inclusive.startsWith('~')));
    await page.keyboard.press('?');
    assert.match(await page.textContent('.help'), /How times are known/);
    await browser.done(page);
});

test('the source has the own time of functions by line, as dwell annotate has it', async () => {
    const session = recordings.record('lines.data', [testProgram('sampled'), '200000'], '--sample', '2000');
    const page = await browser.open(recordings.view('lines', '--source', session), {
        fragment: '#view=functions&by=elapsed&details=0',
    });
    const said = recordings.json('annotate', 'heavy', session).rows;
    assert.ok(said.some((row) => row.samples > 0));
    await page.fill('.search', '/^heavy$/');
    await page.waitForFunction(() => document.querySelectorAll('[aria-label=functions] .row').length === 1);
    await page.click('[aria-label=functions] .row');
    await view(page, 'source');
    await page.waitForSelector('.source .self');
    const cells = await page.$$eval('.source tbody tr', (rows) =>
        rows.map((row) => [row.querySelector('.self').textContent, row.querySelector('.self').title]),
    );
    for (const { line, samples, self_ns } of said) {
        const [text, tip] = cells[line - 1];
        if (!samples) assert.deepEqual([text, tip], ['', '']);
        else {
            assert.ok(text.startsWith('~'), text);
            const numbers = tip
                .replaceAll('\u2009', '')
                .match(/^(\d+) ns, estimated: ± (\d+) ns \(95 % interval\), (\d+) samples$/);
            assert.deepEqual([numbers[1], numbers[3]], [String(self_ns), String(samples)]);
            assert.ok(Number(numbers[2]) > 0);
        }
    }
    await browser.done(page);
    const unsampled = recordings.record('unsampled.data', [testProgram('sampled'), '100'], '--sample', '0');
    const other = await browser.open(recordings.view('unsampled', '--source', unsampled), {
        fragment: '#view=functions&details=0',
    });
    await other.click('[aria-label=functions] .row >> nth=0');
    await view(other, 'source');
    await other.waitForSelector('.source tbody tr');
    assert.equal(await other.locator('.source .self').count(), 0);
    await browser.done(other);
});

// The options of the part that the page shows.
const optionsOf = async (page) =>
    (await page.getAttribute('.part-bar button:last-child', 'title')).replace(/^.*commands: /, '').split(' ');

async function assertPart(name, steps, ...options) {
    const session = recordings.record(`${name}.data`, [testProgram('sampled'), steps], ...options, '--no-os-calls');
    const file = recordings.view(name, session);
    const { borders } = sessionIn(file).header.parts;
    const [from, to] = [0.2, 0.7].map((share) => borders[Math.round(share * (borders.length - 1))]);
    const page = await browser.open(file, {
        fragment: `#by=elapsed&unit=ns&view=functions&details=0&columns=functions:${shown};tree:${shown}&part=${from}-${to};`,
        viewport: { width: 1900, height: 900 },
    });
    await page.waitForSelector('.part-bar');
    const part = await optionsOf(page);
    const said = recordings.json('report', '--limit', '0', ...part, session).rows.map(cellsOf);
    const mine = (await rowsOf(page, 'functions')).filter((row) => row.elapsed_inclusive !== '0');
    assert.deepEqual(
        mine
            .map((row) => Object.fromEntries(['name', 'calls', 'timing', ...keys].map((key) => [key, row[key]])))
            .sort(byName),
        said.sort(byName),
    );
    assert.ok(mine.some((row) => row.timing === 'sampled'));
    await browser.done(page);
}

test('parts of a recording have the estimates of their own samples', async () => {
    await assertPart('part', '20000', '--sample', '2000');
    // The part has the end of the first 0.4 s, in which samples stand for less time.
    await assertPart('budget', '200000', '--overhead', '10%');
});

test('counted calls are in the table of functions, without times', async () => {
    const options = ['--level', 'counted=work', '--sample', '0'];
    const session = recordings.record('counted.data', [sample('threads'), '2', '1000'], ...options);
    const page = await open('counted', session);
    const wanted = await assertFunctions(page, session);
    const work = wanted.find((row) => row.name === 'work');
    assert.deepEqual([work.calls, work.timing, work.elapsed_inclusive], ['2000', 'counted', '—']);
    await browser.done(page);
});

test('sessions whose calls were all timed say nothing about it', async () => {
    const session = recordings.record('timed.data', [sample('threads'), '2', '10']);
    const page = await open('timed', session);
    assert.ok((await rowsOf(page, 'functions')).every((row) => row.timing === undefined));
    await page.keyboard.press('?');
    assert.doesNotMatch(await page.textContent('.help'), /How times are known/);
    await browser.done(page);
});
