// Hashes of names that identify rows in links, and in a live session after the next fetch.
import type { Model, TableName } from './model';
import { stackOf } from './paths';

function hashText(text: string, hash = 0x811c9dc5): number {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return hash >>> 0;
}

function mixHashes(above: number, own: number): number {
    let hash = Math.imul(above ^ (own + 0x9e3779b9), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
    return (hash ^ (hash >>> 13)) >>> 0;
}

const cache = new WeakMap<Model, Map<TableName, Uint32Array>>();

function textOf(model: Model, table: TableName, row: number): string {
    if (table === 'modules') return model.modules[row]!.path || model.modules[row]!.name;
    if (table === 'processes') return `${model.processes[row]!.name}/${model.processes[row]!.id}`;
    if (table === 'threads')
        return `${model.threads[row]!.name}/${model.threads[row]!.id}/${model.threads[row]!.process}`;
    const f = model.functions[row]!;
    return `${f.name}\0${model.modules[f.module]?.name ?? ''}`;
}

export function identities(model: Model, table: TableName): Uint32Array {
    const tables = cache.get(model) ?? new Map<TableName, Uint32Array>();
    cache.set(model, tables);
    let hashes = tables.get(table);
    if (hashes) return hashes;
    hashes = new Uint32Array(model.rows(table));
    if (table === 'paths') {
        const functions = identities(model, 'functions');
        const { parent, function: called } = model.paths;
        for (let i = 0; i < hashes.length; i++)
            hashes[i] = mixHashes(parent[i]! < 0 ? 1 : hashes[parent[i]!]!, functions[called[i]!]!);
    } else {
        for (let i = 0; i < hashes.length; i++) hashes[i] = hashText(textOf(model, table, i));
    }
    tables.set(table, hashes);
    return hashes;
}

export function identify(model: Model, table: TableName, row: number): string {
    if (row < 0) return '';
    if (table !== 'paths' || cache.get(model)?.has('paths')) return identities(model, table)[row]!.toString(36);
    // Hashes one path without computing all others.
    const functions = identities(model, 'functions');
    let hash = 1;
    for (const at of stackOf(model.paths, row)) hash = mixHashes(hash, functions[model.paths.function[at]!]!);
    return hash.toString(36);
}

// Returns -1 if no row has the identity.
export function locate(model: Model, table: TableName, identity: string): number {
    return identity ? identities(model, table).indexOf(parseInt(identity, 36)) : -1;
}
