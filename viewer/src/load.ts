// Loads the sessions into the model. A live session is fetched again and again; selection and open branches stay.
import { batch, effect } from '@preact/signals';
import type { Container } from './data/container';
import { identify, identities, locate } from './data/identity';
import type { Model } from './data/model';
import { Branches } from './data/open';
import { type Source, findSource } from './data/source';
import { partOf, restore, transformsIn } from './link';
import { Parts } from './part';
import { transformed } from './data/transform';
import { Stopped, Yielder } from './data/yielder';
import * as state from './state';
import { openHotPath } from './views/tree';

async function firstSession(from: Source, side: number): Promise<Container> {
    for (;;) {
        const container = await from.session(side);
        if (container) return container;
        await new Promise((resolve) => setTimeout(resolve, 200));
    }
}

let base: Model; // what the transforms are applied to

async function showModel(whole: Model): Promise<void> {
    base = whole;
    state.transforms.value = transformsIn(location.hash);
    const m = await transformed(whole, state.transforms.value, new Yielder());
    batch(() => {
        state.expanded.value = new Branches(m.paths.count);
        state.model.value = m;
        if (!restore(m, location.hash) && state.path.value < 0) {
            const subject = state.subject.value;
            openHotPath(-1);
            if (subject >= 0 || !['tree', 'summary'].includes(state.view.value)) state.selectFunction(subject);
        }
    });
}

let replacing: Yielder | undefined;

// Replaces the model by a newer fetch, or by other transforms. Rows are found again by the hashes of their names.
async function replaceModel(whole: Model): Promise<void> {
    base = whole;
    replacing?.stop();
    const m = await transformed(whole, state.transforms.value, (replacing = new Yielder()));
    const old = state.model.value!;
    const path = identify(old, 'paths', state.path.value);
    const subject = identify(old, 'functions', state.subject.value);
    const zoomed = identify(old, 'paths', state.zoomed.value);
    const inverted = state.invertedZoom.value.map((row) => identify(old, 'functions', row));
    const before = identities(old, 'paths');
    const wanted = new Set(state.expanded.value.list(100000).map((row) => before[row]!));
    const rows: number[] = [];
    identities(m, 'paths').forEach((hash, row) => {
        if (wanted.has(hash)) rows.push(row);
    });
    batch(() => {
        state.expanded.value = new Branches(m.paths.count).with(rows, true);
        state.model.value = m;
        state.path.value = locate(m, 'paths', path);
        state.subject.value = locate(m, 'functions', subject);
        state.zoomed.value = locate(m, 'paths', zoomed);
        state.invertedZoom.value = inverted.map((one) => locate(m, 'functions', one)).filter((row) => row >= 0);
        // Other transforms can make all paths different ones.
        if (state.path.value < 0 && path && state.expanded.value.list(1).length === 0) {
            openHotPath(-1);
            if (state.subject.value !== locate(m, 'functions', subject))
                state.selectFunction(locate(m, 'functions', subject));
        }
    });
}

function followTransforms(): void {
    let shown = state.transforms.value;
    effect(() => {
        if (state.transforms.value === shown) return;
        shown = state.transforms.value;
        replaceModel(base).catch((error) => {
            if (!(error instanceof Stopped)) throw error;
        });
    });
}

async function followSession(from: Source, parts: Parts): Promise<void> {
    while (!state.model.value!.facts[0]!.complete) {
        await new Promise((resolve) => setTimeout(resolve, from.live));
        if (state.paused.value) continue;
        try {
            const container = await from.session(0);
            state.lost.value = '';
            if (!container) continue;
            await parts.set([container]);
            await replaceModel(await parts.model(state.chosen.value));
        } catch (error) {
            state.lost.value = (error as Error).message;
        }
    }
}

// Shows the chosen part whenever another one is chosen.
function followPart(parts: Parts): void {
    let shown = state.chosen.value;
    effect(() => {
        const part = state.chosen.value;
        if (part === shown) return;
        shown = part;
        parts
            .model(part)
            .then((m) => (state.chosen.value === part ? replaceModel(m) : undefined))
            .catch((error: Error) => {
                if (!(error instanceof Stopped)) state.notify(error.message);
            });
    });
}

export async function load(): Promise<void> {
    const from = findSource();
    if (from.sessions === 0) throw new Error('This page holds no recording. Use dwell view to write a page with one.');
    state.source.value = from;
    const containers = [await firstSession(from, 0)];
    if (from.sessions > 1) {
        containers.push(await firstSession(from, 1));
        state.progress.value = 'Comparing …';
    }
    const parts = new Parts(from);
    await parts.set(containers);
    state.chosen.value = partOf(location.hash);
    await showModel(await parts.model(state.chosen.value));
    followPart(parts);
    followTransforms();
    if (from.live) await followSession(from, parts);
}
