// Writes containers and pages as `dwell view` does (docs/view-format.md), for tests of the page alone.
import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';

const kinds = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array };

function smallest(values) {
    let [least, most] = [0, 0];
    for (const v of values) {
        if (v < least) least = v;
        if (v > most) most = v;
    }
    if (least < 0) return least >= -(2 ** 31) && most < 2 ** 31 ? 'i32' : 'f64';
    return most < 256 ? 'u8' : most < 65536 ? 'u16' : most < 2 ** 32 ? 'u32' : 'f64';
}

// tables: { NAME: { COLUMN: [numbers] } }
export function container(facts, tables) {
    const described = {};
    const parts = [];
    let offset = 0;
    for (const [name, columns] of Object.entries(tables)) {
        const rows = Object.values(columns)[0]?.length ?? 0;
        described[name] = { rows, columns: {} };
        for (const [key, values] of Object.entries(columns)) {
            const type = key === 'parent' ? 'i32' : smallest(values);
            const bytes = Buffer.from(kinds[type].from(values).buffer);
            described[name].columns[key] = { type, offset };
            parts.push(bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8));
            offset += Math.ceil(bytes.length / 8) * 8;
        }
    }
    const header = Buffer.from(JSON.stringify({ ...facts, tables: described }));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(header.length);
    const padding = Buffer.alloc((8 - ((12 + header.length) % 8)) % 8);
    return Buffer.concat([Buffer.from('DWELLV01'), length, header, padding, ...parts]);
}

// sessions: [{ main: container, blocks: [containers] }]
export function pageWith(template, sessions) {
    const lines = [];
    const add = (attributes, data) =>
        lines.push(
            `<script type="application/x-dwell" ${attributes}>${gzipSync(data, { level: 1 }).toString('base64')}</script>`,
        );
    sessions.forEach(({ main, blocks = [] }, s) => {
        add(`data-part="session" data-session="${s}"`, main);
        blocks.forEach((block, k) => add(`data-part="block" data-session="${s}" data-block="${k}"`, block));
    });
    const [before, after] = template.split('<!-- dwell:sessions -->');
    if (after === undefined) throw new Error('the template has no place for sessions');
    return before + lines.join('\n') + after;
}

// Reads the first session of a page: its header and its tables, with columns as arrays of numbers.
export function sessionIn(file) {
    const packed = /data-part="session" data-session="0">([^<]*)</.exec(readFileSync(file, 'utf8'))[1];
    const bytes = new Uint8Array(gunzipSync(Buffer.from(packed, 'base64')));
    const length = new DataView(bytes.buffer).getUint32(8, true);
    const { tables, ...header } = JSON.parse(Buffer.from(bytes.subarray(12, 12 + length)).toString());
    const start = Math.ceil((12 + length) / 8) * 8;
    const columnOf = ({ type, offset }, rows) => Array.from(new kinds[type](bytes.buffer, start + offset, rows));
    const read = ({ rows, columns }) =>
        Object.fromEntries(Object.entries(columns).map(([key, one]) => [key, columnOf(one, rows)]));
    return { header, tables: Object.fromEntries(Object.entries(tables).map(([name, one]) => [name, read(one)])) };
}
