// Loads the sessions into the model. A live session is fetched again and again; selection and open branches stay.
import { batch } from '@preact/signals';
import type { Container } from './data/container';
import { identify, identities, locate } from './data/identity';
import { mergeModels } from './data/merge';
import { type Model, SingleModel } from './data/model';
import { Branches } from './data/open';
import { Yielder } from './data/yielder';
import { type Source, findSource } from './data/source';
import { restore } from './link';
import * as state from './state';
import { openHotPath } from './views/tree';

async function firstSession(from: Source, side: number): Promise<Container> {
    for (;;) {
        const container = await from.session(side);
        if (container) return container;
        await new Promise((resolve) => setTimeout(resolve, 200));
    }
}

function showModel(m: Model): void {
    batch(() => {
        state.expanded.value = new Branches(m.paths.count);
        state.model.value = m;
        if (!restore(m, location.hash) && state.path.value < 0) {
            const subject = state.subject.value;
            openHotPath(-1);
            if (subject >= 0 || state.view.value !== 'tree') state.selectFunction(subject);
        }
    });
}

// Replaces the model by a newer fetch. Rows are found again by the hashes of their names.
function replaceModel(m: Model): void {
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
    });
}

async function followSession(from: Source): Promise<void> {
    while (!state.model.value!.facts[0]!.complete) {
        await new Promise((resolve) => setTimeout(resolve, from.live));
        if (state.paused.value) continue;
        try {
            const container = await from.session(0);
            state.lost.value = '';
            if (container) replaceModel(new SingleModel(container));
        } catch (error) {
            state.lost.value = (error as Error).message;
        }
    }
}

export async function load(): Promise<void> {
    const from = findSource();
    if (from.sessions === 0) throw new Error('This page holds no recording. Use dwell view to write a page with one.');
    state.source.value = from;
    const a = new SingleModel(await firstSession(from, 0));
    if (from.sessions === 1) showModel(a);
    else {
        const b = new SingleModel(await firstSession(from, 1));
        state.progress.value = 'Comparing …';
        showModel(await mergeModels(a, b, new Yielder()));
    }
    if (from.live) await followSession(from);
}
