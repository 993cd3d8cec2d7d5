// Reads the container that `dwell view` writes: a JSON header and columns of numbers (docs/view-format.md).

export type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

export interface Table {
    rows: number;
    columns: Record<string, Column>;
}

export interface Container {
    header: Record<string, unknown>;
    tables: Record<string, Table>;
}

const magic = 'DWELLV01';
const kinds = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array };

interface Described {
    rows: number;
    columns: Record<string, { type: string; offset: number }>;
}

export function readContainer(buffer: ArrayBuffer): Container {
    const bytes = new Uint8Array(buffer);
    if (buffer.byteLength < 12 || String.fromCharCode(...bytes.subarray(0, 8)) !== magic)
        throw new Error('the page cannot read this recording: its format is unknown');
    const length = new DataView(buffer).getUint32(8, true);
    if (12 + length > buffer.byteLength) throw new Error('the recording is truncated');
    const parsed = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + length))) as Record<string, unknown>;
    const { tables: described = {}, ...header } = parsed;
    const start = Math.ceil((12 + length) / 8) * 8;
    const tables: Record<string, Table> = {};
    for (const [name, { rows, columns: list }] of Object.entries(described as Record<string, Described>)) {
        const columns: Record<string, Column> = {};
        for (const [key, { type, offset }] of Object.entries(list)) {
            const kind = type in kinds ? kinds[type as keyof typeof kinds] : null;
            if (!kind) throw new Error(`column ${name}.${key} has the unknown type ${type}`);
            const end = start + offset + rows * kind.BYTES_PER_ELEMENT;
            if (end > buffer.byteLength) throw new Error(`column ${name}.${key} is truncated`);
            columns[key] = new kind(buffer, start + offset, rows);
        }
        tables[name] = { rows, columns };
    }
    return { header, tables };
}
