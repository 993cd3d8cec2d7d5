// The page that dwell view --live serves follows a running program and keeps selection and open branches.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Browser } from './support/browser.mjs';
import { Recordings, sample } from './support/dwell.mjs';

let browser;
let recordings;
const children = [];
before(async () => {
    recordings = new Recordings();
    browser = await Browser.start();
});
after(async () => {
    for (const child of children.filter((one) => one.exitCode === null && one.signalCode === null)) {
        const below = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ').filter(Boolean);
        for (const pid of below) process.kill(Number(pid), 'SIGKILL');
        child.kill('SIGKILL');
    }
    await browser.stop();
    recordings.remove();
});

function start(...args) {
    const child = recordings.start(...args);
    children.push(child);
    return child;
}

const until = async (what) => {
    for (let i = 0; i < 600 && !what(); i++) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(what());
};

test('the page follows the running program, keeps the selection, and shows that the program ended', async () => {
    const session = recordings.path('live.data');
    // The program runs for hours unless it is ended.
    const recorder = start('record', '-q', '-o', session, '--', sample('sleeper'), '100000', '2', '20');
    const ended = new Promise((resolve) => recorder.on('exit', resolve));
    const nameOf = (pid) => {
        try {
            return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
        } catch {
            return ''; // it has ended
        }
    };
    const program = () =>
        readFileSync(`/proc/${recorder.pid}/task/${recorder.pid}/children`, 'utf8')
            .trim()
            .split(' ')
            .find((pid) => pid && nameOf(pid) === 'sleeper');
    await until(() => existsSync(session) && program());
    const server = start('view', '--live', session);
    let said = '';
    server.stdout.on('data', (text) => (said += text));
    await until(() => /http:\S+/.test(said));

    const page = await browser.open(/http:\S+/.exec(said)[0], { fragment: '#unit=ns' });
    await page.waitForSelector('.live.is-live');
    await page.waitForSelector('[aria-label="Call tree"] .row');
    const most = () =>
        Math.max(
            ...[...document.querySelectorAll('[aria-label="Call tree"] .cell[data-key=calls]')].map((c) =>
                Number(c.textContent.replace(/\D/g, '')),
            ),
        );
    await page.click('[aria-label="Call tree"] .row >> nth=0');
    await page.keyboard.press('*');
    await page.waitForFunction(() => document.querySelectorAll('.row .twist:not(.leaf)').length > 0);
    const before = await page.evaluate(most);
    for (let i = 0; i < 600 && (await page.evaluate(most)) <= before; i++) await page.waitForTimeout(100);
    assert.ok((await page.evaluate(most)) > before);
    await page.waitForFunction(() => document.querySelector('.row.selected .name')?.textContent === 'main');
    // A paused page does not change.
    await page.click('.live');
    await page.waitForSelector('.live:has-text("paused")');
    await page.click('.live');
    await page.click('[data-view=timeline]');
    await page.waitForSelector('.timeline');

    process.kill(Number(program()), 'SIGTERM');
    await ended;
    await page.waitForSelector('.live:disabled:has-text("ended")', { timeout: 120000 });
    await page.click('[data-view=tree]');
    await page.waitForFunction(() => document.querySelector('.row.selected .name')?.textContent === 'main');
    await browser.done(page);
});
