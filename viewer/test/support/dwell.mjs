// Makes recordings by dwell and reads their reports.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const build = process.env.DWELL_BUILD ?? fileURLToPath(new URL('../../../build/test', import.meta.url));
const program = join(build, 'analyzer/dwell');
export const sample = (name) => join(build, 'samples', name);

export const testProgram = (name) => join(build, 'tests/e2e/programs', name);

export class Recordings {
    constructor() {
        this.folder = mkdtempSync(join(tmpdir(), 'dwell-recordings-'));
        // All calls are timed: what a budget counts depends on the machine's load.
        this.environment = { ...process.env, XDG_CONFIG_HOME: this.folder, DWELL_OVERHEAD: 'none' };
    }

    path(name) {
        return join(this.folder, name);
    }

    run(...args) {
        return execFileSync(program, args, {
            encoding: 'utf8',
            env: this.environment,
            stdio: ['ignore', 'pipe', 'pipe'],
            maxBuffer: 1 << 28,
        });
    }

    record(name, command, ...options) {
        this.run('record', '-q', ...options, '-o', this.path(name), '--', ...command);
        return this.path(name);
    }

    json(...args) {
        return JSON.parse(this.run(...args, '--format=json'));
    }

    // Makes a page of one session or of two.
    view(name, ...sessions) {
        this.run('view', '--no-open', '--force', '-o', this.path(`${name}.html`), ...sessions);
        return this.path(`${name}.html`);
    }

    start(...args) {
        return spawn(program, args, { env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] });
    }

    remove() {
        rmSync(this.folder, { recursive: true, force: true });
    }
}
