// node test/measure.mjs PAGE...: how long pages of `dwell view` take in a browser. Prints a line for each page:
// - first tab: from the request of the page until its first tab shows rows, and the main thread's CPU time until then;
// - zoom frames: the timeline is zoomed in to a thousandth and out again by the wheel; a frame's length is the time
//   between two callbacks of requestAnimationFrame, so 17 ms are the least.
import { parseArgs } from 'node:util';
import { Browser, boxOf, view } from './support/browser.mjs';

const { positionals: files } = parseArgs({ allowPositionals: true });
if (!files.length) {
    console.error('usage: node measure.mjs PAGE...');
    process.exit(2);
}

const steps = 60; // of the wheel, in and out

const nth = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

async function zoomFrames(page) {
    await view(page, 'timeline');
    await page.waitForFunction(() => document.querySelector('.range'));
    const box = await boxOf(page, '.timeline');
    await page.mouse.move(box.x + box.width / 3, box.y + 80);
    await page.evaluate(() => {
        window.frames = [];
        let last = performance.now();
        const take = (now) => {
            window.frames.push(now - last);
            last = now;
            requestAnimationFrame(take);
        };
        requestAnimationFrame(take);
    });
    for (let i = 0; i < steps; i++) await page.mouse.wheel(0, i < steps / 2 ? -120 : 120);
    await page.waitForTimeout(200);
    const range = await page.textContent('.range');
    return { range, frames: (await page.evaluate(() => window.frames)).slice(1).sort((a, b) => a - b) };
}

const browser = await Browser.start();
// The browser's first page includes the browser's own start.
await (await browser.open(files[0])).close();
for (const file of files) {
    const began = performance.now();
    const page = await browser.open(file, { fragment: '#view=summary', viewport: { width: 1440, height: 900 } });
    await page.waitForSelector('.summary-rows tbody tr');
    const opened = performance.now() - began;
    const work = await browser.processorTime(page);
    const { frames } = await zoomFrames(page);
    console.log(
        `${file}: first tab ${Math.round(opened)} ms, ${Math.round(work)} ms of CPU time; ` +
            `${frames.length} zoom frames, 50 % in ${nth(frames, 0.5).toFixed(0)} ms, ` +
            `95 % in ${nth(frames, 0.95).toFixed(0)} ms, longest ${frames.at(-1).toFixed(0)} ms`,
    );
    await browser.done(page);
}
await browser.stop();
